SELECT "uid", "res_version", "delete_time" IS NOT NULL, "evict_time" IS NOT NULL
FROM {{ name|quotes }}
{#- The plus signs keep it from the columns' own indexes, by which every page would read and sort all that is left. #}
WHERE "uid" > ? AND +"delete_time" IS NULL{% if of_namespace %} AND +"namespace" = ?{% endif %}
ORDER BY "uid"
LIMIT {{ rows|number }}
