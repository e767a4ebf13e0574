DELETE FROM `ingester_rejects`
WHERE `uid` IN ({% for _ in 0..rows %}{% if !loop.first %}, {% endif %}?{% endfor %})
