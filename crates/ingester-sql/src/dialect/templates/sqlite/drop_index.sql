DROP INDEX IF EXISTS {{ index|ident }}
