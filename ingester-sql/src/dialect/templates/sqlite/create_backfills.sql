CREATE TABLE IF NOT EXISTS "ingester_backfills" (
  "table_name" TEXT NOT NULL,
  "column_name" TEXT NOT NULL,
  "migration" INTEGER NOT NULL,
  "position" TEXT NOT NULL,
  "rows_read" INTEGER NOT NULL,
  "rows_filled" INTEGER NOT NULL,
  "rows_failed" INTEGER NOT NULL,
  "begin_time" TEXT NOT NULL,
  "complete_time" TEXT,
  PRIMARY KEY ("table_name", "column_name")
) STRICT, WITHOUT ROWID
