INSERT INTO {{ name|quotes }} ("obj_uid", "key", "value")
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}(?, ?, ?){% endfor %}
ON CONFLICT ("obj_uid", "key") DO UPDATE SET "value" = excluded."value"
