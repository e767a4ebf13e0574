//! Both forms have the same tables and views, and the structs give the committed migrations.

use crate::DECLARED;
use ingester_core::Registry;
use ingester_sql::ddl::Schema;
use ingester_sql::dialect::Dialect;
use kubedl_specs::{KINDS, VIEWS};

const COMPILED: Registry<'static> = Registry { kinds: KINDS, views: VIEWS };

#[test]
fn the_file_and_the_structs_have_the_same_tables_and_views() {
    let declared = Registry { kinds: &DECLARED.kinds, views: DECLARED.views };
    for dialect in Dialect::ALL {
        let [declared, compiled] =
            [declared, COMPILED].map(|registry| dialect.script(&dialect.create_all(&Schema::from_registry(registry))));
        for (declared, compiled) in declared.lines().zip(compiled.lines()) {
            assert_eq!(declared, compiled);
        }
        assert_eq!(declared, compiled);
        assert_eq!(compiled.matches("CREATE TABLE").count(), 9 * 3 + 1 + 1, "with the table of settings");
        assert_eq!(compiled.matches(" VIEW ").count() - compiled.matches("DROP VIEW ").count(), 5);
    }
}

#[test]
fn the_file_and_the_structs_say_the_same_of_each_kind() {
    assert_eq!(KINDS.len(), DECLARED.kinds.len());
    for (compiled, declared) in KINDS.iter().zip(&DECLARED.kinds) {
        let said = |kind: &ingester_core::Kind| {
            let of = kind.definition();
            let stays: Vec<_> = kind.table().columns.iter().map(|column| (column.name, column.stays)).collect();
            let names = (kind.api_version(), kind.kind().to_owned(), kind.plural().into_owned());
            (names, of.namespaced, of.immutable, of.finalizer, of.retention, stays)
        };
        assert_eq!(said(compiled), said(declared));
    }
}

#[test]
fn the_generated_sql_is_current() {
    ingester_store::migrate::assert_current(COMPILED, concat!(env!("CARGO_MANIFEST_DIR"), "/generated-sql"));
}
