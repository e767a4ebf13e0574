CREATE INDEX IF NOT EXISTS {{ index|ident }} ON {{ table|ident }} ({% for column in key.columns %}{% if !loop.first %}, {% endif %}{{ column|ident }}{% endfor %})
