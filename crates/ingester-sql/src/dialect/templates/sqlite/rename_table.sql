ALTER TABLE {{ from|ident }} RENAME TO {{ to|ident }}
