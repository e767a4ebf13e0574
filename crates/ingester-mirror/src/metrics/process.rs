//! The process: its database, its configuration, its Events.

use super::family::{Counters, Gauges, Seconds, SecondsTotals, metrics};
use ingester_store::Store;
use prometheus::IntCounter;

metrics! {
    /// The series of the process.
    ProcessSeries of ProcessFamilies:
    build_info: Gauges ["version" in [env!("CARGO_PKG_VERSION")]] by Process, "ingester_build_info",
        "1, with the running version as a label";
    cluster_checked: Gauges by Process, "ingester_cluster_checked",
        "1 once the database is known to belong to this cluster; stays 0 if the API server does not say which cluster it is";
    config_reloads: Counters ["result" in ["success", "failed"]] by Process, "ingester_config_reloads_total",
        "Changes of the configuration file at run time: success, or failed if it cannot be used";
    config_current: Gauges by Process, "ingester_config_last_reload_successful",
        "0 while the file cannot be used and the former configuration stays in use";
    events: Counters ["result" in ["published", "failed", "dropped"]] by Process, "ingester_events_total",
        "Events on objects: published, failed, or dropped because too many were waiting";
    connections: Gauges ["state" in ["used", "idle"]] by Process, "ingester_database_connections",
        "Open connections to the database: used or idle";
    connections_limit: Gauges by Process, "ingester_database_connections_limit",
        "Connections that may be open: mysql.maxOpenConns; 1 on SQLite";
    connections_waiting: Gauges by Process, "ingester_database_connections_waiting",
        "Statements waiting for a connection now";
    connection_waits: Counters by Process, "ingester_database_connection_waits_total",
        "Connections taken from the pool, with or without a wait";
    connection_wait_seconds: SecondsTotals by Process, "ingester_database_connection_wait_seconds_total",
        "Seconds that statements have waited for connections";
    clock_offset: Seconds by Process, "ingester_database_clock_offset_seconds",
        "Seconds by which the database's clock is ahead of this node's; negative if it is behind, 0 on SQLite";
}

/// The counters of Kubernetes Events.
#[derive(Clone, Debug)]
pub(crate) struct EventCounters {
    pub(crate) published: IntCounter,
    pub(crate) failed: IntCounter,
    pub(crate) dropped: IntCounter,
}

impl ProcessSeries {
    /// Sets the values that are known from the start.
    pub(super) fn begin(&self) {
        self.build_info[0].set(1);
        self.config_current.set(1);
    }

    pub(super) fn events(&self) -> EventCounters {
        let [published, failed, dropped] = self.events.clone();
        EventCounters { published, failed, dropped }
    }

    /// The database is known to belong to this cluster.
    pub(super) fn cluster_checked(&self) {
        self.cluster_checked.set(1);
    }

    pub(super) fn config_reloaded(&self, usable: bool) {
        self.config_reloads[usize::from(!usable)].inc();
        self.config_current.set(usable.into());
    }

    /// Shows the database, if it is open.
    pub(super) fn update(&self, store: Option<&Store>) {
        self.clock_offset.set(store.map_or(0.0, Store::clock_offset));
        let connections = store.map(Store::connections).unwrap_or_default();
        for (gauge, count) in self.connections.iter().zip([connections.used, connections.idle]) {
            gauge.set(count.into());
        }
        self.connections_limit.set(connections.limit.into());
        self.connections_waiting.set(connections.waiting.into());
        // The store counts on, this process has one.
        self.connection_waits.inc_by(connections.taken.saturating_sub(self.connection_waits.get()));
        let seconds = connections.waited.as_secs_f64() - self.connection_wait_seconds.get();
        self.connection_wait_seconds.inc_by(seconds.max(0.0));
    }
}
