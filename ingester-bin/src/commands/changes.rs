//! `ingester changes`: changes, line by line, in the order of commits.
//!
//! The entries of the log are read before the rows, so a row is at least as new as its entry. If it is newer, a later entry is in the log: the
//! object is printed there, and a reader who stops between the two does not miss it.

use super::{chosen, failed, resource};
use crate::arguments::{Changes, ChangesFormat, ConfigFile};
use crate::database::configuration;
use crate::ending::{Ending, Failure};
use crate::output::{counted, note, print_on};
use anyhow::{Context as _, anyhow};
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_core::value::Value;
use ingester_printers::name;
use ingester_server::answer::{self, STATE_PLACES};
use ingester_sql::query::{AsOf, Ask, AskKey, Meaning, Query, Spelling, States};
use ingester_store::Store;
use ingester_store::changes::{Change, ChangeKind, Position};
use ingester_store::files;
use ingester_store::query::{FoundRow, Limits, RequestedParts};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// The pause before the log is read again, once all of it is printed.
const PAUSE: Duration = Duration::from_millis(250);

/// The number of entries, and so of objects, that are read at once.
const AT_ONCE: usize = 500;

/// One kind, with the position up to which it was read.
struct FollowedKind {
    kind: Kind,
    /// Its name as in kubectl.
    resource: String,
    at: Position,
}

/// A line of JSON, without the object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangeLine<'a> {
    position: String,
    api_version: &'a str,
    kind: &'a str,
    change: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    uid: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<String>,
    time: String,
}

pub(crate) async fn run(arguments: Changes, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let chosen = chosen(kinds, &arguments.kinds)?;
    let selection = selection(&arguments)?;
    let kept = match &arguments.since_file {
        Some(file) => kept(file)?,
        None => BTreeMap::new(),
    };
    let since = StartPosition::parse(arguments.since.as_deref(), &chosen)?;
    let database = arguments.target.database(kinds)?;
    let store = database.open_existing().await?;
    let ending = async {
        let missing = store.missing(&chosen).await?;
        if !missing.is_empty() {
            return Err(Failure::Usage(anyhow!(
                "{database} lacks {}: run `ingester schema apply`",
                missing.join(", ")
            )));
        }
        if !store.has_changes().await? {
            let remedy = match is_enabled(&arguments, kinds)? {
                true => {
                    "`changes.enabled` is true, so `ingester run` with this configuration switches it on when it starts"
                }
                false => "set `changes.enabled: true` in the configuration of `ingester run`, and start that again",
            };
            return Err(Failure::Usage(anyhow!("{database} has no log of changes: {remedy}")));
        }
        let mut followed = Vec::with_capacity(chosen.len());
        for kind in chosen {
            followed.push(begin(&store, kind, &since, &kept).await?);
        }
        let mut feed = Feed { store: &store, arguments: &arguments, selection, followed, kept, superseded: 0 };
        feed.print().await
    }
    .await;
    store.close().await;
    ending
}

/// Returns true if the named configuration switches the log on.
fn is_enabled(arguments: &Changes, kinds: &[Kind]) -> Result<bool, Failure> {
    let Some(config) = &arguments.target.config else { return Ok(false) };
    Ok(configuration(&ConfigFile { config: config.clone() }, kinds)?.changes.enabled)
}

/// Returns the selection of objects; the uids are still missing.
fn selection(arguments: &Changes) -> Result<Query, Failure> {
    let mut ask = Ask::new(Spelling::Command);
    if let Some(selector) = &arguments.selector
        && let Some(key) = AskKey::all().iter().find(|key| key.meaning() == Meaning::Labels)
    {
        ask.set(key, &[selector]).map_err(|error| Failure::Usage(error.into()))?;
    }
    let query = ask.query().map_err(|error| Failure::Usage(error.into()))?;
    Ok(Query { states: States::ALL, ..query })
}

/// The place to begin.
enum StartPosition {
    /// The beginning of the log.
    Begin,
    At(Position),
    Time(AsOf, String),
}

impl StartPosition {
    fn parse(text: Option<&str>, kinds: &[Kind]) -> Result<Self, Failure> {
        let Some(text) = text else { return Ok(StartPosition::Begin) };
        match text.parse::<u64>() {
            Ok(version) => match (Position::of_version(version), kinds) {
                (Some(position), [_]) => Ok(StartPosition::At(position)),
                (Some(_), _) => Err(Failure::Usage(anyhow!(
                    "--since: a position is only valid for its KIND: name that KIND, or give a time"
                ))),
                (None, _) => Err(Failure::Usage(anyhow!(
                    "--since: {version} is not a position: give the `position` of a line, or a time such as 1h"
                ))),
            },
            Err(_) => {
                let time = AsOf::parse(text).map_err(|error| Failure::Usage(anyhow!("--since: {error}")))?;
                Ok(StartPosition::Time(time, text.to_owned()))
            }
        }
    }
}

/// Starts to follow a kind at the requested place.
async fn begin(
    store: &Store,
    kind: Kind,
    since: &StartPosition,
    kept: &BTreeMap<String, String>,
) -> Result<FollowedKind, Failure> {
    let table = kind.table();
    let resource = resource(&kind);
    // The log has entries after this line.
    store.number_changes(table).await?;
    let from = match (kept.get(&resource), since) {
        (Some(position), _) => {
            let position = position.parse().ok().and_then(Position::of_version);
            let position =
                position.ok_or_else(|| Failure::Usage(anyhow!("--since-file: {resource} has no position")))?;
            Some(position)
        }
        (None, StartPosition::Begin) => store.first_position(table).await?,
        (None, StartPosition::At(position)) => Some(*position),
        (None, StartPosition::Time(time, text)) => match store.position_at(table, time.by(store.now())).await? {
            None => {
                return Err(Failure::Work(anyhow!(
                    "the log of {resource} does not go back to {text}: print the objects with `ingester get`, and begin with a later --since"
                )));
            }
            position => position,
        },
    };
    match from {
        Some(at) if store.is_known(table, at).await? => Ok(FollowedKind { kind, resource, at }),
        Some(at) => Err(gone(&resource, at)),
        None => Err(Failure::Work(anyhow!("the log of {resource} has no entry"))),
    }
}

fn gone(resource: &str, at: Position) -> Failure {
    Failure::Work(anyhow!(
        "the log of {resource} does not have position {} any more: print the objects with `ingester get`, and start again with --since now \
         before that",
        at.version()
    ))
}

/// Reads the positions in a file; empty if the file is missing or empty.
fn kept(file: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let wrong = |error| Failure::Usage(anyhow!("--since-file {}: {error}", file.display()));
    // The file is replaced later.
    files::target(file).map_err(wrong)?;
    match files::read_text(file) {
        Ok(text) if text.trim().is_empty() => Ok(BTreeMap::new()),
        Ok(text) => serde_json::from_str(&text).map_err(|error| {
            Failure::Usage(anyhow!("--since-file {}: it does not have positions: {error}", file.display()))
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(wrong(error)),
    }
}

/// The output, and the positions that it has reached.
struct Feed<'f> {
    store: &'f Store,
    arguments: &'f Changes,
    selection: Query,
    followed: Vec<FollowedKind>,
    /// The content of the file of positions.
    kept: BTreeMap<String, String>,
    /// How many entries were not printed because their objects have changed again.
    superseded: u64,
}

impl Feed<'_> {
    async fn print(&mut self) -> Result<Ending, Failure> {
        // Without --follow, stop at the end of the entries that are committed by now.
        let mut ends = Vec::with_capacity(self.followed.len());
        for followed in &self.followed {
            ends.push(self.store.number_changes(followed.kind.table()).await?);
        }
        loop {
            let mut printed = false;
            for (place, end) in ends.iter().enumerate() {
                if !self.arguments.follow && self.followed[place].at >= *end {
                    continue;
                }
                let Some(read) = self.portion(place).await? else { return Ok(Ending::Done) };
                printed |= read;
            }
            match (printed, self.arguments.follow) {
                (true, _) => {}
                (false, true) => tokio::time::sleep(PAUSE).await,
                (false, false) => {
                    if self.superseded > 0 {
                        note(&format!(
                            "{}: the later line has the present state, and --metadata prints every entry",
                            counted(
                                self.superseded,
                                "entry is not printed, because its object has changed again",
                                "entries are not printed, because their objects have changed again"
                            )
                        ));
                    }
                    return Ok(Ending::Done);
                }
            }
        }
    }

    /// Prints a portion of a kind's entries. Returns true if there were any; `None` if standard output is closed.
    async fn portion(&mut self, place: usize) -> Result<Option<bool>, Failure> {
        let FollowedKind { kind, ref resource, at } = self.followed[place];
        let table = kind.table();
        self.store.number_changes(table).await?;
        let changes = self.store.changes_after(table, at, AT_ONCE).await?;
        if !self.store.is_known(table, at).await? {
            return Err(gone(resource, at));
        }
        let Some(last) = changes.last().map(|change| change.position) else { return Ok(Some(false)) };
        let arguments = self.arguments;
        let meant = changes.iter().filter(|change| is_in_namespace(arguments, change));
        let rows = match self.arguments.metadata {
            true => HashMap::new(),
            false => self.read_rows(&kind, meant.clone().map(|change| &*change.uid)).await?,
        };
        let resource = resource.clone();
        for change in meant {
            let row = rows.get(&*change.uid);
            let Some(text) = self.line(&kind, change, row) else {
                self.superseded += u64::from(row.is_some());
                continue;
            };
            if !print_on(&text)? {
                return Ok(None);
            }
            self.keep(&resource, change.position)?;
        }
        self.keep(&resource, last)?;
        self.followed[place].at = last;
        Ok(Some(true))
    }

    /// Returns the present rows of these objects, by uid.
    async fn read_rows(
        &self,
        kind: &Kind,
        uids: impl Iterator<Item = &str>,
    ) -> Result<HashMap<String, FoundRow>, Failure> {
        let uids: HashSet<&str> = uids.filter(|uid| !uid.is_empty()).collect();
        let mut rows = HashMap::with_capacity(uids.len());
        if uids.is_empty() {
            return Ok(rows);
        }
        let query = Query { uids: uids.into_iter().map(str::to_owned).collect(), ..self.selection.clone() };
        let asked = self.store.ask_about(kind, &query, Limits::default()).map_err(|error| failed(error.into()))?;
        let mut places = vec![base::RES_VERSION];
        places.extend(STATE_PLACES);
        if self.arguments.output == ChangesFormat::Json {
            places.push(base::JSON);
        }
        let mut reader =
            asked.reader(&RequestedParts { places, labels: false }, None).map_err(|error| failed(error.into()))?;
        loop {
            let portion = reader.next().await.map_err(failed)?;
            if portion.is_empty() {
                return Ok(rows);
            }
            rows.extend(portion.into_iter().map(|row| (row.uid().to_owned(), row)));
        }
    }

    /// Returns the line of a change; `None` if the object is printed at a later change, or is not selected.
    fn line(&self, kind: &Kind, change: &Change, row: Option<&FoundRow>) -> Option<String> {
        let is_selected = match (change.what, row) {
            _ if self.arguments.metadata => true,
            (ChangeKind::Reset, _) => true,
            (ChangeKind::Purged, None) => self.arguments.selector.is_none(),
            (_, None) => false,
            (_, Some(row)) => is_of(change, row),
        };
        if !is_selected {
            return None;
        }
        if self.arguments.output == ChangesFormat::Name {
            return (change.what != ChangeKind::Reset)
                .then(|| name::qualified(kind.kind(), kind.group(), &change.name) + "\n");
        }
        let api_version = kind.api_version();
        let line = ChangeLine {
            position: change.position.version().to_string(),
            api_version: &api_version,
            kind: kind.kind(),
            change: change.what.as_str(),
            namespace: &change.namespace,
            name: &change.name,
            uid: &change.uid,
            resource_version: (change.what != ChangeKind::Reset).then(|| change.res_version.to_string()),
            time: change.at.rfc3339(),
        };
        let mut text = serde_json::to_string(&line).ok()?;
        if let Some(row) = row {
            text.pop();
            text.push_str(",\"object\":");
            text.push_str(&answer::object(kind, row));
            text.push('}');
        }
        text.push('\n');
        Some(text)
    }

    /// Stores a position in the file atomically: the file has the old positions or the new ones.
    fn keep(&mut self, resource: &str, position: Position) -> Result<(), Failure> {
        let Some(file) = &self.arguments.since_file else { return Ok(()) };
        let version = position.version().to_string();
        if self.kept.get(resource) == Some(&version) {
            return Ok(());
        }
        self.kept.insert(resource.to_owned(), version);
        let text = serde_json::to_string(&self.kept).context("the positions as JSON")? + "\n";
        files::replace(file, text.as_bytes()).map_err(|error| {
            note("the last line is printed again at the next start");
            Failure::Work(anyhow!("--since-file {}: {error}", file.display()))
        })
    }
}

fn is_in_namespace(arguments: &Changes, change: &Change) -> bool {
    let namespaces = &arguments.namespace;
    change.what == ChangeKind::Reset
        || namespaces.is_empty()
        || namespaces.iter().any(|name| **name == *change.namespace)
}

/// Returns true if a row is in the state that the change left. If not, a later change is in the log.
fn is_of(change: &Change, row: &FoundRow) -> bool {
    let is_deleted = row.time(base::DELETE_TIME).is_some();
    row.get(base::RES_VERSION) == Some(&Value::UInt(change.res_version))
        && is_deleted == (change.what == ChangeKind::Deleted)
        && change.what != ChangeKind::Purged
}
