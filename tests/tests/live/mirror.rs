//! Compares rows with the cluster. The tests do it themselves, because `ingester audit` must not be its own judge.

use anyhow::{Context as _, Result};
use kube::ResourceExt as _;
use std::collections::BTreeMap;

use crate::database::Database;
use crate::objects::{OURS, Objects, has_finalizer, kinds, table, uid, version};

/// The state of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) uid: String,
    pub(crate) name: String,
    /// `res_version`, as text.
    pub(crate) version: String,
    /// It has a `delete_time`.
    pub(crate) deleted: bool,
    /// It has an `evict_time`.
    pub(crate) evicted: bool,
}

impl Row {
    /// Live, and its object is in the cluster.
    pub(crate) fn is_live(&self) -> bool {
        !self.deleted && !self.evicted
    }
}

impl Database {
    /// The rows of a kind in a namespace.
    pub(crate) async fn list_rows(&self, kind: &str, namespace: &str) -> Result<Vec<Row>> {
        let sql = format!(
            "SELECT uid, name, res_version, delete_time IS NOT NULL, evict_time IS NOT NULL FROM `{}` WHERE namespace = '{namespace}'",
            table(kind)
        );
        let row = |cells: Vec<Option<String>>| {
            let [uid, name, version, deleted, evicted] = <[Option<String>; 5]>::try_from(cells).ok()?;
            Some(Row { uid: uid?, name: name?, version: version?, deleted: deleted? == "1", evicted: evicted? == "1" })
        };
        self.sql(&sql).await?.into_iter().map(|cells| row(cells).context("a row has values")).collect()
    }

    /// The row of the object of this name; `None` without a row.
    ///
    /// # Errors
    /// Also when there are several, because the object was recreated.
    pub(crate) async fn row(&self, kind: &str, namespace: &str, name: &str) -> Result<Option<Row>> {
        let mut rows: Vec<Row> =
            self.list_rows(kind, namespace).await?.into_iter().filter(|row| row.name == name).collect();
        anyhow::ensure!(rows.len() <= 1, "{kind} {name} has {rows:?}");
        Ok(rows.pop())
    }

    /// Labels by the object's uid.
    async fn labels(&self, kind: &str, namespace: &str) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
        let table = table(kind);
        let sql = format!(
            "SELECT l.obj_uid, l.`key`, l.value FROM `{table}_labels` l JOIN `{table}` t ON t.uid = l.obj_uid WHERE t.namespace = '{namespace}'"
        );
        let mut labels: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for cells in self.sql(&sql).await? {
            let [Some(uid), Some(key), Some(value)] = &cells[..] else { anyhow::bail!("{cells:?}") };
            labels.entry(uid.clone()).or_default().insert(key.clone(), value.clone());
        }
        Ok(labels)
    }
}

/// The differences between cluster and rows, except those of the object of this name, for the first kind that has some. Empty once the
/// ingester has done its work: every live object has a live row of its version with its labels, nothing else has one, and no object waits
/// for the ingester.
pub(crate) async fn differences(objects: &Objects, database: &Database, but: Option<&str>) -> Result<Vec<String>> {
    for kind in kinds() {
        let mut differences = Vec::new();
        let cluster = objects.list(kind).await?;
        let labels = database.labels(kind, &objects.namespace).await?;
        let rows = database.list_rows(kind, &objects.namespace).await?;
        let mut rows: BTreeMap<&str, &Row> = rows.iter().map(|row| (&*row.uid, row)).collect();
        for object in &cluster {
            let name = object.name_any();
            let uid = uid(object);
            let row = rows.remove(&*uid);
            let mut differs = |what: &str| differences.push(format!("{kind} {name} {what}: {row:?}"));
            let asks = |annotation: &str| object.annotations().get(annotation).is_some_and(|value| value == "true");
            if object.metadata.deletion_timestamp.is_some() {
                match row {
                    _ if has_finalizer(object, OURS) => differs("waits for its finalizer to be removed"),
                    Some(row) if !row.deleted => differs("is terminating, its row is live"),
                    _ => {}
                }
            } else if asks("michelangelo/Deleting") || asks("michelangelo/Immutable") {
                differs("waits to be deleted");
            } else {
                match row {
                    Some(row) if row.is_live() && row.version == version(object) => {
                        if *object.labels() != labels.get(&uid).cloned().unwrap_or_default() {
                            differs("has other labels");
                        }
                    }
                    _ => differs(&format!("is at {}", version(object))),
                }
            }
        }
        // The remaining rows have no object.
        differences.extend(rows.values().filter(|row| row.is_live()).map(|row| format!("{kind} is gone: {row:?}")));
        if let Some(name) = but {
            let name = format!(" {name} ");
            differences.retain(|difference| !difference.contains(&name));
        }
        // Asking for the others would only keep the servers from their work.
        if !differences.is_empty() {
            return Ok(differences);
        }
    }
    Ok(Vec::new())
}
