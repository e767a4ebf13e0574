DROP TABLE IF EXISTS {{ name|backticks }}
