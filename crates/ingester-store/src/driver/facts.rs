//! The facts about an error, independent of the database that reports it.

use std::borrow::Cow;

/// The class of an error. It decides about a retry; the error's text never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// It may pass without help: a deadlock, a lock wait, a lost connection, a server that is starting.
    Transient,
    /// The database refuses the object: too long, not valid JSON for it, out of range.
    Object,
    /// An operator must act: missing rights, a missing table, a full disk.
    Operator,
    /// This process shares the work, and its Lease has run out: it may not write, so the database was not asked.
    Lease,
    /// None of the known errors. It is blamed on the object if it lasts while other objects are stored.
    Unknown,
}

/// The subject of an error, if more than the class depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorSubject {
    /// The connection is useless, although it still answers: a new one may reach another server.
    Stale,
    /// No server of a list takes writes, and some answer: they may be electing a primary.
    Election,
    /// The user lacks a right.
    Right,
    /// The database refuses the user or the password of a new connection.
    Login,
    /// The database ended the statement because it took too long.
    Time,
    /// The disk.
    Storage,
    /// The database lacks a key that the statement names.
    Key,
    /// The database lacks a table that the statement names.
    Table,
}

/// A driver's knowledge about an error.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The error's class.
    pub(crate) class: ErrorClass,
    /// The remedy.
    pub(crate) hint: Option<Cow<'static, str>>,
    /// The subject.
    pub(crate) about: Option<ErrorSubject>,
    /// Finds the reason in the JSON of a column, if the database refuses it without saying why.
    pub(crate) why_json: Option<fn(&str) -> &'static str>,
}
