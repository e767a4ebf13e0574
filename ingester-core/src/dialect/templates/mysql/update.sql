UPDATE {{ name|backticks }} SET
{%- for column in columns %}{% if !loop.first %}
  {{ column.name|backticks }} = ?{% if !loop.last %},{% endif %}{% endif %}{% endfor %}
WHERE `uid` = ? AND `res_version` = ? AND `delete_time` IS NULL AND `evict_time` IS NULL
