CREATE INDEX IF NOT EXISTS {{ index|quotes }} ON {{ name|quotes }} ({% for place in key.columns() %}{% if !loop.first %}, {% endif %}{{ columns[*place as usize].name|quotes }}{% endfor %})
