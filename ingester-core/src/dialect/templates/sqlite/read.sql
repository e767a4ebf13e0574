SELECT {% for column in columns %}{% if !loop.first %}, {% endif %}{{ column.name|quotes }}{% endfor %}
FROM {{ name|quotes }}
WHERE "uid" IN ({% for _ in 0..rows %}{% if !loop.first %}, {% endif %}?{% endfor %})
ORDER BY "uid"
