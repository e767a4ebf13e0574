UPDATE {{ name|quotes }}
SET "delete_time" = ?, "update_time" = ?, "res_version" = ?
WHERE "uid" IN ({% for _ in 0..rows %}{% if !loop.first %}, {% endif %}?{% endfor %})
  AND "delete_time" IS NULL AND "evict_time" IS NULL AND "res_version" <= ?
