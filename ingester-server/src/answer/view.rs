//! A form of answers about a kind.

use super::object::{metadata, without};
use super::table::{self, Cell};
use crate::request::accept::Form;
use crate::request::parameters::Include;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_sql::query::States;
use ingester_store::query::{FoundRow, Wanted};
use serde_json::{Map, Value as Json, json};

/// How rows of a kind are written.
#[derive(Clone, Debug)]
pub struct View {
    kind: Kind,
    form: Form,
    include: Include,
    cells: Vec<Cell>,
    skip: Vec<String>,
    now: Micros,
}

/// What is known after the last row of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// The highest version of the rows.
    pub version: u64,
    /// The token of the next page.
    pub next: Option<String>,
    /// How many objects come on later pages.
    pub remaining: Option<u64>,
}

impl Rest {
    /// Takes note of a row.
    pub fn see(&mut self, row: &FoundRow) {
        if let Some(Value::UInt(version)) = row.get(base::RES_VERSION) {
            self.version = self.version.max(*version);
        }
    }
}

impl View {
    /// The form of answers with rows in these states, without the fields at the paths of `skip`.
    pub fn new(kind: Kind, form: Form, include: Include, states: States, skip: Vec<String>) -> Self {
        let cells = if form == Form::Table { table::cells(kind.table(), states) } else { Vec::new() };
        View { kind, form, include, cells, skip, now: Micros::now() }
    }

    /// What is read of each row.
    pub fn wanted(&self) -> Wanted {
        let mut places = vec![base::NAMESPACE, base::NAME, base::RES_VERSION];
        if self.form == Form::Table {
            places.extend([base::CREATE_TIME, base::DELETE_TIME, base::EVICT_TIME]);
            places.extend(self.cells.iter().filter_map(|cell| cell.place()));
        }
        if self.form != Form::Table || self.include != Include::None {
            places.push(base::JSON);
        }
        Wanted { places, labels: false }
    }

    /// What comes before the first row of a list.
    pub fn begin(&self) -> String {
        match self.form {
            Form::Objects => {
                let (kind, version) = (format!("{}List", self.kind.kind()), self.kind.api_version());
                format!(r#"{{"kind":{},"apiVersion":{},"items":["#, Json::from(kind), Json::from(version))
            }
            Form::Partial => {
                r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":["#.to_owned()
            }
            Form::Table => {
                let definitions: Vec<Json> = self.cells.iter().map(|cell| cell.definition(self.kind.table())).collect();
                let definitions = Json::from(definitions);
                format!(r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":{definitions},"rows":["#)
            }
        }
    }

    /// What comes after the last row of a list.
    pub fn end(&self, rest: &Rest) -> String {
        let mut metadata = Map::new();
        // Clients take an empty version for none at all.
        metadata.insert("resourceVersion".into(), rest.version.max(1).to_string().into());
        if let Some(next) = &rest.next {
            metadata.insert("continue".into(), next.as_str().into());
        }
        if let Some(remaining) = rest.remaining.filter(|remaining| *remaining > 0) {
            metadata.insert("remainingItemCount".into(), remaining.into());
        }
        format!(r#"],"metadata":{}}}"#, Json::from(metadata))
    }

    /// Writes a row of a list.
    pub fn write(&self, row: &FoundRow, out: &mut String) {
        let text = row.text(base::JSON);
        match self.form {
            Form::Objects if self.skip.is_empty() => out.push_str(text),
            Form::Objects => out.push_str(&without(text, &self.skip)),
            Form::Partial => partial(text, out),
            Form::Table => {
                let cells: Vec<Json> = self.cells.iter().map(|cell| cell.of(row, self.now)).collect();
                out.push_str(r#"{"cells":"#);
                out.push_str(&Json::from(cells).to_string());
                match self.include {
                    Include::None => {}
                    Include::Metadata => {
                        out.push_str(r#","object":"#);
                        partial(text, out);
                    }
                    Include::Object => {
                        out.push_str(r#","object":"#);
                        out.push_str(text);
                    }
                }
                out.push('}');
            }
        }
    }

    /// The answer that is one object.
    pub fn single(&self, row: &FoundRow) -> String {
        let mut out = String::new();
        if self.form == Form::Table {
            let mut rest = Rest::default();
            rest.see(row);
            out.push_str(&self.begin());
            self.write(row, &mut out);
            out.push_str(&self.end(&rest));
        } else {
            self.write(row, &mut out);
        }
        out
    }
}

/// `meta.k8s.io/v1 PartialObjectMetadata`
fn partial(text: &str, out: &mut String) {
    let (kind, version) = (json!("PartialObjectMetadata"), json!("meta.k8s.io/v1"));
    out.push_str(&format!(r#"{{"kind":{kind},"apiVersion":{version},"metadata":{}}}"#, metadata(text)));
}
