UPDATE {{ name|backticks }}
SET `res_version` = 0, `delete_time` = NULL, `evict_time` = NULL
WHERE `uid` IN ({% for _ in 0..rows %}{% if !loop.first %}, {% endif %}?{% endfor %})
