DELETE FROM {{ name|quotes }}
WHERE ("obj_uid", "key") IN (VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}(?, ?){% endfor %})
