INSERT INTO {{ to|ident }} ({% for column in columns %}{% if !loop.first %}, {% endif %}{{ column.name|ident }}{% endfor %})
SELECT {% for column in columns %}{% if !loop.first %}, {% endif %}{{ column.name|ident }}{% endfor %}
FROM {{ from|ident }}
