{%- match change %}
  {%- when SchemaChange::RenameTable { from, to } %}ALTER TABLE {{ from|ident }} RENAME TO {{ to|ident }}
  {%- when SchemaChange::RenameColumn { table, column, to } %}ALTER TABLE {{ table|ident }} RENAME COLUMN {{ column.name|ident }} TO {{ to|ident }}
  {%- when _ %}
{%- endmatch %}
