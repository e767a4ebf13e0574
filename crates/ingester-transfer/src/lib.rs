//! Brings objects into a [`Store`](ingester_store::Store): from files, and from another database.
//!
//! - [`import`] stores the objects of files.
//! - [`moving`] copies the rows of another database with their states.

pub mod import;
pub mod moving;
