//! Two users, one of them hostile: the other is still served. Also the log lines of their requests.
//!
//! One test after the other, because some measure times, and all read the same log.
//!
//! | file | what it has |
//! |---|---|
//! | `world.rs` | a server over a database, its users and its API server |
//! | `log.rs` | the lines of the access log |
//! | `floods.rs` | floods of requests and of connections |
//! | `database.rs` | requests that take the database long |
//! | `writes.rs` | writes that outlive their requests |
//! | `lines.rs` | what is written about each request |

#![allow(clippy::unwrap_used, reason = "in a test a panic is how it fails")]

mod database;
mod floods;
mod lines;
mod log;
mod world;
mod writes;
