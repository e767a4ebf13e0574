SELECT MAX(`res_version`)
FROM {{ name|backticks }}
