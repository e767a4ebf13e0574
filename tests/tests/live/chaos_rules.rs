//! Kills the ingester again and again while its rules and the definition of its kind change, and while evicted objects are restored. An only
//! copy that no rule means under any definition must survive. The test compares texts itself; `audit` has no part in that.

use anyhow::{Context as _, Result, ensure};
use ingester_tests::Ingester;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::chaos::random;
use crate::eventually::{DEADLINE, eventually, within};
use crate::metrics::Metrics;
use crate::on_servers;
use crate::settings::Settings;
use crate::world::World;

// By hand: `cargo test --workspace --test live chaos_rules -- --ignored`.
on_servers! { OwnServers::NOTHING =>
    sixty_kills_of_one_ingester_while_rules_change
    [on_modern MODERN #[ignore = "by hand: it takes ten minutes"]]
    [on_postgres POSTGRES #[ignore = "by hand: it takes ten minutes"]]
}

on_servers! { OwnServers::NOTHING =>
    sixty_kills_of_two_ingesters_while_rules_change
    [on_modern MODERN #[ignore = "by hand: it takes ten minutes"]]
    [on_postgres POSTGRES #[ignore = "by hand: it takes ten minutes"]]
}

async fn sixty_kills_of_one_ingester_while_rules_change(world: &mut World) -> Result<()> {
    kill_while_rules_change(world, 1, 60).await
}

async fn sixty_kills_of_two_ingesters_while_rules_change(world: &mut World) -> Result<()> {
    kill_while_rules_change(world, 2, 60).await
}

/// How often the ingester is killed in one phase. With [`PAUSE`], a phase is longer than the shortest grace, so rows are purged in it.
const KILLS_A_PHASE: usize = 10;

/// The longest life of a process.
const PAUSE: Duration = Duration::from_secs(9);

/// What the file of kinds, the retention rules and the eviction rules are in a phase.
struct RulePhase {
    columns: &'static str,
    companions: bool,
    retention: &'static str,
    eviction: &'static str,
}

const TIER: &str = "[{column: tier, path: '.spec.tier', type: VARCHAR(63)}]";
const GRADE: &str = "[{column: tier, path: '.spec.grade', type: VARCHAR(63)}]";

/// Each phase begins at a restart. The column has another path, is missing, and comes back with the values that it had; the labels come back;
/// the rules of each phase would purge all only copies if they read what the phase before has left.
const PHASES: [RulePhase; 6] = [
    RulePhase {
        columns: TIER,
        companions: true,
        retention: "{name: junk, kinds: [Ticket], state: evicted, after: 1s, when: {fieldSelector: 'tier!=gold'}, enforce: true}",
        eviction: "{name: done, when: {fieldSelector: 'tier!=gold', labelSelector: phase=done}, enforce: true}",
    },
    RulePhase {
        columns: GRADE,
        companions: true,
        retention: "{name: junk, kinds: [Ticket], state: evicted, after: 1s, when: {fieldSelector: 'tier=junk'}, enforce: true}",
        eviction: "{name: done, when: {fieldSelector: 'tier=junk', labelSelector: phase=done}, enforce: true}",
    },
    RulePhase { columns: "[]", companions: false, retention: "", eviction: "" },
    RulePhase {
        columns: TIER,
        companions: true,
        retention: "{name: class, kinds: [Ticket], state: evicted, after: 1s, when: {labelSelector: 'class!=gold'}, enforce: true}",
        eviction: "{name: class, when: {labelSelector: 'class!=gold,phase=done'}, enforce: true}",
    },
    RulePhase {
        columns: GRADE,
        companions: true,
        retention: "{name: last, kinds: [Ticket], state: evicted, after: 1s, when: {fieldSelector: 'tier!=gold'}, keepLast: {count: 1, by: [tier]}, enforce: true}",
        eviction: "{name: last, when: {fieldSelector: 'tier!=gold'}, keepLast: {count: 1, by: [tier]}, enforce: true}",
    },
    RulePhase {
        columns: TIER,
        companions: true,
        retention: "{name: junk, kinds: [Ticket], state: evicted, after: 1s, when: {fieldSelector: 'tier!=gold'}, enforce: true}",
        eviction: "{name: done, when: {fieldSelector: 'tier!=gold', labelSelector: phase=done}, enforce: true}",
    },
];

impl RulePhase {
    fn kinds(&self) -> String {
        format!(
            "builtIn: false\nkinds:\n- group: example.com\n  version: v1\n  kind: Ticket\n  namespaced: true\n  finalizer: ensure\n  \
             columns: {}\n  companions: {}\n",
            self.columns, self.companions
        )
    }

    fn settings(&self, world: &World, file: &Path) -> Settings {
        let leak = |text: String| -> &'static str { text.leak() };
        Settings {
            deletion_delay: "200ms",
            ingester: vec!["finalizerRate: 1000", "resyncPeriod: 5s", leak(format!("kindsFile: {}", file.display()))],
            retention: leak(format!("{{deleted: 1s, grace: 1m, rules: [{}]}}", self.retention)),
            policies: leak(format!(
                "{{period: 1s, restoreGrace: 5s, evictLimit: 100000, evict: {{Ticket: [{}]}}}}",
                self.eviction
            )),
            ..world.settings()
        }
    }
}

fn crd() -> Json {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "tickets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"kind": "Ticket", "plural": "tickets", "singular": "ticket"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }}}],
        },
    })
}

/// What may happen to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Its annotation sends it to SQL, and no rule means its row.
    OnlyCopy,
    /// No rule means it, so it stays in etcd.
    Stays,
    /// Rules send it to SQL, and purge it.
    Junk,
    /// Rules mean it under one of both paths of the column.
    Either,
}

impl Class {
    fn object(self, name: &str) -> Json {
        let (tier, grade) = match self {
            Class::OnlyCopy | Class::Stays => ("gold", "gold"),
            Class::Junk => ("junk", "junk"),
            Class::Either => ("gold", "junk"),
        };
        let annotations = match self {
            Class::OnlyCopy => json!({ IMMUTABLE: "true" }),
            _ => json!({}),
        };
        json!({
            "apiVersion": "example.com/v1", "kind": "Ticket",
            "metadata": {"name": name, "labels": {"phase": "done", "class": tier}, "annotations": annotations},
            "spec": {"tier": tier, "grade": grade, "note": format!("{name} is {self:?}")},
        })
    }
}

const IMMUTABLE: &str = "michelangelo/Immutable";

/// The objects that were created.
struct Tickets {
    api: Api<DynamicObject>,
    created: BTreeMap<String, Class>,
}

impl Tickets {
    async fn create(&mut self, kill: usize) -> Result<()> {
        let classes = [Class::OnlyCopy, Class::Junk, Class::OnlyCopy, Class::Stays, Class::Junk, Class::Either];
        for (number, class) in classes.into_iter().cycle().take(18).enumerate() {
            let name = format!("t{kill:02}-{number:02}");
            let object = serde_json::from_value(class.object(&name))?;
            self.api.create(&PostParams::default(), &object).await?;
            self.created.insert(name, class);
        }
        Ok(())
    }

    /// Fails if an object is neither in the cluster nor in SQL that must be in one of them, or not in the cluster although it must be. Returns
    /// how many of [`Class::OnlyCopy`] are only in SQL, and how many of [`Class::Junk`] are nowhere.
    async fn look(&self, world: &World) -> Result<[usize; 2]> {
        // In this order: an object leaves etcd only when its row is there, and a row leaves only when its object is there.
        let listed = self.api.list(&ListParams::default()).await?.items;
        let there: BTreeSet<String> = listed.iter().map(ResourceExt::name_any).collect();
        let rows = world.database.sql("SELECT name, json FROM ticket WHERE delete_time IS NULL").await?;
        let mut stored: BTreeMap<&str, Json> = BTreeMap::new();
        for row in &rows {
            let (Some(name), Some(text)) = (&row[0], &row[1]) else { continue };
            stored.insert(name, serde_json::from_str(text)?);
        }
        let [mut only_copies, mut purged] = [0; 2];
        for (name, class) in &self.created {
            let is_there = there.contains(name);
            let row = stored.get(&**name);
            let is_whole = row.is_some_and(|row| row["spec"] == class.object(name)["spec"]);
            match class {
                Class::OnlyCopy => ensure!(is_there || is_whole, "the only copy of {name} is lost: {row:?}"),
                Class::Stays => ensure!(is_there, "{name} has left the cluster: {row:?}"),
                Class::Junk | Class::Either => {}
            }
            only_copies += usize::from(*class == Class::OnlyCopy && !is_there);
            purged += usize::from(*class == Class::Junk && !is_there && row.is_none());
        }
        Ok([only_copies, purged])
    }

    /// Brings an object back whose row is the only copy, unless the command is in the way of a kill. Evicts one that came back before.
    async fn restore(&self, world: &World, ingester: &Ingester) -> Result<bool> {
        for object in self.api.list(&ListParams::default().labels("class=gold")).await?.items {
            let is_restored = object.annotations().keys().any(|key| key.ends_with("/RestoredFrom"));
            if is_restored && object.annotations().get(IMMUTABLE).is_none() {
                let patch = json!({"metadata": {"annotations": {IMMUTABLE: "true"}}});
                self.api.patch(&object.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await?;
            }
        }
        let evicted = "SELECT name FROM ticket WHERE evict_confirmed AND delete_time IS NULL ORDER BY name";
        let rows = world.database.sql(evicted).await?;
        let names: Vec<&String> = rows.iter().flatten().flatten().collect();
        let candidates: Vec<&&String> =
            names.iter().filter(|name| self.created.get(**name) == Some(&Class::OnlyCopy)).collect();
        if candidates.is_empty() {
            return Ok(false);
        }
        let name = candidates[usize::try_from(random() % u64::try_from(candidates.len())?)?];
        let ran = ingester.run(&["restore", "Ticket", name, "-n", &world.objects.namespace])?;
        Ok(ran.code == Some(0))
    }
}

async fn kill_while_rules_change(world: &mut World, ingesters: usize, kills: usize) -> Result<()> {
    let client = world.objects.client.clone();
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let apply = PatchParams::apply("test").force();
    crds.patch("tickets.example.com", &apply, &Patch::Apply(&crd())).await?;
    let kind = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("example.com", "v1", "Ticket"), "tickets");
    let api: Api<DynamicObject> = Api::namespaced_with(client, &world.objects.namespace, &kind);
    eventually("the CRD being served", async || Ok(api.list(&ListParams::default()).await?), |_| true).await?;

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("kinds.yaml");
    fs::write(&file, PHASES[0].kinds())?;
    // The account of the other tests has no rights about this kind.
    let kubeconfig = world.cluster.kubeconfig();
    let settings = PHASES[0].settings(world, &file);
    let start = |_| world.another_by(&settings, &kubeconfig);
    let members: Vec<Ingester> = (0..ingesters).map(start).collect::<Result<_>>()?;
    members[0].wait_ready(DEADLINE)?;

    let mut tickets = Tickets { api, created: BTreeMap::new() };
    let mut restored = 0;
    for kill in 0..kills {
        let phase = &PHASES[kill / KILLS_A_PHASE % PHASES.len()];
        tickets.create(kill).await?;
        let member = &members[usize::try_from(random() % u64::try_from(ingesters)?)?];
        restored += usize::from(tickets.restore(world, member).await?);
        tokio::time::sleep(PAUSE.mul_f64((random() % 1000) as f64 / 1000.0)).await;
        member.kill()?;
        tickets.look(world).await.with_context(|| format!("after kill {kill}"))?;
        if kill % KILLS_A_PHASE == 0 {
            fs::write(&file, phase.kinds())?;
            for member in &members {
                member.reconfigure(&phase.settings(world, &file).yaml())?;
            }
        }
        member.restart()?;
    }
    let last = &PHASES[PHASES.len() - 1];
    fs::write(&file, last.kinds())?;
    for member in &members {
        member.reconfigure(&last.settings(world, &file).yaml())?;
        member.restart()?;
        member.wait_ready(Duration::from_secs(120))?;
    }

    let wrong = async || {
        let mut wrong = Vec::new();
        for row in world.database.sql("SELECT name, tier, json FROM ticket").await? {
            let text: Json = serde_json::from_str(row[2].as_deref().context("a text")?)?;
            if text["spec"]["tier"].as_str() != row[1].as_deref() {
                wrong.push(row[0].clone());
            }
        }
        let mut pending = 0.0;
        for member in &members {
            pending += Metrics::parse(&member.metrics()?)?.sum("ingester_rule_pending_rows", &[]);
        }
        Ok((wrong, pending))
    };
    let found = |(wrong, pending): &(Vec<Option<String>>, f64)| wrong.is_empty() && *pending == 0.0;
    within(Duration::from_secs(180), "every column to have the value of its text", wrong, found).await?;
    let [only_copies, purged] = tickets.look(world).await?;
    eprintln!(
        "{only_copies} only copies survived {kills} kills; {purged} rows were purged, {restored} objects restored"
    );
    ensure!(only_copies > kills && purged > kills / 4 && restored > kills / 4, "{only_copies}, {purged}, {restored}");
    let ran = members[0].run(&["audit"])?;
    ensure!(ran.code == Some(0), "{ran:?}");
    Ok(())
}
