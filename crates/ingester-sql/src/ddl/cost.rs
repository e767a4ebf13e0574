//! The cost of a change on each server. The rules come from the servers' documentation and name the version from which they hold.

use super::diff::{Retyping, SchemaChange, retyping};
use super::in_place::{ChangeReplacement, in_place};
use super::storage_class;
use super::table::ColumnDef;
use ingester_core::schema::SqlType;

/// The cost of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// Only the catalog changes: a large table takes no longer than a small one.
    Instant,
    /// The server reads or rebuilds the table, while others continue to write.
    InPlace,
    /// The table is copied. Writers wait until it is done, readers do not.
    Copy,
}

/// Servers with the same rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Family {
    /// MySQL 5.7 and later.
    MySql,
    /// MariaDB 10.6 and later.
    MariaDb,
    /// SQLite 3.37 and later.
    Sqlite,
    /// PostgreSQL 15 and later.
    Postgres,
}

impl Family {
    /// All families.
    pub(super) const ALL: [Family; 4] = [Family::MySql, Family::MariaDb, Family::Sqlite, Family::Postgres];

    /// Types of one storage class are one type to the server, so a column whose new type has the same class is [left](ChangeReplacement) as it is.
    pub(super) fn has_storage_classes(self) -> bool {
        self == Family::Sqlite
    }

    /// Only one program can write at a time, so any change of a table makes others wait.
    pub(super) fn has_one_writer(self) -> bool {
        self == Family::Sqlite
    }
}

/// A server, as far as costs depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerVersion {
    pub(super) family: Family,
    /// Major, minor, patch.
    pub(super) version: [u16; 3],
}

/// The servers for which a text about changes is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Servers {
    /// All: a text that people read before a migration is released.
    All,
    /// MySQL and MariaDB: their migration's file.
    MySql,
    /// SQLite: its migration's file, which has only what it does.
    Sqlite,
    /// PostgreSQL: its migration's file.
    Postgres,
    /// This one.
    One(ServerVersion),
}

impl Servers {
    pub(super) fn families(self) -> &'static [Family] {
        match self {
            Servers::All => &Family::ALL,
            Servers::MySql => &[Family::MySql, Family::MariaDb],
            Servers::Sqlite => &[Family::Sqlite],
            Servers::Postgres => &[Family::Postgres],
            Servers::One(server) => match server.family {
                Family::MySql => &[Family::MySql],
                Family::MariaDb => &[Family::MariaDb],
                Family::Sqlite => &[Family::Sqlite],
                Family::Postgres => &[Family::Postgres],
            },
        }
    }

    /// The text stands next to the statements, so it leaves out changes that need no statement.
    pub(super) fn see_statements(self) -> bool {
        self == Servers::Sqlite
    }

    /// True if every one of these servers [leaves](ChangeReplacement) a column as it is when its new type has the same storage class.
    pub(super) fn have_storage_classes(self) -> bool {
        self.families().iter().all(|family| family.has_storage_classes())
    }
}

/// Returns true if PostgreSQL keeps a column's stored values for the new type without reading them.
fn is_taken_as_stored(from: &ColumnDef, to: &ColumnDef) -> bool {
    use SqlType::{BigInt, BigIntUnsigned, Int, IntUnsigned, MediumText, Text, VarChar};
    let is_integer = |ty| matches!(ty, Int | BigInt | IntUnsigned | BigIntUnsigned);
    let is_alike = match (from.ty, to.ty) {
        (VarChar(from), VarChar(to)) => from <= to,
        (VarChar(_) | Text | MediumText, Text | MediumText) => true,
        (from, to) => from == to || is_integer(from) && is_integer(to),
    };
    is_alike && (to.nullable || !from.nullable)
}

/// From version `since` on, a change costs `cost` on servers of `family`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) family: Family,
    pub(super) since: [u16; 3],
    pub(super) cost: Cost,
    /// The page of the documentation, and what it says.
    pub(super) source: &'static str,
}

/// Rules in a table: family, first version, cost, source.
macro_rules! rules {
    ($($family:ident $since:expr => $cost:ident, $source:literal;)+) => {
        &[$(Rule { family: Family::$family, since: $since, cost: Cost::$cost, source: $source }),+]
    };
}

const CATALOG_ONLY: &[Rule] = rules! {
    MySql [0, 0, 0] => Instant, "MySQL Reference Manual, 'RENAME TABLE Statement': a change of the data dictionary";
    MariaDb [0, 0, 0] => Instant, "MariaDB Server documentation, 'RENAME TABLE': atomic, without touching rows";
    Sqlite [0, 0, 0] => Instant, "SQLite, 'ALTER TABLE': RENAME runs in the same time whatever the table's size";
    Postgres [0, 0, 0] => Instant, "PostgreSQL documentation, 'ALTER TABLE', RENAME: no effect on the stored data";
};

const NEW_TABLE: &[Rule] = rules! {
    MySql [0, 0, 0] => Instant, "MySQL Reference Manual, 'CREATE TABLE Statement'";
    MariaDb [0, 0, 0] => Instant, "MariaDB Server documentation, 'CREATE TABLE'";
    Sqlite [0, 0, 0] => Instant, "SQLite, 'CREATE TABLE'";
    Postgres [0, 0, 0] => Instant, "PostgreSQL documentation, 'CREATE TABLE'";
};

const NO_TABLE: &[Rule] = rules! {
    MySql [0, 0, 0] => Instant, "MySQL Reference Manual, 'DROP TABLE Statement'";
    MariaDb [0, 0, 0] => Instant, "MariaDB Server documentation, 'DROP TABLE'";
    Sqlite [0, 0, 0] => Instant, "SQLite, 'DROP TABLE'";
    Postgres [0, 0, 0] => Instant, "PostgreSQL documentation, 'DROP TABLE'";
};

const ADD_COLUMN: &[Rule] = rules! {
    MySql [5, 7, 0] => InPlace, "MySQL 5.7 Reference Manual, 'Online DDL Operations', adding a column: in place, rebuilds the table";
    MySql [8, 0, 12] => Instant, "MySQL 8.0 Reference Manual, 'Online DDL Operations', adding a column: INSTANT as of 8.0.12, as the last one";
    MariaDb [10, 3, 2] => Instant, "MariaDB Server documentation, 'InnoDB Online DDL Operations with the INSTANT Alter Algorithm', ADD COLUMN: as of 10.3.2";
    Sqlite [0, 0, 0] => Instant, "SQLite, 'ALTER TABLE', ADD COLUMN: independent of the amount of data";
    Postgres [0, 0, 0] => Instant, "PostgreSQL documentation, 'ALTER TABLE', Notes: a column without a volatile default does not rewrite the table";
};

const DROP_COLUMN: &[Rule] = rules! {
    MySql [5, 7, 0] => InPlace, "MySQL 5.7 Reference Manual, 'Online DDL Operations', dropping a column: in place, rebuilds the table";
    MySql [8, 0, 29] => Instant, "MySQL 8.0 Reference Manual, 'Online DDL Operations', dropping a column: INSTANT as of 8.0.29";
    MariaDb [10, 4, 0] => Instant, "MariaDB Server documentation, 'InnoDB Online DDL Operations with the INSTANT Alter Algorithm', DROP COLUMN: as of 10.4";
    Sqlite [3, 35, 0] => Copy, "SQLite, 'ALTER TABLE', DROP COLUMN: rewrites the table's content";
    Postgres [0, 0, 0] => Instant, "PostgreSQL documentation, 'ALTER TABLE', Notes: DROP COLUMN makes the column invisible, and does not rewrite the table";
};

const RENAME_COLUMN: &[Rule] = rules! {
    MySql [5, 7, 0] => InPlace, "MySQL 5.7 Reference Manual, 'Online DDL Operations', renaming a column: in place, only metadata";
    MySql [8, 0, 28] => Instant, "MySQL 8.0 Reference Manual, 'Online DDL Operations', renaming a column: INSTANT as of 8.0.28";
    MariaDb [10, 3, 2] => Instant, "MariaDB Server documentation, 'InnoDB Online DDL Operations with the INSTANT Alter Algorithm', CHANGE COLUMN: a new name alone";
    Sqlite [3, 25, 0] => Instant, "SQLite, 'ALTER TABLE', RENAME COLUMN: a change of the schema's text";
    Postgres [0, 0, 0] => Instant, "PostgreSQL documentation, 'ALTER TABLE', RENAME: no effect on the stored data";
};

const LONGER_VARCHAR: &[Rule] = rules! {
    MySql [5, 7, 0] => InPlace, "MySQL Reference Manual, 'Online DDL Operations', extending VARCHAR: in place, only metadata, while the length takes as many bytes";
    MariaDb [10, 2, 2] => Instant, "MariaDB Server documentation, 'InnoDB Online DDL Operations with the INSTANT Alter Algorithm', MODIFY COLUMN: a longer VARCHAR";
    Sqlite [0, 0, 0] => Instant, "SQLite, 'Datatypes': a TEXT column has no length";
    Postgres [0, 0, 0] => Instant, "PostgreSQL documentation, 'ALTER TABLE', Notes: no rewrite where the old type is binary coercible to the new one, such as a longer VARCHAR";
};

const OTHER_TYPE: &[Rule] = rules! {
    MySql [5, 7, 0] => Copy, "MySQL Reference Manual, 'Online DDL Operations', changing the column data type: only with COPY";
    MariaDb [10, 0, 0] => Copy, "MariaDB Server documentation, 'InnoDB Online DDL Operations with the INPLACE Alter Algorithm', MODIFY COLUMN: another type needs COPY";
    Sqlite [0, 0, 0] => Copy, "SQLite, 'ALTER TABLE', 'Making Other Kinds Of Table Schema Changes': a new table";
    Postgres [0, 0, 0] => Copy, "PostgreSQL documentation, 'ALTER TABLE', Notes: another type rewrites the table and its indexes, under an ACCESS EXCLUSIVE lock";
};

const SAME_STORAGE: Rule = Rule {
    family: Family::Sqlite,
    since: [0, 0, 0],
    cost: Cost::Instant,
    source: "SQLite, 'Datatypes': one storage class holds both types",
};

const TAKEN_AS_STORED: &[Rule] = rules! {
    Postgres [0, 0, 0] => Instant, "PostgreSQL documentation, 'ALTER TABLE', Notes: no rewrite where the old type is binary coercible to the new one; DROP NOT NULL reads nothing";
};

const WIDER_TYPE: &[Rule] = &[OTHER_TYPE[0], OTHER_TYPE[1], SAME_STORAGE, OTHER_TYPE[3]];

const NULLABLE: &[Rule] = rules! {
    MySql [5, 7, 0] => InPlace, "MySQL Reference Manual, 'Online DDL Operations', making a column NULL or NOT NULL: in place, rebuilds the table";
    MariaDb [10, 0, 0] => InPlace, "MariaDB Server documentation, 'InnoDB Online DDL Operations with the INPLACE Alter Algorithm', MODIFY COLUMN: NULL and NOT NULL";
    Sqlite [0, 0, 0] => Copy, "SQLite, 'ALTER TABLE', 'Making Other Kinds Of Table Schema Changes': a new table";
    Postgres [0, 0, 0] => Copy, "PostgreSQL documentation, 'ALTER TABLE', SET NOT NULL: reads the table under an ACCESS EXCLUSIVE lock";
};

const PRIMARY_KEY: &[Rule] = rules! {
    MySql [5, 7, 0] => InPlace, "MySQL Reference Manual, 'Online DDL Operations', dropping a primary key and adding another: in place, rebuilds the table";
    MariaDb [10, 0, 0] => InPlace, "MariaDB Server documentation, 'InnoDB Online DDL Operations with the INPLACE Alter Algorithm', ADD PRIMARY KEY: rebuilds the table";
    Sqlite [0, 0, 0] => Copy, "SQLite, 'ALTER TABLE', 'Making Other Kinds Of Table Schema Changes': a new table";
    Postgres [0, 0, 0] => Copy, "PostgreSQL documentation, 'ALTER TABLE', ADD PRIMARY KEY: builds the index under an ACCESS EXCLUSIVE lock";
};

const ADD_KEY: &[Rule] = rules! {
    MySql [5, 7, 0] => InPlace, "MySQL Reference Manual, 'Online DDL Operations', creating a secondary index: in place, permits concurrent DML";
    MariaDb [10, 0, 0] => InPlace, "MariaDB Server documentation, 'InnoDB Online DDL Operations with the NOCOPY Alter Algorithm', ADD INDEX: LOCK=NONE";
    Sqlite [0, 0, 0] => Copy, "SQLite, 'CREATE INDEX': reads the table; there is one writer at a time";
    Postgres [0, 0, 0] => InPlace, "PostgreSQL documentation, 'CREATE INDEX', Building Indexes Concurrently: reads the table twice, while others write";
};

const DROP_KEY: &[Rule] = rules! {
    MySql [5, 7, 0] => InPlace, "MySQL Reference Manual, 'Online DDL Operations', dropping an index: in place, only metadata";
    MariaDb [10, 0, 0] => InPlace, "MariaDB Server documentation, 'InnoDB Online DDL Operations with the NOCOPY Alter Algorithm', DROP INDEX: only metadata";
    Sqlite [0, 0, 0] => Instant, "SQLite, 'DROP INDEX'";
    Postgres [0, 0, 0] => Instant, "PostgreSQL documentation, 'DROP INDEX'";
};

const RENAME_KEY: &[Rule] = rules! {
    MySql [5, 7, 0] => InPlace, "MySQL Reference Manual, 'Online DDL Operations', renaming an index: in place, only metadata";
    MariaDb [10, 5, 3] => Instant, "MariaDB Server documentation, 'InnoDB Online DDL Operations with the INSTANT Alter Algorithm', RENAME INDEX";
    Sqlite [0, 0, 0] => Copy, "SQLite, 'CREATE INDEX': an index has no new name, it is made again";
    Postgres [0, 0, 0] => Instant, "PostgreSQL documentation, 'ALTER INDEX', RENAME: no effect on the stored data";
};

const LEFT_IN_PLACE: &[Rule] = rules! {
    Sqlite [0, 0, 0] => Instant, "SQLite, 'Datatypes In SQLite': lengths and ranges are no part of a type, so nothing is done";
};

const CLEARED_IN_PLACE: &[Rule] = rules! {
    Sqlite [0, 0, 0] => Copy, "SQLite, 'UPDATE': reads the table; there is one writer at a time";
};

const VIEW: &[Rule] = rules! {
    MySql [0, 0, 0] => Instant, "MySQL Reference Manual, 'CREATE VIEW Statement': a change of the data dictionary";
    MariaDb [0, 0, 0] => Instant, "MariaDB Server documentation, 'CREATE VIEW'";
    Sqlite [0, 0, 0] => Instant, "SQLite, 'CREATE VIEW'";
    Postgres [0, 0, 0] => Instant, "PostgreSQL documentation, 'CREATE VIEW'";
};

impl SchemaChange {
    /// The rules about it, of each family in the order of their versions.
    pub(super) fn rules(&self) -> &'static [Rule] {
        match self {
            SchemaChange::CreateTable(_) => NEW_TABLE,
            SchemaChange::DropTable(_) => NO_TABLE,
            SchemaChange::RenameTable { .. } => CATALOG_ONLY,
            SchemaChange::AddColumn { .. } => ADD_COLUMN,
            SchemaChange::DropColumn { .. } => DROP_COLUMN,
            SchemaChange::RenameColumn { .. } => RENAME_COLUMN,
            SchemaChange::Retype { from, to, .. } if from.nullable != to.nullable && from.ty == to.ty => NULLABLE,
            SchemaChange::Retype { from, to, .. } if from.nullable == to.nullable && is_longer(from.ty, to.ty) => {
                LONGER_VARCHAR
            }
            SchemaChange::Retype { from, to, .. }
                if from.nullable == to.nullable && storage_class(from.ty) == storage_class(to.ty) =>
            {
                WIDER_TYPE
            }
            SchemaChange::Retype { .. } => OTHER_TYPE,
            SchemaChange::PrimaryKey { .. } => PRIMARY_KEY,
            SchemaChange::AddKey { .. } => ADD_KEY,
            SchemaChange::DropKey { .. } => DROP_KEY,
            SchemaChange::RenameKey { .. } => RENAME_KEY,
            SchemaChange::CreateView(_) | SchemaChange::DropView(_) => VIEW,
        }
    }

    /// The rules about it on servers of a family, where it is made together with `all` changes of a migration.
    pub(super) fn rules_on(&self, family: Family, all: &[SchemaChange]) -> impl Iterator<Item = &'static Rule> {
        let rules = match in_place(self, all).filter(|_| family.has_storage_classes()) {
            None if family == Family::Postgres && self.is_taken_as_stored() => TAKEN_AS_STORED,
            None => self.rules(),
            Some(ChangeReplacement::Nothing) => LEFT_IN_PLACE,
            Some(ChangeReplacement::Clear { .. }) => CLEARED_IN_PLACE,
        };
        rules.iter().filter(move |rule| rule.family == family)
    }

    /// Returns the cost on this server if the change is made together with `all` changes of a migration. A server older than the rules
    /// costs [`Cost::Copy`].
    pub fn cost(&self, server: ServerVersion, all: &[SchemaChange]) -> Cost {
        let rules = self.rules_on(server.family, all).filter(|rule| rule.since <= server.version);
        rules.last().map_or(Cost::Copy, |rule| rule.cost)
    }

    /// Returns true if data is lost: only a backup still has it, or readers miss it until it is backfilled again.
    pub fn is_destructive(&self) -> bool {
        match self {
            SchemaChange::DropTable(_) | SchemaChange::DropColumn { .. } => true,
            SchemaChange::Retype { from, to, .. } => retyping(from.ty, to.ty) != Retyping::Widened,
            _ => false,
        }
    }

    fn is_taken_as_stored(&self) -> bool {
        matches!(self, SchemaChange::Retype { from, to, .. } if is_taken_as_stored(from, to))
    }

    /// Returns true if a VARCHAR gets longer and MySQL stores its values as before.
    pub(super) fn is_longer_varchar(&self) -> bool {
        std::ptr::eq(self.rules(), LONGER_VARCHAR)
    }
}

/// Returns true if both are VARCHAR, `to` is not shorter, and InnoDB needs the same number of bytes for a value's length.
fn is_longer(from: SqlType, to: SqlType) -> bool {
    let short = |n: u16| u32::from(n) * ingester_core::schema::limits::CHARACTER_BYTES <= 255;
    matches!((from, to), (SqlType::VarChar(from), SqlType::VarChar(to)) if from <= to && short(from) == short(to))
}

impl ServerVersion {
    /// Parses what a server reports about itself: `10.11.6-MariaDB ...`, `8.4.3 MySQL Community Server`, `SQLite 3.46.0`,
    /// `PostgreSQL 15.20 (Debian 15.20-0+deb12u1) on x86_64-pc-linux-gnu, ...`.
    pub fn parse(text: &str) -> Self {
        let (family, version) = match text.strip_prefix("SQLite ") {
            Some(version) => (Family::Sqlite, version),
            None if text.starts_with("PostgreSQL ") => (Family::Postgres, text.trim_start_matches("PostgreSQL ")),
            None if text.contains("MariaDB") => (Family::MariaDb, text),
            None => (Family::MySql, text),
        };
        let version = version.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
        let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
        ServerVersion { family, version: std::array::from_fn(|_| parts.next().unwrap_or(0)) }
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Family::MySql => "MySQL",
            Family::MariaDb => "MariaDB",
            Family::Sqlite => "SQLite",
            Family::Postgres => "PostgreSQL",
        })
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Cost::Instant => "instant",
            Cost::InPlace => "in place",
            Cost::Copy => "copy",
        })
    }
}
