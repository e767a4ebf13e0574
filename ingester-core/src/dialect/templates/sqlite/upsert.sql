INSERT INTO {{ name|quotes }} ({% for column in columns %}{% if !loop.first %}, {% endif %}{{ column.name|quotes }}{% endfor %})
VALUES {% for _ in 0..rows %}{% if !loop.first %}, {% endif %}({% for _ in columns %}{% if !loop.first %}, {% endif %}?{% endfor %}){% endfor %}
ON CONFLICT ("uid") DO UPDATE SET
{%- for column in columns %}{% if !loop.first %}
  {{ column.name|quotes }} = excluded.{{ column.name|quotes }}{% if !loop.last %},{% endif %}{% endif %}{% endfor %}
WHERE (excluded."res_version" > "res_version" OR (excluded."res_version" = "res_version" AND ((excluded."delete_time" IS NOT NULL AND "delete_time" IS NULL) OR (excluded."evict_time" IS NOT NULL AND "evict_time" IS NULL) OR (excluded."res_version" = 0 AND "delete_time" IS NULL))))
  AND NOT (excluded."delete_time" IS NOT NULL AND "evict_time" IS NOT NULL)
