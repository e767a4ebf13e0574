//! SQLite's errors: their classes, and what a person can do about them.

use crate::driver::facts::{ErrorClass, ErrorSubject, Facts};
use sqlx::error::DatabaseError;
use sqlx::sqlite::SqliteError;

/// The class of an error, and the remedy.
type Classification = (ErrorClass, Option<&'static str>);

/// Returns the facts about an error; `None` if another database reports it.
pub(crate) fn facts(error: &dyn DatabaseError) -> Option<Facts> {
    let error = error.try_downcast_ref::<SqliteError>()?;
    let code = primary_code(error);
    let (class, hint) = classify(code, error.message());
    let about = match code {
        INTERRUPTED => Some(ErrorSubject::Time),
        code if STORAGE.contains(&code) => Some(ErrorSubject::Storage),
        1 if error.message().starts_with(NO_TABLE) => Some(ErrorSubject::Table),
        _ => None,
    };
    Some(Facts { class, hint: hint.map(Into::into), about, why_json: None })
}

/// Returns true if another connection holds a lock on the file.
pub(super) fn is_locked(error: &sqlx::Error) -> bool {
    code_of(error).is_some_and(|code| LOCKED.contains(&code))
}

fn code_of(error: &sqlx::Error) -> Option<u32> {
    error.as_database_error()?.try_downcast_ref::<SqliteError>().map(primary_code)
}

/// SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL.
const LOCKED: [u32; 3] = [5, 6, 15];

/// SQLITE_READONLY.
const READ_ONLY: u32 = 8;

/// SQLITE_CANTOPEN.
const CANNOT_OPEN: u32 = 14;

/// SQLITE_INTERRUPT.
const INTERRUPTED: u32 = 9;

/// SQLite's primary result codes about its disk and file: IOERR, CORRUPT, FULL.
const STORAGE: [u32; 3] = [10, 11, FULL];

/// SQLite's message about a missing table.
const NO_TABLE: &str = "no such table";

/// SQLITE_FULL.
const FULL: u32 = 13;

/// SQLITE_IOERR_SHMSIZE: the index of the write-ahead log cannot grow.
const NO_ROOM_FOR_INDEX: u32 = 10 | 19 << 8;

/// Returns the primary result code, which is the lower byte of an extended one; 1 (SQLITE_ERROR) if there is none. A disk without room for
/// the index of the log is a full disk, too.
fn primary_code(error: &SqliteError) -> u32 {
    match error.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or(1) {
        NO_ROOM_FOR_INDEX => FULL,
        code => code & 0xff,
    }
}

/// Classifies SQLite's result codes ("Result and Error Codes").
fn classify(code: u32, message: &str) -> Classification {
    match code {
        code if LOCKED.contains(&code) => {
            (ErrorClass::Transient, Some("another program holds the database; close it or wait"))
        }
        // Interrupted; out of memory; the schema was changed meanwhile.
        4 | 7 | 9 | 17 => (ErrorClass::Transient, None),
        READ_ONLY => (
            ErrorClass::Operator,
            Some(
                "the file or its folder is read-only: allow writing, or name another file with --database-url sqlite://FILE",
            ),
        ),
        FULL => (
            ErrorClass::Operator,
            Some(
                "the disk is full, or `ulimit -f` is reached: make room, or name a file elsewhere with --database-url sqlite://FILE",
            ),
        ),
        10 => (
            ErrorClass::Operator,
            Some("reading or writing the file failed: check the disk's space and health, and `ulimit -f`"),
        ),
        CANNOT_OPEN => {
            (ErrorClass::Operator, Some("the file cannot be opened: does its folder exist, may this user write there?"))
        }
        11 | 26 => (
            ErrorClass::Operator,
            Some("the file is not an intact SQLite database: name another, or restore it from a backup"),
        ),
        3 | 23 => (ErrorClass::Operator, Some("this user may not do that with the file")),
        18 | 19 | 20 | 25 => (ErrorClass::Object, None),
        1 if message.starts_with(NO_TABLE) => {
            (ErrorClass::Operator, Some("the schema is not there: make it with `ingester import`"))
        }
        1 if message.contains("has no column") || message.starts_with("no such column") => {
            (ErrorClass::Operator, Some("the tables are of another version than this ingester"))
        }
        _ => (ErrorClass::Unknown, None),
    }
}
