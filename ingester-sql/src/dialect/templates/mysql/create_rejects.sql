CREATE TABLE IF NOT EXISTS `ingester_rejects` (
  `uid` VARCHAR(64) NOT NULL,
  `group_ver` VARCHAR(128) NOT NULL,
  `kind` VARCHAR(128) NOT NULL,
  `namespace` VARCHAR(256) NOT NULL,
  `name` VARCHAR(256) NOT NULL,
  `res_version` VARCHAR(128) NOT NULL,
  `reason` TEXT NOT NULL,
  `reject_time` DATETIME(6) NOT NULL,
  PRIMARY KEY (`uid`),
  KEY `kind` (`kind`, `reject_time`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC
