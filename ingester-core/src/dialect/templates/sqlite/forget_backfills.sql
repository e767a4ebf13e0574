DELETE FROM "ingester_backfills"
WHERE "migration" > ?
