ALTER TABLE {{ name|ident }}
{%- for change in changes %}
  {% match change %}
  {%- when SchemaChange::AddColumn { column, .. } %}ADD COLUMN {{ column.name|ident }} {{ column.ty|postgres_type }}{% if !column.nullable %} NOT NULL DEFAULT {{ column.ty|postgres_default }}{% endif %}
  {%- when SchemaChange::DropColumn { column, .. } %}DROP COLUMN {{ column.name|ident }}
  {%- when SchemaChange::Retype { from, to, .. } %}ALTER COLUMN {{ to.name|ident }} TYPE {{ to.ty|postgres_type }}{% if from.nullable && !to.nullable %},
  ALTER COLUMN {{ to.name|ident }} SET NOT NULL{% endif %}{% if !from.nullable && to.nullable %},
  ALTER COLUMN {{ to.name|ident }} DROP NOT NULL{% endif %}
  {%- when _ %}
  {%- endmatch %}{% if !loop.last %},{% endif %}
{%- endfor %}
