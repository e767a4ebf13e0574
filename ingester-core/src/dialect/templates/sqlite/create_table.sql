CREATE TABLE IF NOT EXISTS {{ name|quotes }} (
{%- for column in columns %}
  {{ column.name|quotes }} {{ column.ty|sqlite_type }}{% if !column.nullable %} NOT NULL{% endif %},
{%- endfor %}
  PRIMARY KEY ({% for column in primary %}{% if !loop.first %}, {% endif %}{{ column.name|quotes }}{% endfor %})
) STRICT{% if clustered %}, WITHOUT ROWID{% endif %}
