//! `ingester import --from`: copies the rows of another database.

use super::destination::{opened_to_compare, opened_to_write};
use super::interrupt::Interrupt;
use super::{chosen, warn_unchecked};
use crate::arguments::{AssumedState, Format, Import as Arguments};
use crate::database::Database;
use crate::ending::{Ending, Failure};
use crate::output::{Table, counted, note, one_line, show};
use crate::program::Program;
use crate::progress;
use anyhow::anyhow;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use ingester_core::Kind;
use ingester_mirror::identity::{IdentityError, Names, cluster, examine, identify};
use ingester_store::{ConnectOptions, Effect, Store};
use ingester_transfer::moving::{
    Cluster, ComparisonCounts, MoveCounts, MoveError, OtherDatabase, OtherObject, Pass, PassResult, UndeletedState,
    UnreadTable,
};
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The number of objects that are listed at once.
const PAGE: u32 = 1000;

/// The most characters shown of a line about an object.
const SHOWN: usize = 1000;

pub(super) async fn run(from: &str, arguments: &Arguments, program: Program) -> Result<Ending, Failure> {
    let database = arguments.target.database(program.kinds)?;
    let origin = Database::named(from, arguments.from_password_file.as_deref())?;
    if origin.address().to_string() == database.address().to_string() {
        return Err(Failure::Usage(anyhow!(
            "{origin} is both the source and the destination: name another database with --database-url"
        )));
    }
    let names: Vec<String> = arguments.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let kinds = chosen(program.kinds, &names)?;
    let interrupt = Interrupt::listen("after the rows that are being written")?;
    let opening = Box::pin(open(&origin, &database, &kinds, arguments, program));
    let Some(opened) = interrupt.stop.run_until_cancelled(opening).await else {
        note(&format!("interrupted: nothing was copied into {database}"));
        return Ok(interrupt.ending());
    };
    let (source, store, cluster) = opened?;
    // If kinds are named, only these are copied.
    let unread = match names.is_empty() {
        true => source.unread(program.kinds).await?,
        false => Vec::new(),
    };
    unread.iter().for_each(|table| note(&unread_table(table, &origin)));
    let living = match (&cluster, arguments.assume) {
        (Some(cluster), _) => UndeletedState::Asked(cluster),
        (None, Some(AssumedState::Evicted)) => UndeletedState::Evicted,
        // An ingester's rows contain this state themselves.
        (None, Some(AssumedState::Live) | None) => UndeletedState::Live,
    };
    let effect = if arguments.dry_run { Effect::Tried } else { Effect::Written };
    let pass = Pass { source: &source, store: store.as_ref(), effect, living, stop: interrupt.stop.clone() };
    same_names(&pass).await?;
    let done = copy(&pass, &database).await?;
    let verified = match arguments.verify && !done.stopped {
        true => Some(verify(&pass).await?),
        false => None,
    };
    let ending = report(arguments.output.output, &done, verified.as_deref())?;
    let stopped = interrupt.stop.is_cancelled();
    if stopped {
        note(&format!("interrupted: what was copied stays in {database}: run the same command again to continue"));
    }
    explain(&done, &database);
    let behind = unread.iter().filter(|table| table.has_objects).count();
    let ending = match arguments.verify && behind > 0 {
        true => {
            let tables = counted(behind as u64, "table with objects was", "tables with objects were");
            note(&format!("{tables} neither copied nor compared, as the warnings above say"));
            Ending::Problem
        }
        false => ending,
    };
    if arguments.dry_run {
        note(&format!("dry run: nothing is written in {database}, `written` is what would be"));
    }
    source.close().await;
    if let Some(store) = store {
        store.close().await;
    }
    Ok(if stopped { interrupt.ending() } else { ending })
}

/// Both databases, and the cluster if one is named.
async fn open(
    origin: &Database,
    database: &Database,
    kinds: &[Kind],
    arguments: &Arguments,
    program: Program,
) -> Result<(OtherDatabase, Option<Store>, Option<ListedObjects>), Failure> {
    let options = ConnectOptions::default().create(false).read_only(true);
    let source = OtherDatabase::new(origin.open_with(options).await?, kinds).await?;
    let asks = arguments.cluster.is_named();
    match (source.is_of_reference(), asks || arguments.assume.is_some()) {
        (true, false) => {
            return Err(Failure::Usage(anyhow!(
                "{origin} is a database of the reference system, which does not record which of its objects have left the cluster: name \
                 the cluster with --kubeconfig FILE, or say with --assume live or --assume evicted what rows without `delete_time` are; \
                 docs/moving.md has the whole way"
            )));
        }
        (false, true) => {
            return Err(Failure::Usage(anyhow!(
                "the rows of {origin} say the states of their objects: leave out --assume, --kubeconfig and --context"
            )));
        }
        _ => {}
    }
    let missing: Vec<&str> =
        kinds.iter().filter(|kind| !source.kinds().any(|its| its.name() == kind.name())).map(Kind::name).collect();
    if !missing.is_empty() {
        note(&format!("{origin} has no table of {}", missing.join(", ")));
    }
    let store = match arguments.dry_run {
        true => opened_to_compare(database, program).await?,
        false => Some(opened_to_write(database, program).await?),
    };
    let ours = match &store {
        Some(store) => store.cluster().await?,
        None => None,
    };
    if let (Some(its), Some(ours)) = (source.cluster().await?, ours)
        && its != ours
    {
        return Err(Failure::Usage(anyhow!(
            "{origin} belongs to the cluster {its} and {database} to {ours}: the rows of two clusters would be mixed"
        )));
    }
    let cluster = match asks {
        true => Some(listed(arguments, &source, store.as_ref(), program).await?),
        false => None,
    };
    Ok((source, store, cluster))
}

/// Returns the warning about a table whose rows stay behind.
fn unread_table(table: &UnreadTable, origin: &Database) -> String {
    let name = &table.name;
    let rows = match &table.rows {
        Ok(rows) => counted(*rows, "row that is not copied", "rows that are not copied"),
        Err(error) => format!("rows that cannot be counted ({error}) and are not copied"),
    };
    let remedy = match (table.kind, table.has_objects) {
        (Some(kind), _) => format!("{kind} is read from its other table: rename one of the two, and copy the other later"),
        (None, true) => "there is no kind for them: declare it in a file, and name that with --kinds FILE; examples/michelangelo has \
                         `cached_output` and `evaluation_report`"
            .to_owned(),
        (None, false) => "it is not a table of objects".to_owned(),
    };
    one_line(&format!("warning: the table `{name}` of {origin} has {rows}: {remedy} (docs/moving.md)"), SHOWN)
}

/// Reports names that the source treats as equal, before anything is written.
async fn same_names(pass: &Pass<'_>) -> Result<(), Failure> {
    let found = pass.same_names().await.map_err(|error| Failure::Work(anyhow!("{error}; nothing was written")))?;
    for same in found {
        let names = same.names.join(", ");
        note(&one_line(
            &format!(
                "warning: {}: {names} differ only by case, and Kubernetes allows only the one without capitals: the others are rejected",
                same.kind
            ),
            SHOWN,
        ));
    }
    Ok(())
}

async fn copy(pass: &Pass<'_>, database: &Database) -> Result<PassResult, Failure> {
    let bar = progress::spinner("{spinner} {pos} rows passed  {per_sec}");
    let problem = |object: &str, reason: &str| {
        bar.suspend(|| note(&one_line(&format!("rejected: {object}: {reason}"), SHOWN)));
    };
    let passed = pass.run(problem, |rows| bar.inc(rows)).await;
    bar.finish_and_clear();
    passed.map_err(|error| {
        Failure::Work(anyhow!(
            "{error}; what was written before stays in {database}: run the same command again to continue"
        ))
    })
}

async fn verify(pass: &Pass<'_>) -> Result<Vec<(Kind, ComparisonCounts)>, Failure> {
    let bar = progress::spinner("{spinner} {pos} rows compared  {per_sec}");
    let different = |object: &str, what: &str| {
        bar.suspend(|| note(&one_line(&format!("different: {object}: {what}"), SHOWN)));
    };
    let verified = pass.verify(different, |rows| bar.inc(rows)).await;
    bar.finish_and_clear();
    verified.map_err(|error: MoveError| Failure::Work(anyhow!("{error}; the comparison ended early")))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MoveLine<'a> {
    kind: &'a str,
    table: &'a str,
    #[serde(flatten)]
    moved: MoveCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<&'a ComparisonCounts>,
}

fn report(
    format: Format,
    passed: &PassResult,
    verified: Option<&[(Kind, ComparisonCounts)]>,
) -> anyhow::Result<Ending> {
    let of = |kind: &Kind| verified?.iter().find(|(its, _)| its.name() == kind.name()).map(|(_, verified)| verified);
    let line = |(kind, moved): &(Kind, MoveCounts)| {
        let name = kind.name();
        let table = kind.table().name.as_str();
        MoveLine { kind: name, table, moved: *moved, verified: of(kind) }
    };
    let lines: Vec<MoveLine<'_>> = passed.kinds.iter().map(line).collect();
    show(format, &lines, || {
        let mut table = Table::new([
            "kind",
            "read",
            "live",
            "evicted",
            "deleted",
            "written",
            "unchanged",
            "kept",
            "left",
            "left out",
            "rejected",
        ]);
        for MoveLine { kind, moved: m, .. } in &lines {
            let numbers =
                [m.read, m.live, m.evicted, m.deleted, m.written, m.unchanged, m.kept, m.left, m.left_out, m.rejected];
            table.row(std::iter::once((*kind).to_owned()).chain(numbers.map(|number| number.to_string())));
        }
        let Some(verified) = verified else { return table.to_string() };
        let mut compared =
            Table::new(["kind", "read", "equal", "different", "kept", "left", "mirrored", "not stored", "hash"]);
        for (kind, v) in verified {
            let numbers = [v.read, v.equal, v.different, v.kept, v.left, v.mirrored, v.not_stored];
            let hash = match v.source_hash == v.stored_hash {
                true => v.stored_hash.get(..16).unwrap_or_default().to_owned(),
                false => "differs".to_owned(),
            };
            let cells = std::iter::once(kind.name().to_owned()).chain(numbers.map(|number| number.to_string()));
            compared.row(cells.chain([hash]));
        }
        format!("{table}\n{compared}")
    })?;
    let is_different = |(_, v): &(Kind, ComparisonCounts)| v.different > 0 || v.source_hash != v.stored_hash;
    let rejected = passed.kinds.iter().any(|(_, moved)| moved.rejected > 0);
    let different = verified.is_some_and(|verified| verified.iter().any(is_different));
    Ok(if rejected || different { Ending::Problem } else { Ending::Done })
}

/// Explains the counts that need a person's attention.
fn explain(passed: &PassResult, database: &Database) {
    let sum = |of: fn(&MoveCounts) -> u64| passed.kinds.iter().map(|(_, moved)| of(moved)).sum::<u64>();
    for (count, one, several, means) in [
        (
            sum(|moved| moved.left),
            "live row is",
            "live rows are",
            "left to `ingester run`, which writes them from the cluster".to_owned(),
        ),
        (
            sum(|moved| moved.unmarked),
            "row was",
            "rows were",
            "copied as evicted, but their objects do not have the annotation that makes them immutable: this is right for kinds that the reference system always evicts (Model); for others, it may have missed the deletion"
                .to_owned(),
        ),
        (
            sum(|moved| moved.proto_differs),
            "row",
            "rows",
            "had a `proto` that differs from their `json`: it was made again from `json`".to_owned(),
        ),
        (
            sum(|moved| moved.from_proto),
            "row has",
            "rows have",
            "no `json`: their objects were read from `proto`, which lacks the fields that its message does not have".to_owned(),
        ),
        (
            sum(|moved| moved.nul_values),
            "value has",
            "values have",
            format!("NUL (U+0000), which text of {} cannot have: they are NULL", database.address().dialect().title()),
        ),
        (
            sum(|moved| moved.unfit_values),
            "value does",
            "values do",
            "not fit their columns, which are NULL".to_owned(),
        ),
        (
            sum(|moved| moved.kept),
            "row is",
            "rows are",
            format!("kept: {database} has a later state of them, or the mirror has seen their deletion"),
        ),
    ] {
        if count > 0 {
            note(&format!("{} {means}", counted(count, one, several)));
        }
    }
}

/// The objects of a cluster.
struct ListedObjects {
    client: Client,
    kinds: HashMap<&'static str, Uids>,
}

struct Uids {
    resource: ApiResource,
    uids: HashSet<Box<str>>,
    /// The cluster's version when they were listed.
    version: u64,
}

/// Lists the objects of all kinds, before a row is read.
async fn listed(
    arguments: &Arguments,
    source: &OtherDatabase,
    store: Option<&Store>,
    program: Program,
) -> Result<ListedObjects, Failure> {
    let client = arguments.cluster.client().await?;
    // A database without tables does not belong to a cluster.
    if let Some(store) = store {
        let identity = match arguments.dry_run {
            // Nothing is recorded in the database.
            true => match cluster(&client).await {
                Ok(cluster) => examine(cluster, store, program.marks).await,
                Err(error) => Err(error),
            },
            false => identify(&client, store, Names::Read(program.marks)).await,
        };
        warn_unchecked(&identity.map_err(|error| match error {
            IdentityError::Store(error) => error.into(),
            error => Failure::Usage(anyhow!("nothing is copied: {error}")),
        })?);
    }
    let mut kinds = HashMap::new();
    for kind in source.kinds() {
        let gvk = GroupVersionKind::gvk(kind.group(), kind.version(), kind.kind());
        let resource = ApiResource::from_gvk_with_plural(&gvk, &kind.plural());
        let uids = uids(&client, resource).await.map_err(|error| {
            Failure::Usage(anyhow!(
                "nothing is copied: the cluster does not list {}: {error}; is it the right one, and are its CRDs installed?",
                super::resource(kind)
            ))
        })?;
        kinds.insert(kind.name(), uids);
    }
    if kinds.values().all(|kind| kind.uids.is_empty()) {
        return Err(Failure::Usage(anyhow!(
            "the cluster has no object of any of these kinds, so that every row would be an evicted one: is it the right cluster? \
             --assume evicted says that they are"
        )));
    }
    Ok(ListedObjects { client, kinds })
}

async fn uids(client: &Client, resource: ApiResource) -> Result<Uids, kube::Error> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let mut uids = HashSet::new();
    let mut version = None;
    let mut page = ListParams::default().limit(PAGE);
    loop {
        let list = api.list_metadata(&page).await?;
        // All pages have the version of the first one.
        let its = list.metadata.resource_version.as_deref().and_then(|version| version.parse().ok());
        version = version.or(its);
        uids.extend(list.items.into_iter().filter_map(|object| object.metadata.uid.map(String::into_boxed_str)));
        match list.metadata.continue_.filter(|next| !next.is_empty()) {
            Some(next) => page = page.continue_token(&next),
            None => return Ok(Uids { resource, uids, version: version.unwrap_or(0) }),
        }
    }
}

impl Cluster for ListedObjects {
    fn has<'a>(&'a self, kind: &'a Kind, object: &'a OtherObject) -> BoxFuture<'a, Result<bool, String>> {
        async move {
            let Some(listed) = self.kinds.get(kind.name()) else { return Ok(true) };
            if listed.uids.contains(&object.uid) {
                return Ok(true);
            }
            // The row was written before the list, and an object that is gone does not come back with the same uid.
            if object.res_version <= listed.version {
                return Ok(false);
            }
            let api: Api<DynamicObject> = match kind.namespaced() {
                true => Api::namespaced_with(self.client.clone(), &object.namespace, &listed.resource),
                false => Api::all_with(self.client.clone(), &listed.resource),
            };
            let found = api.get_metadata_opt(&object.name).await.map_err(|error| error.to_string())?;
            Ok(found.is_some_and(|found| found.metadata.uid.as_deref() == Some(&*object.uid)))
        }
        .boxed()
    }
}
