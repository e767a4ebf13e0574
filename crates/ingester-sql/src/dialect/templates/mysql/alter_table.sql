ALTER TABLE {{ name|backticks }}
{%- for change in changes %}
  {% match change %}
  {%- when SchemaChange::DropKey { key, .. } %}DROP KEY {{ key.name|backticks }},
  {%- when SchemaChange::AddKey { key, .. } %}ADD KEY {{ key.name|backticks }} ({% for column in key.columns %}{% if !loop.first %}, {% endif %}{{ column|backticks }}{% endfor %}),
  {%- when SchemaChange::RenameKey { key, to, .. } %}RENAME KEY {{ key.name|backticks }} TO {{ to|backticks }},
  {%- when SchemaChange::RenameColumn { column, to, .. } %}CHANGE COLUMN {{ column.name|backticks }} {{ to|backticks }} {{ column.ty|mysql_type }}{% if !column.nullable %} NOT NULL{{ column.ty|default_zero }}{% else %} NULL{% endif %},
  {%- when SchemaChange::DropColumn { column, .. } %}DROP COLUMN {{ column.name|backticks }},
  {%- when SchemaChange::AddColumn { column, .. } %}ADD COLUMN {% include "mysql/column.sql" %},
  {%- when SchemaChange::Retype { to, .. } %}{% let column = to %}MODIFY COLUMN {% include "mysql/column.sql" %},
  {%- when SchemaChange::PrimaryKey { to, .. } %}DROP PRIMARY KEY,
  ADD PRIMARY KEY ({% for column in to %}{% if !loop.first %}, {% endif %}{{ column|backticks }}{% endfor %}),
  {%- when _ %}
  {%- endmatch %}
{%- endfor %}
{#- An algorithm is always named, so that a server that would have to copy the table refuses instead. The comments with a
    version are MySQL's and MariaDB's own way to tell their versions apart; of two algorithms the last one counts. #}
  {% match phase %}
  {%- when StepKind::AddColumns %}ALGORITHM=INPLACE /*!80012 , ALGORITHM=INSTANT */ /*M!100302 , ALGORITHM=INSTANT */
  {%- when StepKind::DropColumns %}ALGORITHM=INPLACE /*!80029 , ALGORITHM=INSTANT */ /*M!100400 , ALGORITHM=INSTANT */
  {%- when StepKind::CopyColumns %}ALGORITHM=COPY, LOCK=SHARED
  {%- when _ %}ALGORITHM=INPLACE, LOCK=NONE
  {%- endmatch %}
