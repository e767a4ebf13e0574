DROP TABLE IF EXISTS {{ name|quotes }}
