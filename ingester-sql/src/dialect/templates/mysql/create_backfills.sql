CREATE TABLE IF NOT EXISTS `ingester_backfills` (
  `table_name` VARCHAR(64) NOT NULL,
  `column_name` VARCHAR(64) NOT NULL,
  `migration` BIGINT NOT NULL,
  `position` VARCHAR(64) NOT NULL,
  `rows_read` BIGINT NOT NULL,
  `rows_filled` BIGINT NOT NULL,
  `rows_failed` BIGINT NOT NULL,
  `begin_time` DATETIME(6) NOT NULL,
  `complete_time` DATETIME(6) NULL,
  PRIMARY KEY (`table_name`, `column_name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC
