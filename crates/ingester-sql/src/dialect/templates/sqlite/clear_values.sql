UPDATE {{ table|ident }}
SET {{ column|ident }} = NULL
WHERE {{ unfit|sqlite_unfit }}
