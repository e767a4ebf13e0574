//! The samples and their updates, as a person checks an installation.

use anyhow::{Context as _, Result, ensure};
use kube::ResourceExt as _;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::database::{Database, On};
use crate::eventually::eventually;
use crate::objects::{kinds, samples, table, version};
use crate::on_both_api_servers;
use crate::settings::Settings;
use crate::world::World;

on_both_api_servers! { OwnServers::NOTHING =>
    every_sample_and_every_update_reaches_its_row
}

/// An update of a sample.
#[derive(Deserialize)]
struct Update {
    kind: String,
    name: String,
    /// A merge patch.
    patch: Json,
    check: Vec<Check>,
}

/// Where an update is visible: in a column, at a path of the stored JSON, or as the value of a label.
#[derive(Deserialize)]
struct Check {
    table: String,
    column: Option<String>,
    json_path: Option<String>,
    label_key: Option<String>,
    expected: Json,
    previous: Json,
}

impl Check {
    /// The value, as SQL prints it; `None` if there is none.
    async fn look(&self, database: &Database, update: &Update) -> Result<Option<String>> {
        let main = table(&update.kind);
        let name = &update.name;
        let of = &self.table;
        let sql = match (&self.label_key, &self.column, &self.json_path) {
            (Some(key), Some(column), None) => format!(
                "SELECT `{column}` FROM `{of}` WHERE `key` = '{key}' AND obj_uid = (SELECT uid FROM `{main}` WHERE name = '{name}')"
            ),
            (None, Some(column), None) => format!("SELECT `{column}` FROM `{of}` WHERE name = '{name}'"),
            (None, None, Some(path)) => {
                let text = database.on.json_text("json", path);
                format!("SELECT {text} FROM `{of}` WHERE name = '{name}'")
            }
            _ => anyhow::bail!("a check of {name} says where to look in no way that is known"),
        };
        Ok(database.sql(&sql).await?.into_iter().flatten().next().flatten())
    }
}

/// A JSON value as SQL prints it.
fn printed(value: &Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The only object of a kind, decoded from its stored `proto` bytes.
async fn from_proto(database: &Database, kind: &str) -> Result<Json> {
    let cell = database
        .sql(&format!("SELECT {} FROM `{}`", database.on.hex("proto"), table(kind)))
        .await?
        .into_iter()
        .flatten()
        .next();
    let hex = cell.flatten().with_context(|| format!("the bytes of a {kind}"))?;
    let byte = |place| u8::from_str_radix(&hex[place..place + 2], 16);
    let bytes = (0..hex.len()).step_by(2).map(byte).collect::<Result<Vec<_>, _>>()?;
    let kind = crd_specs::KINDS.iter().find(|known| known.kind() == kind).context("a kind")?;
    let (descriptors, message) = kind.protobuf().context("a message")?.get().map_err(anyhow::Error::msg)?;
    Ok(serde_json::from_str(&descriptors.decode(message, &bytes)?)?)
}

/// Whether a line of the log, text or JSON, has this field with this value.
fn has_field(line: &str, field: &str, value: &str) -> bool {
    let text = [format!("{field}={value}"), format!("{field}=\"{value}\"")];
    line.contains(&format!("\"{field}\":\"{value}\""))
        || text.iter().any(|pair| line.split([' ', '{', '}', ',']).any(|word| word == pair))
}

async fn every_sample_and_every_update_reaches_its_row(world: &mut World) -> Result<()> {
    // At this level each object has its own line.
    world.start_with(&Settings { log_level: "debug", ..world.settings() })?;
    for sample in samples()? {
        world.objects.create(sample).await?;
    }
    world.settled().await?;
    let mut names = Vec::new();
    for kind in kinds() {
        ensure!(world.database.count(&table(kind)).await? == 1, "{kind}");
        let objects = world.objects.list(kind).await?;
        let object = objects.first().with_context(|| format!("a sample of {kind}"))?;
        names.push((kind, object.name_any()));
        let row = world.row(kind, &object.name_any()).await?.with_context(|| format!("a row of {kind}"))?;
        assert_eq!(row.version, version(object), "{kind}");
        let proto = from_proto(&world.database, kind).await?;
        let object = serde_json::to_value(object)?;
        for field in ["uid", "name", "namespace", "resourceVersion", "labels", "creationTimestamp"] {
            assert_eq!(proto["metadata"][field], object["metadata"][field], "{kind}");
        }
    }
    assert_eq!(names.len(), 13);

    let updates: Vec<Update> = serde_json::from_str(include_str!("data/updates.json"))?;
    assert_eq!(updates.len(), 11);
    for update in &updates {
        for check in &update.check {
            assert_eq!(check.look(&world.database, update).await?, printed(&check.previous), "{} before", update.name);
        }
        world.objects.patch(&update.kind, &update.name, &update.patch).await?;
    }
    for update in &updates {
        for check in &update.check {
            let what = format!("{} {:?} {:?}", check.table, check.column, check.json_path);
            let look = async || check.look(&world.database, update).await;
            eventually(&what, look, |seen| *seen == printed(&check.expected)).await?;
        }
    }
    world.settled().await?;
    world.audit_is_clean()?;

    let connected = match world.database.on {
        On::Postgres => "PostgreSQL connection established",
        _ => "MySQL connection established",
    };
    for line in ["Metadata storage enabled", connected] {
        assert_eq!(world.log_lines(&[line])?.len(), 1, "{line}");
    }
    let registered = world.log_lines(&["Ingester controller registered"])?;
    assert_eq!(registered.len(), 13, "{registered:?}");
    let synced = world.log_lines(&["Successfully synced object to metadata storage"])?;
    for (kind, name) in names {
        assert!(registered.iter().any(|line| has_field(line, "kind", kind)), "{kind}: {registered:?}");
        let says =
            |line: &String| has_field(line, "namespace", &world.objects.namespace) && has_field(line, "name", &name);
        assert!(synced.iter().any(says), "{kind} {name}: {synced:?}");
    }
    Ok(())
}
