{#- The rows are there and locked, so nothing is ever inserted: what stands for the columns that may not be NULL is not written. -#}
INSERT INTO {{ name|backticks }} (`uid`, `group_ver`, `namespace`, `name`, `json`, `res_version`, `delete_time`, `update_time`)
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}(?, '', '', '', '{}', ?, ?, ?){% endfor %}
ON DUPLICATE KEY UPDATE `res_version` = VALUES(`res_version`), `delete_time` = VALUES(`delete_time`), `update_time` = VALUES(`update_time`)
