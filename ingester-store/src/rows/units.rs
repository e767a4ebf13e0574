//! What the units of `ingester run` do, and what their rules move, as they say it themselves: each keeps a record,
//! which is one setting in `ingester_settings`. The unit's process alone writes it; readers of the database show it.
//!
//! Records are not part of the work: no batch waits for one, and a process that cannot write them continues to mirror.

use super::ask::InTime;
use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::schema::Fingerprint;
use ingester_core::value::Micros;
use ingester_sql::dialect::SETTINGS;
use ingester_sql::dialect::statements::{ForgetSetting, ReadSettings, ReplaceSetting, WriteSetting};
use std::time::Duration;

/// How often a unit whose phase stays the same writes its record.
pub const PERIOD: Duration = Duration::from_secs(30);

/// A record that was not written for so many seconds is stale: its process was killed, or does not reach the database.
const STALE: i64 = 3 * 30;

/// A record that was not written for so many seconds is not shown any more.
const GONE: i64 = 24 * 3600;

/// The numbers of a record end here, so that all of it fits a setting.
const MOST: u64 = 9_999_999_999;

/// The most characters of a name in a record.
const LONGEST: usize = 63;

const UNITS: &str = "unit/";
const POLICIES: &str = "policy/";

/// What a unit is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Whether the CRD is installed is not known yet.
    Starting,
    /// The CRD is not installed.
    Waiting,
    /// A list is being read.
    Listing,
    /// A whole list is in SQL, and changes are followed.
    Synced,
    /// The kind is suspended: nothing is written for it.
    Suspended,
    /// It failed, and is retried.
    Failed,
    /// Its process has ended, and no other one has taken it over.
    Stopped,
}

impl Phase {
    /// All of them.
    pub const ALL: [Phase; 7] = [
        Phase::Starting,
        Phase::Waiting,
        Phase::Listing,
        Phase::Synced,
        Phase::Suspended,
        Phase::Failed,
        Phase::Stopped,
    ];

    /// Its name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Starting => "starting",
            Phase::Waiting => "waiting",
            Phase::Listing => "listing",
            Phase::Synced => "synced",
            Phase::Suspended => "suspended",
            Phase::Failed => "failed",
            Phase::Stopped => "stopped",
        }
    }
}

/// What a unit is doing. Times are seconds since 1970, by the database's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitRecord {
    /// When it was written.
    pub heartbeat: i64,
    /// What the unit is doing.
    pub phase: Phase,
    /// How many seconds the oldest waiting object has waited.
    pub lag: u64,
    /// How many objects wait.
    pub waiting: u64,
    /// How many objects are mirrored and live.
    pub live: u64,
    /// How many terminating objects cannot leave yet because of our finalizer.
    pub held: u64,
    /// How many objects could not be stored.
    pub rejected: u64,
    /// When the kind was last compared with the cluster by the unit's process, and how many objects and rows differed.
    pub audit: Option<(i64, u64)>,
    /// The unit's namespace; empty for all of them.
    pub namespace: String,
    /// The unit's shard, such as `2/4`; empty for all objects.
    pub shard: String,
    /// The process that has the unit.
    pub member: String,
}

impl UnitRecord {
    /// The text of [`UnitRecord::text`]; `None` for any other one.
    pub fn of(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        // A later release may add words.
        let [heartbeat, phase, lag, waiting, live, held, rejected, audited, differences, namespace, shard, member, ..] =
            words.as_slice()
        else {
            return None;
        };
        let number = |word: &str| word.parse::<u64>().ok();
        Some(UnitRecord {
            heartbeat: heartbeat.parse().ok()?,
            phase: Phase::ALL.into_iter().find(|known| known.name() == *phase)?,
            lag: number(lag)?,
            waiting: number(waiting)?,
            live: number(live)?,
            held: number(held)?,
            rejected: number(rejected)?,
            audit: match *audited {
                "-" => None,
                audited => Some((audited.parse().ok()?, number(differences)?)),
            },
            namespace: read(namespace),
            shard: read(shard),
            member: read(member),
        })
    }

    /// As a setting keeps it, in at most 256 characters.
    pub fn text(&self) -> String {
        let UnitRecord { heartbeat, phase, lag, waiting, live, held, rejected, audit, namespace, shard, member } = self;
        let numbers = [lag, waiting, live, held, rejected].map(|number| (*number).min(MOST).to_string()).join(" ");
        let audit = match audit {
            Some((time, differences)) => format!("{time} {}", (*differences).min(MOST)),
            None => "- -".to_owned(),
        };
        let names = [namespace, shard, member].map(|name| written(name)).join(" ");
        format!("{heartbeat} {} {numbers} {audit} {names}", phase.name())
    }

    /// Whether its process should have written it again by now.
    pub fn is_stale(&self, now: Micros) -> bool {
        self.phase != Phase::Stopped && seconds(now) - self.heartbeat > STALE
    }

    fn is_gone(&self, now: Micros) -> bool {
        seconds(now) - self.heartbeat > GONE
    }
}

/// What a rule has found in its last round, among the objects of one unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRecord {
    /// When the round ended, in seconds since 1970 by the database's clock.
    pub time: i64,
    /// Whether the configuration enforces the rule; else it moves nothing.
    pub enforced: bool,
    /// Whether it could be judged. The log says why not.
    pub judged: bool,
    /// How many objects are to leave etcd by it.
    pub matches: u64,
    /// How many of them are to leave and are still there, because the rule is enforced but they are over the limit of the hour, or hindered.
    pub waiting: u64,
    /// How many of them the round has begun to move.
    pub moved: u64,
    /// The rule's name.
    pub rule: String,
}

impl RuleRecord {
    /// The text of [`RuleRecord::text`]; `None` for any other one.
    pub fn of(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let [time, mode, judged, matches, waiting, moved, rule, ..] = words.as_slice() else { return None };
        let one_of = |word: &str, [yes, no]: [&str; 2]| match word {
            word if word == yes => Some(true),
            word if word == no => Some(false),
            _ => None,
        };
        Some(RuleRecord {
            time: time.parse().ok()?,
            enforced: one_of(mode, MODES)?,
            judged: one_of(judged, JUDGED)?,
            matches: matches.parse().ok()?,
            waiting: waiting.parse().ok()?,
            moved: moved.parse().ok()?,
            rule: read(rule),
        })
    }

    /// As a setting keeps it, in at most 256 characters.
    pub fn text(&self) -> String {
        let RuleRecord { time, enforced, judged, matches, waiting, moved, rule } = self;
        let words = [MODES[usize::from(!enforced)], JUDGED[usize::from(!judged)]].join(" ");
        let numbers = [matches, waiting, moved].map(|number| (*number).min(MOST).to_string()).join(" ");
        format!("{time} {words} {numbers} {}", written(rule))
    }

    fn is_gone(&self, now: Micros) -> bool {
        seconds(now) - self.time > GONE
    }

    /// Together with what another unit has found by the same rule.
    #[must_use]
    pub fn and(self, other: &RuleRecord) -> Self {
        RuleRecord {
            time: self.time.max(other.time),
            enforced: self.enforced || other.enforced,
            judged: self.judged && other.judged,
            matches: self.matches.saturating_add(other.matches),
            waiting: self.waiting.saturating_add(other.waiting),
            moved: self.moved.saturating_add(other.moved),
            rule: self.rule,
        }
    }
}

const MODES: [&str; 2] = ["enforced", "dry"];
const JUDGED: [&str; 2] = ["judged", "failed"];

/// A name as a word.
fn written(name: &str) -> String {
    let is_split = |c: char| c.is_whitespace() || c.is_control();
    let word: String = name.chars().take(LONGEST).map(|c| if is_split(c) { '_' } else { c }).collect();
    if word.is_empty() { "-".to_owned() } else { word }
}

fn read(word: &str) -> String {
    if word == "-" { String::new() } else { word.to_owned() }
}

fn seconds(time: Micros) -> i64 {
    time.0.div_euclid(1_000_000)
}

/// The part of a setting's name that says of which kind it is.
fn part(kind: &Kind) -> String {
    Fingerprint::NONE.text(kind.table().name.as_str()).to_string()
}

fn unit_name(kind: &Kind, unit: &str) -> String {
    format!("{UNITS}{}/{}", part(kind), Fingerprint::NONE.text(unit))
}

fn rule_name(kind: &Kind, unit: &str, rule: &str) -> String {
    format!("{POLICIES}{}/{}", part(kind), Fingerprint::NONE.text(unit).text(rule))
}

/// Of settings, those of these kinds.
fn of_kinds<T>(kinds: &[Kind], found: &[(String, String)], of: impl Fn(&str) -> Option<T>) -> Vec<(Kind, T)> {
    let parts: Vec<(String, &Kind)> = kinds.iter().map(|kind| (part(kind), kind)).collect();
    let one = |(name, text): &(String, String)| {
        let of_kind = name.split('/').nth(1)?;
        let (_, kind) = parts.iter().find(|(part, _)| part == of_kind)?;
        Some((**kind, of(text)?))
    };
    found.iter().filter_map(one).collect()
}

impl Store {
    /// Writes what a unit is doing.
    ///
    /// # Errors
    /// If the settings cannot be written within the retries.
    pub async fn record_unit(&self, kind: &Kind, unit: &str, record: &UnitRecord) -> Result<(), StoreError> {
        self.write_record(&unit_name(kind, unit), &record.text()).await
    }

    /// The unit's process ends: if the database still has this record of it, another one says so.
    ///
    /// # Errors
    /// If the settings cannot be written within the retries.
    pub async fn record_stopped(&self, kind: &Kind, unit: &str, last: &UnitRecord) -> Result<(), StoreError> {
        let (name, from) = (unit_name(kind, unit), last.text());
        let (phase, heartbeat) = (Phase::Stopped, seconds(self.now()));
        let to = UnitRecord { phase, heartbeat, lag: 0, waiting: 0, held: 0, ..last.clone() }.text();
        let write = || async { self.pool.execute(&ReplaceSetting { name: &name, from: &from, to: &to }).await };
        self.with_retries(|| format!("writing that a unit has stopped into {SETTINGS}"), write).await.map(drop)
    }

    /// Writes what a rule has found among the objects of a unit.
    ///
    /// # Errors
    /// If the settings cannot be written within the retries.
    pub async fn record_rule(&self, kind: &Kind, unit: &str, record: &RuleRecord) -> Result<(), StoreError> {
        self.write_record(&rule_name(kind, unit, &record.rule), &record.text()).await
    }

    /// The unit's kind has no such rule any more.
    ///
    /// # Errors
    /// If the settings cannot be written within the retries.
    pub async fn forget_rule(&self, kind: &Kind, unit: &str, rule: &str) -> Result<(), StoreError> {
        let name = rule_name(kind, unit, rule);
        let write = || async { self.pool.execute(&ForgetSetting { name: &name }).await };
        self.with_retries(|| format!("removing a rule from {SETTINGS}"), write).await.map(drop)
    }

    async fn write_record(&self, name: &str, value: &str) -> Result<(), StoreError> {
        let write = || async { self.pool.execute(&WriteSetting { name, value }).await };
        self.with_retries(|| format!("writing what a unit does into {SETTINGS}"), write).await.map(drop)
    }

    /// Removes the records that were not written for a day.
    ///
    /// # Errors
    /// If the settings cannot be read or written within the retries.
    pub async fn forget_old_records(&self) -> Result<(), StoreError> {
        let now = self.now();
        let forget = || async {
            for prefix in [UNITS, POLICIES] {
                for (name, text) in self.pool.fetch(&ReadSettings::below(prefix)).await? {
                    let is_old = match prefix {
                        UNITS => UnitRecord::of(&text).is_none_or(|record| record.is_gone(now)),
                        _ => RuleRecord::of(&text).is_none_or(|record| record.is_gone(now)),
                    };
                    if is_old {
                        self.pool.execute(&ForgetSetting { name: &name }).await?;
                    }
                }
            }
            Ok(())
        };
        self.with_retries(|| format!("removing old records of units from {SETTINGS}"), forget).await
    }

    /// What the units of these kinds are doing, in no particular order, without those that were not written for a day.
    pub(crate) async fn read_units(
        &self,
        kinds: &[Kind],
        time: Duration,
    ) -> Result<InTime<Vec<(Kind, UnitRecord)>>, StoreError> {
        let (now, found) = (self.now(), self.records(UNITS, time).await?);
        Ok(found.map(|found| {
            let mut units = of_kinds(kinds, &found, UnitRecord::of);
            units.retain(|(_, record)| !record.is_gone(now));
            units
        }))
    }

    /// What each unit of these kinds has found by its rules, as [`Store::read_units`].
    pub(crate) async fn read_rules(
        &self,
        kinds: &[Kind],
        time: Duration,
    ) -> Result<InTime<Vec<(Kind, RuleRecord)>>, StoreError> {
        let (now, found) = (self.now(), self.records(POLICIES, time).await?);
        Ok(found.map(|found| {
            let mut rules = of_kinds(kinds, &found, RuleRecord::of);
            rules.retain(|(_, record)| !record.is_gone(now));
            rules
        }))
    }

    async fn records(&self, prefix: &'static str, time: Duration) -> Result<InTime<Vec<(String, String)>>, StoreError> {
        self.ask(|| format!("reading {SETTINGS}"), &ReadSettings::below(prefix), time).await
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, MOST, Phase, RuleRecord, UnitRecord};
    use ingester_core::value::Micros;

    fn unit() -> UnitRecord {
        UnitRecord {
            heartbeat: 1_700_000_000,
            phase: Phase::Synced,
            lag: 3,
            waiting: 20,
            live: 1000,
            held: 1,
            rejected: 2,
            audit: Some((1_699_999_000, 4)),
            namespace: "ml".to_owned(),
            shard: "2/4".to_owned(),
            member: "ingester-0/7".to_owned(),
        }
    }

    fn rule() -> RuleRecord {
        RuleRecord {
            time: 1_700_000_000,
            enforced: true,
            judged: true,
            matches: 12,
            waiting: 2,
            moved: 10,
            rule: "finished".to_owned(),
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        assert_eq!(unit().text(), "1700000000 synced 3 20 1000 1 2 1699999000 4 ml 2/4 ingester-0/7");
        for phase in Phase::ALL {
            let whole = UnitRecord { phase, audit: None, namespace: String::new(), shard: String::new(), ..unit() };
            assert_eq!(UnitRecord::of(&whole.text()), Some(whole));
        }
        assert_eq!(UnitRecord::of(&unit().text()), Some(unit()));
        assert_eq!(rule().text(), "1700000000 enforced judged 12 2 10 finished");
        for (enforced, judged) in [(true, true), (true, false), (false, true), (false, false)] {
            let other = RuleRecord { enforced, judged, ..rule() };
            assert_eq!(RuleRecord::of(&other.text()), Some(other));
        }
    }

    #[test]
    fn a_record_fits_a_setting() {
        let long = "x".repeat(300);
        let most = UnitRecord {
            heartbeat: 99_999_999_999,
            phase: Phase::Suspended,
            lag: u64::MAX,
            waiting: u64::MAX,
            live: u64::MAX,
            held: u64::MAX,
            rejected: u64::MAX,
            audit: Some((99_999_999_999, u64::MAX)),
            namespace: long.clone(),
            shard: "4294967295/4294967295".to_owned(),
            member: long.clone(),
        };
        assert!(most.text().len() <= 256, "{}", most.text());
        let read = UnitRecord::of(&most.text()).unwrap();
        assert_eq!((read.live, read.member.len()), (MOST, LONGEST));
        let most = RuleRecord { matches: u64::MAX, waiting: u64::MAX, moved: u64::MAX, rule: long, ..rule() };
        assert!(most.text().len() <= 256 && RuleRecord::of(&most.text()).is_some(), "{}", most.text());
    }

    #[test]
    fn other_texts_are_not_a_record() {
        let later = format!("{} more", unit().text());
        assert_eq!(UnitRecord::of(&later), Some(unit()), "a later release says more");
        let [number, word] =
            [("1000", "-1"), ("synced", "asleep")].map(|(from, to)| unit().text().replacen(from, to, 1));
        for text in ["", "by hand", "1 synced", &number, &word] {
            assert_eq!(UnitRecord::of(text), None, "{text}");
        }
        for text in
            ["", "by hand", "1 wet judged 1 2 3 finished", "1 dry perhaps 1 2 3 finished", "1 dry judged 1 2 -3 a"]
        {
            assert_eq!(RuleRecord::of(text), None, "{text}");
        }
        // A name cannot add words.
        let split = UnitRecord { namespace: "a b".to_owned(), member: "x\ny".to_owned(), ..unit() };
        let read = UnitRecord::of(&split.text()).unwrap();
        assert_eq!((read.namespace.as_str(), read.member.as_str()), ("a_b", "x_y"));
    }

    #[test]
    fn a_record_that_is_not_renewed_is_stale_unless_it_has_stopped() {
        let after = |seconds: i64| Micros((unit().heartbeat + seconds) * 1_000_000);
        assert!(!unit().is_stale(after(90)) && unit().is_stale(after(91)));
        assert!(!UnitRecord { phase: Phase::Stopped, ..unit() }.is_stale(after(91)));
        assert!(!unit().is_gone(after(86_400)) && unit().is_gone(after(86_401)));
    }

    #[test]
    fn what_units_have_found_by_one_rule_adds_up() {
        let other = RuleRecord { time: 1_700_000_009, judged: false, matches: 5, waiting: 5, moved: 0, ..rule() };
        let both = RuleRecord { time: 1_700_000_009, judged: false, matches: 17, waiting: 7, ..rule() };
        assert_eq!((rule().and(&other), other.clone().and(&rule())), (both.clone(), both));
    }
}
