ALTER TABLE {{ from|quotes }} RENAME TO {{ to|quotes }}
