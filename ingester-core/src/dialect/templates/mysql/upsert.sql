INSERT INTO {{ name|backticks }} ({% for column in columns %}{% if !loop.first %}, {% endif %}{{ column.name|backticks }}{% endfor %})
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}({% for _ in columns %}{% if !loop.first %}, {% endif %}?{% endfor %}){% endfor %}
ON DUPLICATE KEY UPDATE
{#- Assignments take effect one after the other: what the guard reads is assigned last, and the guard's value does not
    change between the last two (a tombstone sets no evict_time). -#}
{%- for column in columns %}{% if !self::guarding(column) %}
  {{ column.name|backticks }} = IF({% include "mysql/guard.sql" %}, VALUES({{ column.name|backticks }}), {{ column.name|backticks }}),{% endif %}{% endfor %}
  `evict_time` = IF({% include "mysql/guard.sql" %}, VALUES(`evict_time`), `evict_time`),
  `res_version` = IF({% include "mysql/guard.sql" %}, VALUES(`res_version`), `res_version`)
