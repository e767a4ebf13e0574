SELECT {% for column in columns %}{% if !loop.first %}, {% endif %}{% if self::as_text(column) %}CAST({{ column.name|backticks }} AS CHAR){% else %}{{ column.name|backticks }}{% endif %}{% endfor %}
FROM {{ name|backticks }}
WHERE `uid` IN ({% for _ in 0..rows %}{% if !loop.first %}, {% endif %}?{% endfor %})
ORDER BY `uid`
