{#- The rows are there and locked, so nothing is ever inserted: what stands for the columns that may not be NULL is not written. -#}
INSERT INTO {{ name|backticks }} (`uid`, `group_ver`, `namespace`, `name`, `res_version`, `update_time`, `json`{% for column in columns %}, {{ column.name|backticks }}{% endfor %})
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}(?, '', '', '', 0, '1970-01-01', '{}'{% for _ in columns %}, ?{% endfor %}){% endfor %}
ON DUPLICATE KEY UPDATE
{%- for column in columns %}
  {{ column.name|backticks }} = VALUES({{ column.name|backticks }}){% if !loop.last %},{% endif %}
{%- endfor %}
