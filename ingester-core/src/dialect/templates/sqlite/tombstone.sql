INSERT INTO {{ name|quotes }} ("uid", "group_ver", "namespace", "name", "json", "res_version", "delete_time", "update_time")
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}(?, '', '', '', '{}', ?, ?, ?){% endfor %}
ON CONFLICT ("uid") DO UPDATE SET "res_version" = excluded."res_version", "delete_time" = excluded."delete_time", "update_time" = excluded."update_time"
