{%- match change %}
  {%- when SchemaChange::AddColumn { table, column } %}ALTER TABLE {{ table|ident }} ADD COLUMN {{ column.name|ident }} {{ column.ty|sqlite_type }}{% if !column.nullable %} NOT NULL DEFAULT {{ column.ty|sqlite_default }}{% endif %}
  {%- when SchemaChange::DropColumn { table, column } %}ALTER TABLE {{ table|ident }} DROP COLUMN {{ column.name|ident }}
  {%- when SchemaChange::RenameColumn { table, column, to } %}ALTER TABLE {{ table|ident }} RENAME COLUMN {{ column.name|ident }} TO {{ to|ident }}
  {%- when _ %}
{%- endmatch %}
