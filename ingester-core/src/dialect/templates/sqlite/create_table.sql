CREATE TABLE IF NOT EXISTS {{ name|quotes }} (
{%- for column in table.columns %}
  {{ column.name|quotes }} {{ column.ty|sqlite_type }}{% if !column.nullable %} NOT NULL{% endif %},
{%- endfor %}
  PRIMARY KEY ({% for column in table.primary_key %}{% if !loop.first %}, {% endif %}{{ column|quotes }}{% endfor %})
) STRICT{% if clustered %}, WITHOUT ROWID{% endif %}
