DROP TABLE IF EXISTS {{ name|ident }}
