//! The rows of a question, in portions.

use super::question::Question;
use crate::arguments::Get;
use ingester_core::schema::base;
use ingester_store::query::{AskError, FoundRow, RequestedParts, TimedQuery, TimedReader};
use std::collections::HashMap;

/// Reads rows until the limit or the end.
pub(super) struct Rows<'a> {
    asked: &'a TimedQuery<'a>,
    wanted: RequestedParts,
    reading: RowSource<'a>,
    /// The last row, while a newer one of its name may follow.
    held: Option<FoundRow>,
    newest: bool,
    /// The first portion has all rows, in the order of these names. The rows of a repeated name are repeated.
    names: Option<&'a [String]>,
}

/// The source of rows.
enum RowSource<'a> {
    /// All rows.
    All(Box<TimedReader<'a>>),
    /// Pages. The token is the beginning of the next page.
    Pages { limit: Option<usize>, left: usize, next: NextPage },
}

/// The rows after a page.
enum NextPage {
    /// The page of this token, or the first one.
    Page(Option<String>),
    Nothing,
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        asked: &'a TimedQuery<'a>,
        wanted: RequestedParts,
        arguments: &Get,
        question: &'a Question,
    ) -> Result<Self, AskError> {
        let limit = arguments.limit.map(|limit| limit as usize);
        let reading = if limit.is_some() || arguments.chunk_size > 0 {
            RowSource::Pages { limit, left: limit.unwrap_or(usize::MAX), next: NextPage::Page(arguments.token.clone()) }
        } else {
            RowSource::All(Box::new(asked.reader(&wanted, arguments.token.as_deref())?))
        };
        let newest = question.newest && limit.is_none() && !arguments.watch;
        let whole = arguments.limit.is_none() && arguments.token.is_none() && !arguments.watch;
        let names = (question.by_name && whole).then_some(&question.names[..]);
        Ok(Rows { asked, wanted, reading, held: None, newest, names })
    }

    /// The first portion, of at least this many rows if they exist.
    pub(super) async fn first(&mut self, least: usize) -> Result<Vec<FoundRow>, AskError> {
        // Read all rows if they must be ordered.
        let least = if self.names.is_some() { usize::MAX } else { least };
        let mut rows = Vec::new();
        while rows.len() < least {
            let portion = self.next().await?;
            if portion.is_empty() {
                break;
            }
            rows.extend(portion);
        }
        Ok(match self.names {
            Some(names) if rows.len() > 1 || names.len() > 1 => {
                let mut by_name: HashMap<String, Vec<FoundRow>> = HashMap::new();
                for row in rows {
                    by_name.entry(row.get_text(base::NAME).to_owned()).or_default().push(row);
                }
                names.iter().flat_map(|name| by_name.get(name).into_iter().flatten().cloned()).collect()
            }
            _ => rows,
        })
    }

    /// The next portion; empty at the end.
    pub(super) async fn next(&mut self) -> Result<Vec<FoundRow>, AskError> {
        loop {
            let rows = self.read().await?;
            if !self.newest {
                return Ok(rows);
            }
            if rows.is_empty() {
                return Ok(self.held.take().into_iter().collect());
            }
            let kept = self.newest_of(rows);
            if !kept.is_empty() {
                return Ok(kept);
            }
        }
    }

    /// The newest of adjacent rows with the same namespace and name.
    fn newest_of(&mut self, rows: Vec<FoundRow>) -> Vec<FoundRow> {
        let version = |row: &FoundRow| match row.get(base::RES_VERSION) {
            Some(ingester_core::value::Value::UInt(version)) => *version,
            _ => 0,
        };
        let age = |row: &FoundRow| (row.time(base::CREATE_TIME), version(row));
        let name = |row: &FoundRow| (row.get_text(base::NAMESPACE).to_owned(), row.get_text(base::NAME).to_owned());
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            match self.held.take() {
                Some(held) if name(&held) == name(&row) => {
                    self.held = Some(if age(&held) > age(&row) { held } else { row });
                }
                held => {
                    kept.extend(held);
                    self.held = Some(row);
                }
            }
        }
        kept
    }

    async fn read(&mut self) -> Result<Vec<FoundRow>, AskError> {
        match &mut self.reading {
            RowSource::All(reader) => reader.next().await,
            RowSource::Pages { left: 0, .. } | RowSource::Pages { next: NextPage::Nothing, .. } => Ok(Vec::new()),
            RowSource::Pages { left, next, .. } => {
                let NextPage::Page(token) = &*next else { return Ok(Vec::new()) };
                let page = self.asked.page(&self.wanted, *left, token.as_deref()).await?;
                *left = left.saturating_sub(page.rows.len());
                *next = page.next.map_or(NextPage::Nothing, |token| NextPage::Page(Some(token)));
                Ok(page.rows)
            }
        }
    }

    /// The token of the rows after the limit, if there are more.
    pub(super) fn more(&self) -> Option<String> {
        match &self.reading {
            RowSource::Pages { next: NextPage::Page(token), .. } => token.clone(),
            _ => None,
        }
    }

    /// Continues after the limit, up to the limit again.
    pub(super) fn go_on(&mut self, token: String) {
        if let RowSource::Pages { limit, left, next } = &mut self.reading {
            *left = limit.unwrap_or(usize::MAX);
            *next = NextPage::Page(Some(token));
        }
    }
}
