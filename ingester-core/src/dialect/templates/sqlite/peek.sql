SELECT "namespace", "name"{% for column in columns %}, CAST({{ column.name|quotes }} AS TEXT){% endfor %}
FROM {{ name|quotes }}
WHERE "delete_time" IS NULL
ORDER BY "namespace", "name"
LIMIT {{ rows|number }}
