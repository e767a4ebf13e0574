SELECT table_name, index_name, CONCAT(COALESCE(column_name, 'an expression'), COALESCE(CONCAT('(', sub_part, ')'), '')), CAST(non_unique = 0 AS CHAR)
FROM information_schema.statistics
WHERE table_schema = DATABASE() AND index_name <> 'PRIMARY'
ORDER BY table_name, index_name, seq_in_index
