//! What is known of an error, whichever database reports it.

use std::borrow::Cow;

/// What an error means for the work at hand. The class decides about a retry, never the error's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// It may pass by itself: a deadlock, a lock wait, a lost connection, a server that is starting.
    Transient,
    /// The database refuses the object: too long, not valid JSON for it, out of range.
    Object,
    /// An operator must act: missing rights, a missing table, a full disk.
    Operator,
    /// This process shares the work, and its Lease has run out: it may not write, so the database was not asked.
    Lease,
    /// None of the known errors. It becomes the object's if it lasts while other objects are stored.
    Unknown,
}

/// What an error is about, where more than its class depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
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
    /// A key that the statement names is not there.
    Key,
    /// A table that the statement names is not there.
    Table,
}

/// What a driver knows of an error.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// Its class.
    pub(crate) class: ErrorClass,
    /// What to do about it.
    pub(crate) hint: Option<Cow<'static, str>>,
    /// What it is about.
    pub(crate) about: Option<About>,
    /// Where the database refuses the JSON of a column without saying why: finds the reason in that JSON.
    pub(crate) why_json: Option<fn(&str) -> &'static str>,
}
