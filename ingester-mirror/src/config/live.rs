//! The configuration as it is now, and which keys may change while the program runs.

use super::Config;
use std::sync::Arc;
use tokio::sync::watch;

/// The configuration of a running program. Clones share it.
#[derive(Clone, Debug)]
pub struct Live(watch::Receiver<Arc<Config>>);

impl Live {
    /// A configuration, and where a changed one is sent. Only [`Config::take_up`] knows what may change in it.
    pub fn new(config: Config) -> (watch::Sender<Arc<Config>>, Self) {
        let (sender, receiver) = watch::channel(Arc::new(config));
        (sender, Live(receiver))
    }

    /// A configuration that never changes.
    pub fn fixed(config: Config) -> Self {
        Live::new(config).1
    }

    /// As it is now.
    pub fn now(&self) -> Arc<Config> {
        self.0.borrow().clone()
    }

    /// Waits until what `of` takes from it is not `before` any more.
    pub async fn changed<T: PartialEq>(&self, before: &T, of: impl Fn(&Config) -> T) {
        let changed = self.0.clone().wait_for(|config| of(config) != *before).await.is_ok();
        if !changed {
            // Nothing is left that could change it.
            std::future::pending().await
        }
    }
}

/// What a changed file changes, by the paths of its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigChanges {
    /// These are taken up.
    pub taken_up: Vec<&'static str>,
    /// These have no effect before a restart.
    pub need_a_restart: Vec<&'static str>,
}

/// When a changed key has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// At once.
    Now,
    /// After a restart.
    Restart,
    /// Never: `ingester run` does not read it.
    None,
}

/// One key of the file.
pub(super) struct Key {
    pub(super) path: &'static str,
    pub(super) effect: Effect,
    differs: fn(&Config, &Config) -> bool,
    take: fn(&mut Config, &Config),
}

macro_rules! keys {
    ($($effect:ident $path:literal $($field:ident).+;)*) => {
        &[$(Key {
            path: $path,
            effect: Effect::$effect,
            differs: |one, other| one.$($field).+ != other.$($field).+,
            take: |into, from| into.$($field).+.clone_from(&from.$($field).+),
        }),*]
    };
}

/// Every key of the file.
pub(super) const KEYS: &[Key] = keys! {
    Restart "metadataStorage.enableMetadataStorage" metadata_storage.enable_metadata_storage;
    Now "metadataStorage.deletionDelay" metadata_storage.deletion_delay;
    None "metadataStorage.enableResourceVersionCache" metadata_storage.enable_resource_version_cache;
    Restart "metadataStorage.databaseURL" metadata_storage.database_url;
    Restart "mysql.host" mysql.host;
    Restart "mysql.port" mysql.port;
    Restart "mysql.user" mysql.user;
    Restart "mysql.password" mysql.password;
    Restart "mysql.passwordFile" mysql.password_file;
    Restart "mysql.database" mysql.database;
    Restart "mysql.maxOpenConns" mysql.max_open_conns;
    Restart "mysql.maxIdleConns" mysql.max_idle_conns;
    Restart "mysql.connMaxLifetime" mysql.conn_max_lifetime;
    Restart "mysql.tls.mode" mysql.tls.mode;
    Restart "mysql.tls.ca" mysql.tls.ca;
    Restart "mysql.tls.cert" mysql.tls.cert;
    Restart "mysql.tls.key" mysql.tls.key;
    Restart "ingester.concurrentReconciles" ingester.concurrent_reconciles;
    Now "ingester.requeuePeriod" ingester.requeue_period;
    Restart "ingester.concurrentReconcilesMap" ingester.concurrent_reconciles_map;
    Now "ingester.requeuePeriodMap" ingester.requeue_period_map;
    Restart "ingester.finalizer" ingester.finalizer;
    Restart "ingester.finalizerMap" ingester.finalizer_map;
    Now "ingester.finalizerRate" ingester.finalizer_rate;
    Restart "ingester.namespaces" ingester.namespaces;
    Restart "ingester.kinds" ingester.kinds;
    Restart "ingester.kindsFile" ingester.kinds_file;
    Restart "ingester.viewSettings" ingester.view_settings;
    Now "ingester.suspend" ingester.suspend;
    Restart "ingester.pruneManagedFields" ingester.prune_managed_fields;
    Now "ingester.resyncPeriod" ingester.resync_period;
    Now "ingester.sweepLimit" ingester.sweep_limit;
    Now "ingester.auditPeriod" ingester.audit_period;
    Restart "ingester.createTables" ingester.create_tables;
    Now "ingester.backfillRate" ingester.backfill_rate;
    Restart "ingester.replicas.enabled" ingester.replicas.enabled;
    Restart "ingester.replicas.name" ingester.replicas.name;
    Restart "ingester.replicas.namespace" ingester.replicas.namespace;
    Restart "ingester.replicas.leaseDuration" ingester.replicas.lease_duration;
    Restart "ingester.replicas.renewDeadline" ingester.replicas.renew_deadline;
    Restart "ingester.replicas.retryPeriod" ingester.replicas.retry_period;
    Restart "ingester.replicas.shards" ingester.replicas.shards;
    Restart "ingester.replicas.shardsMap" ingester.replicas.shards_map;
    Now "retention.deleted" retention.deleted;
    Now "retention.deletedMap" retention.deleted_map;
    None "serve.address" serve.address;
    None "serve.probes" serve.probes;
    None "serve.certificate" serve.certificate;
    None "serve.key" serve.key;
    None "serve.clientCA" serve.client_ca;
    None "serve.frontProxy" serve.front_proxy;
    None "serve.formerObjects" serve.former_objects;
    None "serve.audiences" serve.audiences;
    None "serve.maxConnections" serve.max_connections;
    None "serve.maxInFlight" serve.max_in_flight;
    None "serve.rate" serve.rate;
    None "serve.burst" serve.burst;
    None "serve.timeout" serve.timeout;
    None "query.databaseURL" query.database_url;
    None "query.timeout" query.timeout;
    Restart "server.address" server.address;
    Restart "log.format" log.format;
    Now "log.level" log.level;
};

impl Config {
    /// Takes those values of a changed file that `ingester run` can take up while it runs.
    pub fn take_up(&mut self, changed: &Config) -> ConfigChanges {
        let mut changes = ConfigChanges::default();
        for key in KEYS {
            if !(key.differs)(self, changed) {
                continue;
            }
            match key.effect {
                Effect::Now => {
                    (key.take)(self, changed);
                    changes.taken_up.push(key.path);
                }
                Effect::Restart => changes.need_a_restart.push(key.path),
                Effect::None => {}
            }
        }
        changes
    }
}
