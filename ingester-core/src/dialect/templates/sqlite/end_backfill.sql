UPDATE "ingester_backfills"
SET "complete_time" = ?
WHERE "table_name" = ? AND "column_name" = ?
