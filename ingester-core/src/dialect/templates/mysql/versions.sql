SELECT `uid`, `res_version`, `delete_time` IS NOT NULL, `evict_time` IS NOT NULL
FROM {{ name|backticks }}
WHERE `uid` IN ({% for _ in 0..rows %}{% if !loop.first %}, {% endif %}?{% endfor %})
ORDER BY `uid`
FOR UPDATE
