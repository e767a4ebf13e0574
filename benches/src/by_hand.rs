//! Rows by hand: how long hand-written statements without semantics take for the rows that the ingester writes, on two
//! connections.

use crate::live::object;
use crate::objects::{Dice, changed};
use crate::reference::{Engine, Handmade};
use crate::store::{Operation, Rows};
use anyhow::{Context as _, Result};
use ingester_core::Kind;
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::Row;
use ingester_store::{ConnectOptions, Store};
use ingester_tests::SqlServer;
use serde_json::Value;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows in a statement, at most.
const BATCH: usize = 200;
/// JSON in a statement, at most, unless a single row has more: a server takes packets of 16 MB, and parameters also hold the protobuf.
const STATEMENT: usize = 4_000_000;
/// The objects resemble the cluster's, but are other ones.
const SEED: u64 = 5;

/// The order in which rows are inserted. The place of a row depends on its uid, which is random, so the order matters more than anything
/// else if the table is larger than the database's memory.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    /// In the order of a list: by name.
    Listed,
    /// By uid, an order that no source has.
    Uid,
}

/// The rows of some objects of each kind, made beforehand.
pub(crate) struct ByHand<'a, D> {
    server: &'a SqlServer,
    kinds: Vec<(Kind, Vec<Row>)>,
    bytes: Option<usize>,
    url: String,
    engine: PhantomData<D>,
}

impl<'a, D: Engine> ByHand<'a, D> {
    pub(crate) fn prepare(server: &'a SqlServer, kinds: &[Kind], objects: usize, bytes: Option<usize>) -> Result<Self> {
        let rows = |kind: &Kind| {
            let mut dice = Dice::new(SEED);
            let rows: Result<Vec<Row>> =
                (0..objects).map(|place| row(kind, &object(&mut dice, kind, place, bytes)?)).collect();
            Ok((*kind, rows?))
        };
        Ok(ByHand {
            server,
            kinds: kinds.iter().map(rows).collect::<Result<_>>()?,
            bytes,
            url: String::new(),
            engine: PhantomData,
        })
    }

    fn batch(&self) -> usize {
        self.bytes.map_or(BATCH, |bytes| (STATEMENT / bytes.max(1)).clamp(1, BATCH))
    }

    /// Inserts all rows into new tables.
    pub(crate) async fn insert(&mut self, order: Order) -> Result<Duration> {
        self.url = crate::databases::url(self.server, "by_hand").await?;
        let store = Store::connect(&self.url.parse()?, ConnectOptions::default()).await?;
        let batch = self.batch();
        let kinds: Vec<Kind> = self.kinds.iter().map(|(kind, _)| *kind).collect();
        store.create_missing(&kinds).await?;
        let mut took = Duration::ZERO;
        for (kind, rows) in &mut self.kinds {
            match order {
                // By the ends of the uids, which are as unrelated to their order as a name.
                Order::Listed => rows.sort_by(|a, b| a.uid.bytes().rev().cmp(b.uid.bytes().rev())),
                Order::Uid => rows.sort_by(|a, b| a.uid.cmp(&b.uid)),
            }
            let halves = halves(std::mem::take(rows), Operation::Insert);
            let handmade = Handmade::<D>::connect(&self.url, kind.table(), 2).await?;
            let start = Instant::now();
            handmade.write(&halves, Operation::Insert, batch).await?;
            took += start.elapsed();
            for half in halves {
                let mut phases = Arc::into_inner(half).context("the rows are still being written")?;
                rows.append(&mut phases[Operation::Insert as usize]);
            }
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
        let rows = halves(rows?, Operation::Update);
        let handmade = Handmade::<D>::connect(&self.url, kind.table(), 2).await?;
        let start = Instant::now();
        handmade.write(&rows, Operation::Update, self.batch()).await?;
        Ok(start.elapsed())
    }
}

/// The row of an object.
pub(crate) fn row(kind: &Kind, object: &Value) -> Result<Row> {
    let object = Object::parse(object.to_string(), ManagedFields::Prune)?;
    kind.row(&object)?.context("a kind without a predicate")
}

/// The rows of one phase, for two connections.
fn halves(mut rows: Vec<Row>, phase: Operation) -> Vec<Rows> {
    let second = rows.split_off(rows.len() / 2);
    let half = |rows| {
        let mut phases: [Vec<Row>; 4] = Default::default();
        phases[phase as usize] = rows;
        Arc::new(phases)
    };
    [rows, second].map(half).into()
}
