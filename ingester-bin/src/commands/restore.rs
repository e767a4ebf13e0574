//! `ingester restore`: brings objects back into the cluster from their rows.

mod selected;

use super::tree::tree;
use super::{diff, history, named, warn_unchecked};
use crate::arguments::{Restore, RestoreFormat};
use crate::ending::{Ending, Failure};
use crate::output::{note, print};
use crate::program::Program;
use crate::progress;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_mirror::identity::{IdentityError, Names, identify};
use ingester_printers::{json, name, yaml};
use ingester_server::former::Reach;
use ingester_server::restore::{Abandonment, RestoreRequest, RestoredObject, give_up, restore};
use ingester_sql::query::{AsOf, Query, QueryError, States};
use ingester_store::query::{self, AskError, FoundRow, Limits, VersionOf};
use ingester_store::{Effect, Store};
use std::collections::BTreeSet;
use std::time::Duration;

/// The time that the mirror has to store the new object.
const PATIENCE: Duration = Duration::from_secs(30);

/// The note after a restore: a rule that evicted the object once would do it again.
const GRACE: &str = "Enforced rules leave restored objects alone for `policies.restoreGrace` (24h, unless the configuration of `ingester run` \
     says otherwise).";

pub(crate) async fn run(arguments: Restore, program: Program) -> Result<Ending, Failure> {
    let kinds = program.kinds;
    let (kind, name) = resource(&arguments, kinds)?;
    // Do this before any request to the database or the cluster.
    let selected = arguments.selects().then(|| selected::query(&kind, &arguments)).transpose()?;
    let of_version = of_version(&arguments)?;
    if of_version.is_some() && kind.history().is_none() {
        return Err(Failure::Usage(QueryError::NoHistory { kind: kind.kind() }.into()));
    }
    let database = arguments.target.database(kinds)?;
    let client = arguments.cluster.client().await?;
    let store = database.open_existing().await?;
    store.learn_declared(program.declared).await.map_err(|error| super::declared_failure(error, program))?;
    let identity = identify(&client, &store, Names::Read(program.marks)).await.map_err(|error| match error {
        IdentityError::Store(error) => error.into(),
        IdentityError::Other { .. } | IdentityError::OtherPrefix { .. } => Failure::Usage(error.into()),
        IdentityError::Api(_) | IdentityError::NoAnswer(_) => Failure::Usage(anyhow!("nothing is restored: {error}")),
    })?;
    warn_unchecked(&identity);
    // If no `ingester run` of this release has prepared the database, it lacks the table of restores.
    store.create_own().await?;
    if let Some(query) = selected {
        let ending = selected::restore_all(&store, &client, &kind, &query, &arguments).await;
        store.close().await;
        return ending;
    }
    let version = match of_version {
        Some(of) => Some(version(&store, &kind, (&arguments, &name), of).await?),
        None => None,
    };
    let namespace = match (&arguments.namespace, &version) {
        (_, Some(version)) => version.get_text(base::NAMESPACE).to_owned(),
        (Some(namespace), None) => namespace.clone(),
        (None, None) if kind.namespaced() && arguments.uid.is_none() => only_namespace(&store, &kind, &name).await?,
        (None, None) => String::new(),
    };
    let effect = if arguments.dry_run { Effect::Tried } else { Effect::Written };
    let uid = version.as_ref().map(FoundRow::uid).or(arguments.uid.as_deref());
    let name = version.as_ref().map_or(name.as_str(), |version| version.get_text(base::NAME));
    // The cluster sees the user of the kubeconfig: its own audit log names that user, and it checks that user's rights.
    let wanted = RestoreRequest {
        namespace: &namespace,
        name,
        uid,
        effect,
        patience: PATIENCE,
        by: None,
        status: Ok(()),
        former: Reach::All,
        version: version.as_ref().map(|version| version.get_text(base::JSON)),
    };
    let bar = progress::spinner("{spinner} {msg}");
    bar.set_message("restoring, and waiting for the mirror");
    let restored = match arguments.abandon {
        true => give_up(&store, client, &kind, wanted).await,
        false => restore(&store, client, &kind, wanted).await.map(|restored| Abandonment::Completed(restored.into())),
    };
    bar.finish_and_clear();
    let restored = restored.map_err(|status| Failure::Work(status.into()))?;
    store.close().await;
    let restored = match restored {
        Abandonment::Completed(restored) => restored,
        Abandonment::GivenUp { name, uid } => return given_up(&kind, &arguments, (&name, &uid)),
    };
    if arguments.abandon {
        note("It is in the cluster: its restore was completed instead.");
    }
    restored.warnings.iter().for_each(|warning| note(&format!("Warning: {warning}")));
    print(&render_restored(&kind, &restored, &arguments)?)?;
    if is_new(&restored, &arguments) {
        note(GRACE);
    }
    Ok(if restored.finished { Ending::Done } else { Ending::Problem })
}

/// The requested version, if any.
fn of_version(arguments: &Restore) -> Result<Option<VersionOf>, Failure> {
    let moment = |text: &String| match AsOf::parse(text) {
        Ok(at) => Ok(VersionOf::At(at)),
        Err(error) => Err(Failure::Usage(anyhow!("--at: {error}"))),
    };
    let at = arguments.at.as_ref().map(moment).transpose()?;
    Ok(arguments.version.map(VersionOf::Version).or(at))
}

/// The version of the named object.
async fn version(
    store: &Store,
    kind: &Kind,
    (arguments, name): (&Restore, &str),
    of: VersionOf,
) -> Result<FoundRow, Failure> {
    let given = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned).into_iter().collect();
    let query = Query {
        namespaces: given(arguments.namespace.as_deref()),
        names: given(Some(name)),
        uids: given(arguments.uid.as_deref()),
        ..Query::default()
    };
    let lives = history::lives(store, kind, &query).await?;
    if lives.is_empty() {
        return Err(Failure::Work(anyhow!("nothing is restored")));
    }
    let flag = if matches!(of, VersionOf::At(_)) { "--at" } else { "--version" };
    let found = store.version(kind, &lives, of, &query::RequestedParts::object(), Limits::default()).await;
    found.map_err(|error| diff::no_version(flag, error))
}

/// The kind and the name: `KIND NAME` or `KIND/NAME`; without a name if there is a uid.
fn resource(arguments: &Restore, kinds: &'static [Kind]) -> Result<(Kind, String), Failure> {
    let name = arguments.name.clone().unwrap_or_default();
    match arguments.kind.split_once('/') {
        None if name.is_empty() && arguments.uid.is_none() && !arguments.selects() => Err(Failure::Usage(anyhow!(
            "name the object (KIND NAME, KIND/NAME, or KIND --uid UID), or select evicted ones (KIND -l SELECTOR, KIND --all)"
        ))),
        None => Ok((named(kinds, &arguments.kind)?, name)),
        Some((kind, of_kind)) if name.is_empty() && !of_kind.is_empty() && !arguments.selects() => {
            Ok((named(kinds, kind)?, of_kind.to_owned()))
        }
        Some(_) => Err(Failure::Usage(anyhow!("`{}`: give KIND NAME, or KIND/NAME", arguments.kind))),
    }
}

/// Returns the namespace, if all restorable rows of this name are in one; empty without such rows.
async fn only_namespace(store: &Store, kind: &Kind, name: &str) -> Result<String, Failure> {
    let failed = |error: AskError| Failure::Work(error.into());
    let states = States { live: false, ..States::ALL };
    let query = Query { names: vec![name.to_owned()], states, ..Query::default() };
    let asked = store.ask_about(kind, &query, Limits::default()).map_err(|error| failed(error.into()))?;
    let wanted = query::RequestedParts { places: vec![base::NAMESPACE], labels: false };
    let mut reader = asked.reader(&wanted, None).map_err(|error| failed(error.into()))?;
    let mut namespaces: BTreeSet<String> = BTreeSet::new();
    loop {
        let rows = reader.next().await.map_err(failed)?;
        if rows.is_empty() {
            break;
        }
        namespaces.extend(rows.iter().map(|row: &FoundRow| row.get_text(base::NAMESPACE).to_owned()));
    }
    if namespaces.len() > 1 {
        let all: Vec<String> = namespaces.into_iter().collect();
        return Err(Failure::Usage(anyhow!(
            "`{name}` is in several namespaces: name one with -n ({})",
            all.join(", ")
        )));
    }
    Ok(namespaces.pop_first().unwrap_or_default())
}

/// Returns true if the object was created just now.
fn is_new(restored: &RestoredObject, arguments: &Restore) -> bool {
    !restored.before && !restored.in_sql && !arguments.dry_run
}

/// Reports that a restore was given up.
fn given_up(kind: &Kind, arguments: &Restore, (name, uid): (&str, &str)) -> Result<Ending, Failure> {
    let name = name::qualified(kind.kind(), kind.group(), name);
    let would = if arguments.dry_run { " (dry run)" } else { "" };
    print(&match arguments.output {
        Some(_) => format!("{name}\n"),
        None => format!("{name} restore abandoned{would}\n"),
    })?;
    note(&format!("Its row (uid {uid}) can be changed again."));
    Ok(Ending::Done)
}

/// Returns the output.
fn render_restored(kind: &Kind, restored: &RestoredObject, arguments: &Restore) -> Result<String, Failure> {
    let tree = || {
        let tree = tree(&restored.object);
        tree.map_err(|error| Failure::Work(anyhow!("the API server's answer cannot be printed: {error}")))
    };
    let name = name::qualified(kind.kind(), kind.group(), &restored.name);
    Ok(match arguments.output {
        Some(RestoreFormat::Json) => json::pretty(&tree()?),
        Some(RestoreFormat::Yaml) => yaml::document(&tree()?),
        Some(RestoreFormat::Name) => format!("{name}\n"),
        None if restored.before => format!("{name} unchanged\n"),
        None if restored.in_sql && !arguments.dry_run => format!("{name} restored in SQL\n"),
        // The object that would be created.
        None if arguments.dry_run => yaml::document(&tree()?),
        None => format!("{name} restored\n"),
    })
}
