//! One mistake, two spellings: above each struct the same columns as a file has them (`//-`). The test
//! `a_struct_and_a_file_are_told_the_same_sentence` reads both.

use ingester_core::Ingestable;
use serde::Deserialize;
use std::collections::BTreeMap;

//- columns: [{column: a b, path: .a, type: VARCHAR(255)}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "Characters", namespaced)]
struct Characters {
    #[index(column = "a b")] //~ ERROR `a b` cannot be the name of a column: use letters and digits of ASCII and underscores in `column`
    a: String,
}

//- columns: [{column: a_name_that_is_one_byte_longer_than_what_every_database_can_take_, path: .a, type: VARCHAR(255)}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "Longer", namespaced)]
struct Longer {
    #[index(column = "a_name_that_is_one_byte_longer_than_what_every_database_can_take_")] //~ ERROR column `a_name_that_is_one_byte_longer_than_what_every_database_can_take_` has 65 bytes, an identifier may have 63 (on PostgreSQL): give a shorter name with `column`
    a: String,
}

//- columns: [{column: Name, path: .a, type: VARCHAR(255)}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "OfEveryTable", namespaced)]
struct OfEveryTable {
    #[index(column = "Name")] //~ ERROR column `name` is one of the columns that every table has: give this one another name with `column`
    a: String,
}

//- columns: [{column: namespace_name, path: .a, type: VARCHAR(255)}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "KeyOfEveryTable", namespaced)]
struct KeyOfEveryTable {
    #[index(column = "namespace_name")] //~ ERROR key `namespace_name` is one of the keys that every table has: give this column another name with `column`, or set `key` to false
    a: String,
}

//- columns: [{column: a, path: .a, type: VARCHAR(255)}, {column: A, path: .b, type: VARCHAR(255)}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "Twice", namespaced)]
struct Twice {
    #[index]
    a: String,
    #[index(column = "A")] //~ ERROR column `A` is made by field `a` already: give one of them another name with `column`
    b: String,
}

//- columns: [{column: a, path: .a, type: TEXT}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "Unbounded", namespaced)]
struct Unbounded {
    #[index(type = "TEXT")] //~ ERROR column `a` cannot have a key, its type has no bounded length: set `type` to VARCHAR(n), or `key` to false
    a: String,
}

//- columns: [{column: a, path: .a, type: VARCHAR(769)}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "LongKey", namespaced)]
struct LongKey {
    #[index(type = "VARCHAR(769)")] //~ ERROR the key on `a` takes 3076 bytes (4 a character), InnoDB allows 3072: set `type` to a shorter one (VARCHAR(768) is the longest), or `key` to false
    a: String,
}

//- columns: [{column: a, path: '.a[*]', type: DOUBLE, many: true}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "ManyRatios", namespaced)]
struct ManyRatios {
    #[index(many)]
    a: Vec<f64>, //~ ERROR column `a` of many values: they may be texts, integers or times: make these of them (in Rust by `with`, in a file by `| text` behind the path)
}

//- columns: [{column: a, path: '.a[*]', type: TEXT, many: true}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "ManyTexts", namespaced)]
struct ManyTexts {
    #[index(many, type = "TEXT")] //~ ERROR column `a` of many values: they are in a key, and their type has no bounded length: set `type` to VARCHAR(n)
    a: Vec<String>,
}

//- columns: [{column: a, path: .a, type: VARCHAR(452), many: true}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "ManyLong", namespaced)]
struct ManyLong {
    #[index(many, type = "VARCHAR(452)")] //~ ERROR column `a` of many values: their key takes 3076 bytes (4 a character), InnoDB allows 3072: set `type` to a shorter one (VARCHAR(451) is the longest)
    a: BTreeMap<String, String>,
}

//- columns: [{column: labels, path: .a, type: VARCHAR(255), many: true}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "Labelled", namespaced)] //~ ERROR column `labels` of many values would have the table of the object's labels: give it another name with `column`
struct Labelled {
    #[index(many, column = "labels")]
    a: BTreeMap<String, String>,
}

//- table: a_table_with_a_name_of_almost_fifty_bytes
//- columns: [{column: and_a_column, path: .a, type: VARCHAR(255), many: true}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "Long", namespaced, table = "a_table_with_a_name_of_almost_fifty_bytes")] //~ ERROR column `and_a_column` of many values has the table `a_table_with_a_name_of_almost_fifty_bytes_and_a_column`, a name of 54 bytes, and it may have 52: give a shorter one with `column` or `table`
struct Long {
    #[index(many, column = "and_a_column")]
    a: BTreeMap<String, String>,
}

//- table: ingester
//- columns: [{column: rejects, path: .a, type: VARCHAR(255), many: true}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "Own", namespaced, table = "ingester")] //~ ERROR column `rejects` of many values has the table `ingester_rejects`, which is one of the ingester's own: give another name with `column` or `table`
struct Own {
    #[index(many, column = "rejects")]
    a: BTreeMap<String, String>,
}

//- columns: [{column: a, path: .a, type: VARCHAR(255), default: x, keep: true}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "KeptInVain", namespaced)]
struct KeptInVain {
    #[index(keep)] //~ ERROR `keep` is for values that can be absent, and `a` always has one: leave `keep` out, or let the value be absent (in Rust as an `Option`, in a file without `default`, `count` or `exists`)
    a: String,
}

//- absent: empty
//- columns: [{column: a, path: .a, type: VARCHAR(255), keep: true}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "KeptOfEmpty", namespaced, absent = "empty")]
struct KeptOfEmpty {
    #[index(keep)]
    a: Option<String>, //~ ERROR `keep` of column `a` is for values that can be absent, and if `absent` is empty none is: set `absent` to null for it
}

//- columns: [{column: a, path: .a, type: VARCHAR(255), was: A}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "WasPresent", namespaced)]
struct WasPresent {
    #[index(was = "A")] //~ ERROR `A` is the column's name now: `was` is for a former one, leave it out
    a: String,
}

//- columns: [{column: a, path: .a, type: VARCHAR(255), was: b}, {column: b, path: .b, type: VARCHAR(255)}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "WasOfOther", namespaced)]
struct WasOfOther {
    #[index(was = "b")] //~ ERROR `b` is the name of another column now, whose values would go to this one: give that one another name
    a: String,
    #[index]
    b: String,
}

//- columns: [{column: a, path: .a, type: VARCHAR(255), was: c}, {column: b, path: .b, type: VARCHAR(255), was: C}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "WasTwice", namespaced)]
struct WasTwice {
    #[index(was = "c")]
    a: String,
    #[index(was = "C")] //~ ERROR `C` is the former name of another column already: leave one of them out
    b: String,
}

//- columns: [{column: a, path: .a, type: VARCHAR(255), was: uid}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "WasBase", namespaced)]
struct WasBase {
    #[index(was = "uid")] //~ ERROR `uid` is a column of every table, which keeps its name
    a: String,
}

//- columns: [{column: a, path: .a, type: VARCHAR(255), was: a b}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "WasCharacters", namespaced)]
struct WasCharacters {
    #[index(was = "a b")] //~ ERROR `a b` cannot be the name of a column: use letters and digits of ASCII and underscores in `was`
    a: String,
}

//- keys: [[namespace, b]]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "KeyUnknown", namespaced, key(namespace, b))] //~ ERROR `b` is not a column of this table: a key names columns of the kind, and those that every table has
struct KeyUnknown {}

//- keys: [[uid, UID]]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "KeyTwice", namespaced, key(uid, UID))] //~ ERROR column `UID` is in this key twice
struct KeyTwice {}

//- keys: [[uid, json]]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "KeyUnbounded", namespaced, key(uid, json))] //~ ERROR column `json` cannot stand in a key, its type has no bounded length: set `type` to VARCHAR(n), or leave it out
struct KeyUnbounded {}

//- columns: [{column: a, path: .a, type: VARCHAR(255), many: true}]
//- keys: [[uid, a]]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "KeyOfMany", namespaced, key(uid, a))] //~ ERROR column `a` cannot stand in a key: its many values are in a table of their own, which has keys already; leave it out
struct KeyOfMany {
    #[index(many)]
    a: BTreeMap<String, String>,
}

//- columns: [{column: a, path: .a, type: VARCHAR(768)}]
//- keys: [[a, name]]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "KeyBytes", namespaced)]
#[ingest(key(a, name))] //~ ERROR this key takes 4096 bytes (4 a character), InnoDB allows 3072: use fewer or shorter columns
struct KeyBytes {
    #[index(type = "VARCHAR(768)")]
    a: String,
}

//- columns: [{column: a, path: .a, type: BOOLEAN}, {column: b, path: .b, type: BOOLEAN}, {column: c, path: .c, type: BOOLEAN}, {column: d, path: .d, type: BOOLEAN}, {column: e, path: .e, type: BOOLEAN}, {column: f, path: .f, type: BOOLEAN}, {column: g, path: .g, type: BOOLEAN}, {column: h, path: .h, type: BOOLEAN}]
//- keys: [[uid, group_ver, res_version, create_time, update_time, delete_time, evict_time, evict_confirmed, ingest_version, a, b, c, d, e, f, g, h]]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "KeyColumns", namespaced)]
#[rustfmt::skip]
#[ingest(key(uid, group_ver, res_version, create_time, update_time, delete_time, evict_time, evict_confirmed, ingest_version, a, b, c, d, e, f, g, h))] //~ ERROR this key has 17 columns, InnoDB allows 16: use fewer
struct KeyColumns {
    #[index] a: bool, #[index] b: bool, #[index] c: bool, #[index] d: bool, #[index] e: bool, #[index] f: bool, #[index] g: bool, #[index] h: bool,
}

//- keys: [[namespace, name]]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "KeyThere", namespaced)]
#[ingest(key(namespace, name))] //~ ERROR key `namespace_name` is there already: leave this one out, or give the column of that name another one with `column`
struct KeyThere {}

//- table: widgets_of_a_kind_that_has_a_name_with_many_letters_x
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "LongTable", namespaced, table = "widgets_of_a_kind_that_has_a_name_with_many_letters_x")] //~ ERROR table `widgets_of_a_kind_that_has_a_name_with_many_letters_x` has 53 bytes and may have 51, as `_annotations` is added for a companion and an identifier may have 63 (on PostgreSQL): give a shorter name with `table`
struct LongTable {}

//- table: drop table
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "DropTable", namespaced, table = "drop table")] //~ ERROR `drop table` cannot be the name of a table: use letters and digits of ASCII and underscores in `table`
struct DropTable {}

//- table: Ingester_things
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "Thing", namespaced, table = "Ingester_things")] //~ ERROR tables that begin with `ingester_` are those of the ingester: give another name with `table`
struct Thing {}

//- was: wastable
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "WasTable", namespaced)]
#[ingest(was = "wastable")] //~ ERROR `wastable` is the table's name now: `was` is for a former one, leave it out
struct WasTable {}

//- columns: [{column: a, path: .a, type: VARCHAR(8000), key: false}, {column: b, path: .b, type: VARCHAR(8000), key: false}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "LongRow", namespaced)] //~ ERROR a row of table `longrow` takes up to 66899 bytes (4 a character), MySQL allows 65535: make VARCHAR columns shorter or TEXT
struct LongRow {
    #[index(type = "VARCHAR(8000)", key = false)]
    a: String,
    #[index(type = "VARCHAR(8000)", key = false)]
    b: String,
}

//- evict: [{when: {labelSelector: done}}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "EvictNameless", namespaced)]
#[ingest(evict(when(label_selector = "done")))] //~ ERROR `name` is missing: messages name the rule by it
struct EvictNameless {}

//- evict: [{name: a, after: 1d}, {name: a, after: 2d}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "EvictTwice", namespaced)]
#[ingest(evict(name = "a", after = "1d"))]
#[ingest(evict(name = "a", after = "2d"))] //~ ERROR another rule of this kind is named `a`: give this one another name
struct EvictTwice {}

//- evict: [{name: a, namespaces: [ml]}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "EvictAll", namespaced)]
#[ingest(evict(name = "a", namespaces = ["ml"]))] //~ ERROR every object would leave: say which with `when` or `after`, or how many of the last ones stay
struct EvictAll {}

//- evict: [{name: a, when: {labelSelector: done}, since: create_time}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "EvictSinceAlone", namespaced)]
#[ingest(evict(name = "a", when(label_selector = "done"), since = "create_time"))] //~ ERROR `since` says what `after` counts from: add `after`, or leave out `since`
struct EvictSinceAlone {}

//- columns: [{column: a, path: .a, type: VARCHAR(255)}]
//- evict: [{name: a, when: {fieldSelector: 'a=1,spec.b!=c'}}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "EvictField", namespaced)]
#[ingest(evict(name = "a", when(field_selector = "a=1,spec.b!=c")))] //~ ERROR there is no column for the field `spec.b`: name a column, or the path of one (`ingester kinds -o wide` lists them)
struct EvictField {
    #[index]
    a: String,
}

//- evict: [{name: a, after: 1d, since: namespace}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "EvictNotATime", namespaced)]
#[ingest(evict(name = "a", after = "1d", since = "namespace"))] //~ ERROR `since`: the column `namespace` is not a time: name one of type DATETIME (`ingester kinds -o wide` lists them)
struct EvictNotATime {}

//- evict: [{name: a, keepLast: {count: 1, by: [spec.b]}}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "EvictBy", namespaced)]
#[ingest(evict(name = "a", keep_last(count = 1, by = ["spec.b"])))] //~ ERROR there is no column for the field `spec.b`: name a column, or the path of one (`ingester kinds -o wide` lists them)
struct EvictBy {}

//- evict: [{name: a, keepLast: {count: 100001}}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "EvictCount", namespaced)]
#[ingest(evict(name = "a", keep_last(count = 100001)))] //~ ERROR `count` is how many objects of each group stay: use a number from 1 to 100000
struct EvictCount {}

//- evict: [{name: a, after: 1d, namespaces: [Ml]}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "EvictNamespace", namespaced)]
#[ingest(evict(name = "a", after = "1d", namespaces = ["Ml"]))] //~ ERROR `Ml` is not the name of a namespace: use at most 63 lower-case letters, digits and `-`
struct EvictNamespace {}

//- evictable: false
//- evict: [{name: a, after: 1d}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "EvictUnevictable", namespaced, evictable = false)]
#[ingest(evict(name = "a", after = "1d"))] //~ ERROR objects of this kind are not evictable (`evictable` is false): take the rule away
struct EvictUnevictable {}

//- immutable: true
//- evict: [{name: a, after: 1d}]
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "EvictImmutable", namespaced, immutable)]
#[ingest(evict(name = "a", after = "1d"))] //~ ERROR every object of this kind leaves etcd already: take the rule away
struct EvictImmutable {}

//- columns: [{column: change, path: .a, type: VARCHAR(255)}]
//- history: 90d
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "OfHistory", namespaced)]
#[ingest(history = "90d")] //~ ERROR column `change` is one of the columns that a table of history has: give this one another name with `column`, or leave `history` out
struct OfHistory {
    #[index]
    change: String,
}

//- columns: [{column: history, path: '.a[*]', type: VARCHAR(255), many: true}]
//- history: {keep: forever, versions: 2}
#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "ManyOfHistory", namespaced)]
#[ingest(history = "forever", versions = 2)] //~ ERROR column `history` of many values would have the table of the kind's history: give it another name with `column`, or leave `history` out
struct ManyOfHistory {
    #[index(column = "history", many)]
    a: Vec<String>,
}

fn main() {}
