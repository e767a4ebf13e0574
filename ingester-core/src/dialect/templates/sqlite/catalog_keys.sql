SELECT t.name, i.name, COALESCE(c.name, 'an expression'), CAST(i."unique" AS TEXT)
FROM sqlite_master AS t
JOIN pragma_index_list(t.name) AS i
JOIN pragma_index_info(i.name) AS c
WHERE t.type = 'table' AND i.origin = 'c'
ORDER BY t.name, i.name, c.seqno
