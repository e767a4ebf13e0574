//! Rows by hand: how long hand-written statements without semantics take for the rows that the ingester writes, on two
//! connections.

use crate::live::object;
use crate::objects::{Dice, changed};
use crate::reference::Handmade;
use crate::store::{Phase, Rows};
use anyhow::{Context as _, Result};
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_store::{ConnectOptions, Store};
use ingester_tests::SqlServer;
use serde_json::Value;
use sqlx::MySql;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows in a statement, at most.
const BATCH: usize = 200;
/// JSON in a statement, at most, unless a single row has more: a server takes packets of 16 MB, and parameters also hold the protobuf.
const STATEMENT: usize = 4_000_000;
/// The objects are of the same sort as the cluster's, and other ones.
const SEED: u64 = 5;

/// The rows of some objects of each kind, made beforehand.
pub(crate) struct ByHand<'a> {
    server: &'a SqlServer,
    kinds: Vec<(Kind, Vec<Rows>)>,
    bytes: Option<usize>,
    url: String,
}

impl<'a> ByHand<'a> {
    pub(crate) fn prepare(server: &'a SqlServer, kinds: &[Kind], objects: usize, bytes: Option<usize>) -> Result<Self> {
        let halves = |kind: &Kind| {
            let mut dice = Dice::new(SEED);
            let rows: Result<Vec<Row>> =
                (0..objects).map(|place| row(kind, &object(&mut dice, kind, place, bytes)?)).collect();
            Ok((*kind, halves(rows?, Phase::Insert)))
        };
        Ok(ByHand { server, kinds: kinds.iter().map(halves).collect::<Result<_>>()?, bytes, url: String::new() })
    }

    fn batch(&self) -> usize {
        self.bytes.map_or(BATCH, |bytes| (STATEMENT / bytes.max(1)).clamp(1, BATCH))
    }

    /// Inserts all rows into new tables.
    pub(crate) async fn insert(&mut self) -> Result<Duration> {
        self.url = crate::store::url(self.server, "by_hand").await?;
        let store = Store::connect(&self.url.parse()?, ConnectOptions::default()).await?;
        let kinds: Vec<Kind> = self.kinds.iter().map(|(kind, _)| *kind).collect();
        store.create_missing(&kinds).await?;
        let mut took = Duration::ZERO;
        for (kind, rows) in &self.kinds {
            let handmade = Handmade::<MySql>::connect(&self.url, kind.table(), 2).await?;
            let start = Instant::now();
            handmade.write(rows, Phase::Insert, self.batch()).await?;
            took += start.elapsed();
        }
        Ok(took)
    }

    /// Updates the first rows of the first kind, to other values in each burst.
    pub(crate) async fn update(&self, updates: usize, burst: usize) -> Result<Duration> {
        let (kind, _) = self.kinds.first().context("no kind")?;
        let mut dice = Dice::new(SEED);
        let rows: Result<Vec<Row>> = (0..updates)
            .map(|place| row(kind, &changed(&object(&mut dice, kind, place, self.bytes)?, burst)))
            .collect();
        let rows = halves(rows?, Phase::Update);
        let handmade = Handmade::<MySql>::connect(&self.url, kind.table(), 2).await?;
        let start = Instant::now();
        handmade.write(&rows, Phase::Update, self.batch()).await?;
        Ok(start.elapsed())
    }
}

/// The row of an object.
pub(crate) fn row(kind: &Kind, object: &Value) -> Result<Row> {
    let object = Object::parse(object.to_string(), ManagedFields::Prune)?;
    kind.row(&object)?.context("a kind without a predicate")
}

/// The rows of one phase in uid order, for two connections.
fn halves(mut rows: Vec<Row>, phase: Phase) -> Vec<Rows> {
    rows.sort_by(|a, b| a.uid.cmp(&b.uid));
    let second = rows.split_off(rows.len() / 2);
    let half = |rows| {
        let mut phases: [Vec<Row>; 4] = Default::default();
        phases[phase as usize] = rows;
        Arc::new(phases)
    };
    [rows, second].map(half).into()
}
