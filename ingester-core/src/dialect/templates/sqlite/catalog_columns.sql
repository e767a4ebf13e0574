SELECT t.name, c.name, c.type, CAST(c."notnull" = 0 AS TEXT), NULL, CASE WHEN c.pk > 0 THEN CAST(c.pk AS TEXT) END
FROM sqlite_master AS t
JOIN pragma_table_info(t.name) AS c
WHERE t.type = 'table'
ORDER BY t.name, c.cid
