//! Connecting to a database.

use super::abandoned::Abandoned;
use super::address::DriverOptions;
use super::connections::Waits;
use super::deadline::Deadline;
use super::doubts::Doubts;
use super::durability::Durability;
use super::hosts::{self, Hosts};
use super::rejects::Recorded;
use super::servers::Servers;
use super::transaction::{Drivers, Pool};
use super::{Address, ErrorClass, Retry, Store, StoreError, mysql, sqlite};
use backon::Retryable as _;
use ingester_core::Registry;
use ingester_core::dialect::statements::ReadServer;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long one attempt to connect may take, beside asking which server of a list is the right one.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How to connect.
#[derive(Clone, Copy, Debug)]
pub struct ConnectOptions {
    /// The most connections. SQLite has one that writes, and up to four that only read a file.
    pub connections: u32,
    /// How many connections stay open while there is nothing to do; at most `connections`.
    ///
    /// All are opened when they are needed. Further ones are closed when they reach `max_lifetime`, or after ten minutes without
    /// work, because sqlx's pool has a minimum of idle connections and no maximum.
    pub max_idle: u32,
    /// When a connection is replaced by a new one, so that connections move away from a server that a load balancer has
    /// taken out; `None` for never.
    pub max_lifetime: Option<Duration>,
    /// Whether to create a missing SQLite file.
    pub create: bool,
    /// Whether the database is to refuse every write, whatever is sent to it. Where it does not know such sessions (TiDB), it is
    /// up to the user's rights.
    pub read_only: bool,
    /// How transient errors are retried, while connecting and later.
    pub retry: Retry,
    /// How long an object that the database refuses with an unknown error is tried again before it is rejected.
    pub patience: Duration,
    /// How long the database may take for a statement of a query that is a part of other work, such as the look-up before a write.
    pub query_time: Duration,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        ConnectOptions {
            connections: 4,
            max_idle: 0,
            max_lifetime: Some(Duration::from_secs(300)),
            create: true,
            read_only: false,
            retry: Retry::SHORT,
            patience: Duration::from_secs(60),
            query_time: Duration::from_secs(30),
        }
    }
}

impl Store {
    /// Connects, and asks the server for its version.
    ///
    /// # Errors
    /// If the server cannot be reached, or refuses the user or the database. The error says what to do.
    pub async fn connect(address: &Address, options: ConnectOptions) -> Result<Self, StoreError> {
        let begin = Instant::now();
        let limit = TIMEOUT
            + match &address.options {
                DriverOptions::MySql(all) => hosts::longest_search(all.len()),
                DriverOptions::Sqlite(_) => Duration::ZERO,
            };
        let attempt = || async {
            let connecting = tokio::time::timeout(limit, Self::connect_once(address, options));
            connecting.await.unwrap_or_else(|_| {
                if let Some(file) = address.file() {
                    return Err(StoreError::locked(&format!("connecting to {address}"), &file));
                }
                let timeout = io::Error::new(io::ErrorKind::TimedOut, "the server does not answer");
                Err(StoreError::of(format!("connecting to {address}"), timeout.into()))
            })
        };
        // Attempts are counted for servers that refuse at once. A silent server uses up time instead.
        let too_late = || options.retry.attempts.is_some() && begin.elapsed() > 2 * limit;
        attempt
            .retry(options.retry.backoff())
            .when(|error| error.class() == ErrorClass::Transient && !too_late())
            .notify(|error, pause| tracing::debug!(%error, ?pause, "database not reached, trying again"))
            .await
    }

    /// A database in memory with the tables of these kinds, gone with the store: for tests of a kind and of its queries.
    ///
    /// ```
    /// # use ingester_core::{Ingestable, Kind, testing};
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
        address.check_files()?;
        if let (Some(file), false) = (address.missing_file(), options.create) {
            let reason = format!("there is no file {}", file.display());
            let hint = "check the path; `ingester import` and `ingester schema apply` make a database";
            return Err(StoreError::wrong(format!("connecting to {address}"), reason, hint));
        }
        if let Some(file) = address.file().filter(|file| std::path::Path::new(file).is_dir()) {
            let hint = "name a file in it with --database-url sqlite://FILE";
            return Err(StoreError::wrong(format!("connecting to {address}"), format!("{file} is a folder"), hint));
        }
        let failed = |error| StoreError::of(format!("connecting to {address}"), error);
        let readers = sqlite::connections(options, address.file.is_none());
        let (servers, deadline, durability) =
            (Arc::new(Servers::default()), Deadline::of(readers), Durability::default());
        let (open, hosts) = match &address.options {
            DriverOptions::MySql(all) => {
                let place = hosts::first(all, options.read_only).await.map_err(failed)?;
                let several = all.len() > 1;
                let pool = mysql::connect(&all[place], options, several, &servers).await.map_err(failed)?;
                let hosts = several.then(|| Hosts::new(pool.clone(), all, place, options.read_only, servers.clone()));
                (Drivers::MySql(pool), hosts)
            }
            DriverOptions::Sqlite(connect) => {
                let pool = sqlite::connect(connect, options, readers, &deadline, &durability).await.map_err(failed)?;
                (Drivers::Sqlite(pool), None)
            }
        };
        let abandoned = match &open {
            Drivers::MySql(pool) => Some(Abandoned::new(pool.clone())),
            Drivers::Sqlite(_) => None,
        };
        let pool = Pool { open, waits: Waits::default(), servers: servers.clone(), hosts, durability, abandoned };
        let answer = pool.fetch(&ReadServer).await.map_err(failed)?;
        let (server, max_packet) = answer.into_iter().next().unwrap_or_default();
        let store = Store {
            pool,
            dialect: address.dialect(),
            server,
            max_packet: usize::try_from(max_packet).unwrap_or(usize::MAX),
            retry: options.retry,
            recorded: Mutex::new(Recorded::Unknown),
            servers,
            deadline,
            doubts: Mutex::new(Doubts::new(options.patience)),
            query_time: options.query_time,
        };
        // A proxy may not answer what a new connection asks.
        store.keep_clock().await;
        Ok(store)
    }
}
