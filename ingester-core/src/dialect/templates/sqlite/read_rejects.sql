SELECT "uid", "reason"
FROM "ingester_rejects"
WHERE "group_ver" = ? AND "kind" = ?
ORDER BY "uid"
