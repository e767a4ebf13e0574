//! Records in which the units of `ingester run` report what they do and what their rules move. Each record is one setting in
//! `ingester_settings`. Only the unit's process writes it; readers of the database show it.
//!
//! Mirroring does not depend on records: no batch waits for one, and a process that cannot write them continues to mirror.

use super::ask::TimedAnswer;
use crate::driver::StoreError;
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::schema::Fingerprint;
use ingester_core::value::Micros;
use ingester_sql::dialect::SETTINGS;
use ingester_sql::dialect::statements::{ForgetSetting, ReadSettings, ReplaceSetting, WriteSetting};
use std::time::Duration;

/// The interval at which a unit writes its record while its phase stays the same.
pub const PERIOD: Duration = Duration::from_secs(30);

/// A record that was not written for this many seconds is stale: its process was killed, or does not reach the database.
const STALE: i64 = 3 * 30;

/// A record that was not written for this many seconds is no longer shown.
const GONE: i64 = 24 * 3600;

/// The highest number in a record, so that the whole record fits a setting.
const MOST: u64 = 9_999_999_999;

/// The most characters of a name in a record.
const LONGEST: usize = 63;

const UNITS: &str = "unit/";
const POLICIES: &str = "policy/";

/// The phase of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitPhase {
    /// The unit does not know yet if the CRD is installed.
    Starting,
    /// The CRD is not installed.
    Waiting,
    /// A list is being read.
    Listing,
    /// A complete list is in SQL, and the unit follows changes.
    Synced,
    /// The kind is suspended: nothing is written for it.
    Suspended,
    /// The unit failed, and is retried.
    Failed,
    /// Its process has ended, and no other one has taken it over.
    Stopped,
}

impl UnitPhase {
    /// All phases.
    pub const ALL: [UnitPhase; 7] = [
        UnitPhase::Starting,
        UnitPhase::Waiting,
        UnitPhase::Listing,
        UnitPhase::Synced,
        UnitPhase::Suspended,
        UnitPhase::Failed,
        UnitPhase::Stopped,
    ];

    /// Returns the phase's name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            UnitPhase::Starting => "starting",
            UnitPhase::Waiting => "waiting",
            UnitPhase::Listing => "listing",
            UnitPhase::Synced => "synced",
            UnitPhase::Suspended => "suspended",
            UnitPhase::Failed => "failed",
            UnitPhase::Stopped => "stopped",
        }
    }
}

/// The state of a unit. Times are seconds since 1970, by the database's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitRecord {
    /// The time at which the record was written.
    pub heartbeat: i64,
    /// The unit's phase.
    pub phase: UnitPhase,
    /// The seconds that the oldest waiting object has waited.
    pub lag: u64,
    /// Number of waiting objects.
    pub waiting: u64,
    /// Number of objects that are mirrored and live.
    pub live: u64,
    /// Number of terminating objects that cannot leave yet because of our finalizer.
    pub held: u64,
    /// Number of objects that could not be stored.
    pub rejected: u64,
    /// The last audit of the kind by the unit's process: its time, and how many objects and rows differed.
    pub audit: Option<(i64, u64)>,
    /// The unit's namespace; empty for all of them.
    pub namespace: String,
    /// The unit's shard, such as `2/4`; empty for all objects.
    pub shard: String,
    /// The process that has the unit.
    pub member: String,
}

impl UnitRecord {
    /// Parses the text of [`UnitRecord::to_text`]; returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
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
            phase: UnitPhase::ALL.into_iter().find(|known| known.name() == *phase)?,
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

    /// Returns the record as a setting stores it, in at most 256 characters.
    pub fn to_text(&self) -> String {
        let UnitRecord { heartbeat, phase, lag, waiting, live, held, rejected, audit, namespace, shard, member } = self;
        let numbers = [lag, waiting, live, held, rejected].map(|number| (*number).min(MOST).to_string()).join(" ");
        let audit = match audit {
            Some((time, differences)) => format!("{time} {}", (*differences).min(MOST)),
            None => "- -".to_owned(),
        };
        let names = [namespace, shard, member].map(|name| written(name)).join(" ");
        format!("{heartbeat} {} {numbers} {audit} {names}", phase.name())
    }

    /// Returns true if its process should have written it again by now.
    pub fn is_stale(&self, now: Micros) -> bool {
        self.phase != UnitPhase::Stopped && seconds(now) - self.heartbeat > STALE
    }

    fn is_gone(&self, now: Micros) -> bool {
        seconds(now) - self.heartbeat > GONE
    }
}

/// The result of a rule's last round, among the objects of one unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRecord {
    /// The time at which the round ended, in seconds since 1970 by the database's clock.
    pub time: i64,
    /// True if the configuration enforces the rule; otherwise it moves nothing.
    pub enforced: bool,
    /// True if the rule could be judged. If not, the log says why.
    pub judged: bool,
    /// Number of objects that match the rule and so should leave etcd.
    pub matches: u64,
    /// Number of matching objects that are still in etcd although the rule is enforced: they exceed the hourly limit, or something hinders
    /// their eviction.
    pub waiting: u64,
    /// Number of matching objects that the round has begun to move.
    pub moved: u64,
    /// The rule's name.
    pub rule: String,
}

impl RuleRecord {
    /// Parses the text of [`RuleRecord::to_text`]; returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
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

    /// Returns the record as a setting stores it, in at most 256 characters.
    pub fn to_text(&self) -> String {
        let RuleRecord { time, enforced, judged, matches, waiting, moved, rule } = self;
        let words = [MODES[usize::from(!enforced)], JUDGED[usize::from(!judged)]].join(" ");
        let numbers = [matches, waiting, moved].map(|number| (*number).min(MOST).to_string()).join(" ");
        format!("{time} {words} {numbers} {}", written(rule))
    }

    fn is_gone(&self, now: Micros) -> bool {
        seconds(now) - self.time > GONE
    }

    /// Adds the result of the same rule in another unit.
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

/// Writes a name as one word.
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

/// Returns the part of a setting's name that identifies its kind.
fn part(kind: &Kind) -> String {
    Fingerprint::NONE.text(kind.table().name.as_str()).to_string()
}

fn unit_name(kind: &Kind, unit: &str) -> String {
    format!("{UNITS}{}/{}", part(kind), Fingerprint::NONE.text(unit))
}

fn rule_name(kind: &Kind, unit: &str, rule: &str) -> String {
    format!("{POLICIES}{}/{}", part(kind), Fingerprint::NONE.text(unit).text(rule))
}

/// Returns the records of these kinds among settings.
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
    /// Writes the record of a unit.
    ///
    /// # Errors
    /// If the settings cannot be written within the retries.
    pub async fn record_unit(&self, kind: &Kind, unit: &str, record: &UnitRecord) -> Result<(), StoreError> {
        self.write_record(&unit_name(kind, unit), &record.to_text()).await
    }

    /// Records that the unit's process ends, if the database still has this last record of it.
    ///
    /// # Errors
    /// If the settings cannot be written within the retries.
    pub async fn record_stopped(&self, kind: &Kind, unit: &str, last: &UnitRecord) -> Result<(), StoreError> {
        let name = unit_name(kind, unit);
        let from = last.to_text();
        let phase = UnitPhase::Stopped;
        let heartbeat = seconds(self.now());
        let to = UnitRecord { phase, heartbeat, lag: 0, waiting: 0, held: 0, ..last.clone() }.to_text();
        let write = || async { self.pool.execute(&ReplaceSetting { name: &name, from: &from, to: &to }).await };
        self.with_retries(|| format!("writing that a unit has stopped into {SETTINGS}"), write).await.map(drop)
    }

    /// Writes the result of a rule among the objects of a unit.
    ///
    /// # Errors
    /// If the settings cannot be written within the retries.
    pub async fn record_rule(&self, kind: &Kind, unit: &str, record: &RuleRecord) -> Result<(), StoreError> {
        self.write_record(&rule_name(kind, unit, &record.rule), &record.to_text()).await
    }

    /// Deletes the record of a rule that the unit's kind no longer has.
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
                        UNITS => UnitRecord::parse(&text).is_none_or(|record| record.is_gone(now)),
                        _ => RuleRecord::parse(&text).is_none_or(|record| record.is_gone(now)),
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

    /// Returns the records of these kinds' units, in no particular order, without records that were not written for a day.
    pub(crate) async fn read_units(
        &self,
        kinds: &[Kind],
        time: Duration,
    ) -> Result<TimedAnswer<Vec<(Kind, UnitRecord)>>, StoreError> {
        let now = self.now();
        let found = self.records(UNITS, time).await?;
        Ok(found.map(|found| {
            let mut units = of_kinds(kinds, &found, UnitRecord::parse);
            units.retain(|(_, record)| !record.is_gone(now));
            units
        }))
    }

    /// Returns the rule records of these kinds' units, like [`Store::read_units`].
    pub(crate) async fn read_rules(
        &self,
        kinds: &[Kind],
        time: Duration,
    ) -> Result<TimedAnswer<Vec<(Kind, RuleRecord)>>, StoreError> {
        let now = self.now();
        let found = self.records(POLICIES, time).await?;
        Ok(found.map(|found| {
            let mut rules = of_kinds(kinds, &found, RuleRecord::parse);
            rules.retain(|(_, record)| !record.is_gone(now));
            rules
        }))
    }

    async fn records(
        &self,
        prefix: &'static str,
        time: Duration,
    ) -> Result<TimedAnswer<Vec<(String, String)>>, StoreError> {
        self.ask(|| format!("reading {SETTINGS}"), &ReadSettings::below(prefix), time).await
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, MOST, RuleRecord, UnitPhase, UnitRecord};
    use ingester_core::value::Micros;

    fn unit() -> UnitRecord {
        UnitRecord {
            heartbeat: 1_700_000_000,
            phase: UnitPhase::Synced,
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
        assert_eq!(unit().to_text(), "1700000000 synced 3 20 1000 1 2 1699999000 4 ml 2/4 ingester-0/7");
        for phase in UnitPhase::ALL {
            let whole = UnitRecord { phase, audit: None, namespace: String::new(), shard: String::new(), ..unit() };
            assert_eq!(UnitRecord::parse(&whole.to_text()), Some(whole));
        }
        assert_eq!(UnitRecord::parse(&unit().to_text()), Some(unit()));
        assert_eq!(rule().to_text(), "1700000000 enforced judged 12 2 10 finished");
        for (enforced, judged) in [(true, true), (true, false), (false, true), (false, false)] {
            let other = RuleRecord { enforced, judged, ..rule() };
            assert_eq!(RuleRecord::parse(&other.to_text()), Some(other));
        }
    }

    #[test]
    fn a_record_fits_a_setting() {
        let long = "x".repeat(300);
        let most = UnitRecord {
            heartbeat: 99_999_999_999,
            phase: UnitPhase::Suspended,
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
        assert!(most.to_text().len() <= 256, "{}", most.to_text());
        let read = UnitRecord::parse(&most.to_text()).unwrap();
        assert_eq!((read.live, read.member.len()), (MOST, LONGEST));
        let most = RuleRecord { matches: u64::MAX, waiting: u64::MAX, moved: u64::MAX, rule: long, ..rule() };
        assert!(most.to_text().len() <= 256 && RuleRecord::parse(&most.to_text()).is_some(), "{}", most.to_text());
    }

    #[test]
    fn other_texts_are_not_a_record() {
        let later = format!("{} more", unit().to_text());
        assert_eq!(UnitRecord::parse(&later), Some(unit()), "a later release says more");
        let [number, word] =
            [("1000", "-1"), ("synced", "asleep")].map(|(from, to)| unit().to_text().replacen(from, to, 1));
        for text in ["", "by hand", "1 synced", &number, &word] {
            assert_eq!(UnitRecord::parse(text), None, "{text}");
        }
        for text in
            ["", "by hand", "1 wet judged 1 2 3 finished", "1 dry perhaps 1 2 3 finished", "1 dry judged 1 2 -3 a"]
        {
            assert_eq!(RuleRecord::parse(text), None, "{text}");
        }
        // A blank or line break in a name adds no words.
        let split = UnitRecord { namespace: "a b".to_owned(), member: "x\ny".to_owned(), ..unit() };
        let read = UnitRecord::parse(&split.to_text()).unwrap();
        assert_eq!((read.namespace.as_str(), read.member.as_str()), ("a_b", "x_y"));
    }

    #[test]
    fn a_record_that_is_not_renewed_is_stale_unless_it_has_stopped() {
        let after = |seconds: i64| Micros((unit().heartbeat + seconds) * 1_000_000);
        assert!(!unit().is_stale(after(90)) && unit().is_stale(after(91)));
        assert!(!UnitRecord { phase: UnitPhase::Stopped, ..unit() }.is_stale(after(91)));
        assert!(!unit().is_gone(after(86_400)) && unit().is_gone(after(86_401)));
    }

    #[test]
    fn what_units_have_found_by_one_rule_adds_up() {
        let other = RuleRecord { time: 1_700_000_009, judged: false, matches: 5, waiting: 5, moved: 0, ..rule() };
        let both = RuleRecord { time: 1_700_000_009, judged: false, matches: 17, waiting: 7, ..rule() };
        assert_eq!((rule().and(&other), other.clone().and(&rule())), (both.clone(), both));
    }
}
