ALTER INDEX IF EXISTS {{ from|ident }} RENAME TO {{ to|ident }}
