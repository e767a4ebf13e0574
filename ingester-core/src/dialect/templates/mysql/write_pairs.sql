INSERT INTO {{ name|backticks }} (`obj_uid`, `key`, `value`)
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}(?, ?, ?){% endfor %}
ON DUPLICATE KEY UPDATE `value` = VALUES(`value`)
