DELETE FROM {{ name|backticks }}
WHERE (`obj_uid`, `key`) IN ({% for _ in 0..rows %}{% if !loop.first %}, {% endif %}(?, ?){% endfor %})
