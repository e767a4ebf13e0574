SELECT `table_name`, `column_name`, `migration`, `position`, `rows_read`, `rows_filled`, `rows_failed`, CAST(`begin_time` AS CHAR), CAST(`complete_time` AS CHAR)
FROM `ingester_backfills`
ORDER BY `table_name`, `column_name`
