ALTER TABLE {{ table|ident }}
  DROP CONSTRAINT {{ name|ident }},
  ADD CONSTRAINT {{ name|ident }} PRIMARY KEY ({% for column in columns.iter() %}{% if !loop.first %}, {% endif %}{{ column|ident }}{% endfor %})
