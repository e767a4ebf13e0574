INSERT INTO `ingester_rejects` (`uid`, `group_ver`, `kind`, `namespace`, `name`, `res_version`, `reason`, `reject_time`)
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}(?, ?, ?, ?, ?, ?, ?, ?){% endfor %}
ON DUPLICATE KEY UPDATE `group_ver` = VALUES(`group_ver`), `kind` = VALUES(`kind`), `namespace` = VALUES(`namespace`),
  `name` = VALUES(`name`), `res_version` = VALUES(`res_version`), `reason` = VALUES(`reason`), `reject_time` = VALUES(`reject_time`)
