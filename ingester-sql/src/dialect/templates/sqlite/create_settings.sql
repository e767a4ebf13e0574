CREATE TABLE IF NOT EXISTS "ingester_settings" (
  "name" TEXT NOT NULL,
  "value" TEXT NOT NULL,
  PRIMARY KEY ("name")
) STRICT, WITHOUT ROWID
