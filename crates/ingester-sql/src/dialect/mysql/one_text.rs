//! Writes statements as one text, with the values of the parameters in it.

use super::inline::{room, write};
use super::session::begin;
use crate::dialect::{Access, Param, Sql, TransactionForm};

pub(super) fn in_one_text(form: TransactionForm, statements: &[(Sql, Vec<Param<'_>>)]) -> Sql {
    let bytes: usize =
        statements.iter().map(|(sql, params)| sql.as_str().len() + params.iter().map(room).sum::<usize>()).sum();
    let mut text = String::with_capacity(bytes + 128);
    let (before, after) = match form {
        TransactionForm::Sequence => ([begin(Access::Write), "; "].concat(), "COMMIT"),
        TransactionForm::Compound => (["BEGIN NOT ATOMIC ", begin(Access::Write), "; "].concat(), "COMMIT; END"),
        TransactionForm::Last => (String::new(), "COMMIT"),
    };
    text.push_str(&before);
    for (sql, params) in statements {
        write(&mut text, sql, params);
        text.push_str("; ");
    }
    text.push_str(after);
    Sql::new(text)
}
