INSERT INTO {{ name|backticks }} ({% for column in columns %}{% if !loop.first %}, {% endif %}{{ column.name|backticks }}{% endfor %})
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}({% for _ in columns %}{% if !loop.first %}, {% endif %}?{% endfor %}){% endfor %}
ON DUPLICATE KEY UPDATE
{%- for column in columns %}{% if !loop.first %}
  {{ column.name|backticks }} = VALUES({{ column.name|backticks }}){% if !loop.last %},{% endif %}{% endif %}{% endfor %}