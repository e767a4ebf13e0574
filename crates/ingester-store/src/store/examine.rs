//! Examines a database before it is used, for an operator. Nothing is written.

use super::Store;
use crate::driver::{Answers, Finding, StoreError};
use ingester_sql::dialect::statements::{ReadGrants, ReadSize, ReadVariables};

impl Store {
    /// Examines the settings of the database and the rights of its user. The ingester's tables have these names. `defines` is true if this
    /// user changes tables as well.
    ///
    /// # Errors
    /// If the database does not answer, or does not tell its settings.
    pub async fn examine(&self, tables: Vec<String>, defines: bool) -> Result<Vec<Finding>, StoreError> {
        let read = async {
            let variables = self.pool.fetch(&ReadVariables).await?;
            let grants = self.pool.fetch(&ReadGrants).await?;
            let variables = variables.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
            Ok(Answers { variables, grants, tables, defines })
        };
        let answers = read.await;
        let answers =
            answers.map_err(|error| StoreError::from_sqlx("reading the settings of the database".to_owned(), error))?;
        Ok(self.pool.examine(&answers))
    }

    /// Returns how many bytes the database takes, as far as the server knows.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn size(&self) -> Result<u64, StoreError> {
        let size = self.pool.fetch(&ReadSize).await;
        let size = size.map_err(|error| StoreError::from_sqlx("reading the size of the database".to_owned(), error))?;
        Ok(size.first().copied().unwrap_or_default())
    }
}
