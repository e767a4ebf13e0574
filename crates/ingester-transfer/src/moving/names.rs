//! Finds names that differ only in case. The reference system's collation treats them as one name, and Kubernetes has never had both.

use super::other::{Layout, OtherTable};
use super::{HEADS, MoveError, Pass};
use ingester_core::schema::base;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Names of a kind's live rows that differ only in case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameName {
    /// The kind.
    pub kind: &'static str,
    /// The stored names, each as `namespace/name`.
    pub names: Vec<String>,
}

impl Pass<'_> {
    /// Returns the names of the reference system's rows that differ only in case, without writing anything. It reads the first columns of
    /// all rows once, and a second time if a name has capitals. An ingester's tables have none.
    ///
    /// # Errors
    /// If the source does not answer.
    pub async fn same_names(&self) -> Result<Vec<SameName>, MoveError> {
        let mut all = Vec::new();
        for table in self.source.tables.iter().filter(|table| table.layout == Layout::Reference) {
            // Names in Kubernetes have no capitals, so remember only names that have one.
            let mut asked = HashSet::new();
            self.names(table, |name| {
                let lower = name.to_lowercase();
                if lower != name {
                    asked.insert(lower);
                }
            })
            .await?;
            let mut spelled: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            if !asked.is_empty() {
                self.names(table, |name| {
                    let lower = name.to_lowercase();
                    if asked.contains(&lower) {
                        spelled.entry(lower).or_default().insert(name);
                    }
                })
                .await?;
            }
            let several = spelled.into_values().filter(|names| names.len() > 1);
            all.extend(several.map(|names| SameName { kind: table.kind.name(), names: names.into_iter().collect() }));
        }
        Ok(all)
    }

    /// Calls `each` with the name of every row that is not deleted.
    async fn names(&self, table: &OtherTable, mut each: impl FnMut(String)) -> Result<(), MoveError> {
        let mut after = String::new();
        while !self.stop.is_cancelled() {
            let heads = self.source.heads(table, &after, HEADS).await.map_err(MoveError::OtherDatabase)?;
            let Some(last) = heads.last() else { break };
            after = last.get_text(base::UID).to_owned();
            for head in heads.iter().filter(|head| !head.is_deleted()) {
                each(format!("{}/{}", head.get_text(base::NAMESPACE), head.get_text(base::NAME)));
            }
        }
        Ok(())
    }
}
