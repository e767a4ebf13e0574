INSERT INTO `ingester_backfills` (`table_name`, `column_name`, `migration`, `position`, `rows_read`, `rows_filled`, `rows_failed`, `begin_time`, `complete_time`)
VALUES (?, ?, ?, '', 0, 0, 0, ?, NULL)
ON DUPLICATE KEY UPDATE
  `migration` = VALUES(`migration`),
  `position` = VALUES(`position`),
  `rows_read` = VALUES(`rows_read`),
  `rows_filled` = VALUES(`rows_filled`),
  `rows_failed` = VALUES(`rows_failed`),
  `begin_time` = VALUES(`begin_time`),
  `complete_time` = VALUES(`complete_time`)
