CREATE TABLE IF NOT EXISTS "ingester_rejects" (
  "uid" TEXT NOT NULL,
  "group_ver" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "namespace" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "res_version" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "reject_time" TEXT NOT NULL,
  PRIMARY KEY ("uid")
) STRICT, WITHOUT ROWID
