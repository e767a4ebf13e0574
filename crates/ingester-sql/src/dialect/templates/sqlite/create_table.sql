CREATE TABLE IF NOT EXISTS {{ name|ident }} (
{%- for column in table.columns %}
  {{ column.name|ident }} {{ column.ty|sqlite_type }}{% if !column.nullable %} NOT NULL{{ column.ty|default_zero }}{% endif %},
{%- endfor %}
  PRIMARY KEY ({% for column in table.primary_key %}{% if !loop.first %}, {% endif %}{{ column|ident }}{% endfor %})
) STRICT{% if clustered %}, WITHOUT ROWID{% endif %}
