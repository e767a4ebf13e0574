DROP VIEW IF EXISTS {{ name|ident }}
