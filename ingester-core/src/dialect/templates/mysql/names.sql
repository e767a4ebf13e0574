SELECT `uid`, `namespace`, `name`
FROM {{ name|backticks }}
WHERE `uid` IN ({% for _ in 0..rows %}{% if !loop.first %}, {% endif %}?{% endfor %})
ORDER BY `uid`
