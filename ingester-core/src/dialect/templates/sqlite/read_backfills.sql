SELECT "table_name", "column_name", "migration", "position", "rows_read", "rows_filled", "rows_failed", "begin_time", "complete_time"
FROM "ingester_backfills"
ORDER BY "table_name", "column_name"
