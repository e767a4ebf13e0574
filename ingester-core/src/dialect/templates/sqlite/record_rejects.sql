INSERT INTO "ingester_rejects" ("uid", "group_ver", "kind", "namespace", "name", "res_version", "reason", "reject_time")
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}(?, ?, ?, ?, ?, ?, ?, ?){% endfor %}
ON CONFLICT ("uid") DO UPDATE SET "group_ver" = excluded."group_ver", "kind" = excluded."kind",
  "namespace" = excluded."namespace", "name" = excluded."name", "res_version" = excluded."res_version",
  "reason" = excluded."reason", "reject_time" = excluded."reject_time"
