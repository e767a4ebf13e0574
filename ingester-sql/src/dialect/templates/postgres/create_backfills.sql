CREATE TABLE IF NOT EXISTS "ingester_backfills" (
  "table_name" VARCHAR(64) COLLATE "C" NOT NULL,
  "column_name" VARCHAR(64) COLLATE "C" NOT NULL,
  "migration" BIGINT NOT NULL,
  "position" VARCHAR(64) COLLATE "C" NOT NULL,
  "rows_read" BIGINT NOT NULL,
  "rows_filled" BIGINT NOT NULL,
  "rows_failed" BIGINT NOT NULL,
  "begin_time" TIMESTAMPTZ(6) NOT NULL,
  "complete_time" TIMESTAMPTZ(6),
  PRIMARY KEY ("table_name", "column_name")
)
