//! The store on every database: the same sentences on SQLite, MariaDB and MySQL.

mod guard;
mod race;
mod refusals;
mod rows;
mod schema;
mod world;
