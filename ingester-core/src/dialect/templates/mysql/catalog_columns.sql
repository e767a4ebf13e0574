SELECT c.table_name, c.column_name, c.column_type, CAST(c.is_nullable = 'YES' AS CHAR), c.collation_name, CAST(s.seq_in_index AS CHAR)
FROM information_schema.tables AS t
JOIN information_schema.columns AS c ON c.table_schema = t.table_schema AND c.table_name = t.table_name
LEFT JOIN information_schema.statistics AS s
  ON s.table_schema = c.table_schema AND s.table_name = c.table_name AND s.column_name = c.column_name AND s.index_name = 'PRIMARY'
WHERE t.table_schema = DATABASE() AND t.table_type = 'BASE TABLE'
ORDER BY c.table_name, c.ordinal_position
