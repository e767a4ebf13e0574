//! Where the pods find their database: which manifest has its address and its password.

use crate::arguments::{ManifestDatabase, Manifests};
use crate::ending::Failure;
use anyhow::anyhow;
use ingester_config::{Config, Environment, Gate};
use ingester_core::{Kind, KindNames};
use std::fmt::Write as _;
use std::path::Path;

/// Where the pods find their database.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DatabaseSource {
    /// The address in the ConfigMap, user and password in a Secret.
    Mysql,
    /// A URL in a Secret.
    Postgres,
    /// The configuration, which has a password and therefore is a Secret.
    Configuration,
}

/// The manifest that has a password, or a placeholder for one.
pub(super) const SECRET: &str = "secret.yaml";

const POSTGRES: &str = include_str!("../../../deploy/postgres-secret.yaml");

const POSTGRES_ENVIRONMENT: &str = "        env:
        - name: DATABASE_URL
          valueFrom: {secretKeyRef: {name: ingester-postgres, key: DATABASE_URL}}
";

/// Where the configuration is mounted.
const CONFIGURATION: &str = "/etc/ingester/ingester.yaml";

/// The key of the configuration in its ConfigMap or Secret.
const KEY: &str = "  ingester.yaml: |\n";

const CONFIGURATION_SECRET: &str = "# It has a password: keep this file out of version control.
apiVersion: v1
kind: Secret
metadata:
  name: ingester-config
  namespace: ingester
  labels:
    app.kubernetes.io/name: ingester
type: Opaque
stringData:
  ingester.yaml: |
";

/// The volume of the configuration in the Deployment, and the same one of a Secret.
const OF_CONFIG_MAP: &str = "        configMap:\n          name: ingester\n";
const OF_SECRET: &str = "        secret:\n          secretName: ingester-config\n";

/// What the schema Job needs to read the configuration.
const MOUNTED: &str = "        volumeMounts:
        - name: config
          mountPath: /etc/ingester
          readOnly: true
      volumes:
      - name: config
        secret:
          secretName: ingester-config
          items:
          - key: ingester.yaml
            path: ingester.yaml
";

impl DatabaseSource {
    /// The source by the arguments, and by what the configuration itself says without the environment of this process.
    pub(super) fn from_arguments(arguments: &Manifests, kinds: &[Kind]) -> Result<Self, Failure> {
        let asked = match arguments.database {
            ManifestDatabase::Mysql => DatabaseSource::Mysql,
            ManifestDatabase::Postgres => DatabaseSource::Postgres,
        };
        let Some(file) = &arguments.config else { return Ok(asked) };
        let config = Config::load(file, &Environment::default(), &KindNames::of(kinds));
        let config = config.map_err(|error| Failure::Usage(error.into()))?;
        if !config.has_secrets() {
            return Ok(asked);
        }
        if asked == DatabaseSource::Postgres {
            return Err(secret_error(file, "it names the database, so leave --database out"));
        }
        match config.gate().map_err(|error| Failure::Usage(error.into()))? {
            Gate::Open(_) => Ok(DatabaseSource::Configuration),
            Gate::Disabled | Gate::NoDatabase => Err(secret_error(
                file,
                "it has to name and enable the database: set metadataStorage.enableMetadataStorage and databaseURL, or mysql.host and \
                 mysql.database; or leave the password out, for the Secret of an overlay",
            )),
        }
    }

    /// The manifest that has the configuration.
    pub(super) fn of_configuration(self) -> &'static str {
        match self {
            DatabaseSource::Mysql | DatabaseSource::Postgres => "configmap.yaml",
            DatabaseSource::Configuration => SECRET,
        }
    }

    /// A manifest of `deploy/` for this source, with the configuration of `deploy/`; `None` if the source does not need it.
    pub(super) fn manifest(self, name: &str, text: &str) -> Option<String> {
        use DatabaseSource::{Configuration, Postgres};
        Some(match (self, name) {
            (Configuration, "configmap.yaml") => return None,
            (Configuration, SECRET) => CONFIGURATION_SECRET.to_owned(),
            (Configuration, "deployment.yaml") => without_environment(text).replace(OF_CONFIG_MAP, OF_SECRET),
            (Configuration, "schema-job.yaml") => {
                let text =
                    without_environment(text).replace("[schema, apply]", &format!("[{}]", self.schema_arguments()));
                text + MOUNTED
            }
            (Postgres, "configmap.yaml") => without_mysql(text),
            (Postgres, SECRET) => POSTGRES.to_owned(),
            (Postgres, "deployment.yaml" | "schema-job.yaml") => without_environment(text)
                .replace("        resources:\n", &format!("{POSTGRES_ENVIRONMENT}        resources:\n")),
            _ => text.to_owned(),
        })
    }

    /// The arguments of the schema Job.
    pub(super) fn schema_arguments(self) -> String {
        match self {
            DatabaseSource::Mysql | DatabaseSource::Postgres => "schema, apply".to_owned(),
            DatabaseSource::Configuration => format!("schema, apply, --config, {CONFIGURATION}"),
        }
    }
}

fn secret_error(file: &Path, what: &str) -> Failure {
    Failure::Usage(anyhow!("{} has a password or a database's URL, so it becomes a Secret: {what}", file.display()))
}

/// The manifest with this configuration instead of its own.
pub(super) fn with_configuration(manifest: &str, configuration: &str) -> Result<String, Failure> {
    let head = manifest.find(KEY).map(|at| &manifest[..at + KEY.len()]);
    let head = head.ok_or_else(|| anyhow!("the ConfigMap of this program has no ingester.yaml"))?;
    let mut text = head.to_owned();
    for line in configuration.lines() {
        match line.trim_end() {
            "" => text.push('\n'),
            line => {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    Ok(text)
}

/// The ConfigMap without MySQL's address, and without the comment above it.
fn without_mysql(manifest: &str) -> String {
    let Some((before, from)) = manifest.split_once("\ndata:\n") else { return manifest.to_owned() };
    let lines: Vec<&str> = from.split_inclusive('\n').collect();
    let after = lines.iter().rposition(|line| line.starts_with("  MYSQL_")).map_or(0, |last| last + 1);
    format!("{before}\ndata:\n{}", lines[after..].concat())
}

/// The manifest of a pod whose container has no variables.
fn without_environment(manifest: &str) -> String {
    let mut inside = false;
    let mut text = String::with_capacity(manifest.len());
    for line in manifest.split_inclusive('\n') {
        inside = match inside {
            false => line == "        env:\n",
            true => ["        - ", "        #", "         "].iter().any(|start| line.starts_with(start)),
        };
        if !inside {
            text.push_str(line);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{MOUNTED, OF_CONFIG_MAP, OF_SECRET, POSTGRES, without_environment, without_mysql};

    const DEPLOYMENT: &str = include_str!("../../../deploy/deployment.yaml");
    const JOB: &str = include_str!("../../../deploy/schema-job.yaml");
    const CONFIG_MAP: &str = include_str!("../../../deploy/configmap.yaml");

    #[test]
    fn the_manifests_of_this_repository_have_what_is_replaced() {
        assert!(DEPLOYMENT.contains(OF_CONFIG_MAP) && JOB.contains("args: [schema, apply]\n"));
        assert!(!JOB.contains("volumes:") && MOUNTED.contains(OF_SECRET));
        assert!(POSTGRES.contains("name: ingester-postgres\n"));
        for text in [DEPLOYMENT, JOB] {
            let rest = without_environment(text);
            assert!(text.contains("MYSQL_HOST") && !rest.contains("valueFrom") && !rest.contains("env:"), "{rest}");
            assert_eq!(rest.matches("        resources:\n").count(), 1);
        }
        let rest = without_mysql(CONFIG_MAP);
        assert!(rest.starts_with("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ingester\n"), "{rest}");
        assert!(!rest.contains("MYSQL_") && rest.contains("data:\n  # docs/configuration.md"), "{rest}");
    }
}
