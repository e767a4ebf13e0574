//! PostgreSQL's errors: their classes, and what a person can do about them.

use crate::driver::error::POOLER;
use crate::driver::facts::{ErrorClass, ErrorSubject, Facts};
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgDatabaseError, PgSeverity};

/// The class of an error, the remedy, and the subject.
type Classification = (ErrorClass, Option<&'static str>, Option<ErrorSubject>);

/// Returns the facts about an error; `None` if another database reports it.
pub(crate) fn facts(error: &dyn DatabaseError) -> Option<Facts> {
    let error = error.try_downcast_ref::<PgDatabaseError>()?;
    let (class, hint, about) = classify(error.code(), error.routine(), error.constraint());
    Some(Facts { class, hint: hint.map(Into::into), about, why_json: None })
}

/// Returns true if the error ends the connection.
pub(super) fn is_end(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => error
            .try_downcast_ref::<PgDatabaseError>()
            .is_some_and(|error| matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic)),
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => true,
        _ => false,
    }
}

/// Returns true if a lock was not granted in time.
pub(super) fn is_late(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.code().as_deref() == Some("55P03"))
}

/// The rights that the ingester needs.
const NEEDS: &str = "the ingester needs USAGE on the schema and SELECT, INSERT, UPDATE and DELETE on its tables; to make tables CREATE on the \
                     schema, and to change them it has to own them";

const MISSING: &str =
    "the schema is not there: make it with `ingester schema apply`, or pipe `ingester schema print` into the client";

/// Classifies by the SQLSTATE (PostgreSQL documentation, "PostgreSQL Error Codes"), by the server's function that reports the error, and by
/// the violated constraint.
fn classify(code: &str, routine: Option<&str>, constraint: Option<&str>) -> Classification {
    use ErrorClass::{Object, Operator, Transient, Unknown};
    match code {
        // The server ended the statement because it took too long, or was asked to.
        "57014" => (
            Transient,
            Some("the server ended the statement: raise statement_timeout of this user or database"),
            Some(ErrorSubject::Time),
        ),
        // Too many connections.
        "53300" => (Transient, Some("raise the server's max_connections, or lower mysql.maxOpenConns"), None),
        "53100" => (Operator, Some("make room on the database's disk"), Some(ErrorSubject::Storage)),
        "58030" | "XX001" | "XX002" => {
            (Operator, Some("reading or writing a file failed: see the server's log"), Some(ErrorSubject::Storage))
        }
        "25006" => (
            Transient,
            Some("the server is read-only: name the primary, or wait for the fail-over"),
            Some(ErrorSubject::Stale),
        ),
        // A prepared statement is unknown, or exists already: something exchanges the connections to the server behind this one.
        "26000" | "42P05" => (Transient, Some(POOLER), Some(ErrorSubject::Stale)),
        // A table was changed, and a prepared statement would have other columns now.
        "0A000" if routine == Some("RevalidateCachedQuery") => (Transient, None, Some(ErrorSubject::Stale)),
        "42501" => (Operator, Some(NEEDS), Some(ErrorSubject::Right)),
        "42P01" | "3F000" => (Operator, Some(MISSING), Some(ErrorSubject::Table)),
        "42703" | "42804" => {
            (Operator, Some("the tables are of another release than this ingester: see `ingester schema verify`"), None)
        }
        "3D000" => (Operator, Some("create the database first: CREATE DATABASE name ENCODING 'UTF8'"), None),
        // Two programs have created or changed the same table or key at the same time: `IF NOT EXISTS` checks before it creates.
        "42P07" | "42710"
            if routine
                .is_some_and(|name| ["heap_create_with_catalog", "index_create", "TypeCreate"].contains(&name)) =>
        {
            (Transient, None, None)
        }
        "23505" if constraint.is_some_and(|name| name.starts_with("pg_")) => (Transient, None, None),
        "XX000" if routine.is_some_and(|name| name.starts_with("simple_heap_")) => (Transient, None, None),
        // A lock that was not granted in time, or by this statement; an object that is in use.
        "55P03" | "55006" => (Transient, None, None),
        _ => match code.get(..2).unwrap_or_default() {
            // The connection; the transaction, in a state that the statement does not fit, or rolled back by the server; resources; an
            // operator who stops the server or ends a connection.
            "08" | "25" | "40" | "53" | "57" => (Transient, None, None),
            "28" => {
                let hint = "check user and password of the URL, and the server's pg_hba.conf";
                (Operator, Some(hint), Some(ErrorSubject::Login))
            }
            // Data exceptions, violated constraints, limits of the program.
            "22" | "23" | "54" => (Object, None, None),
            _ => (Unknown, None, None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::classify;
    use crate::driver::facts::{ErrorClass, ErrorSubject};

    #[test]
    fn errors_are_classified_by_their_sqlstate() {
        use ErrorClass::{Object, Operator, Transient, Unknown};
        for (code, class, about) in [
            // Serialization, deadlock, lock_timeout, cancelled, shutdown, crash, starting.
            ("40001", Transient, None),
            ("40P01", Transient, None),
            ("55P03", Transient, None),
            ("57014", Transient, Some(ErrorSubject::Time)),
            ("57P01", Transient, None),
            ("57P02", Transient, None),
            ("57P03", Transient, None),
            ("08006", Transient, None),
            ("53300", Transient, None),
            ("25006", Transient, Some(ErrorSubject::Stale)),
            ("25P03", Transient, None),
            ("26000", Transient, Some(ErrorSubject::Stale)),
            ("53100", Operator, Some(ErrorSubject::Storage)),
            ("42501", Operator, Some(ErrorSubject::Right)),
            ("42P01", Operator, Some(ErrorSubject::Table)),
            ("42703", Operator, None),
            ("28P01", Operator, Some(ErrorSubject::Login)),
            ("28000", Operator, Some(ErrorSubject::Login)),
            ("3D000", Operator, None),
            // Too long, not JSON, not UTF-8, NULL, CHECK, too much for an index, too deep.
            ("22001", Object, None),
            ("22P02", Object, None),
            ("22021", Object, None),
            ("22P05", Object, None),
            ("23502", Object, None),
            ("23514", Object, None),
            ("54000", Object, None),
            ("54001", Object, None),
            ("XX000", Unknown, None),
            ("0A000", Unknown, None),
            ("", Unknown, None),
        ] {
            let (is, _, is_about) = classify(code, None, None);
            assert_eq!((is, is_about), (class, about), "{code}");
        }
    }

    #[test]
    fn two_programs_that_define_the_same_at_a_time_try_again() {
        assert_eq!(classify("23505", None, Some("pg_type_typname_nsp_index")).0, ErrorClass::Transient);
        assert_eq!(classify("42710", Some("heap_create_with_catalog"), None).0, ErrorClass::Transient);
        assert_eq!(classify("42P07", Some("RenameRelationInternal"), None).0, ErrorClass::Unknown);
        assert_eq!(classify("23505", None, Some("model_pkey")).0, ErrorClass::Object);
        assert_eq!(classify("XX000", Some("simple_heap_update"), None).0, ErrorClass::Transient);
        assert_eq!(classify("0A000", Some("RevalidateCachedQuery"), None).2, Some(ErrorSubject::Stale));
    }
}
