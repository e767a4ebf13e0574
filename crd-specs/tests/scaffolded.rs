//! Structs that `ingester scaffold --rust` writes: they compile as they are, and give the same rows as the file of kinds.

#![allow(unreachable_pub, reason = "structs are as they are written for a library")]

use crate::objects::read;
use ingester_core::Kind;
use ingester_declare::declare::{crds, kinds, scaffold, scaffold_rust};
use ingester_declare::documents::documents;
use std::path::PathBuf;

#[path = "../../tests/crds/rust/application.rs"]
mod application;
#[path = "../../tests/crds/rust/certificate.rs"]
mod certificate;
#[path = "../../tests/crds/rust/destinationrule.rs"]
mod destinationrule;
#[path = "../../tests/crds/rust/prometheus.rs"]
mod prometheus;

const SCAFFOLDED: [(&str, &str, Kind); 4] = [
    ("certificate", "certificates.cert-manager.io", Kind::of::<certificate::Certificate>()),
    ("application", "applications.argoproj.io", Kind::of::<application::Application>()),
    ("prometheus", "prometheuses.monitoring.coreos.com", Kind::of::<prometheus::Prometheus>()),
    ("destinationrule", "destinationrules.networking.istio.io", Kind::of::<destinationrule::DestinationRule>()),
];

fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/crds")).join(name)
}

#[test]
fn a_scaffolded_struct_is_current_and_gives_the_rows_of_the_scaffolded_file() {
    for (name, resource, compiled) in SCAFFOLDED {
        let definitions = crds(&std::fs::read(file(&format!("{resource}.yaml"))).unwrap()).unwrap();
        let written = scaffold_rust(&definitions[0]).unwrap();
        let place = file(&format!("rust/{name}.rs"));
        if std::env::var_os("INGESTER_UPDATE").is_some() {
            std::fs::write(&place, &written).unwrap();
        }
        // The file is formatted.
        let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect::<String>();
        let stored = std::fs::read_to_string(&place).unwrap_or_default();
        assert_eq!(bare(&stored), bare(&written), "{name}: INGESTER_UPDATE=1 writes it");

        let yaml = scaffold(&definitions).unwrap();
        let declared = kinds("kinds.yaml", &yaml, &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap().kinds[0];
        let shape = |kind: &Kind| {
            let table = kind.table();
            let columns = table.indexed().iter().map(|column| format!("{} {}", column.name, column.ty));
            let mut shape: Vec<String> = columns.chain(table.keys.iter().map(|key| key.name.to_string())).collect();
            shape.sort();
            shape
        };
        assert_eq!(shape(&compiled), shape(&declared), "{name}");
        let mut rows = 0;
        for document in documents(std::fs::read(file(&format!("objects/{name}.yaml"))).unwrap().as_slice()) {
            let text = document.unwrap().content.unwrap();
            let [by_struct, by_file] =
                [&compiled, &declared].map(|kind| read(kind, &text).unwrap_or_else(|error| panic!("{name}: {error}")));
            for column in declared.table().indexed() {
                let of = |kind: &Kind, row: &ingester_core::row::Row| {
                    row.values[kind.table().by_name(column.name.as_str()).unwrap()].clone()
                };
                assert_eq!(of(&compiled, &by_struct), of(&declared, &by_file), "{name} {}", column.name);
            }
            rows += 1;
        }
        assert!(rows >= 4);
    }
}
