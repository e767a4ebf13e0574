// `INGESTER_UPDATE=1 cargo test -p ingester-tests --test store adopted` writes it.

use ingester_core::Kind;

pub mod time {
    // The kind Time of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind Time.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Time", plural = "times", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns(column_0))]
    #[index(column = "column_0", with = column_0, type = "VARCHAR(768)")]
    #[index(column = "column_2", with = column_2, type = "VARCHAR(768)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct TimeKind {
        pub data: TimeKindData,
        #[index(
            column = "column_1",
            path = "field_2fa.dns_names",
            json = "2fa.dnsNames",
            type = "VARCHAR(16)",
            header = "The column_1"
        )]
        pub spec: TimeKindSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct TimeKindData {
        pub foo: Vec<TimeKindDataFoo>,
        #[serde(rename = "bar_baz")]
        pub bar_baz: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct TimeKindDataFoo {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct TimeKindSpec {
        #[serde(rename = "2fa")]
        pub field_2fa: TimeKindSpecField2fa,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct TimeKindSpecField2fa {
        pub dns_names: Option<String>,
    }

    /// `.data.foo[type="Ready"].last-value`
    fn column_0(object: &TimeKind) -> Option<String> {
        object.data.foo.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }

    /// `.data.bar_baz`
    fn column_2(object: &TimeKind) -> Option<String> {
        let value_1 = || object.data.bar_baz.clone();
        value_1().or_else(|| Some("none".to_owned()))
    }
}

pub mod quantity {
    // The kind Quantity of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind Quantity.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Quantity", plural = "quantities", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns(column_1, clone))]
    #[index(column = "column_1", with = column_1)]
    #[index(column = "column_3", with = column_3, header = "The column_3", wide = true, age)]
    #[index(column = "column_4", with = column_4)]
    #[index(path = "metadata.annotations", column = "clone", with = clone, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKind {
        #[index(column = "column_0", path = "name", type = "VARCHAR(64)", many)]
        pub status: QuantityKindStatus,
        pub spec: QuantityKindSpec,
        pub data: QuantityKindData,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKindStatus {
        pub name: Vec<String>,
        #[serde(rename = "Self")]
        pub self_: Option<Time>,
        #[serde(rename = "nodeIP")]
        pub node_ip: QuantityKindStatusNodeIp,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKindStatusNodeIp {
        #[serde(rename = "a/b")]
        pub a_b: Vec<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKindSpec {
        pub abstract_: Vec<QuantityKindSpecAbstract>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKindSpecAbstract {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKindData {
        #[serde(rename = "a.b")]
        pub a_b: Option<Time>,
    }

    /// `.spec.abstract[type="Ready"].last-value`
    fn column_1(object: &QuantityKind) -> Option<String> {
        object.spec.abstract_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }

    /// `.metadata.annotations.note`
    fn clone(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.data["a.b"]`, or `.status.Self`
    fn column_3(object: &QuantityKind) -> Option<Time> {
        let value_1 = || object.data.a_b;
        let value_2 = || object.status.self_;
        value_1().or_else(value_2)
    }

    /// `.status.nodeIP["a/b"][0]`
    fn column_4(object: &QuantityKind) -> Option<u64> {
        object.status.node_ip.a_b.first().cloned()
    }
}

pub mod string {
    // The kind String of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind String.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "String", plural = "strings", namespaced)]
    #[ingest(absent = "empty", finalizer = "never", companions = false)]
    #[ingest(history = "7776000s", versions = 5)]
    #[index(column = "type", with = type_, many)]
    #[index(path = "metadata.annotations", column = "object", with = object, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct StringKind {
        pub data: StringKindData,
        #[index(column = "column_1", path = "box_.ber", json = "box.über", keep, absent = "null")]
        pub status: StringKindStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct StringKindData {
        #[serde(rename = "a b")]
        pub a_b: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct StringKindStatus {
        pub box_: StringKindStatusBox,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct StringKindStatusBox {
        #[serde(rename = "über")]
        pub ber: Option<bool>,
    }

    /// `.data["a b"][*]`
    fn type_(object: &StringKind) -> Vec<i64> {
        object.data.a_b.clone()
    }

    /// `.metadata.annotations.note`
    fn object(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }
}

pub mod madeup3 {
    // The kind MadeUp3 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp3.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp3", plural = "madeup3s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[index(column = "write", with = write)]
    #[index(column = "column_4", with = column_4, type = "VARCHAR(768)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3 {
        #[index(column = "default", path = "override_.url", json = "override.URL", type = "VARCHAR(64)", many)]
        #[index(column = "column_1", path = "object.abstract_", many)]
        #[index(column = "column_5", path = "type_.field_2fa", json = "type.2fa", many)]
        pub status: MadeUp3Status,
        pub spec: MadeUp3Spec,
        #[index(column = "type", path = "field2", type = "VARCHAR(64)", many)]
        pub data: MadeUp3Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3Status {
        pub override_: MadeUp3StatusOverride,
        pub object: MadeUp3StatusObject,
        #[serde(rename = "$ref")]
        pub ref_: MadeUp3StatusRef,
        pub box_: MadeUp3StatusBox,
        pub type_: MadeUp3StatusType,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3StatusOverride {
        #[serde(rename = "URL")]
        pub url: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3StatusObject {
        pub abstract_: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3StatusRef {
        pub try_: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3StatusBox {
        pub try_: Vec<MadeUp3StatusBoxTry>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3StatusBoxTry {
        pub main: Option<bool>,
        pub it: MadeUp3StatusBoxTryIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3StatusBoxTryIt {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3StatusType {
        #[serde(rename = "2fa")]
        pub field_2fa: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3Spec {
        #[serde(rename = "a-b")]
        pub a_b: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3Data {
        pub field2: Vec<String>,
    }

    /// `.spec.a-b`, or `.status.$ref.try`
    fn write(object: &MadeUp3) -> Option<u64> {
        let value_1 = || object.spec.a_b;
        let value_2 = || object.status.ref_.try_;
        value_1().or_else(value_2)
    }

    /// `.status.box.try[main="true"].it.is`
    fn column_4(object: &MadeUp3) -> Option<String> {
        object.status.box_.try_.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }
}

pub mod madeup4 {
    // The kind MadeUp4 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp4.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp4", plural = "madeup4s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[index(column = "column_3", with = column_3, header = "The column_3")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4 {
        #[index(column = "column_0", path = "x", json = "_x")]
        pub data: MadeUp4Data,
        #[index(column = "override", path = "virtual_", many)]
        pub spec: MadeUp4Spec,
        #[index(column = "column_2", path = "value.url", json = "value.URL", unit = "milli")]
        pub status: MadeUp4Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4Data {
        #[serde(rename = "_x")]
        pub x: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4Spec {
        pub virtual_: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4Status {
        pub value: MadeUp4StatusValue,
        pub dns_names: MadeUp4StatusDnsNames,
        pub foo: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4StatusValue {
        #[serde(rename = "URL")]
        pub url: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4StatusDnsNames {
        pub macro_: Option<bool>,
    }

    /// `.status.dnsNames.macro`, or `.status.foo`
    fn column_3(object: &MadeUp4) -> Option<bool> {
        let value_1 = || object.status.dns_names.macro_;
        let value_2 = || object.status.foo;
        value_1().or_else(value_2)
    }
}

pub mod madeup5 {
    // The kind MadeUp5 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp5.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp5", plural = "madeup5s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never", companions = false)]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(key(default, column_3))]
    #[ingest(columns(default, column_1, column_3, column_4))]
    #[index(column = "default", with = default, header = "The default")]
    #[index(column = "column_4", with = column_4, wide = true)]
    #[index(path = "metadata.annotations", column = "column_1", with = column_1, type = "TEXT", key = false, header = "The column_1")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5 {
        #[index(column = "column_5", path = "baz.name", type = "VARCHAR(16)", header = "The column_5")]
        pub spec: MadeUp5Spec,
        #[index(column = "column_2", path = "bar_baz", type = "VARCHAR(64)", many)]
        #[index(column = "column_6", path = "type_", type = "VARCHAR(64)", many)]
        pub status: MadeUp5Status,
        #[index(column = "column_3", path = "crate_.default", type = "VARCHAR(16)", header = "The column_3")]
        pub data: MadeUp5Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5Spec {
        pub gen_: MadeUp5SpecGen,
        pub baz: MadeUp5SpecBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5SpecGen {
        #[serde(rename = "Self")]
        pub self_: Vec<MadeUp5SpecGenSelf>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5SpecGenSelf {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5SpecBaz {
        pub name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5Status {
        pub bar_baz: Vec<String>,
        #[serde(rename = "a b")]
        pub a_b: MadeUp5StatusAB,
        pub type_: BTreeMap<String, String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5StatusAB {
        pub try_: Vec<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5Data {
        pub crate_: MadeUp5DataCrate,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5DataCrate {
        pub default: Option<String>,
    }

    /// `.spec.gen.Self[type="Ready"].last-value`
    fn default(object: &MadeUp5) -> Option<i32> {
        object.spec.gen_.self_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.metadata.annotations.note`
    fn column_1(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.status["a b"].try[-2]`
    fn column_4(object: &MadeUp5) -> Option<f64> {
        object.status.a_b.try_.iter().rev().nth(1).cloned()
    }
}

pub mod madeup6 {
    // The kind MadeUp6 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp6.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp6", plural = "madeup6s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(column_0, column_1, has_row, column_4))]
    #[index(column = "column_0", with = column_0)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6 {
        #[index(column = "column_6", path = "default.yield_", type = "VARCHAR(16)")]
        pub data: MadeUp6Data,
        #[index(column = "column_1", path = "box_.box_", unit = "whole")]
        #[index(column = "new", path = "self_", json = "Self", type = "VARCHAR(64)", many)]
        pub spec: MadeUp6Spec,
        #[index(column = "has_row", path = "a_b", json = "a-b", first, absent = "null")]
        #[index(column = "column_3", path = "default.bar_baz", json = "default.bar_baz", type = "VARCHAR(64)", many)]
        #[index(column = "column_4", path = "macro_", age)]
        pub status: MadeUp6Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6Data {
        pub macro_: MadeUp6DataMacro,
        pub default: MadeUp6DataDefault,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6DataMacro {
        pub dns_names: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6DataDefault {
        pub yield_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6Spec {
        pub box_: MadeUp6SpecBox,
        #[serde(rename = "Self")]
        pub self_: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6SpecBox {
        pub box_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6Status {
        #[serde(rename = "a-b")]
        pub a_b: Option<String>,
        pub default: MadeUp6StatusDefault,
        pub macro_: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6StatusDefault {
        #[serde(rename = "bar_baz")]
        pub bar_baz: Vec<String>,
    }

    /// `.data.macro.dnsNames`
    fn column_0(object: &MadeUp6) -> Option<String> {
        let value_1 = || object.data.macro_.dns_names.clone();
        value_1().or_else(|| Some("x \"y\"".to_owned()))
    }
}

pub mod madeup7 {
    // The kind MadeUp7 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind MadeUp7.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp7", plural = "madeup7s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(key(column_0, column_1))]
    #[ingest(columns(column_0, column_1))]
    #[index(column = "column_2", with = column_2)]
    #[index(path = "metadata.labels", column = "column_0", with = column_0, type = "VARCHAR(63)", header = "The column_0")]
    #[index(path = "metadata.labels", column = "column_1", with = column_1, type = "VARCHAR(63)", wide = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7 {
        pub data: MadeUp7Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7Data {
        pub dns_names: Option<bool>,
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_0(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_1(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// `.data.dnsNames`
    fn column_2(object: &MadeUp7) -> Option<bool> {
        let value_1 = || object.data.dns_names;
        value_1().or(Some(true))
    }
}

pub mod madeup8 {
    // The kind MadeUp8 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind MadeUp8.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp8", plural = "madeup8s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(key(column_1, column_3))]
    #[ingest(columns(column_0, column_1, column_3, column_4))]
    #[index(column = "column_0", with = column_0, type = "TEXT", key = false)]
    #[index(path = "metadata.labels", column = "column_3", with = column_3, type = "VARCHAR(63)", wide = true)]
    #[index(path = "metadata.annotations", column = "column_4", with = column_4, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8 {
        #[index(column = "column_2", path = "node_ip", json = "nodeIP", type = "VARCHAR(64)", many)]
        pub spec: MadeUp8Spec,
        #[index(column = "column_1", path = "type_", type = "VARCHAR(16)")]
        pub data: MadeUp8Data,
        #[index(column = "column_5", path = "gen_", keep)]
        pub status: MadeUp8Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8Spec {
        #[serde(rename = "a-b")]
        pub a_b: Option<String>,
        #[serde(rename = "$ref")]
        pub ref_: Option<String>,
        #[serde(rename = "nodeIP")]
        pub node_ip: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8Data {
        pub type_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8Status {
        pub gen_: Option<bool>,
    }

    /// `.spec.a-b`, or `.spec.$ref`
    fn column_0(object: &MadeUp8) -> Option<String> {
        let value_1 = || object.spec.a_b.clone();
        let value_2 = || object.spec.ref_.clone();
        value_1().or_else(value_2)
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_3(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// `.metadata.annotations.note`
    fn column_4(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }
}

pub mod madeup9 {
    // The kind MadeUp9 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp9.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp9", plural = "madeup9s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never", companions = false)]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(key(column_2, column_3))]
    #[ingest(columns(column_0, column_1, column_2, column_3, column_4, write))]
    #[index(column = "column_1", with = column_1, type = "TEXT", key = false, wide = false)]
    #[index(column = "column_4", with = column_4, type = "TEXT", key = false)]
    #[index(column = "write", with = write, type = "VARCHAR(40)", header = "The write", wide = true)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9 {
        #[index(column = "column_0", path = "name", type = "VARCHAR(768)")]
        pub status: MadeUp9Status,
        #[index(column = "column_3", path = "ber.url", json = "über.URL", first, absent = "null")]
        #[index(column = "column_6", path = "name.value", keep, absent = "null")]
        pub data: MadeUp9Data,
        #[index(column = "column_2", path = "self_", json = "Self", unit = "whole")]
        pub spec: MadeUp9Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9Status {
        pub name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9Data {
        #[serde(rename = "2fa")]
        pub field_2fa: MadeUp9DataField2fa,
        #[serde(rename = "über")]
        pub ber: MadeUp9DataBer,
        pub value: Vec<String>,
        pub name: MadeUp9DataName,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9DataField2fa {
        pub box_: Vec<MadeUp9DataField2faBox>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9DataField2faBox {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9DataBer {
        #[serde(rename = "URL")]
        pub url: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9DataName {
        pub value: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9Spec {
        #[serde(rename = "Self")]
        pub self_: Option<Quantity>,
        pub virtual_: Vec<MadeUp9SpecVirtual>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9SpecVirtual {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    /// `.data.2fa.box[type="Ready"].last-value`
    fn column_1(object: &MadeUp9) -> Option<String> {
        object.data.field_2fa.box_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }

    /// `.spec.virtual[type="Ready"].last-value`
    fn column_4(object: &MadeUp9) -> Option<String> {
        object.spec.virtual_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }

    /// `.data.value[-2]`
    fn write(object: &MadeUp9) -> Option<String> {
        object.data.value.iter().rev().nth(1).cloned()
    }
}

pub mod madeup10 {
    // The kind MadeUp10 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp10.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp10", plural = "madeup10s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(key(column_1, column_2))]
    #[ingest(columns(column_1, column_2))]
    #[index(column = "column_0", with = column_0, type = "VARCHAR(64)", many)]
    #[index(column = "column_4", with = column_4)]
    #[index(path = "metadata.generation", column = "column_2")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp10 {
        #[index(
            column = "type",
            path = "node_ip",
            json = "nodeIP",
            type = "VARCHAR(40)",
            header = "The type",
            wide = false
        )]
        pub data: MadeUp10Data,
        #[index(column = "column_1", path = "field2", unit = "milli", header = "The column_1")]
        pub spec: MadeUp10Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp10Data {
        #[serde(rename = "a.b")]
        pub a_b: BTreeMap<String, String>,
        #[serde(rename = "nodeIP")]
        pub node_ip: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp10Spec {
        pub field2: Option<Quantity>,
        #[serde(rename = "a b")]
        pub a_b: MadeUp10SpecAB,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp10SpecAB {
        pub object: Vec<f64>,
    }

    /// `.data["a.b"]`
    fn column_0(object: &MadeUp10) -> BTreeMap<String, String> {
        object.data.a_b.clone()
    }

    /// `.spec["a b"].object[0]`
    fn column_4(object: &MadeUp10) -> Option<f64> {
        object.spec.a_b.object.first().cloned()
    }
}

pub mod madeup11 {
    // The kind MadeUp11 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind MadeUp11.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp11", plural = "madeup11s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(key(column_0, column_2))]
    #[ingest(columns(column_0, column_1))]
    #[index(column = "column_0", with = column_0, wide = true)]
    #[index(column = "column_2", with = column_2, absent = "empty")]
    #[index(path = "metadata.annotations", column = "column_1", with = column_1, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp11 {
        pub spec: MadeUp11Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp11Spec {
        pub do_: Option<i32>,
        #[serde(rename = "a b")]
        pub a_b: Option<f64>,
    }

    /// `.spec.do`
    fn column_0(object: &MadeUp11) -> Option<i32> {
        let value_1 = || object.spec.do_;
        value_1().or(Some(-3))
    }

    /// `.metadata.annotations.note`
    fn column_1(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.spec["a b"]`
    fn column_2(object: &MadeUp11) -> Option<f64> {
        object.spec.a_b
    }
}

pub mod madeup12 {
    // The kind MadeUp12 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp12.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp12", plural = "madeup12s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(key(column_2, column_3))]
    #[index(column = "column_2", with = column_2, wide = false)]
    #[index(column = "column_3", with = column_3, header = "The column_3")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12 {
        #[index(column = "a_b", path = "virtual_", type = "VARCHAR(64)", many)]
        pub spec: MadeUp12Spec,
        #[index(column = "column_1", path = "default.bar", many)]
        pub status: MadeUp12Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12Spec {
        pub virtual_: BTreeMap<String, String>,
        pub final_: MadeUp12SpecFinal,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12SpecFinal {
        pub object: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12Status {
        pub default: MadeUp12StatusDefault,
        pub object: Option<f64>,
        pub dns_names: MadeUp12StatusDnsNames,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12StatusDefault {
        pub bar: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12StatusDnsNames {
        pub default: Vec<MadeUp12StatusDnsNamesDefault>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12StatusDnsNamesDefault {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<i64>,
    }

    /// `.spec.final.object`, or `.status.object`
    fn column_2(object: &MadeUp12) -> Option<f64> {
        let value_1 = || object.spec.final_.object;
        let value_2 = || object.status.object;
        value_1().or_else(value_2)
    }

    /// `.status.dnsNames.default[type="Ready"].last-value`
    fn column_3(object: &MadeUp12) -> Option<i64> {
        object.status.dns_names.default.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }
}

pub mod madeup13 {
    // The kind MadeUp13 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp13.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp13", plural = "madeup13s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(columns(column_0, column_2, write, column_4))]
    #[index(column = "column_0", with = column_0, type = "TEXT", key = false)]
    #[index(column = "column_2", with = column_2, header = "The column_2")]
    #[index(column = "write", with = write)]
    #[index(column = "column_4", with = column_4, type = "TEXT", key = false, header = "The column_4")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13 {
        #[index(column = "column_5", path = "bar_baz", json = "bar_baz", type = "VARCHAR(16)", wide = true)]
        pub status: MadeUp13Status,
        #[index(column = "column_1", path = "x", json = "_x", many)]
        pub spec: MadeUp13Spec,
        #[index(column = "column_6", path = "type_.macro_", many)]
        pub data: MadeUp13Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13Status {
        #[serde(rename = "URL")]
        pub url: MadeUp13StatusUrl,
        #[serde(rename = "a.b")]
        pub a_b: Option<f64>,
        #[serde(rename = "bar_baz")]
        pub bar_baz: Option<String>,
        pub final_: MadeUp13StatusFinal,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13StatusUrl {
        pub object: Vec<MadeUp13StatusUrlObject>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13StatusUrlObject {
        pub main: Option<bool>,
        pub it: MadeUp13StatusUrlObjectIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13StatusUrlObjectIt {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13StatusFinal {
        pub object: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13Spec {
        #[serde(rename = "_x")]
        pub x: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13Data {
        pub bar_baz: Vec<MadeUp13DataBarBaz>,
        #[serde(rename = "URL")]
        pub url: MadeUp13DataUrl,
        pub type_: MadeUp13DataType,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13DataBarBaz {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13DataUrl {
        pub field2: Vec<MadeUp13DataUrlField2>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13DataUrlField2 {
        pub main: Option<bool>,
        pub it: MadeUp13DataUrlField2It,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13DataUrlField2It {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13DataType {
        pub macro_: Vec<i64>,
    }

    /// `.status.URL.object[main="true"].it.is`
    fn column_0(object: &MadeUp13) -> Option<String> {
        object.status.url.object.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }

    /// `.status["a.b"]`
    fn column_2(object: &MadeUp13) -> Option<f64> {
        object.status.a_b
    }

    /// `.data.barBaz[type="Ready"].last-value`
    fn write(object: &MadeUp13) -> Option<u64> {
        object.data.bar_baz.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.data.URL.field2[main="true"].it.is`
    fn column_4(object: &MadeUp13) -> Option<String> {
        object.data.url.field2.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp13) -> bool {
        let value_1 = || object.status.final_.object.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup14 {
    // The kind MadeUp14 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind MadeUp14.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp14", plural = "madeup14s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(columns(column_0, column_1, type, column_3))]
    #[index(column = "column_3", with = column_3)]
    #[index(path = "metadata.annotations", column = "column_0", with = column_0, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14 {
        #[index(column = "column_1", path = "field_2fa.bar", json = "2fa.bar")]
        pub status: MadeUp14Status,
        #[index(column = "type", path = "dns_names.abstract_", type = "VARCHAR(16)", header = "The type")]
        #[index(column = "column_4", path = "box_.bar_baz", header = "The column_4")]
        pub spec: MadeUp14Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14Status {
        #[serde(rename = "2fa")]
        pub field_2fa: MadeUp14StatusField2fa,
        #[serde(rename = "URL")]
        pub url: MadeUp14StatusUrl,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14StatusField2fa {
        pub bar: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14StatusUrl {
        pub do_: Vec<MadeUp14StatusUrlDo>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14StatusUrlDo {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14Spec {
        pub dns_names: MadeUp14SpecDnsNames,
        pub box_: MadeUp14SpecBox,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14SpecDnsNames {
        pub abstract_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14SpecBox {
        pub bar_baz: Option<String>,
    }

    /// `.metadata.annotations.note`
    fn column_0(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.status.URL.do[type="Ready"].last-value`
    fn column_3(object: &MadeUp14) -> Option<i64> {
        object.status.url.do_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }
}

pub mod madeup15 {
    // The kind MadeUp15 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind MadeUp15.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp15", plural = "madeup15s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(key(default, column_1))]
    #[ingest(columns(default, column_1, column_3, column_4))]
    #[index(column = "column_3", with = column_3, keep)]
    #[index(path = "metadata.labels", column = "column_1", with = column_1, type = "VARCHAR(63)", header = "The column_1")]
    #[index(path = "metadata.annotations", column = "column_4", with = column_4, type = "TEXT", key = false, wide = true)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp15 {
        #[index(column = "default", path = "gen_.ref_", json = "gen.$ref", type = "VARCHAR(16)")]
        pub status: MadeUp15Status,
        #[index(column = "column_2", path = "x", json = "_x", many)]
        #[index(column = "column_5", path = "field2", type = "TEXT", key = false)]
        #[index(column = "column_6", path = "baz", many)]
        pub data: MadeUp15Data,
        pub spec: MadeUp15Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp15Status {
        pub gen_: MadeUp15StatusGen,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp15StatusGen {
        #[serde(rename = "$ref")]
        pub ref_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp15Data {
        #[serde(rename = "_x")]
        pub x: Vec<i64>,
        pub field2: Option<String>,
        pub baz: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp15Spec {
        #[serde(rename = "a b")]
        pub a_b: Option<i64>,
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_1(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// `.spec["a b"]`
    fn column_3(object: &MadeUp15) -> Option<i64> {
        object.spec.a_b
    }

    /// `.metadata.annotations.note`
    fn column_4(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }
}

pub mod madeup16 {
    // The kind MadeUp16 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp16.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp16", plural = "madeup16s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(key("2fa", write))]
    #[index(column = "write", with = write)]
    #[index(column = "override", with = override_)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16 {
        #[index(column = "2fa", path = "object")]
        #[index(column = "column_3", path = "do_.final_", many)]
        pub data: MadeUp16Data,
        #[index(column = "column_1", path = "try_.self_", type = "VARCHAR(64)", many)]
        pub spec: MadeUp16Spec,
        pub status: MadeUp16Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16Data {
        pub object: Option<bool>,
        pub do_: MadeUp16DataDo,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16DataDo {
        pub final_: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16Spec {
        pub try_: MadeUp16SpecTry,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16SpecTry {
        pub self_: BTreeMap<String, String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16Status {
        pub self_: MadeUp16StatusSelf,
        pub abstract_: Vec<MadeUp16StatusAbstract>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16StatusSelf {
        pub yield_: Vec<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16StatusAbstract {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<u64>,
    }

    /// `.status.self.yield[0]`
    fn write(object: &MadeUp16) -> Option<bool> {
        object.status.self_.yield_.first().cloned()
    }

    /// `.status.abstract[type="Ready"].last-value`
    fn override_(object: &MadeUp16) -> Option<u64> {
        object.status.abstract_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }
}

pub mod madeup17 {
    // The kind MadeUp17 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp17.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp17", plural = "madeup17s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[index(column = "column_0", with = column_0)]
    #[index(path = "metadata.generation", column = "column_1")]
    #[index(path = "metadata.generation", column = "2fa", header = "The 2fa")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp17 {
        pub status: MadeUp17Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp17Status {
        pub try_: Vec<MadeUp17StatusTry>,
        pub bar: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp17StatusTry {
        pub main: Option<bool>,
        pub it: MadeUp17StatusTryIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp17StatusTryIt {
        pub is: Option<u64>,
    }

    /// `.status.try[main="true"].it.is`
    fn column_0(object: &MadeUp17) -> Option<u64> {
        object.status.try_.iter().find(|element| element.main == Some(true))?.it.is
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp17) -> bool {
        let value_1 = || object.status.bar.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup18 {
    // The kind MadeUp18 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp18.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp18", plural = "madeup18s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(key(column_0, column_1))]
    #[ingest(columns(column_0, column_1, column_2))]
    #[index(column = "column_3", with = column_3, type = "TEXT", key = false)]
    #[index(path = "metadata.generation", column = "column_0")]
    #[index(path = "metadata.annotations", column = "column_2", with = column_2, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18 {
        #[index(column = "column_1", path = "foo", unit = "milli")]
        pub spec: MadeUp18Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18Spec {
        pub foo: Option<Quantity>,
        #[serde(rename = "_x")]
        pub x: Vec<MadeUp18SpecX>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18SpecX {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    /// `.metadata.annotations.note`
    fn column_2(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.spec._x[type="Ready"].last-value`
    fn column_3(object: &MadeUp18) -> Option<String> {
        object.spec.x.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }
}

pub mod madeup19 {
    // The kind MadeUp19 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp19.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp19", plural = "madeup19s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(key(override, column_1))]
    #[ingest(columns(override, column_1))]
    #[index(column = "override", with = override_, wide = true)]
    #[index(column = "column_3", with = column_3, header = "The column_3")]
    #[index(path = "metadata.generation", column = "column_1")]
    #[index(path = "metadata.generation", column = "new")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19 {
        pub status: MadeUp19Status,
        #[index(column = "column_2", path = "foo.type_", absent = "empty", header = "The column_2")]
        pub data: MadeUp19Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19Status {
        #[serde(rename = "a/b")]
        pub a_b: MadeUp19StatusAB,
        pub final_: Option<u64>,
        #[serde(rename = "URL")]
        pub url: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19StatusAB {
        pub gen_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19Data {
        pub final_: MadeUp19DataFinal,
        pub foo: MadeUp19DataFoo,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19DataFinal {
        pub dns_names: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19DataFoo {
        pub type_: Option<u64>,
    }

    /// `.status["a/b"].gen`, or `.data.final.dnsNames`
    fn override_(object: &MadeUp19) -> Option<String> {
        let value_1 = || object.status.a_b.gen_.clone();
        let value_2 = || object.data.final_.dns_names.clone();
        value_1().or_else(value_2)
    }

    /// `.status.final`, or `.status.URL`
    fn column_3(object: &MadeUp19) -> Option<u64> {
        let value_1 = || object.status.final_;
        let value_2 = || object.status.url;
        value_1().or_else(value_2)
    }
}

pub mod madeup20 {
    // The kind MadeUp20 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp20.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp20", plural = "madeup20s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(key(column_1, column_2))]
    #[ingest(columns(column_1))]
    #[index(column = "column_1", with = column_1)]
    #[index(column = "column_6", with = column_6, type = "VARCHAR(64)", many)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20 {
        #[index(column = "column_0", path = "virtual_.foo_bar", type = "VARCHAR(64)", many)]
        #[index(column = "column_3", path = "self_", many)]
        #[index(column = "clone", path = "try_.object", type = "VARCHAR(64)", many)]
        pub data: MadeUp20Data,
        #[index(column = "column_2", path = "bar_baz.yield_", unit = "milli", wide = true)]
        #[index(column = "column_5", path = "macro_", unit = "milli")]
        pub spec: MadeUp20Spec,
        pub status: MadeUp20Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20Data {
        pub virtual_: MadeUp20DataVirtual,
        pub bar_baz: MadeUp20DataBarBaz,
        pub self_: Vec<i64>,
        pub try_: MadeUp20DataTry,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20DataVirtual {
        pub foo_bar: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20DataBarBaz {
        pub field2: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20DataTry {
        pub object: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20Spec {
        pub bar_baz: MadeUp20SpecBarBaz,
        pub macro_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20SpecBarBaz {
        pub yield_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20Status {
        #[serde(rename = "a.b")]
        pub a_b: Vec<String>,
    }

    /// `.data.barBaz.field2[1]`
    fn column_1(object: &MadeUp20) -> Option<String> {
        object.data.bar_baz.field2.get(1).cloned()
    }

    /// `.status["a.b"][*]`
    fn column_6(object: &MadeUp20) -> Vec<String> {
        object.status.a_b.clone()
    }
}

pub mod madeup21 {
    // The kind MadeUp21 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp21.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp21", plural = "madeup21s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns(column_0, object, column_3, new))]
    #[index(column = "column_0", with = column_0, header = "The column_0")]
    #[index(column = "object", with = object, type = "TEXT", key = false)]
    #[index(column = "column_3", with = column_3, wide = false)]
    #[index(column = "new", with = new, header = "The new")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21 {
        #[index(column = "column_1", path = "virtual_", many)]
        #[index(column = "crate", path = "gen_.yield_", first)]
        pub data: MadeUp21Data,
        pub status: MadeUp21Status,
        #[index(column = "column_5", path = "virtual_", type = "VARCHAR(64)", many)]
        pub spec: MadeUp21Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21Data {
        #[serde(rename = "a/b")]
        pub a_b: Vec<MadeUp21DataAB>,
        pub virtual_: Vec<i64>,
        #[serde(rename = "$ref")]
        pub ref_: Option<String>,
        #[serde(rename = "bar_baz")]
        pub bar_baz: Option<String>,
        #[serde(rename = "Self")]
        pub self_: Vec<bool>,
        pub gen_: MadeUp21DataGen,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21DataAB {
        pub main: Option<bool>,
        pub it: MadeUp21DataABIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21DataABIt {
        pub is: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21DataGen {
        pub yield_: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21Status {
        pub field2: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21Spec {
        pub virtual_: Vec<String>,
    }

    /// `.data["a/b"][main="true"].it.is`
    fn column_0(object: &MadeUp21) -> Option<u64> {
        object.data.a_b.iter().find(|element| element.main == Some(true))?.it.is
    }

    /// `.data.$ref`, or `.data.bar_baz`
    fn object(object: &MadeUp21) -> Option<String> {
        let value_1 = || object.data.ref_.clone();
        let value_2 = || object.data.bar_baz.clone();
        value_1().or_else(value_2)
    }

    /// `.data.Self[0]`
    fn column_3(object: &MadeUp21) -> Option<bool> {
        object.data.self_.first().cloned()
    }

    /// `.status.field2`
    fn new(object: &MadeUp21) -> Option<i64> {
        let value_1 = || object.status.field2;
        value_1().or(Some(12))
    }
}

pub mod madeup22 {
    // The kind MadeUp22 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind MadeUp22.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp22", plural = "madeup22s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never", companions = false)]
    #[ingest(key(column_0, "2fa"))]
    #[ingest(columns(column_0, "2fa", column_2, column_3, column_4))]
    #[index(column = "column_0", with = column_0, header = "The column_0")]
    #[index(path = "metadata.generation", column = "2fa")]
    #[index(path = "metadata.generation", column = "column_3")]
    #[index(path = "metadata.labels", column = "column_4", with = column_4, type = "VARCHAR(63)", header = "The column_4")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22 {
        #[index(column = "column_2", path = "foo")]
        pub data: MadeUp22Data,
        #[index(column = "column_5", path = "name.foo", age)]
        pub status: MadeUp22Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22Data {
        pub virtual_: Vec<MadeUp22DataVirtual>,
        pub foo: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22DataVirtual {
        pub main: Option<bool>,
        pub it: MadeUp22DataVirtualIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22DataVirtualIt {
        pub is: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22Status {
        pub name: MadeUp22StatusName,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22StatusName {
        pub foo: Option<Time>,
    }

    /// `.data.virtual[main="true"].it.is`
    fn column_0(object: &MadeUp22) -> Option<bool> {
        object.data.virtual_.iter().find(|element| element.main == Some(true))?.it.is
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_4(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }
}

pub mod madeup23 {
    // The kind MadeUp23 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp23.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp23", plural = "madeup23s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never", companions = false)]
    #[ingest(key(column_0, column_1))]
    #[ingest(columns(column_0, column_1, column_2))]
    #[index(column = "column_0", with = column_0, header = "The column_0")]
    #[index(column = "column_2", with = column_2, type = "TEXT", key = false)]
    #[index(column = "clone", with = clone, type = "VARCHAR(16)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23 {
        #[index(column = "column_1", path = "bar", unit = "whole", header = "The column_1")]
        #[index(column = "column_3", path = "a_b.ref_", json = "a/b.$ref", unit = "milli", wide = true)]
        pub spec: MadeUp23Spec,
        #[index(column = "default", path = "foo", unit = "milli")]
        pub status: MadeUp23Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23Spec {
        pub override_: MadeUp23SpecOverride,
        pub bar: Option<Quantity>,
        #[serde(rename = "a/b")]
        pub a_b: MadeUp23SpecAB,
        #[serde(rename = "a.b")]
        pub a_b_2: MadeUp23SpecAB2,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23SpecOverride {
        pub override_: Vec<MadeUp23SpecOverrideOverride>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23SpecOverrideOverride {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23SpecAB {
        #[serde(rename = "$ref")]
        pub ref_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23SpecAB2 {
        #[serde(rename = "a/b")]
        pub a_b: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23Status {
        #[serde(rename = "a.b")]
        pub a_b: Vec<MadeUp23StatusAB>,
        pub foo: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23StatusAB {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    /// `.spec.override.override[type="Ready"].last-value`
    fn column_0(object: &MadeUp23) -> Option<i64> {
        object.spec.override_.override_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.status["a.b"][type="Ready"].last-value`
    fn column_2(object: &MadeUp23) -> Option<String> {
        object.status.a_b.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }

    /// `.spec["a.b"]["a/b"]`
    fn clone(object: &MadeUp23) -> Option<String> {
        object.spec.a_b_2.a_b.clone()
    }
}

pub mod madeup24 {
    // The kind MadeUp24 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind MadeUp24.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp24", plural = "madeup24s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(key(column_0, value_1))]
    #[ingest(columns(column_0, value_1, "2fa"))]
    #[index(column = "2fa", with = field_2fa, type = "TEXT", key = false)]
    #[index(path = "metadata.annotations", column = "clone", with = clone, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp24 {
        #[index(column = "column_0", path = "a_b.yield_", json = "a/b.yield", first, absent = "null")]
        #[index(column = "value_1", path = "bar.default", age)]
        #[index(column = "column_3", path = "url", json = "URL", absent = "null")]
        pub data: MadeUp24Data,
        pub status: MadeUp24Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp24Data {
        #[serde(rename = "a/b")]
        pub a_b: MadeUp24DataAB,
        pub bar: MadeUp24DataBar,
        #[serde(rename = "URL")]
        pub url: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp24DataAB {
        pub yield_: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp24DataBar {
        pub default: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp24Status {
        #[serde(rename = "Self")]
        pub self_: Vec<String>,
    }

    /// `.status.Self[0]`
    fn field_2fa(object: &MadeUp24) -> Option<String> {
        object.status.self_.first().cloned()
    }

    /// `.metadata.annotations.note`
    fn clone(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }
}

pub mod madeup25 {
    // The kind MadeUp25 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp25.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp25", plural = "madeup25s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(key(clone, new))]
    #[ingest(columns(clone, new, column_3))]
    #[index(column = "column_3", with = column_3, header = "The column_3")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp25 {
        #[index(column = "clone", path = "do_")]
        #[index(column = "new", path = "try_", unit = "whole")]
        pub spec: MadeUp25Spec,
        #[index(column = "column_1", path = "ber", json = "über", type = "VARCHAR(64)", many)]
        #[index(column = "column_4", path = "type_", unit = "whole")]
        pub status: MadeUp25Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp25Spec {
        pub do_: Option<String>,
        pub try_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp25Status {
        #[serde(rename = "über")]
        pub ber: BTreeMap<String, String>,
        pub try_: Vec<MadeUp25StatusTry>,
        pub type_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp25StatusTry {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<f64>,
    }

    /// `.status.try[type="Ready"].last-value`
    fn column_3(object: &MadeUp25) -> Option<f64> {
        object.status.try_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }
}

pub mod madeup26 {
    // The kind MadeUp26 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp26.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp26", plural = "madeup26s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(key(override, column_3))]
    #[index(column = "override", with = override_)]
    #[index(column = "default", with = default, type = "VARCHAR(768)", header = "The default")]
    #[index(column = "column_3", with = column_3)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26 {
        #[index(column = "aB", path = "url.x", json = "URL._x", many)]
        pub spec: MadeUp26Spec,
        pub data: MadeUp26Data,
        pub status: MadeUp26Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26Spec {
        #[serde(rename = "URL")]
        pub url: MadeUp26SpecUrl,
        pub do_: Vec<MadeUp26SpecDo>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26SpecUrl {
        #[serde(rename = "_x")]
        pub x: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26SpecDo {
        pub main: Option<bool>,
        pub it: MadeUp26SpecDoIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26SpecDoIt {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26Data {
        pub override_: Vec<MadeUp26DataOverride>,
        pub virtual_: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26DataOverride {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26Status {
        pub bar: Option<u64>,
    }

    /// `.data.override[type="Ready"].last-value`
    fn override_(object: &MadeUp26) -> Option<i64> {
        object.data.override_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.spec.do[main="true"].it.is`
    fn default(object: &MadeUp26) -> Option<String> {
        object.spec.do_.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }

    /// `.data.virtual`, or `.status.bar`
    fn column_3(object: &MadeUp26) -> Option<u64> {
        let value_1 = || object.data.virtual_;
        let value_2 = || object.status.bar;
        value_1().or_else(value_2)
    }
}

pub mod madeup27 {
    // The kind MadeUp27 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp27.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp27", plural = "madeup27s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(key(crate, column_2))]
    #[ingest(columns(crate, column_2))]
    #[index(column = "column_2", with = column_2)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27 {
        #[index(
            column = "crate",
            path = "node_ip.self_",
            json = "nodeIP.Self",
            unit = "whole",
            header = "The crate",
            wide = false
        )]
        pub spec: MadeUp27Spec,
        #[index(column = "column_1", path = "baz.box_", type = "VARCHAR(64)", many)]
        pub data: MadeUp27Data,
        #[index(column = "a_b", path = "abstract_.default", keep, absent = "null")]
        pub status: MadeUp27Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27Spec {
        #[serde(rename = "nodeIP")]
        pub node_ip: MadeUp27SpecNodeIp,
        #[serde(rename = "a b")]
        pub a_b: Vec<String>,
        pub value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27SpecNodeIp {
        #[serde(rename = "Self")]
        pub self_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27Data {
        pub baz: MadeUp27DataBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27DataBaz {
        pub box_: BTreeMap<String, String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27Status {
        pub abstract_: MadeUp27StatusAbstract,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27StatusAbstract {
        pub default: Option<i32>,
    }

    /// `.spec["a b"][1]`
    fn column_2(object: &MadeUp27) -> Option<String> {
        object.spec.a_b.get(1).cloned()
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp27) -> bool {
        let value_1 = || object.spec.value.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup28 {
    // The kind MadeUp28 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind MadeUp28.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp28", plural = "madeup28s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(filter = has_row)]
    #[ingest(key(column_1, object))]
    #[ingest(columns(column_0, column_1, object))]
    #[index(column = "column_3", with = column_3, type = "VARCHAR(768)")]
    #[index(column = "column_4", with = column_4, wide = false)]
    #[index(column = "override", with = override_)]
    #[index(path = "metadata.annotations", column = "column_0", with = column_0, type = "TEXT", key = false, header = "The column_0")]
    #[index(path = "metadata.generation", column = "column_1", wide = false)]
    #[index(path = "metadata.generation", column = "object")]
    #[index(path = "metadata.generation", column = "a_b")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28 {
        pub status: MadeUp28Status,
        pub spec: MadeUp28Spec,
        pub data: MadeUp28Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28Status {
        #[serde(rename = "a b")]
        pub a_b: MadeUp28StatusAB,
        pub dns_names: Vec<MadeUp28StatusDnsNames>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28StatusAB {
        pub value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28StatusDnsNames {
        pub main: Option<bool>,
        pub it: MadeUp28StatusDnsNamesIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28StatusDnsNamesIt {
        pub is: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28Spec {
        #[serde(rename = "_x")]
        pub x: MadeUp28SpecX,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28SpecX {
        #[serde(rename = "a b")]
        pub a_b: Vec<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28Data {
        #[serde(rename = "$ref")]
        pub ref_: MadeUp28DataRef,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28DataRef {
        pub foo: Option<String>,
    }

    /// `.metadata.annotations.note`
    fn column_0(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.status["a b"].value`
    fn column_3(object: &MadeUp28) -> Option<String> {
        object.status.a_b.value.clone()
    }

    /// `.spec._x["a b"][-2]`
    fn column_4(object: &MadeUp28) -> Option<i32> {
        object.spec.x.a_b.iter().rev().nth(1).cloned()
    }

    /// `.status.dnsNames[main="true"].it.is`
    fn override_(object: &MadeUp28) -> Option<u64> {
        object.status.dns_names.iter().find(|element| element.main == Some(true))?.it.is
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp28) -> bool {
        let value_1 = || object.data.ref_.foo.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup29 {
    // The kind MadeUp29 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp29.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp29", plural = "madeup29s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(key(column_0, has_row))]
    #[ingest(columns(column_0))]
    #[index(column = "column_0", with = column_0)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp29 {
        #[index(column = "a_b", path = "value", type = "VARCHAR(64)", many)]
        pub spec: MadeUp29Spec,
        #[index(column = "has_row", path = "foo.box_", first, header = "The has_row")]
        pub status: MadeUp29Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp29Spec {
        #[serde(rename = "URL")]
        pub url: Option<u64>,
        pub value: BTreeMap<String, String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp29Status {
        pub foo: MadeUp29StatusFoo,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp29StatusFoo {
        pub box_: Option<bool>,
    }

    /// `.spec.URL`
    fn column_0(object: &MadeUp29) -> Option<u64> {
        let value_1 = || object.spec.url;
        value_1().or(Some(5))
    }
}

pub mod madeup30 {
    // The kind MadeUp30 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp30.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp30", plural = "madeup30s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns("2fa", column_1, column_2, object, aB))]
    #[index(column = "aB", with = a_b, type = "TEXT", key = false)]
    #[index(path = "metadata.annotations", column = "column_2", with = column_2, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30 {
        #[index(column = "2fa", path = "node_ip", json = "nodeIP", first, header = "The 2fa")]
        #[index(column = "column_1", path = "gen_.url", json = "gen.URL", unit = "whole")]
        #[index(column = "object", path = "bar_baz", json = "bar_baz", type = "VARCHAR(768)", header = "The object")]
        pub data: MadeUp30Data,
        #[index(column = "column_5", path = "field_2fa.bar_baz", json = "2fa.barBaz")]
        pub status: MadeUp30Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30Data {
        #[serde(rename = "nodeIP")]
        pub node_ip: Option<bool>,
        pub gen_: MadeUp30DataGen,
        #[serde(rename = "bar_baz")]
        pub bar_baz: Option<String>,
        #[serde(rename = "a b")]
        pub a_b: MadeUp30DataAB,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30DataGen {
        #[serde(rename = "URL")]
        pub url: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30DataAB {
        pub baz: Vec<MadeUp30DataABBaz>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30DataABBaz {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30Status {
        #[serde(rename = "2fa")]
        pub field_2fa: MadeUp30StatusField2fa,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30StatusField2fa {
        pub bar_baz: Option<bool>,
    }

    /// `.metadata.annotations.note`
    fn column_2(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.data["a b"].baz[type="Ready"].last-value`
    fn a_b(object: &MadeUp30) -> Option<String> {
        object.data.a_b.baz.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }
}

pub mod madeup31 {
    // The kind MadeUp31 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind MadeUp31.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp31", plural = "madeup31s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(columns("2fa", column_2))]
    #[index(column = "2fa", with = field_2fa, wide = true)]
    #[index(path = "metadata.annotations", column = "column_2", with = column_2, type = "TEXT", key = false, wide = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31 {
        #[index(column = "column_3", path = "gen_.object", type = "TEXT", key = false)]
        #[index(column = "column_4", path = "dns_names.macro_", type = "VARCHAR(64)", many)]
        pub status: MadeUp31Status,
        #[index(column = "column_1", path = "final_.field_2fa", json = "final.2fa", type = "VARCHAR(64)", many)]
        pub spec: MadeUp31Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31Status {
        pub yield_: Vec<i64>,
        pub gen_: MadeUp31StatusGen,
        pub dns_names: MadeUp31StatusDnsNames,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31StatusGen {
        pub object: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31StatusDnsNames {
        pub macro_: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31Spec {
        pub final_: MadeUp31SpecFinal,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31SpecFinal {
        #[serde(rename = "2fa")]
        pub field_2fa: Vec<String>,
    }

    /// `.status.yield[-1]`
    fn field_2fa(object: &MadeUp31) -> Option<i64> {
        object.status.yield_.last().cloned()
    }

    /// `.metadata.annotations.note`
    fn column_2(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }
}

pub mod madeup32 {
    // The kind MadeUp32 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp32.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp32", plural = "madeup32s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns(column_0, has_row, column_3))]
    #[index(column = "has_row", with = has_row_2)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32 {
        #[index(column = "column_0", path = "foo_bar", type = "TEXT", key = false)]
        #[index(column = "column_4", path = "dns_names", keep, age)]
        pub spec: MadeUp32Spec,
        pub data: MadeUp32Data,
        #[index(column = "column_2", path = "self_.final_", json = "Self.final", type = "VARCHAR(64)", many)]
        #[index(column = "column_3", path = "ref_.abstract_", json = "$ref.abstract", type = "VARCHAR(16)")]
        #[index(column = "object", path = "self_.name", json = "Self.name", type = "VARCHAR(64)", many)]
        pub status: MadeUp32Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32Spec {
        pub foo_bar: Option<String>,
        pub dns_names: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32Data {
        pub dns_names: MadeUp32DataDnsNames,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32DataDnsNames {
        #[serde(rename = "Self")]
        pub self_: Vec<MadeUp32DataDnsNamesSelf>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32DataDnsNamesSelf {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32Status {
        #[serde(rename = "Self")]
        pub self_: MadeUp32StatusSelf,
        #[serde(rename = "$ref")]
        pub ref_: MadeUp32StatusRef,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32StatusSelf {
        pub final_: BTreeMap<String, String>,
        pub name: BTreeMap<String, String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32StatusRef {
        pub abstract_: Option<String>,
    }

    /// `.data.dnsNames.Self[type="Ready"].last-value`
    fn has_row_2(object: &MadeUp32) -> Option<u64> {
        object.data.dns_names.self_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }
}

pub mod madeup33 {
    // The kind MadeUp33 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp33.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp33", plural = "madeup33s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(key(column_0, self))]
    #[ingest(columns(column_0, self, column_2, column_3, column_4, column_5))]
    #[index(column = "self", with = self_)]
    #[index(column = "column_3", with = column_3, wide = true)]
    #[index(column = "column_4", with = column_4)]
    #[index(column = "column_5", with = column_5, type = "VARCHAR(40)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33 {
        #[index(column = "column_0", path = "try_.x", json = "try._x", type = "VARCHAR(16)", header = "The column_0")]
        #[index(column = "column_2", path = "bar.self_", header = "The column_2")]
        pub status: MadeUp33Status,
        #[index(column = "column_6", path = "self_", json = "Self", type = "VARCHAR(768)", keep)]
        pub data: MadeUp33Data,
        pub spec: MadeUp33Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33Status {
        pub try_: MadeUp33StatusTry,
        pub bar: MadeUp33StatusBar,
        pub object: MadeUp33StatusObject,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33StatusTry {
        #[serde(rename = "_x")]
        pub x: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33StatusBar {
        pub self_: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33StatusObject {
        pub dns_names: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33Data {
        pub abstract_: MadeUp33DataAbstract,
        #[serde(rename = "Self")]
        pub self_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33DataAbstract {
        pub macro_: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33Spec {
        pub default: Vec<i32>,
        pub override_: Vec<MadeUp33SpecOverride>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33SpecOverride {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    /// `.data.abstract.macro[-2]`
    fn self_(object: &MadeUp33) -> Option<i64> {
        object.data.abstract_.macro_.iter().rev().nth(1).cloned()
    }

    /// `.spec.default[1]`
    fn column_3(object: &MadeUp33) -> Option<i32> {
        object.spec.default.get(1).cloned()
    }

    /// `.status.object.dnsNames[1]`
    fn column_4(object: &MadeUp33) -> Option<i64> {
        object.status.object.dns_names.get(1).cloned()
    }

    /// `.spec.override[type="Ready"].last-value`
    fn column_5(object: &MadeUp33) -> Option<String> {
        object.spec.override_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }
}

pub mod madeup34 {
    // The kind MadeUp34 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp34.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp34", plural = "madeup34s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns(column_0, column_1))]
    #[index(column = "column_1", with = column_1, header = "The column_1")]
    #[index(path = "metadata.annotations", column = "column_4", with = column_4, type = "TEXT", key = false)]
    #[index(path = "metadata.annotations", column = "column_5", with = column_5, type = "TEXT", key = false)]
    #[index(path = "metadata.labels", column = "column_6", with = column_6, type = "VARCHAR(63)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34 {
        #[index(column = "column_0", path = "abstract_.macro_", first)]
        #[index(column = "column_2", path = "type_.field2", type = "VARCHAR(64)", many)]
        #[index(column = "column_3", path = "name.default", unit = "whole")]
        pub status: MadeUp34Status,
        pub data: MadeUp34Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34Status {
        pub abstract_: MadeUp34StatusAbstract,
        pub type_: MadeUp34StatusType,
        pub name: MadeUp34StatusName,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34StatusAbstract {
        pub macro_: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34StatusType {
        pub field2: BTreeMap<String, String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34StatusName {
        pub default: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34Data {
        pub type_: MadeUp34DataType,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34DataType {
        pub try_: Option<i64>,
    }

    /// `.data.type.try`
    fn column_1(object: &MadeUp34) -> Option<i64> {
        let value_1 = || object.data.type_.try_;
        value_1().or(Some(12))
    }

    /// `.metadata.annotations.note`
    fn column_4(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.metadata.annotations.note`
    fn column_5(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_6(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }
}

pub mod madeup35 {
    // The kind MadeUp35 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind MadeUp35.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp35", plural = "madeup35s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(columns(column_0, column_1, column_2))]
    #[index(column = "column_0", with = column_0, age)]
    #[index(column = "column_1", with = column_1, wide = false)]
    #[index(column = "column_4", with = column_4, header = "The column_4")]
    #[index(column = "object", with = object)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35 {
        pub data: MadeUp35Data,
        #[index(column = "column_3", path = "object.name", first)]
        pub spec: MadeUp35Spec,
        #[index(column = "column_2", path = "macro_")]
        pub status: MadeUp35Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35Data {
        #[serde(rename = "URL")]
        pub url: Vec<Time>,
        pub object: Vec<MadeUp35DataObject>,
        pub dns_names: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35DataObject {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35Spec {
        #[serde(rename = "a.b")]
        pub a_b: Option<u64>,
        pub object: MadeUp35SpecObject,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35SpecObject {
        pub name: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35Status {
        pub macro_: Option<i32>,
        pub yield_: Option<String>,
    }

    /// `.data.URL[-1]`
    fn column_0(object: &MadeUp35) -> Option<Time> {
        object.data.url.last().cloned()
    }

    /// `.spec["a.b"]`
    fn column_1(object: &MadeUp35) -> Option<u64> {
        object.spec.a_b
    }

    /// `.status.yield`
    fn column_4(object: &MadeUp35) -> Option<String> {
        let value_1 = || object.status.yield_.clone();
        value_1().or_else(|| Some("x \"y\"".to_owned()))
    }

    /// `.data.object[type="Ready"].last-value`
    fn object(object: &MadeUp35) -> Option<f64> {
        object.data.object.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp35) -> bool {
        let value_1 = || object.data.dns_names.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup36 {
    // The kind MadeUp36 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp36.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp36", plural = "madeup36s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never", companions = false)]
    #[ingest(key(column_1, has_row))]
    #[index(path = "metadata.generation", column = "has_row")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp36 {
        #[index(column = "2fa", path = "abstract_.value", many)]
        pub spec: MadeUp36Spec,
        #[index(column = "column_1", path = "value", type = "VARCHAR(16)", header = "The column_1")]
        pub data: MadeUp36Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp36Spec {
        pub abstract_: MadeUp36SpecAbstract,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp36SpecAbstract {
        pub value: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp36Data {
        pub value: Option<String>,
    }
}

pub mod madeup37 {
    // The kind MadeUp37 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind MadeUp37.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp37", plural = "madeup37s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[index(column = "column_0", with = column_0, wide = true)]
    #[index(column = "column_1", with = column_1, type = "VARCHAR(40)")]
    #[index(column = "column_2", with = column_2, header = "The column_2")]
    #[index(path = "metadata.annotations", column = "column_4", with = column_4, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp37 {
        #[index(column = "column_3", path = "ber", json = "über", type = "VARCHAR(64)", many)]
        pub status: MadeUp37Status,
        pub spec: MadeUp37Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp37Status {
        pub name: Option<bool>,
        pub default: Option<String>,
        pub foo: Vec<MadeUp37StatusFoo>,
        #[serde(rename = "über")]
        pub ber: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp37StatusFoo {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp37Spec {
        pub object: Option<String>,
    }

    /// `.status.name`
    fn column_0(object: &MadeUp37) -> Option<bool> {
        let value_1 = || object.status.name;
        value_1().or(Some(true))
    }

    /// `.status.default`, or `.spec.object`
    fn column_1(object: &MadeUp37) -> Option<String> {
        let value_1 = || object.status.default.clone();
        let value_2 = || object.spec.object.clone();
        value_1().or_else(value_2)
    }

    /// `.status.foo[type="Ready"].last-value`
    fn column_2(object: &MadeUp37) -> Option<f64> {
        object.status.foo.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.metadata.annotations.note`
    fn column_4(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }
}

pub mod madeup38 {
    // The kind MadeUp38 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Time;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp38.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp38", plural = "madeup38s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(column_1))]
    #[index(path = "metadata.labels", column = "column_1", with = column_1, type = "VARCHAR(63)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38 {
        #[index(column = "column_0", path = "do_.yield_", type = "VARCHAR(64)", many)]
        #[index(column = "column_2", path = "gen_")]
        pub spec: MadeUp38Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38Spec {
        pub do_: MadeUp38SpecDo,
        pub gen_: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38SpecDo {
        pub yield_: BTreeMap<String, String>,
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_1(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }
}

pub mod madeup39 {
    // The kind MadeUp39 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind MadeUp39.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp39", plural = "madeup39s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns(column_0))]
    #[index(path = "metadata.labels", column = "column_0", with = column_0, type = "VARCHAR(63)", header = "The column_0")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39 {
        #[index(column = "column_1", path = "override_")]
        #[index(column = "column_2", path = "bar_baz", json = "bar_baz", type = "VARCHAR(64)", many)]
        pub data: MadeUp39Data,
        #[index(column = "column_3", path = "baz.override_", many)]
        pub status: MadeUp39Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39Data {
        pub override_: Option<i32>,
        #[serde(rename = "bar_baz")]
        pub bar_baz: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39Status {
        pub baz: MadeUp39StatusBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39StatusBaz {
        pub override_: Vec<i64>,
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_0(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }
}

pub mod madeup40 {
    // The kind MadeUp40 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp40.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp40", plural = "madeup40s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(columns(override, write))]
    #[index(column = "override", with = override_)]
    #[index(path = "metadata.annotations", column = "write", with = write, type = "TEXT", key = false)]
    #[index(path = "metadata.labels", column = "column_3", with = column_3, type = "VARCHAR(63)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40 {
        #[index(column = "column_2", path = "yield_", unit = "milli", header = "The column_2")]
        pub spec: MadeUp40Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40Spec {
        #[serde(rename = "a/b")]
        pub a_b: MadeUp40SpecAB,
        pub virtual_: Option<String>,
        pub yield_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40SpecAB {
        #[serde(rename = "a b")]
        pub a_b: Option<String>,
    }

    /// `.spec["a/b"]["a b"]`, or `.spec.virtual`
    fn override_(object: &MadeUp40) -> Option<String> {
        let value_1 = || object.spec.a_b.a_b.clone();
        let value_2 = || object.spec.virtual_.clone();
        value_1().or_else(value_2)
    }

    /// `.metadata.annotations.note`
    fn write(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_3(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }
}

pub mod madeup41 {
    // The kind MadeUp41 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp41.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp41", plural = "madeup41s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(key(column_0, column_1))]
    #[ingest(columns(column_0, column_1))]
    #[index(column = "column_1", with = column_1)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41 {
        #[index(column = "column_0", path = "macro_.override_", absent = "null")]
        #[index(column = "override", path = "try_", type = "VARCHAR(64)", many)]
        pub data: MadeUp41Data,
        #[index(column = "column_3", path = "self_", type = "VARCHAR(768)")]
        pub status: MadeUp41Status,
        #[index(column = "clone", path = "x.foo_bar", json = "_x.fooBar", unit = "whole")]
        pub spec: MadeUp41Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41Data {
        pub macro_: MadeUp41DataMacro,
        #[serde(rename = "Self")]
        pub self_: Vec<String>,
        pub try_: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41DataMacro {
        pub override_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41Status {
        pub self_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41Spec {
        #[serde(rename = "_x")]
        pub x: MadeUp41SpecX,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41SpecX {
        pub foo_bar: Option<Quantity>,
    }

    /// `.data.Self[0]`
    fn column_1(object: &MadeUp41) -> Option<String> {
        object.data.self_.first().cloned()
    }
}

pub mod madeup42 {
    // The kind MadeUp42 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp42.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp42", plural = "madeup42s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns(column_1, column_2))]
    #[index(column = "column_1", with = column_1, type = "VARCHAR(40)", header = "The column_1")]
    #[index(column = "column_2", with = column_2, wide = false)]
    #[index(path = "metadata.generation", column = "column_4", wide = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42 {
        #[index(column = "aB", path = "try_.abstract_", type = "VARCHAR(64)", many)]
        pub data: MadeUp42Data,
        #[index(column = "column_3", path = "default.x", json = "default._x")]
        pub spec: MadeUp42Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42Data {
        pub try_: MadeUp42DataTry,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42DataTry {
        pub abstract_: BTreeMap<String, String>,
        pub value: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42Spec {
        pub override_: MadeUp42SpecOverride,
        pub default: MadeUp42SpecDefault,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42SpecOverride {
        pub yield_: Vec<MadeUp42SpecOverrideYield>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42SpecOverrideYield {
        pub main: Option<bool>,
        pub it: MadeUp42SpecOverrideYieldIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42SpecOverrideYieldIt {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42SpecDefault {
        #[serde(rename = "_x")]
        pub x: Option<String>,
    }

    /// `.spec.override.yield[main="true"].it.is`
    fn column_1(object: &MadeUp42) -> Option<String> {
        object.spec.override_.yield_.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }

    /// `.data.try.value[-1]`
    fn column_2(object: &MadeUp42) -> Option<i64> {
        object.data.try_.value.last().cloned()
    }
}

pub mod madeup43 {
    // The kind MadeUp43 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp43.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp43", plural = "madeup43s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(columns(has_row, column_1, column_2))]
    #[index(column = "has_row", with = has_row_2, wide = false)]
    #[index(column = "column_1", with = column_1, header = "The column_1")]
    #[index(column = "column_2", with = column_2, wide = true)]
    #[index(column = "override", with = override_)]
    #[index(column = "value_1", with = value_1)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43 {
        pub spec: MadeUp43Spec,
        #[index(column = "2fa", path = "default.field_2fa", json = "default.2fa", keep, absent = "null")]
        pub data: MadeUp43Data,
        pub status: MadeUp43Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43Spec {
        pub abstract_: MadeUp43SpecAbstract,
        pub box_: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43SpecAbstract {
        pub try_: Vec<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43Data {
        pub object: MadeUp43DataObject,
        pub try_: Option<u64>,
        pub default: MadeUp43DataDefault,
        pub box_: MadeUp43DataBox,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43DataObject {
        pub yield_: Vec<MadeUp43DataObjectYield>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43DataObjectYield {
        pub main: Option<bool>,
        pub it: MadeUp43DataObjectYieldIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43DataObjectYieldIt {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43DataDefault {
        #[serde(rename = "2fa")]
        pub field_2fa: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43DataBox {
        #[serde(rename = "a/b")]
        pub a_b: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43Status {
        pub abstract_: MadeUp43StatusAbstract,
        #[serde(rename = "a/b")]
        pub a_b: MadeUp43StatusAB,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43StatusAbstract {
        pub bar_baz: Vec<MadeUp43StatusAbstractBarBaz>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43StatusAbstractBarBaz {
        pub main: Option<bool>,
        pub it: MadeUp43StatusAbstractBarBazIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43StatusAbstractBarBazIt {
        pub is: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43StatusAB {
        #[serde(rename = "bar_baz")]
        pub bar_baz: Vec<MadeUp43StatusABBarBaz>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43StatusABBarBaz {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<i32>,
    }

    /// `.spec.abstract.try[0]`
    fn has_row_2(object: &MadeUp43) -> Option<bool> {
        object.spec.abstract_.try_.first().cloned()
    }

    /// `.data.object.yield[main="true"].it.is`
    fn column_1(object: &MadeUp43) -> Option<String> {
        object.data.object.yield_.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }

    /// `.spec.box`, or `.data.try`
    fn column_2(object: &MadeUp43) -> Option<u64> {
        let value_1 = || object.spec.box_;
        let value_2 = || object.data.try_;
        value_1().or_else(value_2)
    }

    /// `.status.abstract.barBaz[main="true"].it.is`
    fn override_(object: &MadeUp43) -> Option<f64> {
        object.status.abstract_.bar_baz.iter().find(|element| element.main == Some(true))?.it.is
    }

    /// `.status["a/b"].bar_baz[type="Ready"].last-value`
    fn value_1(object: &MadeUp43) -> Option<i32> {
        object.status.a_b.bar_baz.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp43) -> bool {
        let value_1 = || object.data.box_.a_b.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup44 {
    // The kind MadeUp44 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp44.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp44", plural = "madeup44s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(column_0, column_1))]
    #[index(path = "metadata.generation", column = "column_1", header = "The column_1")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp44 {
        #[index(column = "column_0", path = "macro_", type = "VARCHAR(16)")]
        #[index(column = "column_2", path = "override_", first, absent = "null", header = "The column_2")]
        pub spec: MadeUp44Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp44Spec {
        pub macro_: Option<String>,
        pub override_: Option<i32>,
    }
}

pub mod madeup45 {
    // The kind MadeUp45 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp45.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp45", plural = "madeup45s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(column_0))]
    #[index(column = "column_0", with = column_0, type = "TEXT", key = false)]
    #[index(column = "self", with = self_, type = "VARCHAR(768)", wide = false)]
    #[index(column = "column_3", with = column_3)]
    #[index(column = "column_4", with = column_4)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45 {
        pub spec: MadeUp45Spec,
        #[index(column = "column_1", path = "crate_.yield_", absent = "null")]
        pub status: MadeUp45Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45Spec {
        pub virtual_: MadeUp45SpecVirtual,
        pub foo: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45SpecVirtual {
        pub override_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45Status {
        pub crate_: MadeUp45StatusCrate,
        #[serde(rename = "$ref")]
        pub ref_: MadeUp45StatusRef,
        pub baz: MadeUp45StatusBaz,
        pub virtual_: Vec<MadeUp45StatusVirtual>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45StatusCrate {
        pub yield_: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45StatusRef {
        pub gen_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45StatusBaz {
        #[serde(rename = "a/b")]
        pub a_b: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45StatusVirtual {
        pub main: Option<bool>,
        pub it: MadeUp45StatusVirtualIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45StatusVirtualIt {
        pub is: Option<i32>,
    }

    /// `.spec.virtual.override`, or `.spec.foo`
    fn column_0(object: &MadeUp45) -> Option<String> {
        let value_1 = || object.spec.virtual_.override_.clone();
        let value_2 = || object.spec.foo.clone();
        value_1().or_else(value_2)
    }

    /// `.status.$ref.gen`
    fn self_(object: &MadeUp45) -> Option<String> {
        let value_1 = || object.status.ref_.gen_.clone();
        value_1().or_else(|| Some("none".to_owned()))
    }

    /// `.status.baz["a/b"]`
    fn column_3(object: &MadeUp45) -> Option<String> {
        let value_1 = || object.status.baz.a_b.clone();
        value_1().or_else(|| Some("x \"y\"".to_owned()))
    }

    /// `.status.virtual[main="true"].it.is`
    fn column_4(object: &MadeUp45) -> Option<i32> {
        object.status.virtual_.iter().find(|element| element.main == Some(true))?.it.is
    }
}

pub mod madeup46 {
    // The kind MadeUp46 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp46.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp46", plural = "madeup46s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(key(type, column_2))]
    #[index(column = "column_2", with = column_2, wide = true)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46 {
        #[index(column = "type", path = "object.crate_", unit = "whole")]
        pub status: MadeUp46Status,
        #[index(column = "column_1", path = "ber.try_", json = "über.try", many)]
        pub spec: MadeUp46Spec,
        pub data: MadeUp46Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46Status {
        pub object: MadeUp46StatusObject,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46StatusObject {
        pub crate_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46Spec {
        #[serde(rename = "über")]
        pub ber: MadeUp46SpecBer,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46SpecBer {
        pub try_: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46Data {
        pub final_: MadeUp46DataFinal,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46DataFinal {
        #[serde(rename = "nodeIP")]
        pub node_ip: Vec<MadeUp46DataFinalNodeIp>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46DataFinalNodeIp {
        pub main: Option<bool>,
        pub it: MadeUp46DataFinalNodeIpIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46DataFinalNodeIpIt {
        pub is: Option<f64>,
    }

    /// `.data.final.nodeIP[main="true"].it.is`
    fn column_2(object: &MadeUp46) -> Option<f64> {
        object.data.final_.node_ip.iter().find(|element| element.main == Some(true))?.it.is
    }
}

pub mod madeup47 {
    // The kind MadeUp47 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp47.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp47", plural = "madeup47s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(key(column_1, column_2))]
    #[ingest(columns(column_0))]
    #[index(column = "column_0", with = column_0, type = "TEXT", key = false, header = "The column_0")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47 {
        pub status: MadeUp47Status,
        #[index(column = "column_1", path = "x", json = "_x", keep, header = "The column_1")]
        #[index(column = "column_2", path = "gen_.x", json = "gen._x")]
        pub spec: MadeUp47Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47Status {
        pub object: MadeUp47StatusObject,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47StatusObject {
        pub object: Vec<MadeUp47StatusObjectObject>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47StatusObjectObject {
        pub main: Option<bool>,
        pub it: MadeUp47StatusObjectObjectIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47StatusObjectObjectIt {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47Spec {
        #[serde(rename = "_x")]
        pub x: Option<bool>,
        pub gen_: MadeUp47SpecGen,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47SpecGen {
        #[serde(rename = "_x")]
        pub x: Option<String>,
    }

    /// `.status.object.object[main="true"].it.is`
    fn column_0(object: &MadeUp47) -> Option<String> {
        object.status.object.object.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }
}

pub mod madeup48 {
    // The kind MadeUp48 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp48.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp48", plural = "madeup48s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never", companions = false)]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(filter = has_row)]
    #[ingest(columns(column_1, column_2))]
    #[index(column = "column_1", with = column_1, header = "The column_1")]
    #[index(column = "column_2", with = column_2, wide = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48 {
        #[index(column = "column_0", path = "dns_names.do_", many)]
        #[index(column = "column_4", path = "override_", type = "VARCHAR(64)", many)]
        pub data: MadeUp48Data,
        pub spec: MadeUp48Spec,
        #[index(column = "column_3", path = "default.override_", type = "VARCHAR(16)")]
        #[index(column = "aB", path = "baz", header = "The aB", age)]
        pub status: MadeUp48Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48Data {
        pub dns_names: MadeUp48DataDnsNames,
        pub override_: BTreeMap<String, String>,
        pub gen_: MadeUp48DataGen,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48DataDnsNames {
        pub do_: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48DataGen {
        #[serde(rename = "2fa")]
        pub field_2fa: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48Spec {
        pub override_: MadeUp48SpecOverride,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48SpecOverride {
        pub do_: Vec<MadeUp48SpecOverrideDo>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48SpecOverrideDo {
        pub main: Option<bool>,
        pub it: MadeUp48SpecOverrideDoIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48SpecOverrideDoIt {
        pub is: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48Status {
        #[serde(rename = "bar_baz")]
        pub bar_baz: Vec<i32>,
        pub default: MadeUp48StatusDefault,
        pub baz: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48StatusDefault {
        pub override_: Option<String>,
    }

    /// `.spec.override.do[main="true"].it.is`
    fn column_1(object: &MadeUp48) -> Option<f64> {
        object.spec.override_.do_.iter().find(|element| element.main == Some(true))?.it.is
    }

    /// `.status.bar_baz[1]`
    fn column_2(object: &MadeUp48) -> Option<i32> {
        object.status.bar_baz.get(1).cloned()
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp48) -> bool {
        let value_1 = || object.data.gen_.field_2fa.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup49 {
    // The kind MadeUp49 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp49.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp49", plural = "madeup49s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(has_row, column_1, column_2))]
    #[index(column = "has_row", with = has_row_2, header = "The has_row")]
    #[index(column = "column_1", with = column_1, type = "VARCHAR(40)")]
    #[index(column = "column_3", with = column_3, type = "VARCHAR(768)", header = "The column_3")]
    #[index(column = "column_4", with = column_4, header = "The column_4")]
    #[index(path = "metadata.generation", column = "column_2", header = "The column_2")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49 {
        pub data: MadeUp49Data,
        pub status: MadeUp49Status,
        pub spec: MadeUp49Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49Data {
        pub field2: Option<f64>,
        pub bar_baz: MadeUp49DataBarBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49DataBarBaz {
        pub default: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49Status {
        pub macro_: MadeUp49StatusMacro,
        pub yield_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49StatusMacro {
        pub foo: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49Spec {
        #[serde(rename = "bar_baz")]
        pub bar_baz: MadeUp49SpecBarBaz,
        pub final_: MadeUp49SpecFinal,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49SpecBarBaz {
        pub value: Vec<MadeUp49SpecBarBazValue>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49SpecBarBazValue {
        pub main: Option<bool>,
        pub it: MadeUp49SpecBarBazValueIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49SpecBarBazValueIt {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49SpecFinal {
        #[serde(rename = "über")]
        pub ber: Vec<MadeUp49SpecFinalBer>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49SpecFinalBer {
        pub main: Option<bool>,
        pub it: MadeUp49SpecFinalBerIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49SpecFinalBerIt {
        pub is: Option<i64>,
    }

    /// `.data.field2`, or `.status.macro.foo`
    fn has_row_2(object: &MadeUp49) -> Option<f64> {
        let value_1 = || object.data.field2;
        let value_2 = || object.status.macro_.foo;
        value_1().or_else(value_2)
    }

    /// `.spec.bar_baz.value[main="true"].it.is`
    fn column_1(object: &MadeUp49) -> Option<String> {
        object.spec.bar_baz.value.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }

    /// `.data.barBaz.default`, or `.status.yield`
    fn column_3(object: &MadeUp49) -> Option<String> {
        let value_1 = || object.data.bar_baz.default.clone();
        let value_2 = || object.status.yield_.clone();
        value_1().or_else(value_2)
    }

    /// `.spec.final["über"][main="true"].it.is`
    fn column_4(object: &MadeUp49) -> Option<i64> {
        object.spec.final_.ber.iter().find(|element| element.main == Some(true))?.it.is
    }
}

pub const KINDS: &[Kind] = &[
    Kind::of::<time::TimeKind>(),
    Kind::of::<quantity::QuantityKind>(),
    Kind::of::<string::StringKind>(),
    Kind::of::<madeup3::MadeUp3>(),
    Kind::of::<madeup4::MadeUp4>(),
    Kind::of::<madeup5::MadeUp5>(),
    Kind::of::<madeup6::MadeUp6>(),
    Kind::of::<madeup7::MadeUp7>(),
    Kind::of::<madeup8::MadeUp8>(),
    Kind::of::<madeup9::MadeUp9>(),
    Kind::of::<madeup10::MadeUp10>(),
    Kind::of::<madeup11::MadeUp11>(),
    Kind::of::<madeup12::MadeUp12>(),
    Kind::of::<madeup13::MadeUp13>(),
    Kind::of::<madeup14::MadeUp14>(),
    Kind::of::<madeup15::MadeUp15>(),
    Kind::of::<madeup16::MadeUp16>(),
    Kind::of::<madeup17::MadeUp17>(),
    Kind::of::<madeup18::MadeUp18>(),
    Kind::of::<madeup19::MadeUp19>(),
    Kind::of::<madeup20::MadeUp20>(),
    Kind::of::<madeup21::MadeUp21>(),
    Kind::of::<madeup22::MadeUp22>(),
    Kind::of::<madeup23::MadeUp23>(),
    Kind::of::<madeup24::MadeUp24>(),
    Kind::of::<madeup25::MadeUp25>(),
    Kind::of::<madeup26::MadeUp26>(),
    Kind::of::<madeup27::MadeUp27>(),
    Kind::of::<madeup28::MadeUp28>(),
    Kind::of::<madeup29::MadeUp29>(),
    Kind::of::<madeup30::MadeUp30>(),
    Kind::of::<madeup31::MadeUp31>(),
    Kind::of::<madeup32::MadeUp32>(),
    Kind::of::<madeup33::MadeUp33>(),
    Kind::of::<madeup34::MadeUp34>(),
    Kind::of::<madeup35::MadeUp35>(),
    Kind::of::<madeup36::MadeUp36>(),
    Kind::of::<madeup37::MadeUp37>(),
    Kind::of::<madeup38::MadeUp38>(),
    Kind::of::<madeup39::MadeUp39>(),
    Kind::of::<madeup40::MadeUp40>(),
    Kind::of::<madeup41::MadeUp41>(),
    Kind::of::<madeup42::MadeUp42>(),
    Kind::of::<madeup43::MadeUp43>(),
    Kind::of::<madeup44::MadeUp44>(),
    Kind::of::<madeup45::MadeUp45>(),
    Kind::of::<madeup46::MadeUp46>(),
    Kind::of::<madeup47::MadeUp47>(),
    Kind::of::<madeup48::MadeUp48>(),
    Kind::of::<madeup49::MadeUp49>(),
];
