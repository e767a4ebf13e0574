//! Several rows of parameters in one statement.

use super::{Dialect, Param};
use ingester_core::schema::{Column, SqlType};
use std::borrow::Cow;

/// The types of a statement's rows of parameters. They are its last parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowsOf {
    /// How many parameters come before the rows.
    pub after: usize,
    /// The types of one row's parameters.
    pub types: Vec<SqlType>,
    /// Leave out rows with a value that the database cannot store, such as text with NUL.
    pub skips_unfit: bool,
    /// A row with a question mark for each parameter, and constants between them. Empty: nothing but parameters.
    pub shape: Cow<'static, str>,
}

impl RowsOf {
    /// Rows of parameters of these types, and nothing else.
    pub fn new(types: &[SqlType]) -> Self {
        RowsOf { types: types.to_vec(), ..RowsOf::default() }
    }

    /// Rows with these columns.
    pub fn columns(columns: &[Column]) -> Self {
        RowsOf { types: columns.iter().map(|column| column.ty).collect(), ..RowsOf::default() }
    }

    /// This number of rows: `(?, ?), (?, ?)`.
    pub(super) fn repeated(&self, count: usize) -> String {
        let row = if self.shape.is_empty() { &repeated("?", self.types.len()) } else { &*self.shape };
        repeated(&format!("({row})"), count)
    }

    /// The parameters, where the values of each column become one array.
    fn arrays<'a>(&self, mut params: Vec<Param<'a>>) -> Vec<Param<'a>> {
        let rows = params.split_off(self.after.min(params.len()));
        let width = self.types.len().max(1);
        let count = rows.len() / self.types.len().max(1);
        let mut columns: Vec<Vec<Param<'a>>> = self.types.iter().map(|_| Vec::with_capacity(count)).collect();
        for (place, param) in rows.into_iter().enumerate() {
            if let Some(column) = columns.get_mut(place % width) {
                column.push(param);
            }
        }
        params.extend(self.types.iter().zip(columns).map(|(ty, column)| Param::Array(*ty, column)));
        params
    }
}

/// A text repeated, with commas.
pub(super) fn repeated(text: &str, count: usize) -> String {
    let mut all = [text, ", "].concat().repeat(count);
    all.truncate(all.len().saturating_sub(", ".len()));
    all
}

impl Dialect {
    /// Parameters as this dialect takes them: lists and rows as arrays, or value by value.
    pub(super) fn arranged<'a>(self, params: Vec<Param<'a>>, rows: Option<RowsOf>) -> Vec<Param<'a>> {
        if self.facts().has_arrays {
            return match rows {
                Some(rows) => rows.arrays(params),
                None => params,
            };
        }
        if !params.iter().any(|param| matches!(param, Param::Texts(_))) {
            return params;
        }
        let mut all = Vec::with_capacity(params.len());
        for param in params {
            match param {
                Param::Texts(texts) => all.extend(texts.iter().map(|text| Param::Text(text))),
                one => all.push(one),
            }
        }
        all
    }
}
