//! Compares both sides: for each row of the source, the row that it should have become and the stored row.

use super::other::{Fate, OtherTable};
use super::put::{PutAction, due};
use super::{HEADS, MoveError, Pass, ROWS};
use ingester_core::kind::Kind;
use ingester_core::object::StringMap;
use ingester_core::row::Row;
use ingester_core::schema::{SqlType, Table, base};
use ingester_core::value::{Micros, Value};
use ingester_store::StoredRow;
use ingester_store::compare::{canonical, differences};
use ingester_store::guard::{Eviction, Version};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// The result of a comparison for one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonCounts {
    /// Rows in the source.
    pub read: u64,
    /// Rows that are stored as they should be.
    pub equal: u64,
    /// Rows that are missing, of an earlier version or in another state, or have other values.
    pub different: u64,
    /// Rows that are stored in a later version.
    pub kept: u64,
    /// Live rows that are left to the mirror.
    pub left: u64,
    /// Among `left`, the rows whose objects have a stored row by now.
    pub mirrored: u64,
    /// Objects that cannot be stored, or that the kind's filter leaves out.
    pub not_stored: u64,
    /// A hash of the equal rows as they should be: the sum of the SHA-256 of each row, so that their order does not matter.
    pub source_hash: String,
    /// The same hash of the stored rows.
    pub stored_hash: String,
}

/// A sum of SHA-256.
#[derive(Default)]
struct Sum([u64; 4]);

impl Sum {
    fn add(&mut self, digest: [u8; 32]) {
        for (sum, part) in self.0.iter_mut().zip(digest.chunks_exact(8)) {
            let part = part.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            *sum = sum.wrapping_add(part);
        }
    }

    fn render_hex(&self) -> String {
        self.0.iter().map(|part| format!("{part:016x}")).collect()
    }
}

impl Pass<'_> {
    /// Compares every row of the source with the stored row. Calls `difference` for each row that is not stored as it should be, with kind,
    /// namespace and name, and the difference.
    ///
    /// # Errors
    /// If a database or the cluster does not answer.
    pub async fn verify(
        &self,
        mut difference: impl FnMut(&str, &str),
        mut progress: impl FnMut(u64),
    ) -> Result<Vec<(Kind, ComparisonCounts)>, MoveError> {
        let mut kinds = Vec::new();
        for table in &self.source.tables {
            if self.stop.is_cancelled() {
                break;
            }
            kinds.push((table.kind, self.verify_kind(table, &mut difference, &mut progress).await?));
        }
        Ok(kinds)
    }

    async fn verify_kind(
        &self,
        table: &OtherTable,
        difference: &mut impl FnMut(&str, &str),
        progress: &mut impl FnMut(u64),
    ) -> Result<ComparisonCounts, MoveError> {
        let mut verified = ComparisonCounts::default();
        let mut wanted = Sum::default();
        let mut stored = Sum::default();
        let mut after = String::new();
        while !self.stop.is_cancelled() {
            let heads = self.source.heads(table, &after, HEADS).await.map_err(MoveError::OtherDatabase)?;
            let Some(last) = heads.last() else { break };
            after = last.object().uid.into();
            progress(heads.len() as u64);
            let uids: Vec<Box<str>> = heads.iter().map(|head| head.object().uid).collect();
            for uids in uids.chunks(ROWS) {
                let uids: Vec<&str> = uids.iter().map(AsRef::as_ref).collect();
                let rows = self.expected(table, &uids, &mut verified).await?;
                let uids: Vec<&str> = rows.iter().map(|(row, _)| &*row.uid).collect();
                let found = match self.store {
                    Some(store) => store.read_stored(table.kind.table(), &uids).await?,
                    None => Vec::new(),
                };
                let found: HashMap<&str, &StoredRow> = found.iter().map(|row| (&*row.uid, row)).collect();
                for (row, state) in &rows {
                    let its = found.get(&*row.uid).copied();
                    if *state == Fate::Left {
                        verified.left += 1;
                        verified.mirrored += u64::from(its.is_some());
                        continue;
                    }
                    match judge(table.kind.table(), row, its) {
                        RowComparison::Equal(its) => {
                            verified.equal += 1;
                            wanted.add(digest(table.kind.table(), &HashedRow::from_row(row)));
                            stored.add(digest(table.kind.table(), &HashedRow::of_stored(its)));
                        }
                        RowComparison::Kept => verified.kept += 1,
                        RowComparison::Different(what) => {
                            verified.different += 1;
                            let text = |place: usize| match &row.values[place] {
                                Value::Text(text) => &**text,
                                _ => "",
                            };
                            let namespace = text(base::NAMESPACE);
                            let name = text(base::NAME);
                            difference(&format!("{} {namespace}/{name} (uid {})", table.kind.name(), row.uid), &what);
                        }
                    }
                }
            }
        }
        (verified.source_hash, verified.stored_hash) = (wanted.render_hex(), stored.render_hex());
        Ok(verified)
    }

    /// Returns the rows that these rows of the source should have become, with their states.
    async fn expected(
        &self,
        table: &OtherTable,
        uids: &[&str],
        verified: &mut ComparisonCounts,
    ) -> Result<Vec<(Row, Fate)>, MoveError> {
        let read = self.source.read_rows(table, uids).await.map_err(MoveError::OtherDatabase)?;
        let mut rows = Vec::with_capacity(read.len());
        for source in &read {
            verified.read += 1;
            let state = table.state(source, self.living).await.map_err(MoveError::Cluster)?;
            match table.made(source, state) {
                Ok(Some(made)) if self.store.is_none_or(|store| store.dialect().has_nul()) => {
                    rows.push((made.row, state))
                }
                Ok(Some(made)) => rows.push((made.row.without_nul(), state)),
                Ok(None) | Err(_) => verified.not_stored += 1,
            }
        }
        Ok(rows)
    }
}

enum RowComparison<'s> {
    Equal(&'s StoredRow),
    Kept,
    Different(String),
}

fn judge<'s>(table: &Table, row: &Row, stored: Option<&'s StoredRow>) -> RowComparison<'s> {
    let Some(stored) = stored else { return RowComparison::Different("it is not stored".to_owned()) };
    let old = stored.version();
    let new = row.version();
    match due(Some(old), new) {
        PutAction::Keep => return RowComparison::Kept,
        PutAction::Nothing if old.res_version > new.res_version => return RowComparison::Kept,
        PutAction::Write | PutAction::Replace(_)
            if (new.res_version, old.res_version) != (0, 0) || new.deleted != old.deleted =>
        {
            return RowComparison::Different(format!("{} is stored, not {}", said(old), said(new)));
        }
        PutAction::Nothing | PutAction::Write | PutAction::Replace(_) => {}
    }
    let times =
        [("delete_time", row.delete_time, stored.delete_time), ("evict_time", row.evict_time, stored.evict_time)];
    if let Some((what, wanted, its)) = times.into_iter().find(|(_, wanted, its)| wanted != its) {
        let shown = |time: Option<Micros>| time.map_or_else(|| "NULL".to_owned(), Micros::rfc3339);
        return RowComparison::Different(format!("{what}: {} is stored, not {}", shown(its), shown(wanted)));
    }
    match differences(table, row, stored).first() {
        None => RowComparison::Equal(stored),
        Some(difference) => RowComparison::Different(difference.to_string()),
    }
}

/// Describes a version, for people.
fn said(version: Version) -> String {
    let state = match (version.deleted, version.eviction) {
        (true, _) => "deleted",
        (false, Eviction::None) => "live",
        (false, Eviction::Intended) => "evicting",
        (false, _) => "evicted",
    };
    format!("version {} ({state})", version.res_version)
}

/// The parts of a row that are hashed.
struct HashedRow<'r> {
    uid: &'r str,
    times: [Option<Micros>; 2],
    values: &'r [Value],
    pairs: Vec<&'r StringMap>,
}

impl<'r> HashedRow<'r> {
    fn from_row(row: &'r Row) -> Self {
        let pairs = [&row.labels, &row.annotations].into_iter().chain(&row.many).collect();
        HashedRow { uid: &row.uid, times: [row.delete_time, row.evict_time], values: &row.values, pairs }
    }

    fn of_stored(row: &'r StoredRow) -> Self {
        let pairs = [&row.labels, &row.annotations].into_iter().chain(&row.many).collect();
        HashedRow { uid: &row.uid, times: [row.delete_time, row.evict_time], values: &row.values, pairs }
    }
}

/// Returns the SHA-256 of a row: its uid, its times except `update_time`, its columns, the canonical form of its JSON, and its labels and
/// annotations.
fn digest(table: &Table, row: &HashedRow<'_>) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut part = |text: &[u8]| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    };
    part(row.uid.as_bytes());
    for time in row.times {
        part(time.map_or_else(String::new, |time| time.0.to_string()).as_bytes());
    }
    // Columns that the store sets, or that are hashed above.
    let left_out = [
        base::UID,
        base::UPDATE_TIME,
        base::DELETE_TIME,
        base::EVICT_TIME,
        base::EVICT_CONFIRMED,
        base::INGEST_VERSION,
    ];
    for (place, column) in table.columns.iter().enumerate().filter(|(place, _)| !left_out.contains(place)) {
        match row.values.get(place).unwrap_or(&Value::Null) {
            Value::Null => part(b"null"),
            Value::Bool(value) => part(format!("i{}", u8::from(*value)).as_bytes()),
            Value::Int(value) => part(format!("i{value}").as_bytes()),
            Value::UInt(value) => part(format!("i{value}").as_bytes()),
            // Make 0.0 and -0.0 equal.
            Value::Double(value) => part(format!("d{:016x}", (value + 0.0).to_bits()).as_bytes()),
            Value::Text(text) if column.ty == SqlType::Json => part(canonical(text).unwrap_or_default().as_bytes()),
            Value::Text(text) => part(text.as_bytes()),
            Value::Bytes(bytes) => part(bytes),
            Value::Time(time) => part(format!("t{}", time.0).as_bytes()),
        }
    }
    for pairs in &row.pairs {
        part(pairs.len().to_string().as_bytes());
        for (key, value) in pairs.iter() {
            part(key.as_bytes());
            part(value.as_bytes());
        }
    }
    hash.finalize().into()
}
