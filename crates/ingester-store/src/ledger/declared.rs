//! Records about declared kinds in `ingester_settings`, because no lock file counts their definitions: the last definition of each kind,
//! the definition since which each of its recipes is unchanged, the types of its columns, and the columns whose values stay.

use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::kind::{Counted, Kind, Recipes};
use ingester_core::schema::{Fingerprint, Ident, SqlType};
use ingester_sql::dialect::Access;
use ingester_sql::dialect::SETTINGS;
use ingester_sql::dialect::statements::{
    ForgetSetting, LatestDefinition, ReadSettings, RecordSetting, ReplaceSetting, WriteSetting,
};
use std::collections::{BTreeMap, HashMap};

/// The prefixes of the names of these settings. The table follows.
const DEFINITIONS: &str = "definition/";
const STAYS: &str = "stays/";
const RECIPES: &str = "recipes/";
const TYPES: &str = "types/";

/// The records about all declared kinds, by the names of the settings.
#[derive(Debug, Default)]
pub(crate) struct DeclaredRecords(BTreeMap<String, String>);

impl DeclaredRecords {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns the values of settings that are numbered from 0, in order.
    fn numbered<'a>(&'a self, name: impl Fn(usize) -> String + 'a) -> impl Iterator<Item = &'a str> {
        (0..).map_while(move |place| self.get(&name(place)))
    }

    /// Returns true if a file has declared the kind whose rows are in the table.
    pub(crate) fn has(&self, kind: &Kind) -> bool {
        self.get(&definition_name(kind)).is_some_and(|value| value != RENAMED)
    }

    /// Returns the kind whose definition is recorded for this kind's table, as `Kind.group`, if it is another one.
    pub(crate) fn other_owner(&self, kind: &Kind) -> Option<&str> {
        let owner = self.get(&definition_name(kind))?.split(' ').nth(2)?;
        (owner != format!("{}.{}", kind.kind(), kind.group())).then_some(owner)
    }

    /// Returns the columns of a declared kind whose values stay, as recorded last; empty if none were.
    pub(crate) fn stays(&self, kind: &Kind) -> &str {
        self.get(&stays_name(kind)).unwrap_or_default()
    }

    /// Returns the last declared types of a table's columns, including columns of many values; none if nothing is recorded.
    pub(crate) fn types(&self, table: Ident) -> Vec<(Ident, SqlType)> {
        let values = self.numbered(move |place| types_name(table, place));
        values.flat_map(|value| value.split(',')).filter_map(column_of).collect()
    }

    /// Returns the number of a definition that the database counts, because no lock file does; `None` if the last definition that was
    /// recorded for the kind's table is another one, or none was.
    pub(crate) fn definition(&self, kind: &Kind, fingerprint: Fingerprint, recipes: &Recipes) -> Option<Counted> {
        let recorded = DefinitionRecord::parse(self.get(&definition_name(kind))?)?;
        let is_same = recorded.fingerprint == fingerprint.to_string();
        is_same.then(|| self.recipes(kind, recorded.number).counted(recorded.number, recipes))
    }

    /// Like [`DeclaredRecords::definition`], if all its recipes are recorded as well.
    pub(crate) fn whole_definition(&self, kind: &Kind, fingerprint: Fingerprint, recipes: &Recipes) -> Option<Counted> {
        let counted = self.definition(kind, fingerprint, recipes)?;
        (self.recipes(kind, counted.number).values == to_record(&counted, recipes)).then_some(counted)
    }

    /// Returns the definition since which each recipe of a kind's table is unchanged, as recorded with the definition of this number.
    fn recipes(&self, kind: &Kind, number: u32) -> RecordedRecipes {
        let mut recorded = RecordedRecipes::default();
        self.numbered(|place| recipes_name(kind, place)).for_each(|value| recorded.add(value, number));
        recorded
    }
}

impl Store {
    /// Reads the records about all declared kinds.
    ///
    /// # Errors
    /// If the table of settings is missing, or cannot be read within the retries.
    pub(crate) async fn declared_records(&self) -> Result<DeclaredRecords, StoreError> {
        let doing = || format!("reading what is recorded about declared kinds in {SETTINGS}");
        self.with_retries(doing, || self.read_declared_records()).await
    }

    async fn read_declared_records(&self) -> Result<DeclaredRecords, sqlx::Error> {
        let mut records = DeclaredRecords::default();
        for prefix in [DEFINITIONS, STAYS, RECIPES, TYPES] {
            records.0.extend(self.pool.fetch(&ReadSettings::below(prefix)).await?);
        }
        Ok(records)
    }

    /// Records the columns of a declared kind whose values stay.
    ///
    /// # Errors
    /// As [`Store::declared_records`].
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
                    // Another program was faster.
                    Ok(_) => {}
                    Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {}
                    Err(error) => return Err(error),
                }
            }
        };
        self.with_retries(|| format!("recording {name} in {SETTINGS}"), record).await
    }

    /// Records the types of a declared kind's columns, including columns of many values, unless the same ones are recorded.
    ///
    /// # Errors
    /// As [`Store::declared_records`].
    pub(crate) async fn record_declared_types(&self, kind: &Kind, before: &DeclaredRecords) -> Result<(), StoreError> {
        let table = kind.table();
        let columns = table.indexed().iter().map(|column| (column.name, column.ty));
        let columns: Vec<(Ident, SqlType)> =
            columns.chain(table.many.iter().map(|many| (many.name, many.ty()))).collect();
        if before.types(table.name) == columns {
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

    /// Forgets all records of a kind's table that a file declared before. From now on, another program counts its definitions.
    ///
    /// # Errors
    /// As [`Store::declared_records`].
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

    /// Forgets the number of the last definition of a table that takes the place of another one. Its rows tell which definition made them.
    ///
    /// # Errors
    /// As [`Store::declared_records`].
    pub(crate) async fn forget_definition(&self, table: &str) -> Result<(), StoreError> {
        let name = format!("{DEFINITIONS}{table}");
        let forget = || async {
            if let Some(from) = self.setting(&name).await?.filter(|value| value != RENAMED) {
                self.pool.execute(&ReplaceSetting { name: &name, from: &from, to: RENAMED }).await?;
            }
            Ok(())
        };
        self.with_retries(|| format!("recording {name} in {SETTINGS}"), forget).await?;
        self.forget_latest(table).await
    }

    /// Records a definition as the last one of its kind's table, and returns its number: one more than the definition before. Parts that
    /// are the same as in the definition before keep their numbers.
    ///
    /// # Errors
    /// As [`Store::declared_records`].
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
                let records = self.read_declared_records().await?;
                let stored = records.get(&name);
                let last = stored.and_then(DefinitionRecord::parse);
                let known = last.as_ref().map(|last| records.recipes(kind, last.number)).unwrap_or_default();
                let same = last.as_ref().filter(|last| last.fingerprint == fingerprint);
                let number = match (same, &last) {
                    (Some(same), _) => same.number,
                    (None, Some(last)) => last.number.saturating_add(1),
                    // Rows of another program, or of a table that had another name, have older definitions. Count on from them.
                    (None, None) => {
                        let of_rows = self.pool.fetch(&LatestDefinition { table: kind.table() }).await?.pop();
                        let of_rows = of_rows.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX - 1));
                        of_rows.max(self.used_definition(kind).await?.unwrap_or(0)).saturating_add(1)
                    }
                };
                // If an earlier release has recorded only the whole definition, all its parts are as old as the whole.
                let counted = known.counted(number, recipes);
                let values = to_record(&counted, recipes);
                if same.is_some() && known.values == values {
                    return Ok(counted);
                }
                let value = format!("{} {fingerprint} {of}", counted.number);
                let value: String = value.chars().take(VALUE).collect();
                let mut tx = self.pool.begin(Access::Write).await?;
                let written = async {
                    let written = match stored {
                        Some(from) => tx.execute(&ReplaceSetting { name: &name, from, to: &value }).await,
                        None => tx.execute(&RecordSetting { name: &name, value: &value }).await,
                    };
                    // Another program was faster.
                    if written? != 1 {
                        return Ok(false);
                    }
                    // From here on the row of the definition is locked, so these settings belong to it.
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
                    // Another program was faster.
                    Ok(false) => {}
                    Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {}
                    Err(error) => return Err(error),
                }
            }
        };
        self.with_retries(|| format!("recording {name} in {SETTINGS}"), record).await
    }
}

/// Recorded in place of a definition: the table has the rows of another one.
const RENAMED: &str = "renamed";

/// The most characters of a value.
const VALUE: usize = 256;

/// Returns the name of the setting with the last definition of a kind that no lock file counts. A table's name has 52 characters at most.
pub(super) fn definition_name(kind: &Kind) -> String {
    format!("{DEFINITIONS}{}", kind.table().name)
}

/// Returns the name of the setting with the columns of a declared kind whose values stay.
fn stays_name(kind: &Kind) -> String {
    format!("{STAYS}{}", kind.table().name)
}

/// Returns the name of a setting with recipes of a declared kind. A table's name has at most 52 characters, and a table at most 1,017
/// columns.
fn recipes_name(kind: &Kind, place: usize) -> String {
    format!("{RECIPES}{}/{place}", kind.table().name)
}

/// Returns the name of a setting with types of a declared kind's columns. A table's name has at most 52 characters, and a table at most
/// 1,017 columns.
fn types_name(table: Ident, place: usize) -> String {
    format!("{TYPES}{table}/{place}")
}

/// Returns columns with their types, as many in each setting as fit.
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

/// Parses a column of such a setting.
fn column_of(entry: &str) -> Option<(Ident, SqlType)> {
    let (name, ty) = entry.split_once(' ')?;
    Some((Ident::parse(name).ok()?, SqlType::try_parse(ty)?))
}

/// A setting has room for this many recipes: 16 digits, a number of up to 10, and two blanks each, behind the number of the definition.
const RECIPES_OF_ONE: usize = 8;

/// Returns the settings with the recipes of a definition: its number, and then each fingerprint with the number since which it is
/// unchanged.
fn to_record(counted: &Counted, recipes: &Recipes) -> Vec<String> {
    let row = (recipes.row, counted.row);
    let of_columns = recipes.columns.iter().zip(&counted.columns).map(|((_, recipe), (_, since))| (*recipe, *since));
    let all: Vec<(Fingerprint, u32)> = std::iter::once(row).chain(of_columns).collect();
    let setting = |some: &[(Fingerprint, u32)]| {
        some.iter().fold(counted.number.to_string(), |text, (recipe, since)| format!("{text} {recipe} {since}"))
    };
    all.chunks(RECIPES_OF_ONE).map(setting).collect()
}

/// The records about the recipes of a definition.
#[derive(Default)]
struct RecordedRecipes {
    /// The number of settings.
    settings: usize,
    /// The settings that were recorded with the definition.
    values: Vec<String>,
    /// Each recipe, and the definition since which it is unchanged.
    since: HashMap<String, u32>,
}

impl RecordedRecipes {
    /// Adds a setting. A setting of another definition does not count: an earlier release has recorded the definition without its recipes.
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

    /// Returns a definition with this number. Recipes without a record are unchanged since then.
    fn counted(&self, number: u32, recipes: &Recipes) -> Counted {
        let since = |recipe: Fingerprint| self.since.get(&recipe.to_string()).copied().unwrap_or(number).min(number);
        let columns: Vec<(Ident, u32)> = recipes.columns.iter().map(|(name, recipe)| (*name, since(*recipe))).collect();
        Counted { number, row: since(recipes.row), columns }
    }
}

/// The content of such a setting: a number, a fingerprint, and the kind for people.
struct DefinitionRecord {
    number: u32,
    fingerprint: String,
}

impl DefinitionRecord {
    fn parse(value: &str) -> Option<Self> {
        let mut words = value.split(' ');
        Some(DefinitionRecord { number: words.next()?.parse().ok()?, fingerprint: words.next()?.to_owned() })
    }
}

/// Returns the number of a definition that such a setting records.
pub(super) fn recorded_number(value: &str) -> Option<u32> {
    DefinitionRecord::parse(value).map(|recorded| recorded.number)
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
