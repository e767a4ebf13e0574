SELECT "obj_uid", "key", "value"
FROM {{ name|quotes }}
WHERE "obj_uid" IN ({% for _ in 0..rows %}{% if !loop.first %}, {% endif %}?{% endfor %})
ORDER BY "obj_uid", "key"
