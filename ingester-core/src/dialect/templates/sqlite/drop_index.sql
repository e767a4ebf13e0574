DROP INDEX IF EXISTS {{ index|quotes }}
