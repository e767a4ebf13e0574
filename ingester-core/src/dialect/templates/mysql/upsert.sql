INSERT INTO {{ name|backticks }} ({% for column in columns %}{% if !loop.first %}, {% endif %}{{ column.name|backticks }}{% endfor %})
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}({% for _ in columns %}{% if !loop.first %}, {% endif %}?{% endfor %}){% endfor %}
ON DUPLICATE KEY UPDATE
{#- Assignments take effect one after the other: the three columns that the guard reads come last, in an order in
    which those already assigned do not change what it says about the rest. -#}
{%- for column in columns %}{% if !loop.first && !self::guarding(column) %}
  {{ column.name|backticks }} = IF({% include "mysql/guard.sql" %}, VALUES({{ column.name|backticks }}), {{ column.name|backticks }}),{% endif %}{% endfor %}
  `delete_time` = IF({% include "mysql/guard.sql" %}, VALUES(`delete_time`), `delete_time`),
  `evict_time` = IF({% include "mysql/guard.sql" %}, VALUES(`evict_time`), `evict_time`),
  `res_version` = IF({% include "mysql/guard.sql" %}, VALUES(`res_version`), `res_version`)
