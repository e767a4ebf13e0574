SELECT "uid", "json"{% for column in columns %}, {{ column.name|quotes }}{% endfor %}
FROM {{ name|quotes }}
WHERE "uid" > ?
ORDER BY "uid"
LIMIT {{ rows|number }}
