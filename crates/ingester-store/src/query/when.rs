//! A query that may name a moment: one interface for the present objects and for the objects at that moment.

use super::ask::{AskError, Explanation, Limits, Page, PreparedQuery, Reader, RequestedParts};
use super::at::PastQuery;
use super::found::FoundRow;
use crate::store::Store;
use ingester_core::Kind;
use ingester_sql::query::{CheckedQuery, Query, QueryError, TokenError};

/// A query about one kind, now or at the moment that it names, ready to run.
#[derive(Clone)]
pub enum TimedQuery<'s> {
    /// A query for the present objects.
    Now(PreparedQuery<'s>),
    /// A query for the objects at that moment.
    At(PastQuery<'s>),
}

impl Store {
    /// Prepares a query about a kind, at its moment if it names one.
    ///
    /// # Errors
    /// As [`Store::ask_about`] and [`Store::ask_at`].
    pub fn ask_when(&self, kind: &Kind, query: &Query, limits: Limits) -> Result<TimedQuery<'_>, QueryError> {
        Ok(match query.at {
            None => TimedQuery::Now(self.ask_about(kind, query, limits)?),
            Some(moment) => TimedQuery::At(self.ask_at(kind, query, moment.by(self.now()), limits)?),
        })
    }
}

impl<'s> TimedQuery<'s> {
    /// Returns the checked query for the main table.
    pub fn checked(&self) -> &CheckedQuery {
        match self {
            TimedQuery::Now(asked) => asked.checked(),
            TimedQuery::At(asked) => asked.checked(),
        }
    }

    /// Returns true if no key serves the query: it reads all rows or their texts.
    pub fn is_scan(&self) -> bool {
        match self {
            TimedQuery::Now(asked) => asked.is_scan(),
            TimedQuery::At(asked) => asked.is_scan(),
        }
    }

    /// Returns a page of up to `limit` objects: the first one, or the one of a token.
    ///
    /// # Errors
    /// [`AskError`] when the token is not from this query, or the database fails or takes too long.
    pub async fn page(&self, wanted: &RequestedParts, limit: usize, token: Option<&str>) -> Result<Page, AskError> {
        match self {
            TimedQuery::Now(asked) => asked.page(wanted, limit, token).await,
            // On the heap, because it is two pages.
            TimedQuery::At(asked) => Box::pin(asked.page(wanted, limit, token)).await,
        }
    }

    /// Reads all objects, in portions that are small in memory.
    ///
    /// # Errors
    /// [`TokenError`] when the token is not from this query; for a moment, the first portion reports it.
    pub fn reader(&self, wanted: &RequestedParts, token: Option<&str>) -> Result<TimedReader<'s>, TokenError> {
        Ok(match self {
            TimedQuery::Now(asked) => TimedReader(ReaderState::Now(Box::new(asked.reader(wanted, token)?))),
            TimedQuery::At(asked) => {
                let asked = Box::new(asked.clone());
                let wanted = wanted.clone();
                let token = token.map(str::to_owned);
                TimedReader(ReaderState::At { asked, wanted, token, ended: false })
            }
        })
    }

    /// Returns the number of objects.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn count(&self) -> Result<u64, AskError> {
        match self {
            TimedQuery::Now(asked) => asked.count().await,
            TimedQuery::At(asked) => asked.count().await,
        }
    }

    /// Returns the statements of a page of up to `limit` objects, the first one or the one of a token, with the database's plan for each.
    ///
    /// # Errors
    /// As [`TimedQuery::page`].
    pub async fn explain(
        &self,
        wanted: &RequestedParts,
        limit: usize,
        token: Option<&str>,
    ) -> Result<Vec<Explanation>, AskError> {
        let statements: &[&PreparedQuery<'_>] = match self {
            TimedQuery::Now(asked) => &[asked],
            TimedQuery::At(asked) => &asked.statements(),
        };
        let mut explained = Vec::with_capacity(statements.len());
        for asked in statements {
            explained.push(match token {
                Some(token) => asked.explain_after(wanted, limit, token).await?,
                None => asked.explain(wanted, limit).await?,
            });
        }
        Ok(explained)
    }
}

/// Reads the objects of a query, portion by portion.
pub struct TimedReader<'s>(ReaderState<'s>);

enum ReaderState<'s> {
    Now(Box<Reader<'s>>),
    /// Reads page after page.
    At {
        asked: Box<PastQuery<'s>>,
        wanted: RequestedParts,
        token: Option<String>,
        ended: bool,
    },
}

/// The most objects in a page at a moment, which two statements read.
const PAGE: usize = 500;

impl TimedReader<'_> {
    /// Returns the next objects; none at the end.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long. The caller can then request the same portion again.
    pub async fn next(&mut self) -> Result<Vec<FoundRow>, AskError> {
        match &mut self.0 {
            ReaderState::Now(reader) => reader.next().await,
            ReaderState::At { ended: true, .. } => Ok(Vec::new()),
            ReaderState::At { asked, wanted, token, ended } => {
                let Page { rows, next } = Box::pin(asked.page(wanted, PAGE, token.as_deref())).await?;
                *ended = next.is_none();
                *token = next;
                Ok(rows)
            }
        }
    }
}
