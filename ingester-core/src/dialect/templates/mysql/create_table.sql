CREATE TABLE IF NOT EXISTS {{ name|backticks }} (
{%- for column in columns %}
  {{ column.name|backticks }} {{ column.ty|mysql_type }}{% if !column.nullable %} NOT NULL{% else %} NULL{% endif %},
{%- endfor %}
  PRIMARY KEY ({% for column in primary %}{% if !loop.first %}, {% endif %}{{ column.name|backticks }}{% endfor %})
{%- for key in keys %},
  KEY {{ key.name|backticks }} ({% for place in key.columns() %}{% if !loop.first %}, {% endif %}{{ columns[*place as usize].name|backticks }}{% endfor %})
{%- endfor %}
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC
