SELECT `namespace`, `name`{% for column in columns %}, CAST({{ column.name|backticks }} AS CHAR){% endfor %}
FROM {{ name|backticks }}
WHERE `delete_time` IS NULL
ORDER BY `namespace`, `name`
LIMIT {{ rows|number }}
