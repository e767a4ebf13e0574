//! Each column knows where in its object the value is.

use crate::golden::sources;
use crd_specs::KINDS;
use ingester_core::schema::Column;
use ingester_testing::assert_paths;

#[test]
fn the_path_of_each_column_is_in_the_kinds_schema() {
    for kind in KINDS {
        for Column { name, path, computed, .. } in kind.table().indexed() {
            assert!(path.is_some() && !computed, "{kind:?}: {name} has no path");
        }
    }
    assert_paths(KINDS, [""; 0]);
}

#[test]
fn the_path_of_each_column_is_the_one_that_its_value_comes_from() {
    for kind in KINDS {
        let table = kind.table();
        for source in sources(kind) {
            let place = table.by_name(&source.column).unwrap();
            assert_eq!(table.columns[place].path.unwrap().to_string(), source.path, "{kind:?}: {}", source.column);
            assert_eq!(table.place(&source.path), Some(place), "{kind:?}: {}", source.path);
        }
        for (column, path) in [
            ("uid", "metadata.uid"),
            ("group_ver", "apiVersion"),
            ("namespace", "metadata.namespace"),
            ("name", "metadata.name"),
            ("res_version", "metadata.resourceVersion"),
            ("create_time", "metadata.creationTimestamp"),
        ] {
            assert_eq!(table.place(path), table.by_name(column), "{kind:?}: {path}");
        }
        for column in ["update_time", "delete_time", "evict_time", "ingest_version", "proto", "json"] {
            assert_eq!(table.columns[table.by_name(column).unwrap()].path, None, "{kind:?}: {column}");
        }
        assert_eq!((table.place("spec.nothing"), table.place(""), table.by_name("nothing")), (None, None, None));
    }
}
