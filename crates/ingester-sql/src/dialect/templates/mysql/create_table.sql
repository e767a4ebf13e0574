CREATE TABLE IF NOT EXISTS {{ table.name|backticks }} (
{%- for column in table.columns %}
  {{ column.name|backticks }} {% if table.compresses(column) %}/*M!100302 LONGTEXT COMPRESSED */ /*!50708 JSON */{% else %}{{ column.ty|mysql_type }}{% endif %}{% if !column.nullable %} NOT NULL{{ column.ty|default_zero }}{% if table.counts(column) %} AUTO_INCREMENT{% endif %}{% else %} NULL{% endif %},
{%- endfor %}
  PRIMARY KEY ({% for column in table.primary_key %}{% if !loop.first %}, {% endif %}{{ column|backticks }}{% endfor %})
{%- for key in table.keys %},
  KEY {{ key.name|backticks }} ({% for column in key.columns %}{% if !loop.first %}, {% endif %}{{ column|backticks }}{% endfor %})
{%- endfor %}
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC
