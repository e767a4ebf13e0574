RENAME TABLE
{%- for (from, to) in names %}{% if !loop.first %},{% endif %}
  {{ from|backticks }} TO {{ to|backticks }}
{%- endfor %}
