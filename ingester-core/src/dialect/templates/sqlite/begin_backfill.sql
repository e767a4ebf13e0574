INSERT INTO "ingester_backfills" ("table_name", "column_name", "migration", "position", "rows_read", "rows_filled", "rows_failed", "begin_time", "complete_time")
VALUES (?, ?, ?, '', 0, 0, 0, ?, NULL)
ON CONFLICT ("table_name", "column_name") DO UPDATE SET
  "migration" = excluded."migration",
  "position" = excluded."position",
  "rows_read" = excluded."rows_read",
  "rows_filled" = excluded."rows_filled",
  "rows_failed" = excluded."rows_failed",
  "begin_time" = excluded."begin_time",
  "complete_time" = excluded."complete_time"
