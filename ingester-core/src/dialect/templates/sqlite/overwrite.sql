INSERT INTO {{ name|quotes }} ({% for column in columns %}{% if !loop.first %}, {% endif %}{{ column.name|quotes }}{% endfor %})
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}({% for _ in columns %}{% if !loop.first %}, {% endif %}?{% endfor %}){% endfor %}
ON CONFLICT ("uid") DO UPDATE SET
{%- for column in columns %}{% if !loop.first %}
  {{ column.name|quotes }} = excluded.{{ column.name|quotes }}{% if !loop.last %},{% endif %}{% endif %}{% endfor %}