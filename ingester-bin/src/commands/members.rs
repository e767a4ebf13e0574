//! `ingester members`: the members that share the work, and their units.

use crate::arguments::{ConfigFile, Format, Members};
use crate::database::configuration;
use crate::ending::{Ending, Failure};
use crate::output::{Table, note, show};
use anyhow::anyhow;
use ingester_config::Replicas;
use ingester_core::Kind;
use ingester_core::age::age;
use ingester_core::value::Micros;
use ingester_mirror::replicas::{KubeLeases, Record};
use k8s_openapi::jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;

/// One member, as it is printed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Member<'a> {
    lease: &'a str,
    group: &'a str,
    holder: &'a str,
    member_since: Option<String>,
    renewed: Option<String>,
    units: &'a BTreeSet<String>,
}

pub(crate) async fn run(arguments: Members, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let replicas = match &arguments.config {
        Some(file) => configuration(&ConfigFile { config: file.clone() }, kinds)?.ingester.replicas,
        None => Replicas::default(),
    };
    let client = arguments.cluster.client().await?;
    let namespace = arguments.namespace.or(replicas.namespace).unwrap_or_else(|| client.default_namespace().to_owned());
    let members = KubeLeases::members(client, &namespace, &replicas.name).await;
    let mut members = members.map_err(|error| anyhow!("cannot list the Leases in namespace {namespace}: {error}"))?;
    members.retain(|(_, record)| !record.has_left());
    members.sort_by(|(group, a), (other, b)| (group, &a.holder, &a.name).cmp(&(other, &b.holder, &b.name)));
    let time = |time: &Option<Timestamp>| time.map(|time| time.to_string());
    let printed: Vec<Member<'_>> = members
        .iter()
        .map(|(group, record)| Member {
            lease: &record.name,
            group,
            holder: &record.holder,
            member_since: time(&record.acquired),
            renewed: time(&record.renewed),
            units: &record.claims,
        })
        .collect();
    show(arguments.output.output, &printed, || table(&members))?;
    if members.is_empty() {
        note(&format!(
            "namespace {namespace} has no members of the group `{}`: an ingester with ingester.replicas.enabled is a member, in the namespace of its pod",
            replicas.name
        ));
    } else if arguments.output.output == Format::Table {
        let now = Timestamp::now();
        for (_, record) in members.iter().filter(|(_, record)| record.is_overdue(now)) {
            note(&format!(
                "{} does not renew its Lease {}: others take its units over, unless the clocks of this machine and of that member differ",
                record.holder, record.name
            ));
        }
        for unit in unclaimed(&members, now) {
            note(&format!("{unit} has no member"));
        }
    }
    Ok(Ending::Done)
}

/// A line for each unit, so that `grep` finds it; a member without units has one, too.
fn table(members: &[(String, Record)]) -> String {
    let mut table = Table::new(["member", "lease", "age", "renewed", "unit"]);
    let now = Micros::now();
    let since = |time: &Option<Timestamp>| age(time.map(|time| Micros(time.as_microsecond())), now);
    for (_, record) in members {
        let row = |unit: &str| {
            [
                record.holder.clone(),
                record.name.clone(),
                since(&record.acquired),
                since(&record.renewed),
                unit.to_owned(),
            ]
        };
        if record.claims.is_empty() {
            table.row(row("<none>"));
        }
        for unit in &record.claims {
            table.row(row(unit));
        }
    }
    table.to_string()
}

/// The units that a member of a group could serve, and that no living member claims at this time.
fn unclaimed(members: &[(String, Record)], now: Timestamp) -> BTreeSet<&str> {
    let mut left = BTreeSet::new();
    for (group, _) in members {
        let of_group = || members.iter().filter(move |(other, _)| other == group).map(|(_, record)| record);
        let served = of_group().flat_map(|record| &record.serves);
        let is_claimed =
            |unit: &&String| of_group().any(|record| !record.is_overdue(now) && record.claims.contains(*unit));
        left.extend(served.filter(|unit| !is_claimed(unit)).map(String::as_str));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::{Record, Timestamp, unclaimed};

    #[test]
    fn a_unit_without_a_holder_is_named() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let member = |group: &str, renewed: i64, claims: &[&str]| {
            let units = |units: &[&str]| units.iter().map(|unit| (*unit).to_owned()).collect();
            let serves = units(&["Model", "Project"]);
            let mut record = Record::member("a", "pod", serves, units(claims));
            record.renewed = Some(at(renewed));
            (group.to_owned(), record)
        };
        let unclaimed = |members: &[(String, Record)]| -> Vec<String> {
            unclaimed(members, at(100)).into_iter().map(str::to_owned).collect()
        };
        assert!(unclaimed(&[member("g", 99, &["Model"]), member("g", 99, &["Project"])]).is_empty());
        let members = [member("g", 99, &["Model"]), member("h", 99, &["Project", "Model"])];
        assert_eq!(unclaimed(&members), ["Project"]);
        // A dead member claims nothing, although its Lease still lists its claims.
        assert_eq!(unclaimed(&[member("g", 99, &["Model"]), member("g", 50, &["Project"])]), ["Project"]);
    }
}
