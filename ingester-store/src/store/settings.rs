//! The table `ingester_settings`: what a database is for, by name.

use super::{Store, StoreError};
use ingester_core::dialect::statements::{
    ForgetSetting, LatestDefinition, ReadSetting, RecordSetting, ReplaceSetting, WriteSetting,
};
use ingester_core::kind::Kind;
use ingester_core::schema::Fingerprint;

/// The table's name.
pub(super) const SETTINGS: &str = "ingester_settings";

/// The setting with the uid of the cluster's namespace `kube-system`.
const CLUSTER: &str = "cluster";

/// The setting with the name of the database, by chance, which its ingesters have in common.
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

    async fn setting(&self, name: &str) -> Result<Option<String>, sqlx::Error> {
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

    /// The number of a definition that no lock file counts: the database counts it. It is 0 if the last definition that was recorded
    /// for the kind's table is another one, or none was.
    ///
    /// # Errors
    /// If the table of settings is missing, or cannot be read within the retries.
    pub(crate) async fn definition(&self, kind: &Kind, fingerprint: Fingerprint) -> Result<u32, StoreError> {
        let name = definition_name(kind);
        let read = || async { self.setting(&name).await };
        let recorded = self.with_retries(|| format!("reading {name} in {SETTINGS}"), read).await?;
        Ok(recorded
            .and_then(|value| Recorded::parse(&value))
            .filter(|its| its.fingerprint == fingerprint.to_string())
            .map_or(0, |its| its.number))
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

    /// Forgets the number of the last definition of a table that takes the place of another one: its rows say which they are of.
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

    /// Records a definition as the last one of its kind's table, and tells its number: one more than that of the definition before.
    ///
    /// # Errors
    /// As [`Store::definition`].
    pub(crate) async fn record_definition(&self, kind: &Kind, fingerprint: Fingerprint) -> Result<u32, StoreError> {
        let name = definition_name(kind);
        let fingerprint = fingerprint.to_string();
        let of = format!("{}.{}", kind.kind(), kind.group());
        let record = || async {
            loop {
                let stored = self.setting(&name).await?;
                let last = stored.as_deref().and_then(Recorded::parse);
                if let Some(last) = last.as_ref().filter(|last| last.fingerprint == fingerprint) {
                    return Ok(last.number);
                }
                let before = match &last {
                    Some(last) => last.number,
                    // Rows of another program, or of a table that had another name, are of older definitions.
                    None => {
                        let latest =
                            self.pool.fetch(&LatestDefinition { table: kind.table() }).await?.pop().unwrap_or(0);
                        u32::try_from(latest).unwrap_or(u32::MAX - 1)
                    }
                };
                let number = before.saturating_add(1);
                let value = format!("{number} {fingerprint} {of}");
                let value: String = value.chars().take(VALUE).collect();
                let written = match &stored {
                    Some(from) => self.pool.execute(&ReplaceSetting { name: &name, from, to: &value }).await,
                    None => self.pool.execute(&RecordSetting { name: &name, value: &value }).await,
                };
                match written {
                    Ok(1) => return Ok(number),
                    // Another one was faster.
                    Ok(_) => {}
                    Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {}
                    Err(error) => return Err(error),
                }
            }
        };
        self.with_retries(|| format!("recording {name} in {SETTINGS}"), record).await
    }
}

/// In place of a definition: the table has another one's rows.
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
