SELECT MAX("res_version")
FROM {{ name|quotes }}
