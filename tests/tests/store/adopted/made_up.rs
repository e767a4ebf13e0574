// `INGESTER_UPDATE=1 cargo test -p ingester-tests --test store adopted` writes it.

use ingester_core::Kind;

pub mod time {
    // The kind Time of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// An object of the kind Time.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Time", plural = "times", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[index(column = "column_0", with = column_0, type = "VARCHAR(768)")]
    #[index(column = "column_1", with = column_1, header = "The column_1")]
    #[index(column = "column_2", with = column_2, type = "VARCHAR(768)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct TimeKind {
        pub data: TimeKindData,
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
        pub main: Option<bool>,
        pub it: TimeKindDataFooIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct TimeKindDataFooIt {
        pub is: Option<String>,
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
        pub dns_names: Option<IgnoredAny>,
    }

    /// `.data.foo[main="true"].it.is`
    fn column_0(object: &TimeKind) -> Option<String> {
        object.data.foo.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }

    /// `.spec.2fa.dnsNames | exists`
    fn column_1(object: &TimeKind) -> Option<bool> {
        Some(object.spec.field_2fa.dns_names.is_some())
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
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind Quantity.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "Quantity", plural = "quantities", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns(column_1, clone, column_3))]
    #[index(column = "column_1", with = column_1)]
    #[index(column = "column_3", with = column_3, type = "TEXT", key = false, wide = true)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKind {
        #[index(column = "column_0", path = "name", type = "VARCHAR(64)", many)]
        #[index(column = "write", path = "baz.node_ip", json = "baz.nodeIP", type = "VARCHAR(16)")]
        pub status: QuantityKindStatus,
        #[index(column = "clone", path = "value.dns_names", first)]
        pub spec: QuantityKindSpec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKindStatus {
        pub name: BTreeMap<String, String>,
        pub value: Option<String>,
        pub baz: QuantityKindStatusBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKindStatusBaz {
        #[serde(rename = "nodeIP")]
        pub node_ip: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKindSpec {
        pub abstract_: Vec<QuantityKindSpecAbstract>,
        pub value: QuantityKindSpecValue,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKindSpecAbstract {
        pub main: Option<bool>,
        pub it: QuantityKindSpecAbstractIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKindSpecAbstractIt {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct QuantityKindSpecValue {
        pub dns_names: Option<u64>,
    }

    /// `.spec.abstract[main="true"].it.is`
    fn column_1(object: &QuantityKind) -> Option<String> {
        object.spec.abstract_.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }

    /// `.status.value`
    fn column_3(object: &QuantityKind) -> Option<String> {
        let value_1 = || object.status.value.clone();
        value_1().or_else(|| Some("".to_owned()))
    }
}

pub mod string {
    // The kind String of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Time;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// An object of the kind String.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "String", plural = "strings", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(key(column_2, column_4))]
    #[ingest(columns(override, column_1, column_2, column_3))]
    #[index(column = "column_1", with = column_1, type = "VARCHAR(768)")]
    #[index(column = "column_2", with = column_2)]
    #[index(column = "column_4", with = column_4)]
    #[index(column = "object", with = object)]
    #[index(column = "column_6", with = column_6, age)]
    #[index(path = "metadata.annotations", column = "column_3", with = column_3, type = "TEXT", key = false, header = "The column_3", wide = true)]
    #[serde(rename_all = "camelCase", default)]
    pub struct StringKind {
        #[index(column = "override", path = "dns_names", type = "VARCHAR(768)", keep)]
        pub spec: StringKindSpec,
        pub status: StringKindStatus,
        pub data: StringKindData,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct StringKindSpec {
        pub dns_names: Option<String>,
        pub value: StringKindSpecValue,
        pub object: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct StringKindSpecValue {
        pub field2: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct StringKindStatus {
        pub yield_: Option<String>,
        pub dns_names: StringKindStatusDnsNames,
        pub bar: StringKindStatusBar,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct StringKindStatusDnsNames {
        #[serde(rename = "a.b")]
        pub a_b: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct StringKindStatusBar {
        #[serde(rename = "URL")]
        pub url: Vec<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct StringKindData {
        pub value: Option<f64>,
        pub do_: Option<IgnoredAny>,
    }

    /// `.status.yield`
    fn column_1(object: &StringKind) -> Option<String> {
        let value_1 = || object.status.yield_.clone();
        value_1().or_else(|| Some("none".to_owned()))
    }

    /// `.spec.value.field2`, or `.data.value`
    fn column_2(object: &StringKind) -> Option<f64> {
        let value_1 = || object.spec.value.field2;
        let value_2 = || object.data.value;
        value_1().or_else(value_2)
    }

    /// `.metadata.annotations.note`
    fn column_3(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.data.do | exists`
    fn column_4(object: &StringKind) -> Option<bool> {
        Some(object.data.do_.is_some())
    }

    /// `.status.dnsNames["a.b"]`, or `.spec.object`
    fn object(object: &StringKind) -> Option<i32> {
        let value_1 = || object.status.dns_names.a_b;
        let value_2 = || object.spec.object;
        value_1().or_else(value_2)
    }

    /// `.status.bar.URL[0]`
    fn column_6(object: &StringKind) -> Option<Time> {
        object.status.bar.url.first().cloned()
    }
}

pub mod madeup3 {
    // The kind MadeUp3 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// An object of the kind MadeUp3.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp3", plural = "madeup3s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(history = "7776000s", versions = 5)]
    #[index(column = "column_0", with = column_0, header = "The column_0")]
    #[index(column = "column_1", with = column_1)]
    #[index(column = "self", with = self_, header = "The self")]
    #[index(column = "column_3", with = column_3, header = "The column_3")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3 {
        pub status: MadeUp3Status,
        pub data: MadeUp3Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3Status {
        pub field2: MadeUp3StatusField2,
        pub object: Vec<MadeUp3StatusObject>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3StatusField2 {
        pub abstract_: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3StatusObject {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3Data {
        pub do_: MadeUp3DataDo,
        pub bar: MadeUp3DataBar,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3DataDo {
        #[serde(rename = "$ref")]
        pub ref_: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp3DataBar {
        #[serde(rename = "a/b")]
        pub a_b: Vec<f64>,
    }

    /// `.status.field2.abstract | exists`
    fn column_0(object: &MadeUp3) -> Option<bool> {
        Some(object.status.field2.abstract_.is_some())
    }

    /// `.data.do.$ref | exists`
    fn column_1(object: &MadeUp3) -> Option<bool> {
        Some(object.data.do_.ref_.is_some())
    }

    /// `.data.bar["a/b"][-1]`
    fn self_(object: &MadeUp3) -> Option<f64> {
        object.data.bar.a_b.last().cloned()
    }

    /// `.status.object[type="Ready"].last-value`
    fn column_3(object: &MadeUp3) -> Option<i32> {
        object.status.object.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }
}

pub mod madeup4 {
    // The kind MadeUp4 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;

    /// An object of the kind MadeUp4.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp4", plural = "madeup4s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[index(column = "column_1", with = column_1)]
    #[index(column = "column_2", with = column_2)]
    #[index(column = "column_3", with = column_3)]
    #[index(column = "column_4", with = column_4)]
    #[index(column = "2fa", with = field_2fa, type = "VARCHAR(768)")]
    #[index(column = "crate", with = crate_, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4 {
        #[index(column = "column_0", path = "default.value", type = "VARCHAR(16)")]
        pub data: MadeUp4Data,
        pub spec: MadeUp4Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4Data {
        pub default: MadeUp4DataDefault,
        pub macro_: MadeUp4DataMacro,
        pub yield_: MadeUp4DataYield,
        pub bar: Option<bool>,
        #[serde(rename = "a b")]
        pub a_b: MadeUp4DataAB,
        pub bar_baz: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4DataDefault {
        pub value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4DataMacro {
        pub final_: Vec<MadeUp4DataMacroFinal>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4DataMacroFinal {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4DataYield {
        #[serde(rename = "a-b")]
        pub a_b: Vec<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4DataAB {
        #[serde(rename = "nodeIP")]
        pub node_ip: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4Spec {
        pub bar: MadeUp4SpecBar,
        pub baz: MadeUp4SpecBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4SpecBar {
        #[serde(rename = "2fa")]
        pub field_2fa: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp4SpecBaz {
        pub bar_baz: Option<Opaque>,
    }

    /// `.data.macro.final[type="Ready"].last-value`
    fn column_1(object: &MadeUp4) -> Option<f64> {
        object.data.macro_.final_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.spec.bar.2fa[*] | count`
    fn column_2(object: &MadeUp4) -> Option<i64> {
        object.spec.bar.field_2fa.as_ref().map_or(Some(0), |all| i64::try_from(all.count()?).ok())
    }

    /// `.data.yield.a-b[1]`
    fn column_3(object: &MadeUp4) -> Option<bool> {
        object.data.yield_.a_b.get(1).cloned()
    }

    /// `.data.bar`, or `.data["a b"].nodeIP`
    fn column_4(object: &MadeUp4) -> Option<bool> {
        let value_1 = || object.data.bar;
        let value_2 = || object.data.a_b.node_ip;
        value_1().or_else(value_2)
    }

    /// `.data.barBaz[0]`
    fn field_2fa(object: &MadeUp4) -> Option<String> {
        object.data.bar_baz.first().cloned()
    }

    /// `.spec.baz.barBaz | text`
    fn crate_(object: &MadeUp4) -> Option<String> {
        object.spec.baz.bar_baz.as_ref().map(|value| value.text().into_owned())
    }
}

pub mod madeup5 {
    // The kind MadeUp5 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp5.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp5", plural = "madeup5s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(key(default, column_2))]
    #[ingest(columns(default))]
    #[index(column = "default", with = default, header = "The default", wide = false)]
    #[index(column = "aB", with = a_b, type = "VARCHAR(64)")]
    #[index(column = "has_row", with = has_row_2, type = "TEXT", key = false)]
    #[index(column = "column_6", with = column_6, type = "VARCHAR(64)", wide = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5 {
        #[index(column = "a_b", path = "default", type = "VARCHAR(64)", many)]
        #[index(column = "column_4", path = "self_", type = "VARCHAR(64)", many)]
        pub status: MadeUp5Status,
        #[index(column = "column_2", path = "default")]
        pub spec: MadeUp5Spec,
        pub data: MadeUp5Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5Status {
        pub default: Vec<String>,
        pub crate_: MadeUp5StatusCrate,
        #[serde(rename = "a.b")]
        pub a_b: Option<String>,
        pub self_: BTreeMap<String, String>,
        #[serde(rename = "_x")]
        pub x: MadeUp5StatusX,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5StatusCrate {
        pub foo: Vec<MadeUp5StatusCrateFoo>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5StatusCrateFoo {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5StatusX {
        pub default: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5Spec {
        pub default: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp5Data {
        pub macro_: Option<Opaque>,
    }

    /// `.status.crate.foo[type="Ready"].last-value`
    fn default(object: &MadeUp5) -> Option<i32> {
        object.status.crate_.foo.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.status["a.b"] | lower`
    fn a_b(object: &MadeUp5) -> Option<String> {
        object.status.a_b.clone().map(|text| text.to_lowercase())
    }

    /// `.data.macro | text`
    fn has_row_2(object: &MadeUp5) -> Option<String> {
        object.data.macro_.as_ref().map(|value| value.text().into_owned())
    }

    /// `.status._x.default | lower`
    fn column_6(object: &MadeUp5) -> Option<String> {
        object.status.x.default.clone().map(|text| text.to_lowercase())
    }
}

pub mod madeup6 {
    // The kind MadeUp6 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// An object of the kind MadeUp6.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp6", plural = "madeup6s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(key(column_0, column_1))]
    #[ingest(columns(column_0, column_1, column_3, "2fa"))]
    #[index(column = "column_0", with = column_0)]
    #[index(column = "column_3", with = column_3)]
    #[index(column = "column_5", with = column_5)]
    #[index(path = "metadata.labels", column = "column_1", with = column_1, type = "VARCHAR(63)", wide = true)]
    #[index(path = "metadata.annotations", column = "2fa", with = field_2fa, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6 {
        #[index(column = "column_2", path = "yield_", many)]
        #[index(column = "write", path = "foo_bar", type = "VARCHAR(64)", many)]
        pub spec: MadeUp6Spec,
        pub status: MadeUp6Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6Spec {
        #[serde(rename = "a/b")]
        pub a_b: MadeUp6SpecAB,
        pub yield_: Vec<i64>,
        pub foo_bar: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6SpecAB {
        pub final_: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6Status {
        pub final_: MadeUp6StatusFinal,
        pub bar: MadeUp6StatusBar,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6StatusFinal {
        pub gen_: Vec<MadeUp6StatusFinalGen>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6StatusFinalGen {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp6StatusBar {
        pub do_: Vec<i32>,
    }

    /// `.spec["a/b"].final | exists`
    fn column_0(object: &MadeUp6) -> Option<bool> {
        Some(object.spec.a_b.final_.is_some())
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_1(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// `.status.final.gen[type="Ready"].last-value`
    fn column_3(object: &MadeUp6) -> Option<u64> {
        object.status.final_.gen_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.metadata.annotations.note`
    fn field_2fa(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.status.bar.do[-1]`
    fn column_5(object: &MadeUp6) -> Option<i32> {
        object.status.bar.do_.last().cloned()
    }
}

pub mod madeup7 {
    // The kind MadeUp7 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp7.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp7", plural = "madeup7s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never", companions = false)]
    #[ingest(filter = has_row)]
    #[ingest(columns(crate, column_1, column_2, column_3, write))]
    #[index(column = "crate", with = crate_)]
    #[index(column = "column_2", with = column_2, type = "TEXT", key = false)]
    #[index(column = "column_3", with = column_3, type = "VARCHAR(40)", wide = false)]
    #[index(column = "object", with = object, header = "The object")]
    #[index(column = "column_6", with = column_6, type = "TEXT", key = false)]
    #[index(path = "metadata.labels", column = "write", with = write, type = "VARCHAR(63)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7 {
        pub spec: MadeUp7Spec,
        #[index(column = "column_1", path = "final_", unit = "whole", header = "The column_1", wide = false)]
        pub data: MadeUp7Data,
        pub status: MadeUp7Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7Spec {
        pub field2: MadeUp7SpecField2,
        pub gen_: Option<i32>,
        #[serde(rename = "a/b")]
        pub a_b: Vec<MadeUp7SpecAB>,
        pub virtual_: MadeUp7SpecVirtual,
        pub self_: Vec<MadeUp7SpecSelf>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7SpecField2 {
        pub abstract_: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7SpecAB {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7SpecVirtual {
        pub virtual_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7SpecSelf {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7Data {
        pub final_: Option<Quantity>,
        pub dns_names: Vec<MadeUp7DataDnsNames>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7DataDnsNames {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7Status {
        pub bar: MadeUp7StatusBar,
        pub abstract_: MadeUp7StatusAbstract,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7StatusBar {
        pub object: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp7StatusAbstract {
        pub foo: Option<String>,
    }

    /// `.spec.field2.abstract`, or `.spec.gen`
    fn crate_(object: &MadeUp7) -> Option<i32> {
        let value_1 = || object.spec.field2.abstract_;
        let value_2 = || object.spec.gen_;
        value_1().or_else(value_2)
    }

    /// `.spec["a/b"][type="Ready"].last-value`
    fn column_2(object: &MadeUp7) -> Option<String> {
        object.spec.a_b.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }

    /// `.spec.virtual.virtual`, or `.status.bar.object`
    fn column_3(object: &MadeUp7) -> Option<String> {
        let value_1 = || object.spec.virtual_.virtual_.clone();
        let value_2 = || object.status.bar.object.clone();
        value_1().or_else(value_2)
    }

    /// `.metadata.labels["example.com/team"]`
    fn write(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// `.spec.self[type="Ready"].last-value`
    fn object(object: &MadeUp7) -> Option<i64> {
        object.spec.self_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.data.dnsNames[type="Ready"].last-value`
    fn column_6(object: &MadeUp7) -> Option<String> {
        object.data.dns_names.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp7) -> bool {
        let value_1 = || object.status.abstract_.foo.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup8 {
    // The kind MadeUp8 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp8.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp8", plural = "madeup8s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(key(aB, column_1))]
    #[index(column = "aB", with = a_b)]
    #[index(column = "column_1", with = column_1)]
    #[index(column = "new", with = new)]
    #[index(column = "type", with = type_, type = "VARCHAR(768)")]
    #[index(column = "column_5", with = column_5, header = "The column_5")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8 {
        #[index(column = "column_4", path = "type_.try_", type = "VARCHAR(64)", many)]
        pub spec: MadeUp8Spec,
        pub data: MadeUp8Data,
        pub status: MadeUp8Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8Spec {
        pub dns_names: Vec<MadeUp8SpecDnsNames>,
        pub type_: MadeUp8SpecType,
        pub virtual_: MadeUp8SpecVirtual,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8SpecDnsNames {
        pub main: Option<bool>,
        pub it: MadeUp8SpecDnsNamesIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8SpecDnsNamesIt {
        pub is: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8SpecType {
        pub try_: BTreeMap<String, String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8SpecVirtual {
        pub field2: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8Data {
        pub dns_names: Vec<MadeUp8DataDnsNames>,
        pub abstract_: MadeUp8DataAbstract,
        pub default: Vec<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8DataDnsNames {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8DataAbstract {
        #[serde(rename = "a.b")]
        pub a_b: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8Status {
        pub foo_bar: MadeUp8StatusFooBar,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp8StatusFooBar {
        pub override_: Option<String>,
    }

    /// `.spec.dnsNames[main="true"].it.is`
    fn a_b(object: &MadeUp8) -> Option<u64> {
        object.spec.dns_names.iter().find(|element| element.main == Some(true))?.it.is
    }

    /// `.data.dnsNames[type="Ready"].last-value`
    fn column_1(object: &MadeUp8) -> Option<f64> {
        object.data.dns_names.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.data.abstract["a.b"][*] | count`
    fn new(object: &MadeUp8) -> Option<i64> {
        object.data.abstract_.a_b.as_ref().map_or(Some(0), |all| i64::try_from(all.count()?).ok())
    }

    /// `.status.fooBar.override`
    fn type_(object: &MadeUp8) -> Option<String> {
        let value_1 = || object.status.foo_bar.override_.clone();
        value_1().or_else(|| Some("none".to_owned()))
    }

    /// `.data.default[-2]`
    fn column_5(object: &MadeUp8) -> Option<i32> {
        object.data.default.iter().rev().nth(1).cloned()
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp8) -> bool {
        let value_1 = || object.spec.virtual_.field2.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup9 {
    // The kind MadeUp9 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;
    use serde::de::IgnoredAny;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp9.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp9", plural = "madeup9s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(key(override, column_1))]
    #[ingest(columns(override, column_1))]
    #[index(column = "override", with = override_)]
    #[index(column = "column_1", with = column_1)]
    #[index(column = "column_4", with = column_4, header = "The column_4")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9 {
        pub data: MadeUp9Data,
        pub spec: MadeUp9Spec,
        #[index(column = "aB", path = "self_", json = "Self", type = "VARCHAR(768)", keep, absent = "null")]
        #[index(column = "column_3", path = "default.bar", type = "VARCHAR(64)", many)]
        pub status: MadeUp9Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9Data {
        #[serde(rename = "URL")]
        pub url: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9Spec {
        pub final_: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9Status {
        #[serde(rename = "Self")]
        pub self_: Option<String>,
        pub default: MadeUp9StatusDefault,
        pub object: Vec<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp9StatusDefault {
        pub bar: BTreeMap<String, String>,
    }

    /// `.data.URL | exists`
    fn override_(object: &MadeUp9) -> Option<bool> {
        Some(object.data.url.is_some())
    }

    /// `.spec.final`
    fn column_1(object: &MadeUp9) -> Option<u64> {
        let value_1 = || object.spec.final_;
        value_1().or(Some(5))
    }

    /// `.status.object[-1]`
    fn column_4(object: &MadeUp9) -> Option<f64> {
        object.status.object.last().cloned()
    }
}

pub mod madeup10 {
    // The kind MadeUp10 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// An object of the kind MadeUp10.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp10", plural = "madeup10s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(columns(column_0, column_1, column_2, column_3))]
    #[index(column = "column_1", with = column_1, type = "VARCHAR(64)", header = "The column_1")]
    #[index(column = "column_2", with = column_2)]
    #[index(column = "column_3", with = column_3, type = "VARCHAR(64)", header = "The column_3")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp10 {
        #[index(column = "column_0", path = "foo.box_", type = "VARCHAR(16)")]
        pub spec: MadeUp10Spec,
        #[index(column = "column_4", path = "value.gen_", unit = "milli")]
        pub data: MadeUp10Data,
        pub status: MadeUp10Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp10Spec {
        pub foo: MadeUp10SpecFoo,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp10SpecFoo {
        pub box_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp10Data {
        pub gen_: Option<String>,
        pub type_: MadeUp10DataType,
        pub value: MadeUp10DataValue,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp10DataType {
        #[serde(rename = "über")]
        pub ber: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp10DataValue {
        pub gen_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp10Status {
        pub baz: Option<String>,
        pub try_: Option<String>,
    }

    /// `.data.gen | lower`
    fn column_1(object: &MadeUp10) -> Option<String> {
        object.data.gen_.clone().map(|text| text.to_lowercase())
    }

    /// `.data.type["über"] | exists`
    fn column_2(object: &MadeUp10) -> Option<bool> {
        Some(object.data.type_.ber.is_some())
    }

    /// `.status.baz | lower`
    fn column_3(object: &MadeUp10) -> Option<String> {
        object.status.baz.clone().map(|text| text.to_lowercase())
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp10) -> bool {
        let value_1 = || object.status.try_.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup11 {
    // The kind MadeUp11 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind MadeUp11.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp11", plural = "madeup11s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(filter = has_row)]
    #[ingest(key(default, column_2))]
    #[ingest(columns(default))]
    #[index(column = "default", with = default, age)]
    #[index(column = "column_3", with = column_3, type = "VARCHAR(40)", header = "The column_3")]
    #[index(column = "column_4", with = column_4)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp11 {
        #[index(column = "column_0", path = "do_.ber", json = "do.über", type = "VARCHAR(64)", many)]
        pub status: MadeUp11Status,
        #[index(column = "column_2", path = "macro_.box_", type = "VARCHAR(16)")]
        pub data: MadeUp11Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp11Status {
        pub do_: MadeUp11StatusDo,
        #[serde(rename = "über")]
        pub ber: Vec<Time>,
        #[serde(rename = "$ref")]
        pub ref_: Vec<MadeUp11StatusRef>,
        #[serde(rename = "URL")]
        pub url: MadeUp11StatusUrl,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp11StatusDo {
        #[serde(rename = "über")]
        pub ber: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp11StatusRef {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp11StatusUrl {
        pub type_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp11Data {
        pub macro_: MadeUp11DataMacro,
        pub dns_names: MadeUp11DataDnsNames,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp11DataMacro {
        pub box_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp11DataDnsNames {
        pub virtual_: Vec<String>,
    }

    /// `.status["über"][-1]`
    fn default(object: &MadeUp11) -> Option<Time> {
        object.status.ber.last().cloned()
    }

    /// `.data.dnsNames.virtual[0]`
    fn column_3(object: &MadeUp11) -> Option<String> {
        object.data.dns_names.virtual_.first().cloned()
    }

    /// `.status.$ref[type="Ready"].last-value`
    fn column_4(object: &MadeUp11) -> Option<bool> {
        object.status.ref_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp11) -> bool {
        let value_1 = || object.status.url.type_.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup12 {
    // The kind MadeUp12 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind MadeUp12.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp12", plural = "madeup12s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(column_0))]
    #[index(column = "column_0", with = column_0)]
    #[index(column = "has_row", with = has_row_2, type = "TEXT", key = false, header = "The has_row")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12 {
        #[index(column = "column_1", path = "foo", wide = false)]
        pub spec: MadeUp12Spec,
        #[index(column = "column_2", path = "name.x", json = "name._x", type = "VARCHAR(16)")]
        pub status: MadeUp12Status,
        pub data: MadeUp12Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12Spec {
        pub bar_baz: MadeUp12SpecBarBaz,
        pub foo: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12SpecBarBaz {
        pub crate_: Vec<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12Status {
        pub name: MadeUp12StatusName,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12StatusName {
        #[serde(rename = "_x")]
        pub x: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp12Data {
        #[serde(rename = "_x")]
        pub x: Option<Opaque>,
    }

    /// `.spec.barBaz.crate[1]`
    fn column_0(object: &MadeUp12) -> Option<Time> {
        object.spec.bar_baz.crate_.get(1).cloned()
    }

    /// `.data._x | text`
    fn has_row_2(object: &MadeUp12) -> Option<String> {
        object.data.x.as_ref().map(|value| value.text().into_owned())
    }
}

pub mod madeup13 {
    // The kind MadeUp13 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp13.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp13", plural = "madeup13s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(key("2fa", column_1))]
    #[index(column = "2fa", with = field_2fa, wide = false)]
    #[index(column = "column_1", with = column_1, type = "VARCHAR(16)")]
    #[index(column = "column_3", with = column_3, age)]
    #[index(column = "clone", with = clone, type = "VARCHAR(64)", many)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13 {
        #[index(column = "value_1", path = "do_", type = "VARCHAR(64)", many)]
        pub data: MadeUp13Data,
        pub status: MadeUp13Status,
        pub spec: MadeUp13Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13Data {
        #[serde(rename = "über")]
        pub ber: MadeUp13DataBer,
        pub do_: BTreeMap<String, String>,
        pub crate_: Vec<MadeUp13DataCrate>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13DataBer {
        pub virtual_: Vec<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13DataCrate {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13Status {
        #[serde(rename = "a.b")]
        pub a_b: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13Spec {
        #[serde(rename = "a b")]
        pub a_b: MadeUp13SpecAB,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp13SpecAB {
        pub baz: Vec<String>,
    }

    /// `.data["über"].virtual[-2]`
    fn field_2fa(object: &MadeUp13) -> Option<f64> {
        object.data.ber.virtual_.iter().rev().nth(1).cloned()
    }

    /// `.status["a.b"]`
    fn column_1(object: &MadeUp13) -> Option<String> {
        object.status.a_b.clone()
    }

    /// `.data.crate[type="Ready"].last-value`
    fn column_3(object: &MadeUp13) -> Option<Time> {
        object.data.crate_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.spec["a b"].baz[*]`
    fn clone(object: &MadeUp13) -> Vec<String> {
        object.spec.a_b.baz.clone()
    }
}

pub mod madeup14 {
    // The kind MadeUp14 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind MadeUp14.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp14", plural = "madeup14s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(key(column_1, column_2))]
    #[ingest(columns(column_0, column_1, column_2, column_3))]
    #[index(column = "column_1", with = column_1, type = "VARCHAR(40)", header = "The column_1", wide = false)]
    #[index(column = "column_4", with = column_4, type = "VARCHAR(768)")]
    #[index(path = "metadata.generation", column = "column_2")]
    #[index(path = "metadata.generation", column = "column_3")]
    #[index(path = "metadata.labels", column = "column_5", with = column_5, type = "VARCHAR(63)")]
    #[allow(clippy::duplicated_attributes, reason = "columns have options in common")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14 {
        #[index(column = "column_0", path = "self_", json = "Self", type = "VARCHAR(768)", header = "The column_0")]
        pub spec: MadeUp14Spec,
        pub data: MadeUp14Data,
        pub status: MadeUp14Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14Spec {
        #[serde(rename = "Self")]
        pub self_: Option<String>,
        pub bar_baz: MadeUp14SpecBarBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14SpecBarBaz {
        pub object: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14Data {
        pub crate_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14Status {
        pub default: MadeUp14StatusDefault,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp14StatusDefault {
        pub final_: Option<String>,
    }

    /// `.spec.barBaz.object`
    fn column_1(object: &MadeUp14) -> Option<String> {
        let value_1 = || object.spec.bar_baz.object.clone();
        value_1().or_else(|| Some("none".to_owned()))
    }

    /// `.data.crate`, or `.status.default.final`
    fn column_4(object: &MadeUp14) -> Option<String> {
        let value_1 = || object.data.crate_.clone();
        let value_2 = || object.status.default.final_.clone();
        value_1().or_else(value_2)
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_5(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }
}

pub mod madeup15 {
    // The kind MadeUp15 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use ingester_core::wire::Time;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp15.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp15", plural = "madeup15s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(key(column_0, column_1))]
    #[index(column = "column_2", with = column_2, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp15 {
        #[index(column = "column_0", path = "type_")]
        pub spec: MadeUp15Spec,
        #[index(column = "column_1", path = "virtual_", keep, header = "The column_1")]
        pub data: MadeUp15Data,
        #[index(column = "type", path = "ber.do_", json = "über.do", type = "VARCHAR(64)", many)]
        pub status: MadeUp15Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp15Spec {
        pub type_: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp15Data {
        pub virtual_: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp15Status {
        pub baz: Option<Opaque>,
        #[serde(rename = "über")]
        pub ber: MadeUp15StatusBer,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp15StatusBer {
        pub do_: BTreeMap<String, String>,
    }

    /// `.status.baz | text`
    fn column_2(object: &MadeUp15) -> Option<String> {
        object.status.baz.as_ref().map(|value| value.text().into_owned())
    }
}

pub mod madeup16 {
    // The kind MadeUp16 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp16.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp16", plural = "madeup16s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(columns(column_0))]
    #[index(path = "metadata.annotations", column = "column_0", with = column_0, type = "TEXT", key = false)]
    #[index(path = "metadata.annotations", column = "default", with = default, type = "TEXT", key = false)]
    #[index(path = "metadata.labels", column = "column_5", with = column_5, type = "VARCHAR(63)", wide = true)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16 {
        #[index(column = "aB", path = "self_.ref_", json = "self.$ref", type = "VARCHAR(64)", many)]
        #[index(column = "column_2", path = "self_.x", json = "self._x", type = "TEXT", key = false)]
        #[index(column = "column_3", path = "a_b", json = "a-b", type = "VARCHAR(64)", many)]
        pub status: MadeUp16Status,
        #[index(column = "column_6", path = "crate_.macro_", type = "VARCHAR(64)", many)]
        pub data: MadeUp16Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16Status {
        pub self_: MadeUp16StatusSelf,
        #[serde(rename = "a-b")]
        pub a_b: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16StatusSelf {
        #[serde(rename = "$ref")]
        pub ref_: BTreeMap<String, String>,
        #[serde(rename = "_x")]
        pub x: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16Data {
        pub crate_: MadeUp16DataCrate,
        pub self_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp16DataCrate {
        pub macro_: BTreeMap<String, String>,
    }

    /// `.metadata.annotations.note`
    fn column_0(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.metadata.annotations.note`
    fn default(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_5(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp16) -> bool {
        let value_1 = || object.data.self_.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup17 {
    // The kind MadeUp17 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp17.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp17", plural = "madeup17s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns(column_1, column_2, column_3))]
    #[index(column = "column_1", with = column_1, type = "TEXT", key = false)]
    #[index(column = "column_4", with = column_4, type = "VARCHAR(64)")]
    #[index(column = "write", with = write, wide = false)]
    #[index(column = "column_6", with = column_6)]
    #[index(path = "metadata.annotations", column = "column_3", with = column_3, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp17 {
        #[index(column = "override", path = "macro_.value", type = "VARCHAR(64)", many)]
        pub spec: MadeUp17Spec,
        #[index(column = "column_2", path = "baz.name")]
        pub status: MadeUp17Status,
        pub data: MadeUp17Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp17Spec {
        pub macro_: MadeUp17SpecMacro,
        pub gen_: Option<String>,
        pub do_: Option<String>,
        pub override_: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp17SpecMacro {
        pub value: BTreeMap<String, String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp17Status {
        pub baz: MadeUp17StatusBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp17StatusBaz {
        pub name: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp17Data {
        pub final_: Option<String>,
        pub override_: Vec<String>,
    }

    /// `.spec.gen`, or `.spec.do`
    fn column_1(object: &MadeUp17) -> Option<String> {
        let value_1 = || object.spec.gen_.clone();
        let value_2 = || object.spec.do_.clone();
        value_1().or_else(value_2)
    }

    /// `.metadata.annotations.note`
    fn column_3(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.data.final | lower`
    fn column_4(object: &MadeUp17) -> Option<String> {
        object.data.final_.clone().map(|text| text.to_lowercase())
    }

    /// `.data.override[-1]`
    fn write(object: &MadeUp17) -> Option<String> {
        object.data.override_.last().cloned()
    }

    /// `.spec.override[*] | count`
    fn column_6(object: &MadeUp17) -> Option<i32> {
        object.spec.override_.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }
}

pub mod madeup18 {
    // The kind MadeUp18 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind MadeUp18.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp18", plural = "madeup18s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[index(column = "aB", with = a_b, header = "The aB")]
    #[index(column = "column_1", with = column_1, type = "TEXT", key = false)]
    #[index(column = "column_2", with = column_2, type = "VARCHAR(40)", header = "The column_2")]
    #[index(column = "column_3", with = column_3)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18 {
        pub data: MadeUp18Data,
        pub spec: MadeUp18Spec,
        pub status: MadeUp18Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18Data {
        pub value: MadeUp18DataValue,
        pub gen_: MadeUp18DataGen,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18DataValue {
        pub virtual_: Vec<MadeUp18DataValueVirtual>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18DataValueVirtual {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18DataGen {
        pub abstract_: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18Spec {
        pub override_: MadeUp18SpecOverride,
        pub self_: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18SpecOverride {
        pub crate_: Vec<MadeUp18SpecOverrideCrate>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18SpecOverrideCrate {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18Status {
        #[serde(rename = "bar_baz")]
        pub bar_baz: MadeUp18StatusBarBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp18StatusBarBaz {
        pub bar: Option<i32>,
    }

    /// `.data.value.virtual[type="Ready"].last-value`
    fn a_b(object: &MadeUp18) -> Option<Time> {
        object.data.value.virtual_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.data.gen.abstract | text`
    fn column_1(object: &MadeUp18) -> Option<String> {
        object.data.gen_.abstract_.as_ref().map(|value| value.text().into_owned())
    }

    /// `.spec.override.crate[type="Ready"].last-value`
    fn column_2(object: &MadeUp18) -> Option<String> {
        object
            .spec
            .override_
            .crate_
            .iter()
            .find(|element| element.type_.as_deref() == Some("Ready"))?
            .last_value
            .clone()
    }

    /// `.status.bar_baz.bar`, or `.spec.self`
    fn column_3(object: &MadeUp18) -> Option<i32> {
        let value_1 = || object.status.bar_baz.bar;
        let value_2 = || object.spec.self_;
        value_1().or_else(value_2)
    }
}

pub mod madeup19 {
    // The kind MadeUp19 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp19.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp19", plural = "madeup19s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(columns(value_1))]
    #[index(column = "value_1", with = value_1, type = "VARCHAR(40)", header = "The value_1")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19 {
        pub data: MadeUp19Data,
        #[index(column = "2fa", path = "a_b", json = "a/b", type = "TEXT", key = false, absent = "empty")]
        pub spec: MadeUp19Spec,
        #[index(column = "object", path = "foo.object", type = "VARCHAR(64)", many)]
        pub status: MadeUp19Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19Data {
        pub baz: Option<String>,
        #[serde(rename = "a/b")]
        pub a_b: MadeUp19DataAB,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19DataAB {
        pub virtual_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19Spec {
        #[serde(rename = "a/b")]
        pub a_b: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19Status {
        pub foo: MadeUp19StatusFoo,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp19StatusFoo {
        pub object: Vec<String>,
    }

    /// `.data.baz`, or `.data["a/b"].virtual`
    fn value_1(object: &MadeUp19) -> Option<String> {
        let value_1 = || object.data.baz.clone();
        let value_2 = || object.data.a_b.virtual_.clone();
        value_1().or_else(value_2)
    }
}

pub mod madeup20 {
    // The kind MadeUp20 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;
    use serde::de::IgnoredAny;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp20.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp20", plural = "madeup20s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(filter = has_row)]
    #[index(column = "column_0", with = column_0, type = "VARCHAR(64)")]
    #[index(column = "self", with = self_)]
    #[index(column = "column_2", with = column_2, header = "The column_2")]
    #[index(column = "new", with = new)]
    #[index(column = "clone", with = clone)]
    #[index(column = "column_6", with = column_6, type = "VARCHAR(64)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20 {
        pub spec: MadeUp20Spec,
        pub data: MadeUp20Data,
        #[index(column = "type", path = "x.override_", json = "_x.override", type = "VARCHAR(64)", many)]
        pub status: MadeUp20Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20Spec {
        pub gen_: Option<String>,
        #[serde(rename = "$ref")]
        pub ref_: MadeUp20SpecRef,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20SpecRef {
        #[serde(rename = "URL")]
        pub url: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20Data {
        #[serde(rename = "2fa")]
        pub field_2fa: Option<Opaque>,
        pub override_: MadeUp20DataOverride,
        pub foo_bar: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20DataOverride {
        #[serde(rename = "a.b")]
        pub a_b: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20Status {
        #[serde(rename = "Self")]
        pub self_: MadeUp20StatusSelf,
        #[serde(rename = "_x")]
        pub x: MadeUp20StatusX,
        #[serde(rename = "a.b")]
        pub a_b: MadeUp20StatusAB,
        pub bar: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20StatusSelf {
        pub override_: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20StatusX {
        pub override_: BTreeMap<String, String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp20StatusAB {
        pub dns_names: Option<bool>,
    }

    /// `.spec.gen | lower`
    fn column_0(object: &MadeUp20) -> Option<String> {
        object.spec.gen_.clone().map(|text| text.to_lowercase())
    }

    /// `.data.2fa[*] | count`
    fn self_(object: &MadeUp20) -> Option<i32> {
        object.data.field_2fa.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.status.Self.override[*] | count`
    fn column_2(object: &MadeUp20) -> Option<i32> {
        object.status.self_.override_.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.data.override["a.b"] | exists`
    fn new(object: &MadeUp20) -> Option<bool> {
        Some(object.data.override_.a_b.is_some())
    }

    /// `.status["a.b"].dnsNames`, or `.status.bar`
    fn clone(object: &MadeUp20) -> Option<bool> {
        let value_1 = || object.status.a_b.dns_names;
        let value_2 = || object.status.bar;
        value_1().or_else(value_2)
    }

    /// `.spec.$ref.URL | lower`
    fn column_6(object: &MadeUp20) -> Option<String> {
        object.spec.ref_.url.clone().map(|text| text.to_lowercase())
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp20) -> bool {
        let value_1 = || object.data.foo_bar.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup21 {
    // The kind MadeUp21 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;

    /// An object of the kind MadeUp21.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp21", plural = "madeup21s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(columns(column_0, column_1))]
    #[index(column = "column_3", with = column_3, type = "VARCHAR(64)", many)]
    #[index(column = "column_4", with = column_4, type = "VARCHAR(768)", wide = false)]
    #[index(column = "column_5", with = column_5)]
    #[index(path = "metadata.generation", column = "column_0")]
    #[index(path = "metadata.annotations", column = "column_1", with = column_1, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21 {
        #[index(column = "column_2", path = "a_b", json = "a/b", type = "VARCHAR(768)", wide = true)]
        pub spec: MadeUp21Spec,
        pub status: MadeUp21Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21Spec {
        #[serde(rename = "a/b")]
        pub a_b: Option<String>,
        #[serde(rename = "a.b")]
        pub a_b_2: Vec<String>,
        pub type_: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21Status {
        pub foo_bar: MadeUp21StatusFooBar,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21StatusFooBar {
        pub box_: Vec<MadeUp21StatusFooBarBox>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp21StatusFooBarBox {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    /// `.metadata.annotations.note`
    fn column_1(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.spec["a.b"][*]`
    fn column_3(object: &MadeUp21) -> Vec<String> {
        object.spec.a_b_2.clone()
    }

    /// `.status.fooBar.box[type="Ready"].last-value`
    fn column_4(object: &MadeUp21) -> Option<String> {
        object.status.foo_bar.box_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }

    /// `.spec.type[*] | count`
    fn column_5(object: &MadeUp21) -> Option<i32> {
        object.spec.type_.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }
}

pub mod madeup22 {
    // The kind MadeUp22 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;

    /// An object of the kind MadeUp22.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp22", plural = "madeup22s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(filter = has_row)]
    #[index(column = "new", with = new, type = "TEXT", key = false, header = "The new")]
    #[index(column = "column_1", with = column_1, type = "VARCHAR(768)")]
    #[index(column = "column_2", with = column_2, many)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22 {
        pub spec: MadeUp22Spec,
        pub data: MadeUp22Data,
        pub status: MadeUp22Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22Spec {
        #[serde(rename = "über")]
        pub ber: MadeUp22SpecBer,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22SpecBer {
        #[serde(rename = "a.b")]
        pub a_b: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22Data {
        #[serde(rename = "URL")]
        pub url: MadeUp22DataUrl,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22DataUrl {
        pub name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22Status {
        pub object: MadeUp22StatusObject,
        #[serde(rename = "a.b")]
        pub a_b: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp22StatusObject {
        #[serde(rename = "a b")]
        pub a_b: Vec<i64>,
    }

    /// `.spec["über"]["a.b"] | text`
    fn new(object: &MadeUp22) -> Option<String> {
        object.spec.ber.a_b.as_ref().map(|value| value.text().into_owned())
    }

    /// `.data.URL.name`
    fn column_1(object: &MadeUp22) -> Option<String> {
        let value_1 = || object.data.url.name.clone();
        value_1().or_else(|| Some("none".to_owned()))
    }

    /// `.status.object["a b"][*]`
    fn column_2(object: &MadeUp22) -> Vec<i64> {
        object.status.object.a_b.clone()
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp22) -> bool {
        let value_1 = || object.status.a_b.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup23 {
    // The kind MadeUp23 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind MadeUp23.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp23", plural = "madeup23s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(crate, has_row))]
    #[index(column = "crate", with = crate_, header = "The crate", wide = true)]
    #[index(path = "metadata.annotations", column = "has_row", with = has_row_2, type = "TEXT", key = false, header = "The has_row")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23 {
        pub spec: MadeUp23Spec,
        #[index(column = "column_2", path = "try_.value")]
        #[index(column = "column_3", path = "abstract_.name", type = "VARCHAR(16)")]
        pub data: MadeUp23Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23Spec {
        pub abstract_: MadeUp23SpecAbstract,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23SpecAbstract {
        pub bar_baz: Vec<MadeUp23SpecAbstractBarBaz>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23SpecAbstractBarBaz {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23Data {
        pub try_: MadeUp23DataTry,
        pub abstract_: MadeUp23DataAbstract,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23DataTry {
        pub value: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp23DataAbstract {
        pub name: Option<String>,
    }

    /// `.spec.abstract.barBaz[type="Ready"].last-value`
    fn crate_(object: &MadeUp23) -> Option<i32> {
        object.spec.abstract_.bar_baz.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.metadata.annotations.note`
    fn has_row_2(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }
}

pub mod madeup24 {
    // The kind MadeUp24 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp24.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp24", plural = "madeup24s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(column_0, column_1))]
    #[index(path = "metadata.generation", column = "column_1")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp24 {
        #[index(
            column = "column_0",
            path = "node_ip.default",
            json = "nodeIP.default",
            type = "TEXT",
            key = false,
            absent = "null"
        )]
        pub data: MadeUp24Data,
        #[index(column = "column_2", path = "final_", type = "TEXT", key = false)]
        pub spec: MadeUp24Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp24Data {
        #[serde(rename = "nodeIP")]
        pub node_ip: MadeUp24DataNodeIp,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp24DataNodeIp {
        pub default: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp24Spec {
        pub final_: Option<String>,
    }
}

pub mod madeup25 {
    // The kind MadeUp25 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// An object of the kind MadeUp25.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp25", plural = "madeup25s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(column_0))]
    #[index(column = "column_0", with = column_0, wide = true)]
    #[index(column = "column_2", with = column_2, type = "TEXT", key = false)]
    #[index(column = "column_3", with = column_3, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp25 {
        pub spec: MadeUp25Spec,
        #[index(column = "column_1", path = "object", first, absent = "null", header = "The column_1")]
        pub status: MadeUp25Status,
        pub data: MadeUp25Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp25Spec {
        pub foo_bar: MadeUp25SpecFooBar,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp25SpecFooBar {
        pub type_: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp25Status {
        pub object: Option<f64>,
        #[serde(rename = "bar_baz")]
        pub bar_baz: MadeUp25StatusBarBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp25StatusBarBaz {
        pub dns_names: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp25Data {
        pub virtual_: Option<Opaque>,
    }

    /// `.spec.fooBar.type | exists`
    fn column_0(object: &MadeUp25) -> Option<bool> {
        Some(object.spec.foo_bar.type_.is_some())
    }

    /// `.status.bar_baz.dnsNames`
    fn column_2(object: &MadeUp25) -> Option<String> {
        let value_1 = || object.status.bar_baz.dns_names.clone();
        value_1().or_else(|| Some("".to_owned()))
    }

    /// `.data.virtual | text`
    fn column_3(object: &MadeUp25) -> Option<String> {
        object.data.virtual_.as_ref().map(|value| value.text().into_owned())
    }
}

pub mod madeup26 {
    // The kind MadeUp26 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Time;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp26.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp26", plural = "madeup26s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(key(column_0, column_1))]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26 {
        #[index(column = "column_0", path = "field2.x", json = "field2._x", type = "VARCHAR(16)")]
        pub spec: MadeUp26Spec,
        #[index(column = "column_1", path = "foo.a_b", json = "foo.a-b", unit = "whole")]
        #[index(column = "column_3", path = "do_", many)]
        pub status: MadeUp26Status,
        #[index(column = "column_2", path = "dns_names.foo")]
        pub data: MadeUp26Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26Spec {
        pub field2: MadeUp26SpecField2,
        pub type_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26SpecField2 {
        #[serde(rename = "_x")]
        pub x: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26Status {
        pub foo: MadeUp26StatusFoo,
        pub do_: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26StatusFoo {
        #[serde(rename = "a-b")]
        pub a_b: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26Data {
        pub dns_names: MadeUp26DataDnsNames,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp26DataDnsNames {
        pub foo: Option<Time>,
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp26) -> bool {
        let value_1 = || object.spec.type_.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup27 {
    // The kind MadeUp27 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp27.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp27", plural = "madeup27s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns(column_0, column_1, column_2))]
    #[index(column = "column_1", with = column_1, type = "VARCHAR(768)")]
    #[index(column = "column_2", with = column_2)]
    #[index(path = "metadata.labels", column = "column_0", with = column_0, type = "VARCHAR(63)", header = "The column_0")]
    #[index(path = "metadata.labels", column = "column_4", with = column_4, type = "VARCHAR(63)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27 {
        pub status: MadeUp27Status,
        #[index(column = "column_3", path = "type_", unit = "milli", wide = true)]
        pub data: MadeUp27Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27Status {
        pub do_: MadeUp27StatusDo,
        pub field2: MadeUp27StatusField2,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27StatusDo {
        pub self_: Vec<MadeUp27StatusDoSelf>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27StatusDoSelf {
        pub main: Option<bool>,
        pub it: MadeUp27StatusDoSelfIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27StatusDoSelfIt {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27StatusField2 {
        #[serde(rename = "über")]
        pub ber: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp27Data {
        pub type_: Option<Quantity>,
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_0(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// `.status.do.self[main="true"].it.is`
    fn column_1(object: &MadeUp27) -> Option<String> {
        object.status.do_.self_.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }

    /// `.status.field2["über"]`
    fn column_2(object: &MadeUp27) -> Option<String> {
        let value_1 = || object.status.field2.ber.clone();
        value_1().or_else(|| Some("x \"y\"".to_owned()))
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_4(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }
}

pub mod madeup28 {
    // The kind MadeUp28 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;

    /// An object of the kind MadeUp28.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp28", plural = "madeup28s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(columns(column_0, write))]
    #[index(column = "column_0", with = column_0)]
    #[index(column = "write", with = write)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28 {
        #[index(column = "type", path = "gen_.object")]
        pub status: MadeUp28Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28Status {
        pub do_: Option<Opaque>,
        #[serde(rename = "über")]
        pub ber: MadeUp28StatusBer,
        pub gen_: MadeUp28StatusGen,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28StatusBer {
        pub foo: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp28StatusGen {
        pub object: Option<u64>,
    }

    /// `.status.do[*] | count`
    fn column_0(object: &MadeUp28) -> Option<i32> {
        object.status.do_.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.status["über"].foo`
    fn write(object: &MadeUp28) -> Option<i32> {
        let value_1 = || object.status.ber.foo;
        value_1().or(Some(-3))
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
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(history = "7776000s", versions = 5)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp29 {
        #[index(column = "a_b", path = "override_", many)]
        #[index(column = "has_row", path = "baz.gen_", first, absent = "null")]
        #[index(column = "clone", path = "dns_names.macro_", type = "VARCHAR(64)", many)]
        pub status: MadeUp29Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp29Status {
        pub override_: Vec<i64>,
        pub baz: MadeUp29StatusBaz,
        pub dns_names: MadeUp29StatusDnsNames,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp29StatusBaz {
        pub gen_: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp29StatusDnsNames {
        pub macro_: BTreeMap<String, String>,
    }
}

pub mod madeup30 {
    // The kind MadeUp30 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;

    /// An object of the kind MadeUp30.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp30", plural = "madeup30s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(key(column_2, column_3))]
    #[ingest(columns(column_0, column_2))]
    #[index(column = "column_2", with = column_2)]
    #[index(path = "metadata.annotations", column = "column_0", with = column_0, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30 {
        #[index(column = "column_1", path = "field_2fa", json = "2fa", many)]
        #[index(column = "2fa", path = "box_", many)]
        pub status: MadeUp30Status,
        #[index(column = "column_3", path = "default.foo_bar", type = "VARCHAR(16)", wide = false)]
        pub spec: MadeUp30Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30Status {
        #[serde(rename = "2fa")]
        pub field_2fa: Vec<i64>,
        #[serde(rename = "a-b")]
        pub a_b: MadeUp30StatusAB,
        pub box_: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30StatusAB {
        #[serde(rename = "bar_baz")]
        pub bar_baz: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30Spec {
        pub default: MadeUp30SpecDefault,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp30SpecDefault {
        pub foo_bar: Option<String>,
    }

    /// `.metadata.annotations.note`
    fn column_0(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.status.a-b.bar_baz[*] | count`
    fn column_2(object: &MadeUp30) -> Option<i32> {
        object.status.a_b.bar_baz.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }
}

pub mod madeup31 {
    // The kind MadeUp31 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind MadeUp31.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp31", plural = "madeup31s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[index(column = "column_0", with = column_0)]
    #[index(column = "aB", with = a_b, wide = true)]
    #[index(column = "column_2", with = column_2)]
    #[index(column = "column_3", with = column_3, type = "VARCHAR(64)")]
    #[index(column = "column_4", with = column_4)]
    #[index(column = "column_6", with = column_6, header = "The column_6", wide = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31 {
        #[index(column = "override", path = "foo", type = "VARCHAR(64)", many)]
        pub data: MadeUp31Data,
        pub status: MadeUp31Status,
        pub spec: MadeUp31Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31Data {
        #[serde(rename = "a b")]
        pub a_b: Vec<Time>,
        pub crate_: MadeUp31DataCrate,
        pub virtual_: MadeUp31DataVirtual,
        pub foo: Vec<String>,
        #[serde(rename = "nodeIP")]
        pub node_ip: Vec<MadeUp31DataNodeIp>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31DataCrate {
        pub override_: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31DataVirtual {
        pub object: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31DataNodeIp {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<Time>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31Status {
        #[serde(rename = "URL")]
        pub url: Vec<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31Spec {
        pub bar: MadeUp31SpecBar,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp31SpecBar {
        pub yield_: Option<Opaque>,
    }

    /// `.data["a b"][1]`
    fn column_0(object: &MadeUp31) -> Option<Time> {
        object.data.a_b.get(1).cloned()
    }

    /// `.status.URL[-1]`
    fn a_b(object: &MadeUp31) -> Option<f64> {
        object.status.url.last().cloned()
    }

    /// `.data.crate.override[*] | count`
    fn column_2(object: &MadeUp31) -> Option<i64> {
        object.data.crate_.override_.as_ref().map_or(Some(0), |all| i64::try_from(all.count()?).ok())
    }

    /// `.data.virtual.object | lower`
    fn column_3(object: &MadeUp31) -> Option<String> {
        object.data.virtual_.object.clone().map(|text| text.to_lowercase())
    }

    /// `.spec.bar.yield[*] | count`
    fn column_4(object: &MadeUp31) -> Option<i32> {
        object.spec.bar.yield_.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.data.nodeIP[type="Ready"].last-value`
    fn column_6(object: &MadeUp31) -> Option<Time> {
        object.data.node_ip.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }
}

pub mod madeup32 {
    // The kind MadeUp32 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Time;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp32.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp32", plural = "madeup32s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(key(a_b, column_1))]
    #[ingest(columns(a_b, column_1, value_1))]
    #[index(column = "a_b", with = a_b, header = "The a_b", age)]
    #[index(column = "column_4", with = column_4)]
    #[index(column = "column_5", with = column_5)]
    #[index(column = "column_6", with = column_6, type = "VARCHAR(64)")]
    #[index(path = "metadata.annotations", column = "value_1", with = value_1, type = "TEXT", key = false, wide = true)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32 {
        #[index(column = "column_1", path = "bar", unit = "whole")]
        pub status: MadeUp32Status,
        #[index(column = "column_3", path = "override_.object", type = "VARCHAR(40)", first, absent = "null")]
        pub data: MadeUp32Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32Status {
        #[serde(rename = "a/b")]
        pub a_b: Vec<Time>,
        pub bar: Option<Quantity>,
        #[serde(rename = "über")]
        pub ber: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32Data {
        pub override_: MadeUp32DataOverride,
        pub macro_: Vec<MadeUp32DataMacro>,
        #[serde(rename = "a/b")]
        pub a_b: Vec<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32DataOverride {
        pub object: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32DataMacro {
        pub main: Option<bool>,
        pub it: MadeUp32DataMacroIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp32DataMacroIt {
        pub is: Option<i32>,
    }

    /// `.status["a/b"][-1]`
    fn a_b(object: &MadeUp32) -> Option<Time> {
        object.status.a_b.last().cloned()
    }

    /// `.metadata.annotations.note`
    fn value_1(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.data.macro[main="true"].it.is`
    fn column_4(object: &MadeUp32) -> Option<i32> {
        object.data.macro_.iter().find(|element| element.main == Some(true))?.it.is
    }

    /// `.data["a/b"][-1]`
    fn column_5(object: &MadeUp32) -> Option<bool> {
        object.data.a_b.last().cloned()
    }

    /// `.status["über"] | lower`
    fn column_6(object: &MadeUp32) -> Option<String> {
        object.status.ber.clone().map(|text| text.to_lowercase())
    }
}

pub mod madeup33 {
    // The kind MadeUp33 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp33.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp33", plural = "madeup33s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never", companions = false)]
    #[ingest(key(column_0, crate))]
    #[ingest(columns(column_0, crate, column_2, column_3, column_4, column_5))]
    #[index(column = "column_0", with = column_0)]
    #[index(column = "column_2", with = column_2, header = "The column_2")]
    #[index(column = "column_3", with = column_3, type = "VARCHAR(40)")]
    #[index(column = "column_5", with = column_5, type = "VARCHAR(64)", wide = true)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33 {
        pub spec: MadeUp33Spec,
        #[index(column = "crate", path = "baz.try_", type = "VARCHAR(40)", keep, absent = "null", wide = true)]
        #[index(column = "column_4", path = "self_.macro_", json = "Self.macro", unit = "milli", wide = true)]
        #[index(column = "type", path = "override_", type = "VARCHAR(16)", wide = false)]
        pub data: MadeUp33Data,
        pub status: MadeUp33Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33Spec {
        pub field2: MadeUp33SpecField2,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33SpecField2 {
        pub type_: Vec<MadeUp33SpecField2Type>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33SpecField2Type {
        pub main: Option<bool>,
        pub it: MadeUp33SpecField2TypeIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33SpecField2TypeIt {
        pub is: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33Data {
        pub baz: MadeUp33DataBaz,
        #[serde(rename = "über")]
        pub ber: MadeUp33DataBer,
        pub field2: Vec<MadeUp33DataField2>,
        #[serde(rename = "Self")]
        pub self_: MadeUp33DataSelf,
        pub override_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33DataBaz {
        pub try_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33DataBer {
        pub bar_baz: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33DataField2 {
        pub main: Option<bool>,
        pub it: MadeUp33DataField2It,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33DataField2It {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33DataSelf {
        pub macro_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33Status {
        pub self_: MadeUp33StatusSelf,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp33StatusSelf {
        pub name: Option<String>,
    }

    /// `.spec.field2.type[main="true"].it.is`
    fn column_0(object: &MadeUp33) -> Option<i32> {
        object.spec.field2.type_.iter().find(|element| element.main == Some(true))?.it.is
    }

    /// `.data["über"].barBaz[*] | count`
    fn column_2(object: &MadeUp33) -> Option<i32> {
        object.data.ber.bar_baz.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.data.field2[main="true"].it.is`
    fn column_3(object: &MadeUp33) -> Option<String> {
        object.data.field2.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }

    /// `.status.self.name | lower`
    fn column_5(object: &MadeUp33) -> Option<String> {
        object.status.self_.name.clone().map(|text| text.to_lowercase())
    }
}

pub mod madeup34 {
    // The kind MadeUp34 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// An object of the kind MadeUp34.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp34", plural = "madeup34s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(filter = has_row)]
    #[ingest(key(column_1, column_2))]
    #[index(column = "column_1", with = column_1)]
    #[index(column = "column_2", with = column_2, type = "VARCHAR(64)", wide = false)]
    #[index(column = "column_3", with = column_3)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34 {
        #[index(column = "column_0", path = "yield_.baz", type = "VARCHAR(64)", many)]
        pub spec: MadeUp34Spec,
        pub status: MadeUp34Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34Spec {
        pub yield_: MadeUp34SpecYield,
        pub object: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34SpecYield {
        pub baz: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34Status {
        #[serde(rename = "URL")]
        pub url: MadeUp34StatusUrl,
        pub yield_: MadeUp34StatusYield,
        #[serde(rename = "bar_baz")]
        pub bar_baz: MadeUp34StatusBarBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34StatusUrl {
        pub macro_: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34StatusYield {
        #[serde(rename = "nodeIP")]
        pub node_ip: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp34StatusBarBaz {
        #[serde(rename = "URL")]
        pub url: Option<String>,
    }

    /// `.status.URL.macro`
    fn column_1(object: &MadeUp34) -> Option<i64> {
        let value_1 = || object.status.url.macro_;
        value_1().or(Some(12))
    }

    /// `.spec.object | lower`
    fn column_2(object: &MadeUp34) -> Option<String> {
        object.spec.object.clone().map(|text| text.to_lowercase())
    }

    /// `.status.yield.nodeIP | exists`
    fn column_3(object: &MadeUp34) -> Option<bool> {
        Some(object.status.yield_.node_ip.is_some())
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp34) -> bool {
        let value_1 = || object.status.bar_baz.url.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup35 {
    // The kind MadeUp35 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind MadeUp35.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp35", plural = "madeup35s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(key(clone, self))]
    #[ingest(columns(clone))]
    #[index(column = "column_1", with = column_1, type = "VARCHAR(64)", many)]
    #[index(column = "self", with = self_)]
    #[index(path = "metadata.labels", column = "clone", with = clone, type = "VARCHAR(63)", header = "The clone")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35 {
        pub spec: MadeUp35Spec,
        pub status: MadeUp35Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35Spec {
        #[serde(rename = "a.b")]
        pub a_b: MadeUp35SpecAB,
        #[serde(rename = "a b")]
        pub a_b_2: Vec<MadeUp35SpecAB2>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35SpecAB {
        pub bar: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35SpecAB2 {
        pub main: Option<bool>,
        pub it: MadeUp35SpecAB2It,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35SpecAB2It {
        pub is: Option<u64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35Status {
        pub try_: MadeUp35StatusTry,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp35StatusTry {
        pub override_: Option<String>,
    }

    /// `.metadata.labels["example.com/team"]`
    fn clone(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// `.spec["a.b"].bar[*]`
    fn column_1(object: &MadeUp35) -> Vec<String> {
        object.spec.a_b.bar.clone()
    }

    /// `.spec["a b"][main="true"].it.is`
    fn self_(object: &MadeUp35) -> Option<u64> {
        object.spec.a_b_2.iter().find(|element| element.main == Some(true))?.it.is
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp35) -> bool {
        let value_1 = || object.status.try_.override_.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup36 {
    // The kind MadeUp36 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind MadeUp36.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp36", plural = "madeup36s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(columns(column_3))]
    #[index(column = "column_2", with = column_2, many)]
    #[index(column = "column_3", with = column_3, type = "TEXT", key = false, wide = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp36 {
        #[index(column = "column_0", path = "type_", type = "VARCHAR(64)", many)]
        pub data: MadeUp36Data,
        #[index(column = "column_1", path = "crate_.foo", type = "VARCHAR(64)", many)]
        pub status: MadeUp36Status,
        #[index(column = "type", path = "type_")]
        #[index(column = "column_5", path = "yield_.field2", type = "VARCHAR(64)", many)]
        pub spec: MadeUp36Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp36Data {
        pub type_: Vec<String>,
        pub name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp36Status {
        pub crate_: MadeUp36StatusCrate,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp36StatusCrate {
        pub foo: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp36Spec {
        #[serde(rename = "a.b")]
        pub a_b: Vec<i64>,
        #[serde(rename = "URL")]
        pub url: Option<Opaque>,
        pub type_: Option<Time>,
        pub yield_: MadeUp36SpecYield,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp36SpecYield {
        pub field2: Vec<String>,
    }

    /// `.spec["a.b"][*]`
    fn column_2(object: &MadeUp36) -> Vec<i64> {
        object.spec.a_b.clone()
    }

    /// `.spec.URL | text`
    fn column_3(object: &MadeUp36) -> Option<String> {
        object.spec.url.as_ref().map(|value| value.text().into_owned())
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp36) -> bool {
        let value_1 = || object.data.name.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup37 {
    // The kind MadeUp37 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// An object of the kind MadeUp37.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp37", plural = "madeup37s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(filter = has_row)]
    #[ingest(key(value_1, column_1))]
    #[ingest(columns(value_1))]
    #[index(column = "column_1", with = column_1)]
    #[index(column = "column_2", with = column_2, type = "VARCHAR(64)", header = "The column_2")]
    #[index(path = "metadata.labels", column = "value_1", with = value_1, type = "VARCHAR(63)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp37 {
        pub data: MadeUp37Data,
        pub spec: MadeUp37Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp37Data {
        #[serde(rename = "2fa")]
        pub field_2fa: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp37Spec {
        pub self_: Option<String>,
        pub yield_: Option<String>,
    }

    /// `.metadata.labels["example.com/team"]`
    fn value_1(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// `.data.2fa | exists`
    fn column_1(object: &MadeUp37) -> Option<bool> {
        Some(object.data.field_2fa.is_some())
    }

    /// `.spec.self | lower`
    fn column_2(object: &MadeUp37) -> Option<String> {
        object.spec.self_.clone().map(|text| text.to_lowercase())
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp37) -> bool {
        let value_1 = || object.spec.yield_.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
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
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(key(column_3, aB))]
    #[ingest(columns(self))]
    #[index(column = "column_3", with = column_3, age)]
    #[index(column = "2fa", with = field_2fa, type = "TEXT", key = false, header = "The 2fa")]
    #[index(column = "aB", with = a_b, type = "VARCHAR(64)")]
    #[index(path = "metadata.annotations", column = "self", with = self_, type = "TEXT", key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38 {
        #[index(column = "column_1", path = "final_", type = "VARCHAR(64)", many)]
        #[index(column = "object", path = "baz.bar", many)]
        pub spec: MadeUp38Spec,
        #[index(column = "value_1", path = "foo_bar.crate_", type = "VARCHAR(64)", many)]
        pub status: MadeUp38Status,
        pub data: MadeUp38Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38Spec {
        pub final_: Vec<String>,
        pub baz: MadeUp38SpecBaz,
        pub dns_names: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38SpecBaz {
        pub bar: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38Status {
        pub foo_bar: MadeUp38StatusFooBar,
        pub box_: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38StatusFooBar {
        pub crate_: BTreeMap<String, String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38Data {
        pub yield_: MadeUp38DataYield,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38DataYield {
        #[serde(rename = "2fa")]
        pub field_2fa: Vec<MadeUp38DataYieldField2fa>,
        #[serde(rename = "nodeIP")]
        pub node_ip: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38DataYieldField2fa {
        pub main: Option<bool>,
        pub it: MadeUp38DataYieldField2faIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp38DataYieldField2faIt {
        pub is: Option<Time>,
    }

    /// `.metadata.annotations.note`
    fn self_(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.data.yield.2fa[main="true"].it.is`
    fn column_3(object: &MadeUp38) -> Option<Time> {
        object.data.yield_.field_2fa.iter().find(|element| element.main == Some(true))?.it.is
    }

    /// `.status.box[-2]`
    fn field_2fa(object: &MadeUp38) -> Option<String> {
        object.status.box_.iter().rev().nth(1).cloned()
    }

    /// `.spec.dnsNames | lower`
    fn a_b(object: &MadeUp38) -> Option<String> {
        object.spec.dns_names.clone().map(|text| text.to_lowercase())
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp38) -> bool {
        let value_1 = || object.data.yield_.node_ip.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup39 {
    // The kind MadeUp39 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;

    /// An object of the kind MadeUp39.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp39", plural = "madeup39s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(value_1, clone, default))]
    #[index(column = "value_1", with = value_1, type = "TEXT", key = false)]
    #[index(column = "column_3", with = column_3, type = "VARCHAR(64)", header = "The column_3")]
    #[index(column = "column_5", with = column_5, type = "TEXT", key = false, header = "The column_5")]
    #[index(column = "column_6", with = column_6, header = "The column_6")]
    #[index(path = "metadata.generation", column = "clone", wide = false)]
    #[index(path = "metadata.annotations", column = "default", with = default, type = "TEXT", key = false, wide = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39 {
        pub data: MadeUp39Data,
        pub spec: MadeUp39Spec,
        #[index(column = "2fa", path = "name", type = "VARCHAR(64)", many)]
        pub status: MadeUp39Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39Data {
        pub crate_: MadeUp39DataCrate,
        pub final_: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39DataCrate {
        pub value: Vec<MadeUp39DataCrateValue>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39DataCrateValue {
        pub main: Option<bool>,
        pub it: MadeUp39DataCrateValueIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39DataCrateValueIt {
        pub is: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39Spec {
        pub default: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39Status {
        pub name: Vec<String>,
        #[serde(rename = "_x")]
        pub x: MadeUp39StatusX,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp39StatusX {
        #[serde(rename = "a-b")]
        pub a_b: Option<Opaque>,
    }

    /// `.data.crate.value[main="true"].it.is`
    fn value_1(object: &MadeUp39) -> Option<String> {
        object.data.crate_.value.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }

    /// `.metadata.annotations.note`
    fn default(annotations: &StringMap) -> Option<String> {
        annotations.iter().find(|(key, _)| **key == *"note").map(|(_, value)| value.to_string())
    }

    /// `.spec.default | lower`
    fn column_3(object: &MadeUp39) -> Option<String> {
        object.spec.default.clone().map(|text| text.to_lowercase())
    }

    /// `.status._x.a-b | text`
    fn column_5(object: &MadeUp39) -> Option<String> {
        object.status.x.a_b.as_ref().map(|value| value.text().into_owned())
    }

    /// `.data.final[*] | count`
    fn column_6(object: &MadeUp39) -> Option<i64> {
        object.data.final_.as_ref().map_or(Some(0), |all| i64::try_from(all.count()?).ok())
    }
}

pub mod madeup40 {
    // The kind MadeUp40 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use serde::Deserialize;

    /// An object of the kind MadeUp40.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp40", plural = "madeup40s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never", companions = false)]
    #[ingest(filter = has_row)]
    #[ingest(key(column_0, column_1))]
    #[ingest(columns(column_0))]
    #[index(column = "column_0", with = column_0, type = "VARCHAR(64)", header = "The column_0", wide = true)]
    #[index(column = "column_2", with = column_2, type = "VARCHAR(768)", wide = true)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40 {
        #[index(column = "column_1", path = "final_.do_", type = "VARCHAR(16)")]
        pub status: MadeUp40Status,
        #[index(column = "column_3", path = "a_b.ber", json = "a/b.über", many)]
        #[index(column = "column_5", path = "override_", many)]
        pub data: MadeUp40Data,
        #[index(column = "column_4", path = "self_.field_2fa", json = "self.2fa", type = "VARCHAR(64)", many)]
        pub spec: MadeUp40Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40Status {
        #[serde(rename = "a b")]
        pub a_b: MadeUp40StatusAB,
        pub final_: MadeUp40StatusFinal,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40StatusAB {
        #[serde(rename = "a-b")]
        pub a_b: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40StatusFinal {
        pub do_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40Data {
        pub foo_bar: MadeUp40DataFooBar,
        #[serde(rename = "a/b")]
        pub a_b: MadeUp40DataAB,
        pub override_: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40DataFooBar {
        #[serde(rename = "bar_baz")]
        pub bar_baz: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40DataAB {
        #[serde(rename = "über")]
        pub ber: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40Spec {
        pub self_: MadeUp40SpecSelf,
        #[serde(rename = "$ref")]
        pub ref_: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp40SpecSelf {
        #[serde(rename = "2fa")]
        pub field_2fa: Vec<String>,
    }

    /// `.status["a b"].a-b | lower`
    fn column_0(object: &MadeUp40) -> Option<String> {
        object.status.a_b.a_b.clone().map(|text| text.to_lowercase())
    }

    /// `.data.fooBar.bar_baz`
    fn column_2(object: &MadeUp40) -> Option<String> {
        let value_1 = || object.data.foo_bar.bar_baz.clone();
        value_1().or_else(|| Some("none".to_owned()))
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp40) -> bool {
        let value_1 = || object.spec.ref_.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup41 {
    // The kind MadeUp41 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp41.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp41", plural = "madeup41s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(column_0, column_1, column_2))]
    #[index(column = "column_0", with = column_0, type = "TEXT", key = false)]
    #[index(column = "column_1", with = column_1, header = "The column_1")]
    #[index(column = "column_2", with = column_2)]
    #[index(column = "column_4", with = column_4, header = "The column_4")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41 {
        pub spec: MadeUp41Spec,
        pub data: MadeUp41Data,
        #[index(column = "a_b", path = "dns_names", unit = "milli")]
        pub status: MadeUp41Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41Spec {
        pub virtual_: MadeUp41SpecVirtual,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41SpecVirtual {
        pub override_: Vec<String>,
        pub bar: Vec<MadeUp41SpecVirtualBar>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41SpecVirtualBar {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41Data {
        pub gen_: Vec<bool>,
        pub bar: MadeUp41DataBar,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41DataBar {
        pub final_: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp41Status {
        pub dns_names: Option<Quantity>,
    }

    /// `.spec.virtual.override[0]`
    fn column_0(object: &MadeUp41) -> Option<String> {
        object.spec.virtual_.override_.first().cloned()
    }

    /// `.data.gen[-2]`
    fn column_1(object: &MadeUp41) -> Option<bool> {
        object.data.gen_.iter().rev().nth(1).cloned()
    }

    /// `.spec.virtual.bar[type="Ready"].last-value`
    fn column_2(object: &MadeUp41) -> Option<i32> {
        object.spec.virtual_.bar.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value
    }

    /// `.data.bar.final[*] | count`
    fn column_4(object: &MadeUp41) -> Option<i64> {
        object.data.bar.final_.as_ref().map_or(Some(0), |all| i64::try_from(all.count()?).ok())
    }
}

pub mod madeup42 {
    // The kind MadeUp42 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// An object of the kind MadeUp42.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp42", plural = "madeup42s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[ingest(filter = has_row)]
    #[ingest(columns(object, clone, self))]
    #[index(column = "type", with = type_)]
    #[index(column = "column_4", with = column_4, type = "VARCHAR(64)", many)]
    #[index(path = "metadata.labels", column = "self", with = self_, type = "VARCHAR(63)", header = "The self")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42 {
        #[index(column = "object", path = "foo.foo_bar", type = "VARCHAR(40)", first)]
        #[index(column = "clone", path = "default.name", type = "VARCHAR(16)")]
        pub data: MadeUp42Data,
        pub spec: MadeUp42Spec,
        pub status: MadeUp42Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42Data {
        pub foo: MadeUp42DataFoo,
        pub default: MadeUp42DataDefault,
        pub self_: MadeUp42DataSelf,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42DataFoo {
        pub foo_bar: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42DataDefault {
        pub name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42DataSelf {
        #[serde(rename = "a.b")]
        pub a_b: BTreeMap<String, String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42Spec {
        pub foo: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp42Status {
        pub abstract_: Option<String>,
    }

    /// `.metadata.labels["example.com/team"]`
    fn self_(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// `.spec.foo`
    fn type_(object: &MadeUp42) -> Option<f64> {
        let value_1 = || object.spec.foo;
        value_1().or(Some(2.5))
    }

    /// `.data.self["a.b"]`
    fn column_4(object: &MadeUp42) -> BTreeMap<String, String> {
        object.data.self_.a_b.clone()
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp42) -> bool {
        let value_1 = || object.status.abstract_.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
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
    #[ingest(history = "7776000s", versions = 5)]
    #[ingest(filter = has_row)]
    #[ingest(key(column_0, column_1))]
    #[ingest(columns(column_0, column_1, column_2, column_3))]
    #[index(column = "column_2", with = column_2, header = "The column_2")]
    #[index(column = "column_5", with = column_5, type = "VARCHAR(40)")]
    #[index(path = "metadata.generation", column = "column_3")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43 {
        #[index(
            column = "column_0",
            path = "a_b",
            json = "a-b",
            keep,
            absent = "null",
            header = "The column_0",
            wide = true
        )]
        #[index(column = "column_1", path = "box_")]
        pub spec: MadeUp43Spec,
        #[index(column = "object", path = "self_.url", json = "self.URL", type = "TEXT", key = false)]
        pub data: MadeUp43Data,
        pub status: MadeUp43Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43Spec {
        #[serde(rename = "a-b")]
        pub a_b: Option<bool>,
        pub box_: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43Data {
        #[serde(rename = "_x")]
        pub x: Vec<f64>,
        pub self_: MadeUp43DataSelf,
        pub baz: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43DataSelf {
        #[serde(rename = "URL")]
        pub url: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp43Status {
        #[serde(rename = "2fa")]
        pub field_2fa: Option<String>,
    }

    /// `.data._x[-1]`
    fn column_2(object: &MadeUp43) -> Option<f64> {
        object.data.x.last().cloned()
    }

    /// `.status.2fa`
    fn column_5(object: &MadeUp43) -> Option<String> {
        let value_1 = || object.status.field_2fa.clone();
        value_1().or_else(|| Some("none".to_owned()))
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp43) -> bool {
        let value_1 = || object.data.baz.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup44 {
    // The kind MadeUp44 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::object::StringMap;
    use serde::Deserialize;

    /// An object of the kind MadeUp44.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp44", plural = "madeup44s", namespaced)]
    #[ingest(absent = "null", finalizer = "never")]
    #[ingest(filter = has_row)]
    #[ingest(key(has_row, column_1))]
    #[index(column = "column_1", with = column_1, type = "VARCHAR(40)", header = "The column_1")]
    #[index(path = "metadata.labels", column = "column_2", with = column_2, type = "VARCHAR(63)")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp44 {
        #[index(column = "has_row", path = "box_")]
        pub spec: MadeUp44Spec,
        pub data: MadeUp44Data,
        pub status: MadeUp44Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp44Spec {
        pub box_: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp44Data {
        pub macro_: MadeUp44DataMacro,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp44DataMacro {
        pub box_: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp44Status {
        pub baz: Option<String>,
    }

    /// `.data.macro.box[-1]`
    fn column_1(object: &MadeUp44) -> Option<String> {
        object.data.macro_.box_.last().cloned()
    }

    /// `.metadata.labels["example.com/team"]`
    fn column_2(labels: &StringMap) -> Option<String> {
        labels.iter().find(|(key, _)| **key == *"example.com/team").map(|(_, value)| value.to_string())
    }

    /// Whether an object has a row.
    fn has_row(object: &MadeUp44) -> bool {
        let value_1 = || object.status.baz.clone();
        value_1().is_some_and(|text| ["on", "auto"].contains(&text.as_str()))
    }
}

pub mod madeup45 {
    // The kind MadeUp45 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp45.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp45", plural = "madeup45s", namespaced)]
    #[ingest(absent = "null", finalizer = "never", companions = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45 {
        #[index(column = "column_0", path = "bar_baz.value", json = "bar_baz.value", many)]
        pub spec: MadeUp45Spec,
        #[index(column = "column_1", path = "try_.x", json = "try._x", absent = "empty", header = "The column_1")]
        #[index(column = "column_2", path = "macro_", unit = "milli")]
        pub status: MadeUp45Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45Spec {
        #[serde(rename = "bar_baz")]
        pub bar_baz: MadeUp45SpecBarBaz,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45SpecBarBaz {
        pub value: Vec<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45Status {
        pub try_: MadeUp45StatusTry,
        pub macro_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp45StatusTry {
        #[serde(rename = "_x")]
        pub x: Option<i32>,
    }
}

pub mod madeup46 {
    // The kind MadeUp46 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use ingester_core::wire::Time;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp46.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp46", plural = "madeup46s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(column_0, column_1, column_2, object, column_4))]
    #[index(column = "column_1", with = column_1, type = "TEXT", key = false, header = "The column_1")]
    #[index(column = "column_2", with = column_2, type = "VARCHAR(40)")]
    #[index(path = "metadata.generation", column = "object")]
    #[index(path = "metadata.generation", column = "column_4", header = "The column_4")]
    #[allow(clippy::duplicated_attributes, reason = "columns have options in common")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46 {
        #[index(column = "column_0", path = "a_b", json = "a/b", unit = "milli")]
        pub data: MadeUp46Data,
        #[index(column = "column_5", path = "ref_.box_", json = "$ref.box", unit = "milli", header = "The column_5")]
        #[index(column = "aB", path = "bar.bar_baz", json = "bar.bar_baz")]
        pub spec: MadeUp46Spec,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46Data {
        #[serde(rename = "a/b")]
        pub a_b: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46Spec {
        #[serde(rename = "_x")]
        pub x: MadeUp46SpecX,
        #[serde(rename = "URL")]
        pub url: MadeUp46SpecUrl,
        #[serde(rename = "$ref")]
        pub ref_: MadeUp46SpecRef,
        pub bar: MadeUp46SpecBar,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46SpecX {
        pub type_: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46SpecUrl {
        #[serde(rename = "a b")]
        pub a_b: Vec<MadeUp46SpecUrlAB>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46SpecUrlAB {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46SpecRef {
        pub box_: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp46SpecBar {
        #[serde(rename = "bar_baz")]
        pub bar_baz: Option<Time>,
    }

    /// `.spec._x.type | text`
    fn column_1(object: &MadeUp46) -> Option<String> {
        object.spec.x.type_.as_ref().map(|value| value.text().into_owned())
    }

    /// `.spec.URL["a b"][type="Ready"].last-value`
    fn column_2(object: &MadeUp46) -> Option<String> {
        object.spec.url.a_b.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
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
    #[ingest(columns(clone))]
    #[index(column = "clone", with = clone, type = "VARCHAR(64)")]
    #[index(column = "column_2", with = column_2, header = "The column_2")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47 {
        #[index(column = "2fa", path = "do_")]
        pub spec: MadeUp47Spec,
        pub data: MadeUp47Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47Spec {
        #[serde(rename = "a/b")]
        pub a_b: MadeUp47SpecAB,
        pub do_: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47SpecAB {
        #[serde(rename = "a-b")]
        pub a_b: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47Data {
        #[serde(rename = "URL")]
        pub url: MadeUp47DataUrl,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47DataUrl {
        pub value: Vec<MadeUp47DataUrlValue>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47DataUrlValue {
        pub main: Option<bool>,
        pub it: MadeUp47DataUrlValueIt,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp47DataUrlValueIt {
        pub is: Option<String>,
    }

    /// `.spec["a/b"].a-b | lower`
    fn clone(object: &MadeUp47) -> Option<String> {
        object.spec.a_b.a_b.clone().map(|text| text.to_lowercase())
    }

    /// `.data.URL.value[main="true"].it.is`
    fn column_2(object: &MadeUp47) -> Option<String> {
        object.data.url.value.iter().find(|element| element.main == Some(true))?.it.is.clone()
    }
}

pub mod madeup48 {
    // The kind MadeUp48 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// An object of the kind MadeUp48.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp48", plural = "madeup48s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never", companions = false)]
    #[ingest(columns(column_0, aB, type, object))]
    #[index(column = "aB", with = a_b)]
    #[index(column = "object", with = object, type = "VARCHAR(768)")]
    #[index(path = "metadata.generation", column = "column_0", wide = false)]
    #[index(path = "metadata.generation", column = "write")]
    #[allow(clippy::duplicated_attributes, reason = "columns have options in common")]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48 {
        pub spec: MadeUp48Spec,
        #[index(column = "type", path = "field2", unit = "milli")]
        pub status: MadeUp48Status,
        #[index(column = "column_4", path = "a_b", json = "a-b", unit = "whole")]
        #[index(
            column = "column_5",
            path = "field2.abstract_",
            type = "TEXT",
            key = false,
            keep,
            absent = "null",
            header = "The column_5"
        )]
        pub data: MadeUp48Data,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48Spec {
        pub crate_: Option<IgnoredAny>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48Status {
        pub field2: Option<Quantity>,
        pub box_: MadeUp48StatusBox,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48StatusBox {
        pub gen_: Vec<MadeUp48StatusBoxGen>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48StatusBoxGen {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48Data {
        #[serde(rename = "a-b")]
        pub a_b: Option<Quantity>,
        pub field2: MadeUp48DataField2,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp48DataField2 {
        pub abstract_: Option<String>,
    }

    /// `.spec.crate | exists`
    fn a_b(object: &MadeUp48) -> Option<bool> {
        Some(object.spec.crate_.is_some())
    }

    /// `.status.box.gen[type="Ready"].last-value`
    fn object(object: &MadeUp48) -> Option<String> {
        object.status.box_.gen_.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }
}

pub mod madeup49 {
    // The kind MadeUp49 of made.up/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::quantity::Quantity;
    use serde::Deserialize;

    /// An object of the kind MadeUp49.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "made.up", version = "v1", kind = "MadeUp49", plural = "madeup49s", namespaced)]
    #[ingest(absent = "empty", finalizer = "never")]
    #[ingest(columns(column_0, column_2, column_3, write, column_5))]
    #[index(column = "column_0", with = column_0, type = "VARCHAR(64)", wide = true)]
    #[index(column = "column_2", with = column_2, type = "TEXT", key = false)]
    #[index(column = "write", with = write, type = "TEXT", key = false, header = "The write")]
    #[index(column = "column_5", with = column_5)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49 {
        #[index(column = "column_6", path = "default.field2", unit = "whole")]
        pub spec: MadeUp49Spec,
        #[index(column = "clone", path = "a_b.virtual_", json = "a-b.virtual", type = "VARCHAR(64)", many)]
        #[index(column = "column_3", path = "bar", unit = "milli", header = "The column_3", wide = false)]
        pub status: MadeUp49Status,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49Spec {
        pub box_: Option<String>,
        pub field2: Vec<MadeUp49SpecField2>,
        pub foo_bar: MadeUp49SpecFooBar,
        pub default: MadeUp49SpecDefault,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49SpecField2 {
        pub type_: Option<String>,
        #[serde(rename = "last-value")]
        pub last_value: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49SpecFooBar {
        #[serde(rename = "_x")]
        pub x: Vec<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49SpecDefault {
        pub field2: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49Status {
        #[serde(rename = "a-b")]
        pub a_b: MadeUp49StatusAB,
        pub bar_baz: MadeUp49StatusBarBaz,
        pub bar: Option<Quantity>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49StatusAB {
        pub virtual_: Vec<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct MadeUp49StatusBarBaz {
        #[serde(rename = "über")]
        pub ber: Option<String>,
    }

    /// `.spec.box | lower`
    fn column_0(object: &MadeUp49) -> Option<String> {
        object.spec.box_.clone().map(|text| text.to_lowercase())
    }

    /// `.status.barBaz["über"]`
    fn column_2(object: &MadeUp49) -> Option<String> {
        let value_1 = || object.status.bar_baz.ber.clone();
        value_1().or_else(|| Some("".to_owned()))
    }

    /// `.spec.field2[type="Ready"].last-value`
    fn write(object: &MadeUp49) -> Option<String> {
        object.spec.field2.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.last_value.clone()
    }

    /// `.spec.fooBar._x[1]`
    fn column_5(object: &MadeUp49) -> Option<i32> {
        object.spec.foo_bar.x.get(1).cloned()
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
