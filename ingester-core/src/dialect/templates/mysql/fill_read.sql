SELECT `uid`, `json`{% for column in columns %}, {% if self::as_text(column) %}CAST({{ column.name|backticks }} AS CHAR){% else %}{{ column.name|backticks }}{% endif %}{% endfor %}
FROM {{ name|backticks }}
WHERE `uid` > ?
ORDER BY `uid`
LIMIT {{ rows|number }}
FOR UPDATE
