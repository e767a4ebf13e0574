INSERT INTO {{ name|quotes }} ("uid", "group_ver", "namespace", "name", "res_version", "update_time", "json"{% for column in columns %}, {{ column.name|quotes }}{% endfor %})
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}(?, '', '', '', 0, '', '{}'{% for _ in columns %}, ?{% endfor %}){% endfor %}
ON CONFLICT ("uid") DO UPDATE SET
{%- for column in columns %}
  {{ column.name|quotes }} = excluded.{{ column.name|quotes }}{% if !loop.last %},{% endif %}
{%- endfor %}
