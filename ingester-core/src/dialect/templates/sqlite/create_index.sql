CREATE INDEX IF NOT EXISTS {{ index|quotes }} ON {{ table|quotes }} ({% for column in key.columns %}{% if !loop.first %}, {% endif %}{{ column|quotes }}{% endfor %})
