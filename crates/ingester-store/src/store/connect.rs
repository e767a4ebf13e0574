//! Connects to a database.

use super::retry::Election;
use super::{Doubts, RecordedRejects, Store};
use crate::driver::{self, Address, ConnectOptions, ErrorClass, ErrorSubject, SearchResult, StoreError};
use backon::Retryable as _;
use ingester_core::Registry;
use ingester_sql::dialect::statements::ReadServer;
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// The time limit of one attempt to connect, without the search for the right server of a list.
const TIMEOUT: Duration = Duration::from_secs(5);

impl Store {
    /// Connects, and asks the server for its version.
    ///
    /// # Errors
    /// If the server cannot be reached, or refuses the user or the database. The error says what to do.
    pub async fn connect(address: &Address, options: ConnectOptions) -> Result<Self, StoreError> {
        let begin = Instant::now();
        let limit = TIMEOUT + address.longest_search();
        let attempt = || async {
            let connecting = tokio::time::timeout(limit, Self::connect_once(address, options));
            connecting.await.unwrap_or_else(|_| Err(address.silent()))
        };
        // Attempts are limited for servers that refuse at once. A silent server uses up time instead.
        let too_late = || options.retry.attempts.is_some() && begin.elapsed() > 2 * limit;
        let mut election = Election::new(options.retry);
        attempt
            .retry(options.retry.backoff())
            .when(|error| error.class() == ErrorClass::Transient)
            .adjust(|error, pause| {
                let looked =
                    if error.is_about(ErrorSubject::Election) { SearchResult::Electing } else { SearchResult::Same };
                election.pause(looked, pause.filter(|_| !too_late()), || error.to_string())
            })
            .notify(|error, pause| tracing::debug!(%error, ?pause, "database not reached, trying again"))
            .await
    }

    /// Opens a database in memory with the tables of these kinds, which is lost with the store. Use it to test a kind and its queries.
    ///
    /// ```
    /// # use ingester_core::{Ingestable, Kind};
    /// # use ingester_testing as testing;
    /// # #[derive(Ingestable, serde::Deserialize)]
    /// # #[ingest(group = "example.com", version = "v1", kind = "House", namespaced = false)]
    /// # struct House {
    /// #     #[index]
    /// #     colour: String,
    /// # }
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use ingester_store::{RowChange, Store};
    ///
    /// let store = Store::in_memory(&[Kind::of::<House>()]).await?;
    /// for (name, colour) in [("a", "red"), ("b", "blue")] {
    ///     let text = format!("apiVersion: example.com/v1\nkind: House\nmetadata: {{name: {name}}}\ncolour: {colour}");
    ///     let row = testing::row::<House>(&text)?;
    ///     store.write(row.kind().table(), vec![RowChange::Row(row.into_row())]).await?;
    /// }
    /// let red = store.query::<House>().filter(House::colour().eq("red")).page().await?.items;
    /// assert_eq!(red.len(), 1);
    /// assert_eq!((&*red[0].name, &*red[0].object.colour), ("a", "red"));
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(example()).unwrap();
    /// ```
    ///
    /// # Errors
    /// If SQLite refuses the tables.
    pub async fn in_memory<'a>(kinds: impl Into<Registry<'a>>) -> Result<Self, StoreError> {
        let store = Self::connect(&"sqlite::memory:".parse()?, ConnectOptions::default()).await?;
        store.create_missing(kinds).await?;
        Ok(store)
    }

    async fn connect_once(address: &Address, options: ConnectOptions) -> Result<Self, StoreError> {
        let pool = driver::open(address, options).await?;
        let answer = pool.fetch(&ReadServer).await;
        let answer = answer.map_err(|error| StoreError::from_sqlx(format!("connecting to {address}"), error))?;
        let (server, max_packet) = answer.into_iter().next().unwrap_or_default();
        let store = Store {
            pool,
            dialect: address.dialect(),
            server,
            max_packet: usize::try_from(max_packet).unwrap_or(usize::MAX),
            retry: options.retry,
            recorded: Mutex::new(RecordedRejects::Unknown),
            doubts: Mutex::new(Doubts::new(options.patience)),
            logged: Mutex::default(),
            readers: Mutex::default(),
            query_time: options.query_time,
        };
        // A proxy may not have answered the questions of a new connection.
        store.keep_clock().await;
        Ok(store)
    }
}
