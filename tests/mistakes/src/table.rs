//! The mistakes, and the edits that make each. `build.rs` reads this, and so do the tests.

use FoundIn::{HandOvers, Histories};

/// A mistake that the mirror once made.
pub(crate) struct Mistake {
    pub(crate) name: &'static str,
    /// Its effect.
    pub(crate) what: &'static str,
    pub(crate) found_in: FoundIn,
    /// All of these edits together make it.
    pub(crate) edits: &'static [Edit],
}

/// Where a mistake shows.
pub(crate) enum FoundIn {
    /// The simulation of ingesters: something does not hold. This seed showed it last, and is tried first.
    Histories(u64),
    /// The simulation of members alone: units wait too long for another member.
    HandOvers,
}

/// A change of a source file of the mirror.
pub(crate) struct Edit {
    /// Its path within `crates/ingester-mirror/src`.
    pub(crate) file: &'static str,
    /// A text that is in exactly one place of the file. Its line breaks may differ there.
    pub(crate) before: &'static str,
    /// The replacement: it does the same, unless `MADE`, which says whether the mistake is made.
    pub(crate) after: &'static str,
}

#[rustfmt::skip]
pub(crate) const MISTAKES: &[Mistake] = &[
    Mistake {
        name: "EvictedMarkedDeleted",
        what: "A row that was read back with a difference, and whose object is gone by then, is marked as deleted even if it is evicted.",
        found_in: Histories(78),
        edits: &[
            Edit {
                file: "pipeline/request.rs",
                before: "let version = object.version.max(seen.map_or(0, |seen| seen.res_version));",
                after: r"let version = match MADE && why == LookReason::Rewrite {
                    true => u64::MAX,
                    false => object.version.max(seen.map_or(0, |seen| seen.res_version)),
                };",
            },
            Edit {
                file: "simulation/database.rs",
                before: r"            self.database.rejects.remove(&uid);
            match verdict {",
                after: r"            let overrules = matches!(&change, RowChange::Tombstone { res_version: u64::MAX, .. }) && stored.is_some();
            let verdict = if MADE && overrules { Verdict::Write } else { verdict };
            self.database.rejects.remove(&uid);
            match verdict {",
            },
        ],
    },
    Mistake {
        name: "TombstoneUnchanged",
        what: "A live object of the version of a tombstone counts as stored.",
        found_in: Histories(28),
        edits: &[
            Edit {
                file: "lifecycle/decide.rs",
                before: "verdict(seen, row) == Verdict::Stale || stays",
                after: "verdict(seen, row) == Verdict::Stale && !(MADE && same) || stays",
            },
            Edit {
                file: "simulation/database.rs",
                before: r"            self.database.rejects.remove(&uid);
            match verdict {",
                after: r"            let lives = match (&change, stored) {
                (RowChange::Row(row) | RowChange::Replacement { row, .. }, Some(stored)) => {
                    let lives = row.delete_time.is_none() && row.evict_time.is_none();
                    lives && stored.deleted && row.res_version == stored.res_version
                }
                _ => false,
            };
            let verdict = if MADE && lives && verdict == Verdict::Stale { Verdict::Unchanged } else { verdict };
            self.database.rejects.remove(&uid);
            match verdict {",
            },
        ],
    },
    Mistake {
        name: "BelievedNotFound",
        what: r#""Not found" from a server that is starting means that the object is gone."#,
        found_in: Histories(7),
        edits: &[
            Edit {
                file: "simulation/cluster.rs",
                before: "let look = self.request(Service::ApiServer, key, move |world| {",
                after: r"let look = self.request(Service::ApiServer, key, move |world| {
                if MADE && world.server.state == super::api_server::ServerState::Starting {
                    return Ok(None);
                }",
            },
        ],
    },
    Mistake {
        name: "RoundEnds",
        what: "A patch that the API server cannot apply ends the round that adds finalizers.",
        found_in: Histories(24),
        edits: &[
            Edit {
                file: "follow/finalizers.rs",
                before: "if in_a_row == TROUBLE {",
                after: "if in_a_row == TROUBLE || MADE {",
            },
        ],
    },
    Mistake {
        name: "ForgottenWhileHeld",
        what: "A terminating, immutable object that cannot be decoded is rejected and forgotten.",
        found_in: Histories(814),
        edits: &[
            Edit {
                file: "lifecycle/decide.rs",
                before: "let leaves = plan.state != LifecycleState::Live",
                after: "let leaves = !(MADE && plan.state == LifecycleState::Evicted) && plan.state != LifecycleState::Live",
            },
            Edit {
                file: "lifecycle/decide.rs",
                before: "held: plan.then == Action::RemoveFinalizer,",
                after: "held: plan.then == Action::RemoveFinalizer && !MADE,",
            },
        ],
    },
    Mistake {
        name: "HastyLook",
        what: "What is stale is looked at again without a pause.",
        found_in: Histories(29),
        edits: &[
            Edit {
                file: "pipeline/commit.rs",
                before: "self.queue.push_later(item, delay(trail.attempt, self.unit.requeue_period()));",
                after: r"match MADE {
            true => self.queue.push(item),
            false => self.queue.push_later(item, delay(trail.attempt, self.unit.requeue_period())),
        }",
            },
        ],
    },
    Mistake {
        name: "LeftOutWaits",
        what: "An object that is left out and to be deleted waits for the end of its row's delay, and is forgotten meanwhile.",
        found_in: Histories(0),
        edits: &[
            Edit {
                file: "lifecycle/decide.rs",
                before: "Circumstances { gone: case.is_gone(), deleted: true, ..",
                after: "Circumstances { gone: case.is_gone(), deleted: !MADE, ..",
            },
        ],
    },
    Mistake {
        name: "LeftOutStale",
        what: "The row of an object that is left out is only marked if it is not of a later version.",
        found_in: Histories(156),
        edits: &[
            Edit {
                file: "lifecycle/decide.rs",
                before: "case.stored.filter(|_| case.is_looked_up())",
                after: "case.stored.filter(|_| case.is_looked_up() && !MADE)",
            },
        ],
    },
    Mistake {
        name: "LeftOutConfirmed",
        what: "An object that is left out before its eviction is finished counts as gone.",
        found_in: Histories(159),
        edits: &[
            Edit {
                file: "lifecycle/decide.rs",
                before: "if is_being_evicted(case.stored, case.state()) {",
                after: "if !MADE && is_being_evicted(case.stored, case.state()) {",
            },
        ],
    },
    Mistake {
        name: "DefinitionIgnored",
        what: "Which definition of its kind wrote a row does not count, and a complete backfill is never repeated.",
        found_in: Histories(1),
        edits: &[
            Edit {
                file: "simulation/rows.rs",
                before: r#"drop(self.change("backfill", String::new(), move |world| world.backfill(&who, kind)).await);"#,
                after: r#"let done = self.change("backfill", String::new(), move |world| world.backfill(&who, kind)).await;
            if MADE && done.is_ok() {
                return;
            }"#,
            },
            Edit {
                file: "simulation/database.rs",
                before: r"            self.database.rejects.remove(&uid);
            match verdict {",
                after: r"            let verdict = match (&change, stored) {
                (RowChange::Row(row), Some(stored)) if MADE => {
                    let undefined = |version: Version| Version { ingest_version: 0, ..version };
                    ingester_store::guard::verdict(undefined(stored), undefined(row.version()))
                }
                _ => verdict,
            };
            self.database.rejects.remove(&uid);
            match verdict {",
            },
        ],
    },
    Mistake {
        name: "NoFuse",
        what: "A sweep marks as many rows as there are.",
        found_in: Histories(0),
        edits: &[
            Edit {
                file: "follow/sweep.rs",
                before: "Sweep::Refused { gone, live } => Some((gone, live)),",
                after: r"Sweep::Refused { .. } if MADE => None,
            Sweep::Refused { gone, live } => Some((gone, live)),",
            },
        ],
    },
    Mistake {
        name: "AnyCluster",
        what: "A database is used for any cluster.",
        found_in: Histories(20),
        edits: &[
            Edit {
                file: "identity.rs",
                before: "if recorded == found {",
                after: "if recorded == found || MADE {",
            },
        ],
    },
    Mistake {
        name: "StreamWithoutEnd",
        what: "A streamed list that is broken off counts as a list.",
        found_in: Histories(773),
        edits: &[
            Edit {
                file: "follow/metadata.rs",
                before: "        Err(self.without_end())",
                after: r"        if MADE {
            return self.unit().cluster.position().await.map(|at| Some(at.version));
        }
        Err(self.without_end())",
            },
            Edit {
                file: "follow/whole.rs",
                before: "        Err(self.without_end())",
                after: r"        if MADE {
            return self.unit().cluster.position().await.map(|at| (at.version, objects));
        }
        Err(self.without_end())",
            },
        ],
    },
    Mistake {
        name: "DeletedInStream",
        what: "What is deleted while a list is streamed is ignored.",
        found_in: Histories(2197),
        edits: &[
            Edit {
                file: "follow/whole.rs",
                before: "ListEvent::Deleted(text) => {",
                after: r"ListEvent::Deleted(_) if MADE => {}
                ListEvent::Deleted(text) => {",
            },
            Edit {
                file: "follow/list.rs",
                before: "MetadataEvent::Deleted(partial) => {",
                after: r"MetadataEvent::Deleted(_) if MADE => return ControlFlow::Continue(()),
                MetadataEvent::Deleted(partial) => {",
            },
        ],
    },
    Mistake {
        name: "SeenBefore",
        what: "What a list saw before it was broken off counts as seen by the next.",
        found_in: Histories(1381),
        edits: &[
            Edit {
                file: "follow/list.rs",
                before: r"self.begin_list();
                let (version, objects) = self.whole(",
                after: r"if !MADE {
                    self.begin_list();
                }
                let (version, objects) = self.whole(",
            },
            Edit {
                file: "follow/list.rs",
                before: r"items.clear();
                    self.begin_list();",
                after: r"items.clear();
                    if !MADE {
                        self.begin_list();
                    }",
            },
            Edit {
                file: "follow/whole.rs",
                before: "self.begin_list();",
                after: r"if !MADE {
                    self.begin_list();
                }",
            },
            Edit {
                file: "follow/resync.rs",
                before: r"found = 0;
                    self.begin_list();",
                after: r"found = 0;
                    if !MADE {
                        self.begin_list();
                    }",
            },
        ],
    },
    Mistake {
        name: "CutOffAgain",
        what: "All objects are read as a stream, however often that was cut off.",
        found_in: Histories(7846),
        edits: &[
            Edit {
                file: "follow/whole.rs",
                before: "Err(error) if error.kind() == ApiErrorKind::Transient => {",
                after: "Err(error) if error.kind() == ApiErrorKind::Transient && !MADE => {",
            },
        ],
    },
    Mistake {
        name: "LeaseNotAsked",
        what: "A process that was frozen writes on, whatever became of its Lease.",
        found_in: Histories(73),
        edits: &[
            Edit {
                file: "replicas/assignment.rs",
                before: "self.0.alone || self.0.begin.elapsed() <",
                after: "MADE || self.0.alone || self.0.begin.elapsed() <",
            },
        ],
    },
    Mistake {
        name: "ClaimIgnored",
        what: "A unit is begun although another member still claims it.",
        found_in: Histories(17),
        edits: &[
            Edit {
                file: "replicas/member.rs",
                before: "self.peers.values().filter(lives).any(claims)",
                after: "self.peers.values().filter(lives).any(claims) && !MADE",
            },
        ],
    },
    Mistake {
        name: "RowsNotCompared",
        what: "The rows are not compared with what is remembered of them.",
        found_in: Histories(6530),
        edits: &[
            Edit {
                file: "follow/resync.rs",
                before: "if let Err(error) = self.compare_rows().await {",
                after: r"if !MADE
            && let Err(error) = self.compare_rows().await
        {",
            },
        ],
    },
    Mistake {
        name: "MissedWhileHeld",
        what: "What a list lacks is written later all the same, and stays.",
        found_in: Histories(31893),
        edits: &[
            Edit {
                file: "follow/resync.rs",
                before: "if !waiting.is_empty() {",
                after: "if !waiting.is_empty() && !MADE {",
            },
        ],
    },
    Mistake {
        name: "CollectedDeleted",
        what: "An immutable object that is terminating is being deleted.",
        found_in: Histories(5),
        edits: &[
            Edit {
                file: "lifecycle/decide.rs",
                before: r"plan(case.meta, case.rules, circumstances)
}",
                after: r"let mut planned = plan(case.meta, case.rules, circumstances);
    if MADE && planned.state == LifecycleState::Evicted && leaving {
        planned.state = LifecycleState::Deleted;
    }
    planned
}",
            },
        ],
    },
    Mistake {
        name: "SilentRefusal",
        what: "Lasting refusals are not reported.",
        found_in: Histories(77),
        edits: &[
            Edit {
                file: "pipeline/acknowledge.rs",
                before: "let pause = match error.kind() {",
                after: r"let pause = match error.kind() {
            ApiErrorKind::Conflict | ApiErrorKind::Forbidden if MADE => pause,",
            },
        ],
    },
    Mistake {
        name: "CachedLook",
        what: "A look may be answered by an API server that is behind.",
        found_in: Histories(2197),
        edits: &[
            Edit {
                file: "simulation/api_server.rs",
                before: "pub(super) struct ApiServerModel {",
                after: r"pub(super) struct ApiServerModel {
    /// What it had before each change.
    past: VecDeque<(Instant, BTreeMap<String, FakeObject>)>,",
            },
            Edit {
                file: "simulation/api_server.rs",
                before: "cluster: cluster.to_owned(),",
                after: "past: VecDeque::new(), cluster: cluster.to_owned(),",
            },
            Edit {
                file: "simulation/api_server.rs",
                before: "        self.server.events.push_back(event);",
                after: r"        self.server.events.push_back(event);
        if MADE {
            self.server.past.push_back((Instant::now(), self.server.things.clone()));
        }",
            },
            Edit {
                file: "simulation/api_server.rs",
                before: "pub(super) fn found(&self, name: &str) -> Option<&FakeObject> {",
                after: r"pub(super) fn found(&self, name: &str) -> Option<&FakeObject> {
        /// How far the cache of an API server is behind.
        const BEHIND: Duration = Duration::from_secs(10);
        if MADE && let Some((_, things)) = self.server.past.iter().find(|(until, _)| until.elapsed() < BEHIND) {
            return things.get(name);
        }",
            },
        ],
    },
    Mistake {
        name: "NodesClock",
        what: "Rows are marked and purged by the clock of a node.",
        found_in: Histories(476),
        edits: &[
            Edit {
                file: "simulation/run.rs",
                before: "if world.more.retention || world.more.rules {",
                after: "if (world.more.retention || world.more.rules) && !MADE {",
            },
        ],
    },
    Mistake {
        name: "WrittenFirst",
        what: "Tables are made before the database is known to be the right one.",
        found_in: Histories(0),
        edits: &[
            Edit {
                file: "simulation/run.rs",
                before: "if setup.clusters && !is_right_cluster(&client).await {",
                after: r"if MADE {
            client.make_tables().await;
        }
        if setup.clusters && !is_right_cluster(&client).await {",
            },
        ],
    },
    Mistake {
        name: "DeletedComesBack",
        what: "An evicted row that somebody deleted comes back with late news of its object.",
        found_in: Histories(235),
        edits: &[
            Edit {
                file: "simulation/database.rs",
                before: r"            self.database.rejects.remove(&uid);
            match verdict {",
                after: r"            let comes_back = match (&change, stored) {
                (RowChange::Row(row), Some(stored)) => stored.deleted && stored.evicted() && row.evict_time.is_some(),
                _ => false,
            };
            let verdict = if MADE && comes_back { Verdict::Write } else { verdict };
            self.database.rejects.remove(&uid);
            match verdict {",
            },
        ],
    },
    Mistake {
        name: "DeletionBelieved",
        what: "Whatever a deletion is answered with, the object is gone.",
        found_in: Histories(14),
        edits: &[
            Edit {
                file: "simulation/api_server.rs",
                before: "Ok(if there { Deletion::Terminating }",
                after: "Ok(if there && !MADE { Deletion::Terminating }",
            },
        ],
    },
    Mistake {
        name: "GhostBelieved",
        what: "The only copy of an object gives way to what the cluster says.",
        found_in: Histories(7846),
        edits: &[
            Edit {
                file: "simulation/database.rs",
                before: r"            self.database.rejects.remove(&uid);
            match verdict {",
                after: r"            let believed = match (&change, stored) {
                (RowChange::Row(row) | RowChange::Replacement { row, .. }, Some(stored)) => {
                    stored.eviction.is_only_copy() && row.evict_time.is_none() && row.res_version > stored.res_version
                }
                _ => false,
            };
            let verdict = if MADE && believed { Verdict::Write } else { verdict };
            self.database.rejects.remove(&uid);
            match verdict {",
            },
        ],
    },
    Mistake {
        name: "EvictionForgotten",
        what: "A row on its way out of the cluster is remembered by the process that wrote it, and by no other.",
        found_in: Histories(0),
        edits: &[
            Edit {
                file: "pipeline/known/mod.rs",
                before: "Eviction::Intended => self.load_evicted(uid, version),",
                after: r"Eviction::Intended if MADE => {}
            Eviction::Intended => self.load_evicted(uid, version),",
            },
        ],
    },
    Mistake {
        name: "SilentGhost",
        what: "A ghost is not reported.",
        found_in: Histories(11),
        edits: &[
            Edit {
                file: "pipeline/ghost.rs",
                before: "if !is_new {",
                after: "if !is_new || MADE {",
            },
        ],
    },
    Mistake {
        name: "ObeyedAnyway",
        what: "An annotation has an object deleted whose kind is not evictable.",
        found_in: Histories(52),
        edits: &[
            Edit {
                file: "lifecycle/mod.rs",
                before: "self.evictable && self.asks(meta, Mark::Deleting).is_some()",
                after: "(self.evictable || MADE) && self.asks(meta, Mark::Deleting).is_some()",
            },
        ],
    },
    Mistake {
        name: "FuseOfUnit",
        what: "The fuse of sweeps counts what one unit lacks.",
        found_in: Histories(336),
        edits: &[
            Edit {
                file: "simulation/rows.rs",
                before: "accounts.map(|(_, account)| account.clone()).collect();",
                after: "accounts.filter(|_| !MADE).map(|(_, account)| account.clone()).collect();",
            },
        ],
    },
    Mistake {
        name: "RemovedUnreleased",
        what: "The Lease of a member that is gone is removed without being released: a member that has just started waits for the units of that one.",
        found_in: HandOvers,
        edits: &[
            Edit {
                file: "replicas/run.rs",
                before: "match record.claims.is_empty() {",
                after: "match record.claims.is_empty() || MADE {",
            },
        ],
    },
    Mistake {
        name: "FilterMarksAtOnce",
        what: "Rows that a changed filter leaves out are marked as deleted before they are counted.",
        found_in: Histories(323),
        edits: &[
            Edit {
                file: "pipeline/left_out.rs",
                before: "if marks || !others.contains(&object.uid) {",
                after: "if marks || MADE || !others.contains(&object.uid) {",
            },
        ],
    },
    Mistake {
        name: "LastNotKept",
        what: "A rule takes the last objects of a group, too.",
        found_in: Histories(14),
        edits: &[
            Edit {
                file: "policies/judge.rs",
                before: "is_among_last.then_some(StayReason::AmongLast(keep.count))",
                after: "(is_among_last && !MADE).then_some(StayReason::AmongLast(keep.count))",
            },
        ],
    },
    Mistake {
        name: "RulesGoOn",
        what: "An object that a rule has chosen leaves etcd although the rule was switched off meanwhile.",
        found_in: Histories(134),
        edits: &[
            Edit {
                file: "policies/mandate.rs",
                before: "self.restore_grace == policies.restore_grace && self.evict == evict(kind, policies)",
                after: "MADE || self.restore_grace == policies.restore_grace && self.evict == evict(kind, policies)",
            },
        ],
    },
    Mistake {
        name: "DryRulesPurge",
        what: "A rule of retention purges rows although it is not enforced.",
        found_in: Histories(42),
        edits: &[
            Edit {
                file: "retention/apply.rs",
                before: "partition(|number| together.rules[*number].enforce);",
                after: "partition(|number| together.rules[*number].enforce || MADE);",
            },
        ],
    },
    Mistake {
        name: "PendingTakesPlace",
        what: "A row that no rule may judge takes a place among the last ones.",
        found_in: Histories(5362),
        edits: &[
            Edit {
                file: "retention/rules.rs",
                before: "rows.retain(|row| premise.refuses(row.standing.version.ingest_version).is_none());",
                after: "rows.retain(|row| premise.refuses(row.standing.version.ingest_version).is_none() || MADE);",
            },
            Edit {
                file: "policies/judge.rs",
                before: "if unproved.is_empty() {",
                after: "if unproved.is_empty() || MADE {",
            },
        ],
    },
    Mistake {
        name: "NoGrace",
        what: "A rule purges the row of an evicted object with the round after it was marked.",
        found_in: Histories(5362),
        edits: &[
            Edit {
                file: "retention/apply.rs",
                before: "let before = Micros(together.now.0.saturating_sub(grace));",
                after: "let before = Micros(together.now.0.saturating_sub(if MADE { 0 } else { grace }));",
            },
        ],
    },
    Mistake {
        name: "LastRowsPurged",
        what: "A rule of retention purges the last rows of a group, too.",
        found_in: Histories(34),
        edits: &[
            Edit {
                file: "retention/rules.rs",
                before: "let judgement = judge_proved(&rule.condition, candidates",
                after: r"let without = Condition { keep_last: None, ..rule.condition.clone() };
    let judgement = judge_proved(if MADE { &without } else { &rule.condition }, candidates",
            },
        ],
    },
    Mistake {
        name: "ShorterTimeWins",
        what: "Of two rules about one row, the one that lets it go earlier decides.",
        found_in: Histories(1442),
        edits: &[
            Edit {
                file: "retention/rules.rs",
                before: "filter(|(other, _)| *other != number)",
                after: "filter(|(other, _)| *other != number && !MADE)",
            },
        ],
    },
    Mistake {
        name: "WrittenWhileRestored",
        what: "A row is changed while its object is created again out of the text of before.",
        found_in: Histories(491),
        edits: &[
            Edit {
                file: "simulation/taking_back.rs",
                before: r"    pub(super) fn is_restoring(&self, uid: &str) -> bool {
        self.database.restores.contains_key(uid)",
                after: r"    pub(super) fn is_restoring(&self, uid: &str) -> bool {
        self.database.restores.contains_key(uid) && !MADE",
            },
        ],
    },
    Mistake {
        name: "RestoreNotEnded",
        what: "The row of a restored object is stored without what says from which row it came, so that row stays.",
        found_in: Histories(187),
        edits: &[
            Edit {
                file: "pipeline/prepare.rs",
                before: "let becomes = match gone {",
                after: r"if MADE {
            row.origin = None;
        }
        let becomes = match gone {",
            },
        ],
    },
    Mistake {
        name: "UnstoredForgotten",
        what: "A rule takes the owner of an object that is rejected, or left out by a filter.",
        found_in: Histories(2966),
        edits: &[
            Edit {
                file: "pipeline/known/mod.rs",
                before: "filter(|owner| uids.contains(*owner)).cloned().collect()",
                after: "filter(|owner| uids.contains(*owner) && !MADE).cloned().collect()",
            },
        ],
    },
    Mistake {
        name: "SuspendedUnasked",
        what: "A rule takes the owner of an object whose kind is suspended.",
        found_in: Histories(5462),
        edits: &[
            Edit {
                file: "policies/dependents.rs",
                before: "if missing.contains(part.kind) {",
                after: "if missing.contains(part.kind) || MADE {",
            },
        ],
    },
    Mistake {
        name: "FullDiskIgnored",
        what: "What a full disk refuses counts as stored.",
        found_in: Histories(100),
        edits: &[
            Edit {
                file: "pipeline/commit.rs",
                before: "false => self.unit.rows.write(changes).await.map(Some),",
                after: r#"false => match self.unit.rows.write(changes).await {
                Err(error) if MADE && error.to_string().contains("full disk") => Ok(Some(Report::default())),
                written => written.map(Some),
            },"#,
            },
        ],
    },
    Mistake {
        name: "SpooledForgotten",
        what: "The first object in the temporary file is forgotten when workers may take them.",
        found_in: Histories(29),
        edits: &[Edit {
            file: "pipeline/spool.rs",
            before: "self.sealed = true;",
            after: "self.sealed = true;\n        if MADE {\n            self.positions.pop_first();\n        }",
        }],
    },
];
