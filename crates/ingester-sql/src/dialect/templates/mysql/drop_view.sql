DROP VIEW IF EXISTS {{ name|backticks }}
