//! Columns of many values (`#[index(many)]`): their tables follow the row, however it is written, and queries ask them by their keys.

#![allow(unreachable_pub, reason = "structs are written as a user writes them")]

use crate::plan_summary::summarize;
use crate::world::{Stores as _, World};
use anyhow::{Context as _, Result, ensure};
use ingester_core::object::{ManagedFields, Object};
use ingester_core::row::{Expected, Row};
use ingester_core::value::{Micros, Value};
use ingester_core::wire::Time;
use ingester_core::{Indexed, Ingestable, Kind};
use ingester_sql::query::{Filter, Order, Query, Test, parse_field_selector};
use ingester_store::compare::differences;
use ingester_store::migrate::Backfill;
use ingester_store::query::{Limits, RequestedParts};
use ingester_store::{ChangeResult, ConnectOptions, Effect, Report, RowChange, Store, StoredRow};
use ingester_tests::{on_every_database, on_galera};
use kube::CustomResource;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use tokio_util::sync::CancellationToken;

on_every_database! {
    values_are_written_changed_and_cleared_with_their_row
    objects_written_one_by_one_have_the_values_of_a_batch
    a_stale_write_changes_no_values
    values_go_with_a_purged_row_and_stay_with_a_tombstone
    values_changed_by_hand_are_found_and_repaired
    an_evicted_row_is_replaced_with_its_values
    values_that_are_asked_for_are_filled_again
    selectors_and_handles_find_the_objects_that_have_a_value
    a_value_is_found_by_its_key
}

on_galera! {
    objects_written_one_by_one_have_the_values_of_a_batch
}

/// The names and uses of a certificate.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "example.com", version = "v1", kind = "Certificate", plural = "certificates", namespaced)]
#[kube(status = "CertificateStatus", schema = "disabled")]
#[serde(rename_all = "camelCase", default)]
#[index(column = "words", many, with = CertificateSpec::words)]
pub struct CertificateSpec {
    #[index]
    pub issuer: String,
    #[index(many)]
    pub dns_names: Vec<String>,
    #[index(many, type = "VARCHAR(20)")]
    pub limits: Option<BTreeMap<String, Option<String>>>,
    #[index(many)]
    pub ports: Vec<u16>,
    #[index(many)]
    pub renewals: Vec<Option<Time>>,
}

/// The state of a certificate.
#[derive(Indexed, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct CertificateStatus {
    #[index(many, column = "types", with = types)]
    pub conditions: Vec<Condition>,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default)]
pub struct Condition {
    #[serde(rename = "type")]
    pub ty: String,
}

impl CertificateSpec {
    fn words(&self) -> Vec<&str> {
        self.issuer.split(' ').collect()
    }
}

#[allow(clippy::ptr_arg, reason = "a function of a field takes a reference to its type")]
fn types(conditions: &Vec<Condition>) -> Vec<&str> {
    conditions.iter().map(|condition| condition.ty.as_str()).collect()
}

pub(crate) const KIND: Kind = Kind::of::<Certificate>();

pub(crate) fn certificate(uid: &str, version: u64, spec: Json) -> Json {
    json!({
        "apiVersion": "example.com/v1", "kind": "Certificate", "spec": spec, "status": { "conditions": [{ "type": "Ready" }] },
        "metadata": { "name": uid, "namespace": "ml", "uid": uid, "resourceVersion": version.to_string() },
    })
}

/// Texts that a database may confuse with others, or with values that are not text.
fn odd() -> Json {
    json!({
        "issuer": "one two one",
        "dnsNames": ["b", "a", "B", "a ", "ä", "", "'; DROP TABLE certificate; --", "`\"\\%_?", "a", null, "日本 👩‍💻"],
        "limits": { "cpu": "4", "example.com/gpu": "", "none": null, "CPU": "'" },
        "ports": [443, 80, 443, 65535],
        "renewals": ["2026-03-09T20:36:46.123456Z", null, "1999-12-31T23:59:59Z"],
    })
}

fn row(object: &Json) -> Row {
    let object = Object::parse(object.to_string(), ManagedFields::Prune).unwrap();
    KIND.row(&object).unwrap().unwrap()
}

fn change(object: &Json) -> RowChange {
    RowChange::Row(row(object))
}

async fn store(world: &World) -> Result<Store> {
    let store = world.connect(ConnectOptions::default()).await?;
    store.create_missing(&[KIND]).await?;
    Ok(store)
}

async fn read_stored(store: &Store, uid: &str) -> Result<StoredRow> {
    store.read_stored(KIND.table(), &[uid]).await?.pop().context("a row")
}

/// All rows of the tables of values, for objects whose uid begins with this; the uids without this prefix.
async fn values(world: &World, prefix: &str) -> Result<Vec<Vec<Option<String>>>> {
    let mut all = Vec::new();
    let uid = format!("SUBSTR(obj_uid, {})", prefix.len() + 1);
    for (table, columns) in
        [("dns_names", "value"), ("limits", "`key`, value"), ("ports", "value"), ("types", "value"), ("words", "value")]
    {
        let sql = format!(
            "SELECT '{table}', {uid}, {columns} FROM certificate_{table} WHERE obj_uid LIKE '{prefix}%' ORDER BY obj_uid, {columns}"
        );
        all.extend(world.sql(&sql).await?);
    }
    all.extend(
        world
            .sql(&format!(
                "SELECT 'renewals', {uid}, value FROM certificate_renewals WHERE obj_uid LIKE '{prefix}%' ORDER BY 2, 3"
            ))
            .await?,
    );
    Ok(all)
}

/// Many values in a struct that may be absent, and what is in the metadata.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "example.com", version = "v1", kind = "Gateway", plural = "gateways", namespaced)]
#[index(path = "metadata.finalizers", column = "finalizers", many)]
pub struct Gateway {
    #[index]
    pub spec: Option<GatewaySpec>,
}

#[derive(Indexed, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewaySpec {
    #[index]
    pub class: String,
    #[index(many)]
    pub host_names: Option<Vec<String>>,
}

#[test]
fn many_values_may_be_in_a_struct_that_is_absent() {
    let table = Kind::of::<Gateway>().table();
    assert!(table.many("spec.hostNames").is_some_and(|(many, _)| many.name.as_str() == "spec_host_names"));
    let columns: Vec<&str> = table.indexed().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(columns, ["spec_class"]);
    let row = |members: &str| {
        let text =
            format!("apiVersion: example.com/v1\nkind: Gateway\nmetadata: {{name: a, finalizers: [x, z]}}\n{members}");
        ingester_testing::row::<Gateway>(&text).unwrap()
    };
    let full = row("spec: {class: a, hostNames: [b, a]}");
    assert_eq!((full.many("spec_host_names"), full.many("finalizers")), (vec!["a", "b"], vec!["x", "z"]));
    assert!(full.to_string().contains("spec_host_names: [\"a\", \"b\"]"), "{full}");
    for members in ["", "spec: {class: a}", "spec: null"] {
        assert_eq!((row(members).many("spec_host_names"), row(members).many("finalizers").len()), (vec![], 2));
    }
    let names = Gateway::spec().part(GatewaySpec::host_names());
    assert_eq!(Filter::from(names.contains("a")), Filter::field("spec_host_names", Test::Equal(Value::text("a"))));
}

#[test]
fn a_row_has_each_value_once_and_an_object_with_one_too_long_has_none() {
    let row = row(&certificate("a", 1, odd()));
    let keys = |name: &str| -> Vec<&str> {
        let many = KIND.table().many.iter().find(|many| many.name.as_str() == name).unwrap();
        row.many[many.place].iter().map(|(key, _)| &**key).collect()
    };
    assert_eq!(keys("dns_names"), ["", "'; DROP TABLE certificate; --", "B", "`\"\\%_?", "a", "b", "ä", "日本 👩‍💻"]);
    assert_eq!(keys("ports"), ["443", "65535", "80"]);
    assert_eq!(keys("renewals"), ["1999-12-31 23:59:59.000000", "2026-03-09 20:36:46.123456"]);
    assert_eq!(keys("limits"), ["CPU", "cpu", "example.com/gpu"]);
    assert_eq!((keys("words"), keys("types")), (vec!["one", "two"], vec!["Ready"]));

    let error = |spec: Json| {
        let object = Object::parse(certificate("a", 1, spec).to_string(), ManagedFields::Prune).unwrap();
        KIND.row(&object).unwrap_err().to_string()
    };
    let long = error(json!({ "dnsNames": ["fits", "x".repeat(256)] }));
    assert!(long.starts_with("column `dns_names`: the value `xxxxx"), "{long}");
    assert!(long.contains(
        "has 256 characters, which do not fit VARCHAR(255); shorten it, or widen the column with #[index(many, type"
    ));
    let long = error(json!({ "limits": { "x".repeat(318): "1" } }));
    assert!(long.starts_with("column `limits`: the key `xxx") && long.ends_with("do not fit VARCHAR(317)"), "{long}");
    let early = error(json!({ "renewals": ["0999-01-01T00:00:00Z"] }));
    assert_eq!(early, "column `renewals`: 0999-01-01 00:00:00.000000 does not fit DATETIME(6)");
}

async fn values_are_written_changed_and_cleared_with_their_row(world: World) -> Result<()> {
    let store = store(&world).await?;
    let objects = |version: u64, spec: Json| ["a", "b"].map(|uid| certificate(uid, version, spec.clone()));
    let other = json!({
        "issuer": "three", "dnsNames": ["c", "a"], "limits": { "cpu": "5", "memory": "1Gi" }, "ports": [8080],
        "renewals": ["2026-03-09T20:36:46.123457Z"],
    });
    for (version, spec) in [(1, odd()), (2, other), (3, json!({})), (4, odd())] {
        let objects = objects(version, spec);
        let report = store.write(KIND.table(), objects.iter().map(change).collect()).await?;
        ensure!(report.written == 2, "{report:?}");
        for object in &objects {
            let wanted = row(object);
            let stored = read_stored(&store, &wanted.uid).await?;
            ensure!(stored.many == wanted.many, "{:?} is stored, not {:?}", stored.many, wanted.many);
            let found = differences(KIND.table(), &wanted, &stored);
            ensure!(found.is_empty(), "an audit finds {found:?}");
        }
    }
    ensure!(world.count("certificate_dns_names").await? == 16 && world.count("certificate_types").await? == 2);
    Ok(())
}

async fn objects_written_one_by_one_have_the_values_of_a_batch(world: World) -> Result<()> {
    let store = store(&world).await?;
    // The second version has the same values, the third has others.
    for (version, spec) in [(1, odd()), (2, odd()), (3, json!({ "dnsNames": ["z"] }))] {
        let batch: Vec<Json> = (0..3).map(|n| certificate(&format!("t{n}"), version, spec.clone())).collect();
        store.write(KIND.table(), batch.iter().map(change).collect()).await?;
        for n in 0..3 {
            let row = row(&certificate(&format!("s{n}"), version, spec.clone()));
            let expected = match version {
                1 => Expected::Absent,
                // For the third, the writer assumes that nothing has changed: the row shows that this is wrong.
                _ => Expected::Stored { res_version: version - 1, companions: row.companions_hash() },
            };
            let expected = (version < 3).then_some(expected);
            let report = store.write(KIND.table(), vec![RowChange::Row(Row { expected, ..row })]).await?;
            ensure!(report == Report { written: 1, ..Report::default() }, "{report:?}");
        }
        let batch = values(&world, "t").await?;
        let single = values(&world, "s").await?;
        ensure!(batch == single && !batch.is_empty(), "{batch:?}\n{single:?}");
    }
    Ok(())
}

async fn a_stale_write_changes_no_values(world: World) -> Result<()> {
    let store = store(&world).await?;
    store.write(KIND.table(), vec![change(&certificate("a", 9, odd()))]).await?;
    let before = values(&world, "").await?;
    let late = certificate("a", 8, json!({ "dnsNames": ["late"], "limits": { "late": "1" }, "ports": [1] }));
    let report = store.write(KIND.table(), vec![change(&late)]).await?;
    ensure!(report == Report { stale: vec!["a".into()], ..Report::default() }, "{report:?}");
    ensure!(values(&world, "").await? == before);
    // A writer that expects a new row finds the existing one.
    let new = Row { expected: Some(Expected::Absent), ..row(&late) };
    store.write(KIND.table(), vec![RowChange::Row(new)]).await?;
    ensure!(values(&world, "").await? == before);
    Ok(())
}

async fn values_go_with_a_purged_row_and_stay_with_a_tombstone(world: World) -> Result<()> {
    const LONG_AGO: Micros = Micros(1_700_000_000_000_000);
    let store = store(&world).await?;
    let gone = |uid: &str| RowChange::Row(Row { delete_time: Some(LONG_AGO), ..row(&certificate(uid, 1, odd())) });
    store.write(KIND.table(), vec![gone("a"), gone("b"), change(&certificate("c", 1, odd()))]).await?;
    let tombstone = RowChange::Tombstone { uid: "c".into(), res_version: 2, delete_time: Micros::now() };
    store.write(KIND.table(), vec![tombstone]).await?;
    let before = values(&world, "c").await?;
    ensure!(store.purge(&KIND, Micros(LONG_AGO.0 + 1)).await?.rows == 2);
    ensure!(values(&world, "").await?.len() == before.len() && values(&world, "c").await? == before);
    Ok(())
}

async fn values_changed_by_hand_are_found_and_repaired(world: World) -> Result<()> {
    let store = store(&world).await?;
    let spec = json!({ "dnsNames": ["a", "b"], "limits": { "cpu": "4", "memory": "1" }, "ports": [80] });
    let wanted = row(&certificate("a", 3, spec));
    store.write(KIND.table(), vec![RowChange::Row(wanted.clone())]).await?;
    world.sql("UPDATE certificate_dns_names SET value = 'c' WHERE value = 'b'").await?;
    world.sql("UPDATE certificate_limits SET value = '5' WHERE value = '4'").await?;
    world.sql("DELETE FROM certificate_ports").await?;
    let stored = read_stored(&store, "a").await?;
    let found: Vec<String> = differences(KIND.table(), &wanted, &stored).iter().map(ToString::to_string).collect();
    ensure!(
        found
            == [
                "dns_names \"b\": (none) is stored, not (there)",
                "dns_names \"c\": (there) is stored, not (none)",
                "limits \"cpu\": \"5\" is stored, not \"4\"",
                "ports \"80\": (none) is stored, not (there)",
            ],
        "{found:#?}"
    );
    // As a repair writes it.
    let repair = RowChange::Replacement { row: wanted.clone(), seen: wanted.version() };
    ensure!(store.write(KIND.table(), vec![repair]).await?.written == 1);
    let stored = self::read_stored(&store, "a").await?;
    ensure!(differences(KIND.table(), &wanted, &stored).is_empty() && stored.many == wanted.many);
    Ok(())
}

async fn an_evicted_row_is_replaced_with_its_values(world: World) -> Result<()> {
    let store = store(&world).await?;
    let evicted = Row { evict_time: Some(Micros::now()), evict_confirmed: true, ..row(&certificate("a", 1, odd())) };
    store.write(KIND.table(), vec![RowChange::Row(evicted)]).await?;
    let next = row(&certificate("a", 2, json!({ "dnsNames": ["z"] })));
    let edit = |_: &StoredRow| Ok::<_, Infallible>(Some(next.clone()));
    let changed = store.change_evicted(&KIND, "a", Effect::Written, edit).await?;
    ensure!(matches!(changed, ChangeResult::Done(_)), "{changed:?}");
    ensure!(read_stored(&store, "a").await?.many == next.many);
    Ok(())
}

async fn values_that_are_asked_for_are_filled_again(world: World) -> Result<()> {
    let store = store(&world).await?;
    store.write(KIND.table(), ["a", "b"].iter().map(|uid| change(&certificate(uid, 1, odd()))).collect()).await?;
    let before = values(&world, "").await?;
    world.sql("DELETE FROM certificate_dns_names WHERE obj_uid = 'a'").await?;
    world.sql("UPDATE certificate_limits SET value = 'x'").await?;
    let backfill = Backfill::for_columns(&KIND, &["dns_names".to_owned()])?;
    let filled = store.backfill(&backfill, None, &CancellationToken::new(), |_| {}).await?;
    ensure!(filled.complete && filled.read == 2 && filled.filled == 2, "{filled:?}");
    ensure!(values(&world, "").await? == before);
    let again = store.backfill(&Backfill::for_columns(&KIND, &[])?, None, &CancellationToken::new(), |_| {}).await?;
    ensure!(again.filled == 0, "{again:?}");
    let unknown = Backfill::for_columns(&KIND, &["names".to_owned()]).unwrap_err().to_string();
    ensure!(unknown.contains("dns_names"), "{unknown}");
    Ok(())
}

async fn selectors_and_handles_find_the_objects_that_have_a_value(world: World) -> Result<()> {
    let store = store(&world).await?;
    let spec = |names: &[&str], limits: Json, ports: &[u16], renewals: &[&str]| json!({ "dnsNames": names, "limits": limits, "ports": ports, "renewals": renewals });
    let objects = [
        (
            "a",
            spec(
                &["a.example.com", "b.example.com"],
                json!({ "cpu": "4", "example.com/gpu": "1" }),
                &[80, 443],
                &["2026-01-01T00:00:00Z"],
            ),
        ),
        (
            "b",
            spec(
                &["b.example.com", ""],
                json!({ "cpu": "8" }),
                &[8080],
                &["2027-01-01T00:00:00Z", "2020-01-01T00:00:00Z"],
            ),
        ),
        ("c", spec(&[""], json!({ "memory": "4" }), &[], &[])),
        ("d", spec(&[], json!({}), &[80], &[])),
    ];
    let changes = objects.iter().map(|(uid, spec)| change(&certificate(uid, 1, spec.clone()))).collect();
    store.write(KIND.table(), changes).await?;
    let limits = Limits::default();
    let found = async |filters: Vec<Filter>| -> Result<String> {
        let query = Query { filters, ..Query::default() };
        let page = store.ask_about(&KIND, &query, limits)?.page(&RequestedParts::object(), 10, None).await?;
        Ok(page.rows.iter().map(|row| row.uid().to_owned()).collect())
    };
    for (selector, uids) in [
        ("spec.dnsNames=a.example.com", "a"),
        ("dns_names=b.example.com", "ab"),
        ("spec.dnsNames[*]=b.example.com", "ab"),
        ("spec.dnsNames=b.example.com ", "ab"),
        ("spec.dnsNames!=b.example.com", "cd"),
        ("spec.dnsNames=b.example.com,spec.dnsNames!=a.example.com", "b"),
        ("spec.dnsNames=A.example.com", ""),
        // Empty, as for a field: no value, or only empty ones.
        ("spec.dnsNames=", "cd"),
        ("spec.dnsNames!=", "ab"),
        ("spec.limits.cpu=4", "a"),
        ("spec.limits[\"cpu\"]=4", "a"),
        ("limits[cpu]=8", "b"),
        ("spec.limits.cpu!=4", "bcd"),
        ("spec.limits.example.com/gpu=1", "a"),
        ("spec.limits.memory=4", "c"),
        ("spec.limits.cpu>4", "b"),
        ("spec.limits.cpu<=4", "a"),
        ("spec.limits=", "d"),
        ("spec.ports=80", "ad"),
        ("spec.ports!=80", "bc"),
        ("spec.ports in (8080, 1)", "b"),
        ("spec.ports notin (80, 1)", "bc"),
        ("spec.limits.cpu in (4, 8)", "ab"),
        ("spec.limits.cpu notin (4, 8)", "cd"),
        ("spec.ports=", "c"),
        ("spec.renewals=2027-01-01T00:00:00Z", "b"),
        ("types=Ready,metadata.name=a", "a"),
    ] {
        let said = found(parse_field_selector(selector)?).await?;
        ensure!(said == uids, "`{selector}` finds {said:?}, not {uids:?}");
    }
    let time = Micros(1_767_225_600_000_000);
    for (name, filter, uids) in [
        ("contains", Certificate::dns_names().contains("b.example.com").into(), "ab"),
        ("not contains", (!Certificate::dns_names().contains("b.example.com")).into(), "cd"),
        ("contains_any", Certificate::dns_names().contains_any(["a.example.com", "x"]).into(), "a"),
        ("contains_any of nothing", Certificate::dns_names().contains_any([""; 0]).into(), ""),
        ("contains_like", Certificate::dns_names().contains_like("%.example.com").into(), "ab"),
        ("not contains_like", (!Certificate::dns_names().contains_like("a%")).into(), "bcd"),
        ("has_some", Certificate::ports().has_some().into(), "abd"),
        ("has_none", Certificate::ports().has_none().into(), "c"),
        ("a number", Certificate::ports().contains(8080).into(), "b"),
        ("a time", Certificate::renewals().contains(time).into(), "a"),
        ("at", Certificate::limits().at("cpu").eq("4").into(), "a"),
        ("at, not", Certificate::limits().at("cpu").ne("4").into(), "bcd"),
        ("at, greater", Certificate::limits().at("cpu").gt("4").into(), "b"),
        ("at, in", Certificate::limits().at("cpu").is_in(["4", "8"]).into(), "ab"),
        ("at, present", Certificate::limits().at("example.com/gpu").is_present().into(), "a"),
        ("at, absent", Certificate::limits().at("cpu").is_absent().into(), "cd"),
        ("of a function", Certificate::words().contains("").into(), "abcd"),
        ("of the status", CertificateStatus::types().contains("Ready").of::<Certificate>().into(), "abcd"),
    ] {
        let said = found(vec![filter]).await?;
        ensure!(said == uids, "{name}: {said:?}, not {uids:?}");
    }
    for (selector, error) in [
        ("spec.limits=4", "`spec.limits` cannot be compared: it is a map: add one of its keys"),
        ("spec.limits<4", "`spec.limits` cannot be compared: it is a map: add one of its keys"),
        (
            "spec.ports<100",
            "`spec.ports` cannot be compared with `<`, `<=`, `>` or `>=`: it has many values; ask for one of them with `=`",
        ),
        ("spec.ports=x", "`spec.ports` is INT: `x` is not a whole number"),
        ("spec.dnsName=a", "did you mean `spec.dnsNames`?"),
    ] {
        let query = Query { filters: parse_field_selector(selector)?, ..Query::default() };
        let said = query.check(KIND.table()).map(drop).unwrap_err().to_string();
        ensure!(said.contains(error), "{selector}: {said}");
    }
    let order = vec![Order { field: "spec.dnsNames".into(), descending: false }];
    let said = Query { order, ..Query::default() }.check(KIND.table()).map(drop).unwrap_err().to_string();
    ensure!(said == "`spec.dnsNames` cannot be sorted by: it has many values", "{said}");
    Ok(())
}

async fn a_value_is_found_by_its_key(world: World) -> Result<()> {
    let store = store(&world).await?;
    let object = |n: usize| {
        let names: Vec<String> = (0..3).map(|name| format!("{}.example.com", n * 3 + name)).collect();
        let limits = json!({ "cpu": n.to_string(), "memory": n.to_string() });
        certificate(&format!("uid-{n:05}"), 1, json!({ "dnsNames": names, "limits": limits, "ports": [n] }))
    };
    for chunk in (0..3_000).collect::<Vec<_>>().chunks(500) {
        store.write(KIND.table(), chunk.iter().map(|n| change(&object(*n))).collect()).await?;
    }
    world
        .sql(&world.on.analyze(&["certificate", "certificate_dns_names", "certificate_limits", "certificate_ports"]))
        .await?;
    let limits = Limits::default();
    for (selector, table, key) in [
        ("spec.dnsNames=4711.example.com", "dns_names", "value"),
        ("spec.limits.cpu=1571", "limits", "key_value"),
        ("spec.ports=1571", "ports", "value"),
    ] {
        let query = Query { filters: parse_field_selector(selector)?, ..Query::default() };
        let asked = store.ask_about(&KIND, &query, limits)?;
        let page = asked.page(&RequestedParts::object(), 10, None).await?;
        ensure!(page.rows.len() == 1, "{selector}");
        let explained = asked.explain(&RequestedParts::object(), 10).await?;
        let summary = summarize(world.on, &explained)?;
        let key = world.on.key(&format!("certificate_{table}"), key);
        ensure!(summary.keys.contains(&key) && !summary.scans, "{selector}: {summary:?}: {explained:#?}");
    }
    Ok(())
}
