SELECT `uid`, `res_version`, `delete_time` IS NOT NULL, `evict_time` IS NOT NULL
FROM {{ name|backticks }}
WHERE `uid` > ? AND `delete_time` IS NULL{% if of_namespace %} AND `namespace` = ?{% endif %}
ORDER BY `uid`
LIMIT {{ rows|number }}
