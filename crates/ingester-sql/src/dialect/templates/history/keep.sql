), "kept" AS (
INSERT INTO {{ former.name|ident }} ({{ former.columns|names }})
SELECT {{ table.columns|version_values }}, "valid_to", "change"
FROM "ended"
)