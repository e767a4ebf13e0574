//! A form of answers about a kind.

use super::columns::{AnswerColumn, of_table};
use super::object::{object, without};
use crate::request::accept::Form;
use crate::request::parameters::Include;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_sql::query::States;
use ingester_store::query::{FoundRow, RequestedParts, STATE_PLACES, ShownState, metadata};
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;

/// Writes the rows of a kind.
#[derive(Clone, Debug)]
pub struct Renderer {
    pub(super) kind: Kind,
    pub(super) form: Form,
    pub(super) include: Include,
    pub(super) columns: Vec<AnswerColumn>,
    skip: Vec<String>,
    /// The version of a list, instead of the highest one of its rows.
    version: Option<u64>,
    pub(super) now: Micros,
}

/// The facts that are known after the last row of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTrailer {
    /// The highest version of the rows.
    pub version: u64,
    /// The token of the next page.
    pub next: Option<String>,
    /// The number of objects on later pages.
    pub remaining: Option<u64>,
}

impl ListTrailer {
    /// Records the version of a row.
    pub fn see(&mut self, row: &FoundRow) {
        if let Some(Value::UInt(version)) = row.get(base::RES_VERSION) {
            self.version = self.version.max(*version);
        }
    }
}

impl Renderer {
    /// Creates the form of answers with rows in these states, without the fields at the paths in `skip`.
    pub fn new(kind: Kind, form: Form, include: Include, states: States, skip: Vec<String>) -> Self {
        let columns = if form == Form::Table { of_table(kind.table(), states) } else { Vec::new() };
        Renderer { kind, form, include, columns, skip, version: None, now: Micros::now() }
    }

    /// Sets the version of lists; with `None`, it is the highest one of their rows.
    pub fn at(&mut self, version: Option<u64>) {
        self.version = version;
    }

    /// Returns the columns to read of each row.
    pub fn wanted(&self) -> RequestedParts {
        let mut places = vec![base::NAMESPACE, base::NAME, base::RES_VERSION];
        places.extend(self.columns.iter().flat_map(AnswerColumn::places));
        if self.form != Form::Table || self.include != Include::None {
            places.push(base::JSON);
            places.extend(STATE_PLACES);
        }
        RequestedParts { places, labels: false }
    }

    /// Returns the text before the first row of a list.
    pub fn begin(&self) -> String {
        match self.form {
            Form::Objects => {
                let kind = format!("{}List", self.kind.kind());
                let version = self.kind.api_version();
                format!(r#"{{"kind":{},"apiVersion":{},"items":["#, Json::from(kind), Json::from(version))
            }
            Form::Partial => {
                r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":["#.to_owned()
            }
            Form::Table => {
                let definitions: Vec<Json> =
                    self.columns.iter().map(|column| column.definition(self.kind.table())).collect();
                let definitions = Json::from(definitions);
                format!(r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":{definitions},"rows":["#)
            }
        }
    }

    /// Returns the text after the last row of a list.
    pub fn end(&self, rest: &ListTrailer) -> String {
        let mut metadata = Map::new();
        // Clients treat an empty version as no version at all.
        let version = self.version.unwrap_or(rest.version.max(1));
        metadata.insert("resourceVersion".into(), version.to_string().into());
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
        match self.form {
            Form::Objects => out.push_str(&self.object(row)),
            Form::Partial => self.partial(row, out),
            Form::Table => {
                let cells: Vec<Json> = self.columns.iter().map(|column| column.cell(row, self.now)).collect();
                out.push_str(r#"{"cells":"#);
                out.push_str(&Json::from(cells).to_string());
                if self.include != Include::None {
                    out.push_str(r#","object":"#);
                }
                match self.include {
                    Include::None => {}
                    Include::Metadata => self.partial(row, out),
                    Include::Object => out.push_str(&self.object(row)),
                }
                out.push('}');
            }
        }
    }

    /// Returns the object of a row, without the fields to leave out.
    pub(super) fn object<'r>(&self, row: &'r FoundRow) -> Cow<'r, str> {
        match self.skip.as_slice() {
            [] => object(&self.kind, row),
            skip => without(&object(&self.kind, row), skip).into(),
        }
    }

    /// `meta.k8s.io/v1 PartialObjectMetadata`
    fn partial(&self, row: &FoundRow, out: &mut String) {
        let metadata = match self.skip.as_slice() {
            [] => of_row(&self.kind, row),
            _ => metadata(&self.object(row)).map_or_else(|| "{}".into(), |(_, text)| text.to_owned().into()),
        };
        let kind = json!("PartialObjectMetadata");
        let version = json!("meta.k8s.io/v1");
        out.push_str(&format!(r#"{{"kind":{kind},"apiVersion":{version},"metadata":{metadata}}}"#));
    }

    /// Returns an answer that is one object.
    pub fn single(&self, row: &FoundRow) -> String {
        let mut out = String::new();
        if self.form == Form::Table {
            let mut rest = ListTrailer::default();
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

/// Returns the metadata of a row's object, without reading the whole object.
fn of_row<'r>(kind: &Kind, row: &'r FoundRow) -> Cow<'r, str> {
    metadata(row.get_text(base::JSON)).map_or("{}".into(), |(_, text)| ShownState::from_row(kind, row).metadata(text))
}
