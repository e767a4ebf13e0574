//! SQL as data and as text, without any input or output: the schema of a registry's tables and its changes ([`ddl`]), queries about
//! the rows of a kind ([`query`]), and the text of every statement in each database's [`dialect`].
//!
//! A crate of annotated structs does not need it; a program that asks a store by a [`query::Query`] does.

pub mod ddl;
pub mod dialect;
#[cfg(test)]
#[path = "../../../ingester-core/src/fixture.rs"]
mod fixture;
pub mod query;
