//! Counts the objects of a kind by state, now and at past moments, counts rejects, and reads the records of units and rules.

use super::ask::AskError;
use crate::driver::ErrorSubject;
use crate::rows::units::{RuleRecord, UnitRecord};
use crate::store::Store;
use ingester_core::Kind;
use ingester_core::schema::Table;
use ingester_core::value::Micros;
use ingester_sql::dialect::statements::{
    CountRejects, CreatedOverTime, Ends, EndsOverTime, ListRejects, RecordedReject, RejectCount, RejectsOf,
};
use ingester_sql::dialect::{GroupFilter, Query, SETTINGS};
use std::time::Duration;

/// Numbers of objects by their states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    /// Objects in the cluster, as far as SQL knows.
    pub live: u64,
    /// Objects that are only in SQL, or about to be.
    pub evicted: u64,
    /// Objects that are deleted and not yet purged.
    pub deleted: u64,
}

impl Store {
    /// Returns the number of a kind's objects in each state. Only a key is read, but all of it.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn count_states(&self, kind: &Kind, time: Duration) -> Result<StateCounts, AskError> {
        let mut counts = StateCounts::default();
        for Ends { rows, evicted, deleted, .. } in
            self.ends(kind, &[], time).await?.into_iter().filter(|ends| ends.is_ours)
        {
            // Without moments, step 0 is any time.
            match (evicted, deleted) {
                (_, 0) => counts.deleted += rows,
                (0, _) => counts.evicted += rows,
                _ => counts.live += rows,
            }
        }
        Ok(counts)
    }

    /// Returns how many of the objects that SQL still has were in each state at these moments, according to their times of creation,
    /// eviction and deletion. The moments ascend. An object without a creation time counts from the beginning. Only keys are read, but all
    /// of them, unless the table has rows of another group.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn count_states_at(
        &self,
        kind: &Kind,
        moments: &[Micros],
        time: Duration,
    ) -> Result<Vec<StateCounts>, AskError> {
        let (ours, others): (Vec<Ends>, Vec<Ends>) =
            self.ends(kind, moments, time).await?.into_iter().partition(|ends| ends.is_ours);
        let created = self.created(kind, moments, !others.is_empty(), time).await?;
        let of = |place: usize| {
            let sum =
                |is: &dyn Fn(&Ends) -> bool| ours.iter().filter(|ends| is(ends)).map(|ends| ends.rows).sum::<u64>();
            let deleted = sum(&|ends| ends.deleted <= place);
            let evicted = sum(&|ends| ends.evicted <= place && ends.deleted > place);
            let was_created = |step: usize| step <= place || step > moments.len();
            let created: u64 = created.iter().filter(|(_, step)| was_created(*step)).map(|(rows, _)| rows).sum();
            // If a clock was set back, an object may have ended before its creation.
            StateCounts { live: created.saturating_sub(evicted + deleted), evicted, deleted }
        };
        Ok((0..moments.len()).map(of).collect())
    }

    /// Returns the rows of a kind's table, counted by the steps in which they were evicted and deleted.
    async fn ends(&self, kind: &Kind, moments: &[Micros], time: Duration) -> Result<Vec<Ends>, AskError> {
        let table = kind.table();
        let group = &GroupFilter::new(kind.group());
        let milliseconds = milliseconds(time);
        let ends = |narrow| EndsOverTime { table, group, moments, narrow, milliseconds };
        self.by_key(table, ends(true), ends(false), time).await
    }

    /// Returns the kind's rows, counted by the steps in which they were created. If the table has rows of other groups, no key can answer
    /// this.
    async fn created(
        &self,
        kind: &Kind,
        moments: &[Micros],
        has_others: bool,
        time: Duration,
    ) -> Result<Vec<(u64, usize)>, AskError> {
        let table = kind.table();
        let group = &GroupFilter::new(kind.group());
        let milliseconds = milliseconds(time);
        let rows = CreatedOverTime { table, group: Some(group), moments, milliseconds };
        let keyed = CreatedOverTime { group: if has_others { Some(group) } else { None }, ..rows };
        self.by_key(table, keyed, rows, time).await
    }

    /// Runs a query by a key, or without it if the database lacks the key.
    async fn by_key<Q: Query>(
        &self,
        table: &Table,
        keyed: Q,
        without: Q,
        time: Duration,
    ) -> Result<Vec<Q::Row>, AskError> {
        let doing = || format!("counting in `{}`", table.name);
        let answer = match self.ask(doing, &keyed, time).await {
            Err(error) if error.is_about(ErrorSubject::Key) => self.ask(doing, &without, time).await?,
            answer => answer?,
        };
        answer.ok_or_else(|| AskError::TooSlow(time, table.name.to_string()))
    }

    /// Returns the number of rejected objects for each kind and namespace; at most `limit` kinds and namespaces.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn count_rejects(&self, limit: usize, time: Duration) -> Result<Vec<RejectCount>, AskError> {
        self.about_rejects(&CountRejects { limit, milliseconds: milliseconds(time) }, time).await
    }

    /// Returns up to `limit` rejects, in the order of kind, namespace and name.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn list_rejects(
        &self,
        of: RejectsOf<'_>,
        limit: usize,
        time: Duration,
    ) -> Result<Vec<RecordedReject>, AskError> {
        self.about_rejects(&ListRejects { of, limit, milliseconds: milliseconds(time) }, time).await
    }

    /// Returns the records of these kinds' units, in no particular order. Records that were not written for a day are left out.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn units(&self, kinds: &[Kind], time: Duration) -> Result<Vec<(Kind, UnitRecord)>, AskError> {
        let units = self.read_units(kinds, time).await?;
        units.ok_or_else(|| AskError::TooSlow(time, SETTINGS.to_owned()))
    }

    /// Returns the rule records of these kinds' units, in no particular order. Records that were not written for a day are left out.
    ///
    /// # Errors
    /// [`AskError`] when the database fails or takes too long.
    pub async fn rules(&self, kinds: &[Kind], time: Duration) -> Result<Vec<(Kind, RuleRecord)>, AskError> {
        let rules = self.read_rules(kinds, time).await?;
        rules.ok_or_else(|| AskError::TooSlow(time, SETTINGS.to_owned()))
    }

    async fn about_rejects<Q: Query>(&self, query: &Q, time: Duration) -> Result<Vec<Q::Row>, AskError> {
        let answer = self.ask(|| "reading ingester_rejects".into(), query, time).await?;
        answer.ok_or_else(|| AskError::TooSlow(time, "ingester_rejects".to_owned()))
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
