UPDATE `ingester_backfills`
SET `position` = ?, `rows_read` = `rows_read` + ?, `rows_filled` = `rows_filled` + ?, `rows_failed` = `rows_failed` + ?
WHERE `table_name` = ? AND `column_name` = ?
