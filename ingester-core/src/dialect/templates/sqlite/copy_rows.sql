INSERT INTO {{ to|quotes }} ({% for column in columns %}{% if !loop.first %}, {% endif %}{{ column.name|quotes }}{% endfor %})
SELECT {% for column in columns %}{% if !loop.first %}, {% endif %}{{ column.name|quotes }}{% endfor %}
FROM {{ from|quotes }}
