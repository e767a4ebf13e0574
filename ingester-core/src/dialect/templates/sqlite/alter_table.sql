{%- match change %}
  {%- when Change::AddColumn { table, column } %}ALTER TABLE {{ table|quotes }} ADD COLUMN {{ column.name|quotes }} {{ column.ty|sqlite_type }}{% if !column.nullable %} NOT NULL DEFAULT {{ column.ty|sqlite_default }}{% endif %}
  {%- when Change::DropColumn { table, column } %}ALTER TABLE {{ table|quotes }} DROP COLUMN {{ column.name|quotes }}
  {%- when Change::RenameColumn { table, column, to } %}ALTER TABLE {{ table|quotes }} RENAME COLUMN {{ column.name|quotes }} TO {{ to|quotes }}
  {%- when _ %}
{%- endmatch %}
