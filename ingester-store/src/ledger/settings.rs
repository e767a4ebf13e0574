//! The table `ingester_settings`: what a database is for, by name.

use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::kind::{Counted, Kind, Recipes};
use ingester_core::schema::{Fingerprint, Ident, SqlType};
use ingester_sql::dialect::Access;
use ingester_sql::dialect::SETTINGS;
use ingester_sql::dialect::statements::{
    ForgetSetting, LatestDefinition, ReadSetting, RecordSetting, ReplaceSetting, WriteSetting,
};
use std::collections::HashMap;

/// The setting with the uid of the cluster's namespace `kube-system`.
const CLUSTER: &str = "cluster";

/// The setting with what the names of the mirror's finalizer and annotations begin with; empty once they are removed.
const PREFIX: &str = "marks/prefix";

/// The setting with the random name of the database, which its ingesters share.
const NAME: &str = "members";

impl Store {
    /// The uid of the cluster that the database belongs to: the recorded one, else `uid`, which is recorded then. Of several ingesters that
    /// record one at the same time, one wins, and all of them get its uid.
    ///
    /// # Errors
    /// If the table is missing, or cannot be read or written within the retries.
    pub async fn claim_for_cluster(&self, uid: &str) -> Result<String, StoreError> {
        self.claim(CLUSTER, uid).await
    }

    /// What tells the database from every other one: the recorded name, else `name`, which is recorded then, as
    /// [`Store::claim_for_cluster`] does.
    ///
    /// # Errors
    /// As [`Store::claim_for_cluster`].
    pub async fn claim_name(&self, name: &str) -> Result<String, StoreError> {
        self.claim(NAME, name).await
    }

    /// The uid of the cluster that the database belongs to, if that is recorded.
    ///
    /// # Errors
    /// As [`Store::claim_for_cluster`].
    pub async fn cluster(&self) -> Result<Option<String>, StoreError> {
        let read = || async { self.setting(CLUSTER).await };
        self.with_retries(|| format!("reading the {CLUSTER} of this database in {SETTINGS}"), read).await
    }

    /// What the names of the finalizer and annotations of the database's objects begin with: the recorded prefix, which is empty if the
    /// finalizer was removed from all objects; `earlier` if a release before that has recorded its cluster alone; else `None`.
    ///
    /// # Errors
    /// As [`Store::claim_for_cluster`].
    pub async fn recorded_prefix(&self, earlier: &str) -> Result<Option<String>, StoreError> {
        let read = || async {
            Ok(match self.setting(PREFIX).await? {
                Some(prefix) => Some(prefix),
                None => self.setting(CLUSTER).await?.map(|_| earlier.to_owned()),
            })
        };
        self.with_retries(|| format!("reading {PREFIX} in {SETTINGS}"), read).await
    }

    /// Records a prefix in the place of what [`Store::recorded_prefix`] returned. False if that has changed meanwhile: nothing is recorded then.
    ///
    /// # Errors
    /// As [`Store::claim_for_cluster`].
    pub async fn record_prefix(&self, before: Option<&str>, prefix: &str) -> Result<bool, StoreError> {
        let record = || async {
            let written = match self.setting(PREFIX).await? {
                Some(from) if Some(from.as_str()) != before => return Ok(from == prefix),
                Some(from) => self.pool.execute(&ReplaceSetting { name: PREFIX, from: &from, to: prefix }).await,
                None => self.pool.execute(&RecordSetting { name: PREFIX, value: prefix }).await,
            };
            match written {
                Ok(rows) => Ok(rows == 1),
                // Another one was faster.
                Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Ok(false),
                Err(error) => Err(error),
            }
        };
        self.with_retries(|| format!("recording {PREFIX} in {SETTINGS}"), record).await
    }

    async fn claim(&self, name: &str, value: &str) -> Result<String, StoreError> {
        self.with_retries(
            || format!("reading the {name} of this database in {SETTINGS}"),
            || async {
                if let Some(recorded) = self.setting(name).await? {
                    return Ok(recorded);
                }
                match self.pool.execute(&RecordSetting { name, value }).await {
                    // Another one was faster.
                    Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                        self.setting(name).await?.ok_or(sqlx::Error::RowNotFound)
                    }
                    written => written.map(|_| value.to_owned()),
                }
            },
        )
        .await
    }

    pub(super) async fn setting(&self, name: &str) -> Result<Option<String>, sqlx::Error> {
        Ok(self.pool.fetch(&ReadSetting { name }).await?.pop())
    }

    /// Writes a setting that views read; `None` takes it away. Tells whether that changed anything.
    ///
    /// # Errors
    /// If the table is missing, or cannot be read or written within the retries.
    pub async fn set_for_views(&self, name: &str, value: Option<&str>) -> Result<bool, StoreError> {
        let write = || async {
            if self.setting(name).await?.as_deref() == value {
                return Ok(false);
            }
            match value {
                Some(value) => self.pool.execute(&WriteSetting { name, value }).await?,
                None => self.pool.execute(&ForgetSetting { name }).await?,
            };
            Ok(true)
        };
        self.with_retries(|| format!("writing the setting {name} in {SETTINGS}"), write).await
    }

    /// Which columns of a declared kind have values that stay, as they were recorded last; empty if none were.
    ///
    /// # Errors
    /// As [`Store::definition`].
    pub(crate) async fn stays(&self, kind: &Kind) -> Result<String, StoreError> {
        let name = stays_name(kind);
        let read = || async { self.setting(&name).await };
        Ok(self.with_retries(|| format!("reading {name} in {SETTINGS}"), read).await?.unwrap_or_default())
    }

    /// Records which columns of a declared kind have values that stay.
    ///
    /// # Errors
    /// As [`Store::definition`].
    pub(crate) async fn record_stays(&self, kind: &Kind, stays: &str) -> Result<(), StoreError> {
        let name = stays_name(kind);
        let record = || async {
            loop {
                let stored = self.setting(&name).await?;
                let written = match &stored {
                    Some(from) if from == stays => return Ok(()),
                    None if stays.is_empty() => return Ok(()),
                    Some(from) => self.pool.execute(&ReplaceSetting { name: &name, from, to: stays }).await,
                    None => self.pool.execute(&RecordSetting { name: &name, value: stays }).await,
                };
                match written {
                    Ok(1) => return Ok(()),
                    // Another one was faster.
                    Ok(_) => {}
                    Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {}
                    Err(error) => return Err(error),
                }
            }
        };
        self.with_retries(|| format!("recording {name} in {SETTINGS}"), record).await
    }

    /// The types that a table's columns were declared with last, as recorded, also those of many values; none if nothing is.
    ///
    /// # Errors
    /// As [`Store::definition`].
    pub(crate) async fn declared_types(&self, table: Ident) -> Result<Vec<(Ident, SqlType)>, StoreError> {
        let read = || async {
            let mut types = Vec::new();
            let mut place = 0;
            while let Some(value) = self.setting(&types_name(table, place)).await? {
                types.extend(value.split(',').filter_map(column_of));
                place += 1;
            }
            Ok(types)
        };
        self.with_retries(|| format!("reading the types of {table} in {SETTINGS}"), read).await
    }

    /// Records the types that the columns of a declared kind have, also those of many values.
    ///
    /// # Errors
    /// As [`Store::definition`].
    pub(crate) async fn record_declared_types(&self, kind: &Kind) -> Result<(), StoreError> {
        let table = kind.table();
        let columns = table.indexed().iter().map(|column| (column.name, column.ty));
        let columns: Vec<(Ident, SqlType)> =
            columns.chain(table.many.iter().map(|many| (many.name, many.ty()))).collect();
        if self.declared_types(table.name).await? == columns {
            return Ok(());
        }
        let values = of_columns(&columns);
        let record = || async {
            let mut tx = self.pool.begin(Access::Write).await?;
            let recorded = async {
                for (place, value) in values.iter().enumerate() {
                    tx.execute(&WriteSetting { name: &types_name(table.name, place), value }).await?;
                }
                let mut place = values.len();
                while tx.execute(&ForgetSetting { name: &types_name(table.name, place) }).await? > 0 {
                    place += 1;
                }
                Ok(())
            }
            .await;
            tx.end(recorded).await
        };
        self.with_retries(|| format!("recording the types of {} in {SETTINGS}", table.name), record).await
    }

    /// The number of a definition that the database counts, because no lock file does. `None` if the last definition that was
    /// recorded for the kind's table is another one, or none was.
    ///
    /// # Errors
    /// If the table of settings is missing, or cannot be read within the retries.
    pub(crate) async fn definition(
        &self,
        kind: &Kind,
        fingerprint: Fingerprint,
        recipes: &Recipes,
    ) -> Result<Option<Counted>, StoreError> {
        let name = definition_name(kind);
        let read = || async {
            let recorded = self.setting(&name).await?.and_then(|value| Recorded::parse(&value));
            let Some(its) = recorded.filter(|its| its.fingerprint == fingerprint.to_string()) else { return Ok(None) };
            let known = self.recorded_recipes(kind, its.number).await?;
            Ok(Some(known.counted(its.number, recipes)))
        };
        self.with_retries(|| format!("reading {name} in {SETTINGS}"), read).await
    }

    /// The definition since which each recipe of a kind's table is unchanged, as recorded with the definition of this number.
    async fn recorded_recipes(&self, kind: &Kind, number: u32) -> Result<RecordedRecipes, sqlx::Error> {
        let mut recorded = RecordedRecipes::default();
        while let Some(value) = self.setting(&recipes_name(kind, recorded.settings)).await? {
            recorded.add(&value, number);
        }
        Ok(recorded)
    }

    /// The kind whose definition is recorded for the table of this one, as `Kind.group`, if it is another one.
    ///
    /// # Errors
    /// As [`Store::definition`].
    pub(crate) async fn other_owner(&self, kind: &Kind) -> Result<Option<String>, StoreError> {
        let name = definition_name(kind);
        let read = || async { self.setting(&name).await };
        let recorded = self.with_retries(|| format!("reading {name} in {SETTINGS}"), read).await?;
        let owner = recorded.as_deref().and_then(|value| value.split(' ').nth(2)).map(str::to_owned);
        Ok(owner.filter(|owner| *owner != format!("{}.{}", kind.kind(), kind.group())))
    }

    /// Forgets all that is recorded of a kind's table, which a file declared before: from now on another program counts its definitions.
    ///
    /// # Errors
    /// As [`Store::definition`].
    pub(crate) async fn forget_declared(&self, kind: &Kind) -> Result<(), StoreError> {
        let name = definition_name(kind);
        let forget = || async {
            let mut tx = self.pool.begin(Access::Write).await?;
            let forgotten = async {
                for name in [name.clone(), stays_name(kind)] {
                    tx.execute(&ForgetSetting { name: &name }).await?;
                }
                let mut place = 0;
                while tx.execute(&ForgetSetting { name: &recipes_name(kind, place) }).await? > 0 {
                    place += 1;
                }
                place = 0;
                while tx.execute(&ForgetSetting { name: &types_name(kind.table().name, place) }).await? > 0 {
                    place += 1;
                }
                Ok(())
            }
            .await;
            tx.end(forgotten).await
        };
        self.with_retries(|| format!("forgetting {name} in {SETTINGS}"), forget).await
    }

    /// Whether a file has declared the kind whose rows a table has.
    ///
    /// # Errors
    /// As [`Store::definition`].
    pub(crate) async fn is_recorded(&self, kind: &Kind) -> Result<bool, StoreError> {
        let name = definition_name(kind);
        let read = || async { self.setting(&name).await };
        let recorded = self.with_retries(|| format!("reading {name} in {SETTINGS}"), read).await?;
        Ok(recorded.is_some_and(|value| value != RENAMED))
    }

    /// Forgets the number of the last definition of a table that takes the place of another one: its rows say which definition made them.
    ///
    /// # Errors
    /// As [`Store::definition`].
    pub(crate) async fn forget_definition(&self, table: &str) -> Result<(), StoreError> {
        let name = format!("definition/{table}");
        let forget = || async {
            if let Some(from) = self.setting(&name).await?.filter(|value| value != RENAMED) {
                self.pool.execute(&ReplaceSetting { name: &name, from: &from, to: RENAMED }).await?;
            }
            Ok(())
        };
        self.with_retries(|| format!("recording {name} in {SETTINGS}"), forget).await
    }

    /// Records a definition as the last one of its kind's table, and tells its number: one more than that of the definition before. Of its
    /// parts, those that the definition before had in the same way keep their numbers.
    ///
    /// # Errors
    /// As [`Store::definition`].
    pub(crate) async fn record_definition(
        &self,
        kind: &Kind,
        fingerprint: Fingerprint,
        recipes: &Recipes,
    ) -> Result<Counted, StoreError> {
        let name = definition_name(kind);
        let fingerprint = fingerprint.to_string();
        let of = format!("{}.{}", kind.kind(), kind.group());
        let record = || async {
            loop {
                let stored = self.setting(&name).await?;
                let last = stored.as_deref().and_then(Recorded::parse);
                let known = match &last {
                    Some(last) => self.recorded_recipes(kind, last.number).await?,
                    None => RecordedRecipes::default(),
                };
                let same = last.as_ref().filter(|last| last.fingerprint == fingerprint);
                let number = match (same, &last) {
                    (Some(same), _) => same.number,
                    (None, Some(last)) => last.number.saturating_add(1),
                    // Rows of another program, or of a table that had another name, have older definitions.
                    (None, None) => {
                        let latest =
                            self.pool.fetch(&LatestDefinition { table: kind.table() }).await?.pop().unwrap_or(0);
                        u32::try_from(latest).unwrap_or(u32::MAX - 1).saturating_add(1)
                    }
                };
                // Where an earlier release has recorded only the whole, all its parts are as old as the whole.
                let counted = known.counted(number, recipes);
                let values = to_record(&counted, recipes);
                if same.is_some() && known.values == values {
                    return Ok(counted);
                }
                let value = format!("{} {fingerprint} {of}", counted.number);
                let value: String = value.chars().take(VALUE).collect();
                let mut tx = self.pool.begin(Access::Write).await?;
                let written = async {
                    let written = match &stored {
                        Some(from) => tx.execute(&ReplaceSetting { name: &name, from, to: &value }).await,
                        None => tx.execute(&RecordSetting { name: &name, value: &value }).await,
                    };
                    // Another one was faster.
                    if written? != 1 {
                        return Ok(false);
                    }
                    // The row of the definition is locked from here on, so these belong to it.
                    for (place, value) in values.iter().enumerate() {
                        tx.execute(&WriteSetting { name: &recipes_name(kind, place), value }).await?;
                    }
                    for place in values.len()..known.settings {
                        tx.execute(&ForgetSetting { name: &recipes_name(kind, place) }).await?;
                    }
                    Ok(true)
                }
                .await;
                match tx.end(written).await {
                    Ok(true) => return Ok(counted),
                    // Another one was faster.
                    Ok(false) => {}
                    Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {}
                    Err(error) => return Err(error),
                }
            }
        };
        self.with_retries(|| format!("recording {name} in {SETTINGS}"), record).await
    }
}

/// In place of a definition: the table has the rows of another one.
const RENAMED: &str = "renamed";

/// Characters of a value.
const VALUE: usize = 256;

/// The setting with the last definition of a kind that no lock file counts. A table's name has 52 characters at most.
fn definition_name(kind: &Kind) -> String {
    format!("definition/{}", kind.table().name)
}

/// The setting with the columns of a declared kind whose values stay.
fn stays_name(kind: &Kind) -> String {
    format!("stays/{}", kind.table().name)
}

/// A setting with recipes of a declared kind. A table's name has 52 characters at most, and a table 1,017 columns.
fn recipes_name(kind: &Kind, place: usize) -> String {
    format!("recipes/{}/{place}", kind.table().name)
}

/// A setting with types of a declared kind's columns. A table's name has 52 characters at most, and a table 1,017 columns.
fn types_name(table: Ident, place: usize) -> String {
    format!("types/{table}/{place}")
}

/// Columns with their types, as many in each setting as fit.
fn of_columns(columns: &[(Ident, SqlType)]) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for (name, ty) in columns {
        let entry = format!("{name} {ty}");
        match values.last_mut() {
            Some(last) if last.len() + 1 + entry.len() <= VALUE => {
                last.push(',');
                last.push_str(&entry);
            }
            _ => values.push(entry),
        }
    }
    values
}

/// A column of such a setting.
fn column_of(entry: &str) -> Option<(Ident, SqlType)> {
    let (name, ty) = entry.split_once(' ')?;
    Some((Ident::parse(name).ok()?, SqlType::try_parse(ty)?))
}

/// Recipes that a setting has room for: 16 digits, a number of up to 10, and two blanks each, behind the number of the definition.
const RECIPES: usize = 8;

/// The settings with the recipes of a definition: its number, and then each fingerprint with the number since which it is unchanged.
fn to_record(counted: &Counted, recipes: &Recipes) -> Vec<String> {
    let row = (recipes.row, counted.row);
    let of_columns = recipes.columns.iter().zip(&counted.columns).map(|((_, recipe), (_, since))| (*recipe, *since));
    let all: Vec<(Fingerprint, u32)> = std::iter::once(row).chain(of_columns).collect();
    let setting = |some: &[(Fingerprint, u32)]| {
        some.iter().fold(counted.number.to_string(), |text, (recipe, since)| format!("{text} {recipe} {since}"))
    };
    all.chunks(RECIPES).map(setting).collect()
}

/// What is recorded about the recipes of a definition.
#[derive(Default)]
struct RecordedRecipes {
    /// How many settings there are.
    settings: usize,
    /// Those that were recorded with the definition.
    values: Vec<String>,
    /// Each recipe, and the definition since which it is unchanged.
    since: HashMap<String, u32>,
}

impl RecordedRecipes {
    /// Adds a setting. One of another definition does not count: an earlier release has recorded the definition without its recipes.
    fn add(&mut self, value: &str, number: u32) {
        self.settings += 1;
        let mut words = value.split(' ');
        if words.next() != Some(number.to_string().as_str()) {
            return;
        }
        self.values.push(value.to_owned());
        while let (Some(recipe), Some(since)) = (words.next(), words.next()) {
            if let Ok(since) = since.parse() {
                self.since.insert(recipe.to_owned(), since);
            }
        }
    }

    /// A definition with this number: what is not recorded is unchanged since then.
    fn counted(&self, number: u32, recipes: &Recipes) -> Counted {
        let since = |recipe: Fingerprint| self.since.get(&recipe.to_string()).copied().unwrap_or(number).min(number);
        let columns: Vec<(Ident, u32)> = recipes.columns.iter().map(|(name, recipe)| (*name, since(*recipe))).collect();
        Counted { number, row: since(recipes.row), columns }
    }
}

/// What such a setting has: a number, a fingerprint, and the kind for people.
struct Recorded {
    number: u32,
    fingerprint: String,
}

impl Recorded {
    fn parse(value: &str) -> Option<Self> {
        let mut words = value.split(' ');
        Some(Recorded { number: words.next()?.parse().ok()?, fingerprint: words.next()?.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::{Ident, SqlType, VALUE, column_of, of_columns};

    #[test]
    fn types_of_any_number_of_columns_are_read_as_they_were_written() {
        let long = Ident::new(&"x".repeat(63));
        let mut columns = vec![(long, SqlType::BigIntUnsigned); 7];
        columns.extend([(Ident::new("a"), SqlType::VarChar(40)), (Ident::new("b"), SqlType::DateTime)]);
        let values = of_columns(&columns);
        assert!(values.len() > 1 && values.iter().all(|value| value.len() <= VALUE), "{values:?}");
        let read: Vec<(Ident, SqlType)> =
            values.iter().flat_map(|value| value.split(',')).filter_map(column_of).collect();
        assert_eq!(read, columns);
        assert!(of_columns(&[]).is_empty());
    }
}
