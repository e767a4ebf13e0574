//! `ingester.viewSettings`: values that the views of this program read, with those from the environment.

use super::start::PAUSES;
use crate::program::Program;
use backon::Retryable as _;
use ingester_config::Environment;
use ingester_core::nearest::nearest;
use ingester_core::view::{Condition, Expression, View};
use ingester_store::{ErrorClass, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};

/// Writes the values, retrying while the database cannot be reached.
pub(super) async fn write(
    store: &Store,
    settings: &BTreeMap<String, String>,
    environment: &Environment,
    program: &Program,
) -> Result<(), StoreError> {
    let read = read_by(&[program.views, program.declared_views].concat());
    for (name, value) in &filled(settings, environment, &read) {
        if !read.contains(name.as_str()) {
            let known: Vec<&str> = read.iter().copied().collect();
            let hint = match (nearest(name, &known), known.as_slice()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, []) => "no view of this program reads any".to_owned(),
                (None, known) => format!("views read {}", known.join(", ")),
            };
            tracing::warn!(name, hint, "No view reads this value of `ingester.viewSettings`");
        }
        let value = Some(value.as_str()).filter(|value| !value.is_empty());
        let attempts = (async || store.set_for_views(name, value).await).retry(PAUSES);
        let changed = attempts
            .when(|error| error.class() == ErrorClass::Transient)
            .notify(|error, _| tracing::warn!(%error, "Database not reached, trying again"))
            .await?;
        if changed {
            tracing::info!(name, value, "Setting of views written");
        }
    }
    Ok(())
}

/// Returns the settings of the file, and additional settings of the environment that a view reads and that the file lacks. Other programs
/// may use variables with these names for their own purposes.
fn filled(
    settings: &BTreeMap<String, String>,
    environment: &Environment,
    read: &BTreeSet<&str>,
) -> BTreeMap<String, String> {
    let mut filled = settings.clone();
    match environment.view_setting() {
        Some(Ok((name, value))) if read.contains(name) => {
            filled.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
        Some(Err(problem)) => tracing::warn!("{problem}: nothing is written for the views that read it"),
        _ => {}
    }
    filled
}

/// The names of the settings that these views read.
fn read_by(views: &[View]) -> BTreeSet<&'static str> {
    let mut names = BTreeSet::new();
    for source in views.iter().flat_map(|view| view.sources) {
        source.values.iter().for_each(|(_, value)| of_expression(value, &mut names));
        source.filter.iter().for_each(|filter| of_condition(filter, &mut names));
    }
    names
}

fn of_expression(expression: &Expression, names: &mut BTreeSet<&'static str>) {
    match expression {
        Expression::Null | Expression::Literal(_) | Expression::Column(_) => {}
        Expression::Setting(name) => {
            names.insert(name);
        }
        Expression::Coalesce(all) | Expression::Concat(all) => all.iter().for_each(|one| of_expression(one, names)),
        Expression::Cast(inner, _) => of_expression(inner, names),
        Expression::Case(branches, otherwise) => {
            for (condition, value) in *branches {
                of_condition(condition, names);
                of_expression(value, names);
            }
            of_expression(otherwise, names);
        }
    }
}

fn of_condition(condition: &Condition, names: &mut BTreeSet<&'static str>) {
    match condition {
        Condition::Live | Condition::Evicted | Condition::Deleted => {}
        Condition::Null(value) | Condition::OneOf(value, _) | Condition::Stored(value, _) => {
            of_expression(value, names)
        }
        Condition::Not(inner) => of_condition(inner, names),
        Condition::All(all) | Condition::Any(all) => all.iter().for_each(|one| of_condition(one, names)),
    }
}

#[cfg(test)]
mod tests {
    use super::{filled, read_by};
    use ingester_config::Environment;
    use ingester_declare::declare;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn settings_are_found_wherever_a_view_reads_them() {
        const FILE: &str = "
builtIn: false
kinds:
- {group: example.com, version: v1, kind: Job, namespaced: true}
views:
- name: jobs
  filter: {any: [live, {not: {isNull: {setting: filter}}}]}
  columns:
  - {column: a, value: {coalesce: [{cast: {value: {setting: first}, to: text}}, {setting: second}]}}
  - {column: b, value: {case: {when: [{if: {value: {setting: asked}, in: [x]}, then: {setting: then}}], else: {setting: else}}}}
";
        let file = declare::kinds("kinds.yaml", FILE, &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
        let found: Vec<&str> = read_by(file.views).into_iter().collect();
        assert_eq!(found, ["asked", "else", "filter", "first", "second", "then"]);
        assert!(read_by(&[]).is_empty());
    }

    #[test]
    fn the_region_of_the_environment_is_for_views_that_read_one() {
        let region = |value: &str| Environment::read(|name| (name == "REGION").then(|| value.to_owned()));
        let reads = BTreeSet::from(["deploy_region", "other"]);
        let file = |settings: &[(&str, &str)]| -> BTreeMap<String, String> {
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let other = file(&[("other", "o")]);
        assert_eq!(filled(&other, &region("eu-1"), &reads), file(&[("deploy_region", "eu-1"), ("other", "o")]));
        // The file takes precedence, even if it says that there is no value.
        for own in ["here", ""] {
            let own = file(&[("deploy_region", own)]);
            assert_eq!(filled(&own, &region("eu-1"), &reads), own);
        }
        // A variable of another program, an empty one, and one that is too long for a setting.
        assert_eq!(filled(&other, &region("eu-1"), &BTreeSet::from(["other"])), other);
        assert_eq!(filled(&other, &region(""), &reads), other);
        assert_eq!(filled(&other, &region(&"r".repeat(257)), &reads), other);
    }
}
