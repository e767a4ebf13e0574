//! The fuse of sweeps limits how many rows of a kind may be marked as deleted because lists lack their objects. An empty etcd lacks all of
//! them.
//!
//! The limit holds for the kind, but a kind has many units (namespaces, shards) in several processes, which list at different times. So
//! each unit keeps an account in `ingester_settings` that it alone writes: how many rows it wants to mark, and how many it has marked. A
//! unit first writes how many it wants, and then reads the accounts of all units of its kind, so of two units that ask at once, at least
//! one sees the other. A unit adds rows to its account before it marks them, so a process that is killed in between has counted too many
//! rows rather than too few.
//!
//! - Marks count for an hour. While a unit wants to mark rows and may not, all marks count that were made since an hour before it first
//!   wanted to. Otherwise a cluster that is wrong would lose its rows hour by hour.
//! - The rows that a unit wants to mark count until its next list says otherwise, at most for a day. So a unit that no longer exists (taken
//!   out of the configuration, or its process was killed) does not keep others waiting for ever.

use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::schema::Fingerprint;
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::{ReadSetting, ReadSettings, RecordSetting, ReplaceSetting};

/// Marks count for this many seconds.
const MARKS: i64 = 3600;

/// A unit is assumed to want for this many seconds what it wanted last.
const WANTS: i64 = 24 * 3600;

/// Marks within this many seconds are added to one number. An account has at most this many numbers.
const TOGETHER: i64 = 600;
const NUMBERS: usize = 8;

/// One in this many live rows may be marked in any case.
const PART: u64 = 5;

/// The limit above which a sweep is refused: the kind would lose more rows than this, and more than a fifth of its live rows. Such a loss
/// is rarely intended; more often something is wrong with the cluster that was listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fuse {
    /// This many rows may be marked in any case.
    pub limit: u64,
    /// The namespaces whose live rows count; empty for all.
    pub namespaces: Vec<String>,
}

impl Fuse {
    /// Returns true if this many of the kind's live rows must not be marked.
    pub fn refuses(&self, gone: u64, live: u64) -> bool {
        gone > self.limit && gone > live / PART
    }
}

/// The answer to [`Store::ask_to_sweep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// The rows may be marked.
    Allowed,
    /// None of them may.
    Refused {
        /// Number of rows that the lists of the kind lack, with the rows that were marked recently.
        gone: u64,
        /// Number of live rows of the kind.
        live: u64,
    },
}

/// The number of rows that a unit wants to mark, and has marked. Times are seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    wants: u64,
    /// The time since which it wants to mark rows, without a pause.
    since: i64,
    /// The time at which it said so last.
    asked: i64,
    /// The times at which it marked rows, and how many.
    marks: Vec<(i64, u64)>,
}

impl Account {
    /// Parses the text of [`Account::to_text`]. Any other text gives an account without entries.
    pub fn parse(text: &str) -> Self {
        let numbers: Vec<i64> = text.split(' ').map_while(|word| word.parse().ok()).collect();
        let [wants, since, asked, marks @ ..] = numbers.as_slice() else { return Account::default() };
        let marks = marks.chunks_exact(2).map(|mark| (mark[0], mark[1].unsigned_abs())).collect();
        Account { wants: wants.unsigned_abs(), since: *since, asked: *asked, marks }
    }

    /// Returns the account as a setting stores it, in at most 256 characters.
    pub fn to_text(&self) -> String {
        let Account { wants, since, asked, marks } = self;
        let text = format!("{wants} {since} {asked}");
        marks.iter().fold(text, |text, (time, count)| format!("{text} {time} {count}"))
    }

    /// Records that the unit's list lacks the objects of this many rows.
    #[must_use]
    pub fn wanting(mut self, wants: u64, now: Micros) -> Self {
        let now = seconds(now);
        if wants > 0 && !self.is_waiting(now) {
            self.since = now;
        }
        (self.wants, self.asked) = (wants, now);
        self
    }

    /// Records that the unit is about to mark this many of the rows that it wanted to.
    #[must_use]
    pub fn marking(mut self, rows: u64, now: Micros) -> Self {
        let now = seconds(now);
        self.wants = self.wants.saturating_sub(rows);
        match self.marks.last_mut() {
            Some((time, count)) if now - *time < TOGETHER => *count += rows,
            _ => self.marks.push((now, rows)),
        }
        // The oldest marks no longer count, or they may as well count with the next ones.
        if self.marks.len() > NUMBERS {
            let oldest = self.marks.remove(0);
            self.marks[0].1 += oldest.1;
        }
        self
    }

    /// Takes objects back that the unit counted at this time: they were not marked after all.
    #[must_use]
    pub fn giving_back(mut self, objects: u64, counted: Micros) -> Self {
        // A mark has the time of its first objects. If the mark was merged into a later one, no mark is old enough, and nothing is given
        // back.
        let counted = seconds(counted);
        if let Some((_, count)) = self.marks.iter_mut().rev().find(|(time, _)| *time <= counted) {
            *count = count.saturating_sub(objects);
        }
        self
    }

    fn is_waiting(&self, now: i64) -> bool {
        self.wants > 0 && now - self.asked < WANTS
    }

    /// Returns the time since which the marks of all units count, according to this account.
    fn counts_from(&self, now: i64) -> i64 {
        let since = if self.is_waiting(now) { self.since.min(now) } else { now };
        since - MARKS
    }
}

/// Returns how many rows count in addition to the rows that a unit wants to mark now. `before` is its account before it wanted them.
pub fn others(before: &Account, others: &[Account], now: Micros) -> u64 {
    let now = seconds(now);
    let all = || others.iter().chain([before]);
    let from = all().map(|account| account.counts_from(now)).min().unwrap_or(now);
    let marked = all().flat_map(|account| &account.marks).filter(|(time, _)| *time >= from).map(|(_, count)| count);
    let wanted = others.iter().filter(|account| account.is_waiting(now)).map(|account| account.wants);
    marked.copied().chain(wanted).fold(0, u64::saturating_add)
}

fn seconds(time: Micros) -> i64 {
    time.0.div_euclid(1_000_000)
}

/// Returns the prefix of the names of all accounts of a kind.
fn prefix(kind: &Kind) -> String {
    format!("sweep/{}/", Fingerprint::NONE.text(kind.table().name.as_str()))
}

fn name(kind: &Kind, unit: &str) -> String {
    format!("{}{}", prefix(kind), Fingerprint::NONE.text(unit))
}

/// Returns the name of the account of the objects that a unit evicts by rules.
fn evictions(kind: &Kind, unit: &str) -> String {
    let [kind, unit] = [kind.table().name.as_str(), unit].map(|name| Fingerprint::NONE.text(name));
    format!("evict/{kind}/{unit}")
}

impl Store {
    /// Asks whether a unit of a kind may mark this many rows as deleted because its list lacks their objects. The unit must ask after each
    /// list, even if nothing is gone, and call [`Store::count_swept`] before it marks rows.
    ///
    /// # Errors
    /// If the settings or the kind's table cannot be read or written within the retries.
    pub async fn ask_to_sweep(&self, kind: &Kind, unit: &str, gone: u64, fuse: &Fuse) -> Result<Sweep, StoreError> {
        let own = name(kind, unit);
        let now = self.now();
        // Write the wish before reading the others' accounts: of two units that do so at once, at least one sees the other.
        let before =
            self.update_account(&own, |account| (gone > 0 || account.wants > 0).then(|| account.wanting(gone, now)));
        let before = before.await?;
        if gone == 0 {
            return Ok(Sweep::Allowed);
        }
        let prefix = prefix(kind);
        let read = || async { self.pool.fetch(&ReadSettings::below(&prefix)).await };
        let accounts = self.with_retries(|| "reading what other units sweep".to_owned(), read).await?;
        let of_others: Vec<Account> =
            accounts.iter().filter(|(name, _)| *name != own).map(|(_, text)| Account::parse(text)).collect();
        let all = gone.saturating_add(others(&before, &of_others, now));
        if !fuse.refuses(all, 0) {
            return Ok(Sweep::Allowed);
        }
        // No key serves this count, so count only if the number of live rows may matter.
        let counted = self.live_by_namespace(kind).await?;
        let counts = |namespace: &String| fuse.namespaces.is_empty() || fuse.namespaces.contains(namespace);
        let live = counted.iter().filter(|(namespace, _)| counts(namespace)).map(|(_, rows)| rows).sum();
        Ok(if fuse.refuses(all, live) { Sweep::Refused { gone: all, live } } else { Sweep::Allowed })
    }

    /// Records that a unit is about to mark this many of the rows that it may mark.
    ///
    /// # Errors
    /// If the settings cannot be written within the retries.
    pub async fn count_swept(&self, kind: &Kind, unit: &str, rows: u64) -> Result<(), StoreError> {
        let now = self.now();
        self.update_account(&name(kind, unit), |account| Some(account.marking(rows, now))).await.map(drop)
    }

    /// Returns how many objects of a kind a unit has begun to evict by rules within the last hour.
    ///
    /// # Errors
    /// If the settings cannot be read within the retries.
    pub async fn evicted_lately(&self, kind: &Kind, unit: &str) -> Result<u64, StoreError> {
        let account = self.update_account(&evictions(kind, unit), |_| None).await?;
        Ok(others(&account, &[], self.now()))
    }

    /// Records that a unit is about to evict this many objects by rules.
    ///
    /// # Errors
    /// If the settings cannot be written within the retries.
    pub async fn count_evicted(&self, kind: &Kind, unit: &str, objects: u64) -> Result<(), StoreError> {
        let now = self.now();
        let marking = |account: Account| Some(account.marking(objects, now));
        self.update_account(&evictions(kind, unit), marking).await.map(drop)
    }

    /// Takes objects back that a unit had counted at this time: they were not evicted after all.
    ///
    /// # Errors
    /// If the settings cannot be written within the retries.
    pub async fn uncount_evicted(
        &self,
        kind: &Kind,
        unit: &str,
        objects: u64,
        counted: Micros,
    ) -> Result<(), StoreError> {
        // No retry: if the answer is lost, they may have been given back already, and giving them back twice would allow too many.
        let giving_back = |account: Account| Some(account.giving_back(objects, counted));
        let once = self.try_update_account(&evictions(kind, unit), giving_back).await.map(drop);
        once.map_err(|error| StoreError::from_sqlx("counting evicted rows".into(), error))
    }

    /// Changes an account, unless there is nothing to change. Returns the account before the change.
    async fn update_account(
        &self,
        name: &str,
        change: impl Fn(Account) -> Option<Account>,
    ) -> Result<Account, StoreError> {
        let update = || self.try_update_account(name, &change);
        self.with_retries(|| "counting rows that are marked or evicted".to_owned(), update).await
    }

    async fn try_update_account(
        &self,
        name: &str,
        change: impl Fn(Account) -> Option<Account>,
    ) -> Result<Account, sqlx::Error> {
        loop {
            let stored = self.pool.fetch(&ReadSetting { name }).await?.pop();
            let before = stored.as_deref().map(Account::parse).unwrap_or_default();
            let Some(after) = change(before.clone()) else { return Ok(before) };
            let to = &after.to_text();
            let written = match &stored {
                Some(from) if from == to => return Ok(before),
                Some(from) => self.pool.execute(&ReplaceSetting { name, from, to }).await,
                None => self.pool.execute(&RecordSetting { name, value: to }).await,
            };
            match written {
                Ok(1) => return Ok(before),
                // Another worker of the unit has changed the account first.
                Ok(_) => {}
                Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Account, Fuse, MARKS, WANTS, others};
    use ingester_core::value::Micros;

    const HOUR: i64 = 3600;

    fn at(seconds: i64) -> Micros {
        Micros((1_700_000_000 + seconds) * 1_000_000)
    }

    #[test]
    fn a_sweep_is_refused_beyond_the_limit_and_a_fifth_of_the_rows() {
        let fuse = Fuse { limit: 1000, namespaces: Vec::new() };
        for (gone, live, refused) in [
            (1000, 1000, false),
            (1001, 1001, true),
            (1001, 5004, true),
            (1001, 5005, false),
            (2000, 10_000, false),
            (2001, 10_000, true),
        ] {
            assert_eq!(fuse.refuses(gone, live), refused, "{gone} of {live}");
        }
    }

    #[test]
    fn wishes_and_marks_of_other_units_count() {
        let marked = Account::default().wanting(8, at(0)).marking(8, at(1));
        let halfway = Account::default().wanting(8, at(0)).marking(3, at(1));
        let wants = Account::default().wanting(8, at(5));
        let none = Account::default();
        assert_eq!(others(&none, &[marked.clone(), halfway, wants], at(9)), 24);
        // Its own marks count. The rows that it wanted before do not: after a restart, the unit asks for the rest again.
        assert_eq!(others(&Account::default().wanting(8, at(0)).marking(3, at(1)), &[], at(9)), 3);
        assert_eq!(others(&none, &[marked], at(HOUR + 2)), 0, "after an hour");
    }

    #[test]
    fn a_cluster_that_is_wrong_does_not_lose_its_rows_hour_by_hour() {
        let marked = Account::default().wanting(8, at(0)).marking(8, at(1));
        let mut refused = Account::default();
        for hours in 0..1000 {
            let now = at(60 + hours * HOUR / 2);
            assert_eq!(others(&refused, std::slice::from_ref(&marked), now), 8, "after {hours} half hours");
            refused = refused.wanting(8, now);
        }
        // Marks made long before do not matter.
        let long_ago = Account::default().wanting(8, at(-3 * MARKS)).marking(8, at(-3 * MARKS));
        assert_eq!(others(&refused, &[marked.clone(), long_ago], at(500 * HOUR)), 8);
        // It is resolved: nothing is wanted any more.
        assert_eq!(others(&refused.wanting(0, at(501 * HOUR)), &[marked], at(501 * HOUR)), 0);
    }

    #[test]
    fn a_removed_unit_does_not_block_its_waiters() {
        let gone = Account::default().wanting(1000, at(0));
        assert_eq!(others(&Account::default(), std::slice::from_ref(&gone), at(WANTS - 1)), 1000);
        assert_eq!(others(&Account::default(), &[gone], at(WANTS)), 0);
    }

    #[test]
    fn what_a_unit_has_evicted_counts_for_an_hour() {
        let account = Account::default().marking(5, at(0)).marking(2, at(HOUR / 2));
        assert_eq!(others(&account, &[], at(HOUR)), 7);
        assert_eq!(others(&account, &[], at(HOUR + 1)), 2);
        assert_eq!(others(&account, &[], at(2 * HOUR)), 0);
    }

    #[test]
    fn what_was_not_evicted_after_all_is_given_back_where_it_was_counted() {
        let account = Account::default().marking(5, at(0)).marking(4, at(HOUR / 2));
        let given_back = account.clone().giving_back(2, at(3));
        assert_eq!(others(&given_back, &[], at(HOUR)), 7);
        assert_eq!(others(&given_back, &[], at(HOUR + 1)), 4, "the later ones count as before");
        assert_eq!(others(&account.clone().giving_back(9, at(HOUR)), &[], at(HOUR)), 5, "never less than nothing");
        assert_eq!(account.clone().giving_back(1, at(-1)), account, "it is counted no more");
    }

    #[test]
    fn an_account_fits_a_setting_and_loses_no_mark() {
        let mut account = Account::default().wanting(4_000_000_000, at(0));
        for hours in 0..40 {
            account = account.marking(100_000_000, at(hours * HOUR));
        }
        let text = account.to_text();
        assert!(text.len() <= 256, "{text}");
        assert_eq!(Account::parse(&text), account);
        assert_eq!(account.wants, 0);
        assert_eq!(account.marks.iter().map(|(_, count)| count).sum::<u64>(), 4_000_000_000);
        for broken in ["", "by hand", "1 2"] {
            assert_eq!(Account::parse(broken), Account::default());
        }
    }
}
