CREATE TABLE IF NOT EXISTS "ingester_settings" (
  "name" VARCHAR(64) COLLATE "C" NOT NULL,
  "value" VARCHAR(256) COLLATE "C" NOT NULL,
  PRIMARY KEY ("name")
)
