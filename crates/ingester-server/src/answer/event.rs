//! The objects in a watch's events: made from a row, from the known facts of an object without its row, or for a bookmark.

use super::columns::AnswerColumn;
use super::object::at_version;
use super::renderer::{ListTrailer, Renderer};
use crate::request::accept::Form;
use crate::request::parameters::Include;
use ingester_core::value::Micros;
use ingester_store::query::FoundRow;
use serde_json::{Value as Json, json};

/// The known facts of an object without its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectFacts<'a> {
    /// Its namespace; empty without one.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// Its version.
    pub version: u64,
}

impl Renderer {
    /// Computes ages at this moment from now on, because a watch lasts long.
    pub fn refresh(&mut self) {
        self.now = Micros::now();
    }

    /// Returns the object of a row. A given version replaces the version in the stored text. A table has its columns only with `columns`:
    /// clients keep the columns of the first event.
    pub(crate) fn of_event(&self, row: &FoundRow, version: Option<u64>, columns: bool) -> String {
        let mut rest = ListTrailer::default();
        rest.see(row);
        let mut out = self.begin_event(columns);
        match version {
            None => self.write(row, &mut out),
            Some(version) => {
                rest.version = version;
                let cells = self.columns.iter().map(|column| column.cell(row, self.now)).collect();
                self.item(cells, at_version(&self.object(row), version), &mut out);
            }
        }
        self.end_event(&rest, out)
    }

    /// Returns the known facts of an object without its row.
    pub fn bare(&self, object: &ObjectFacts<'_>, columns: bool) -> String {
        let ObjectFacts { namespace, name, uid, version } = *object;
        let mut metadata = json!({"name": name, "uid": uid, "resourceVersion": version.to_string()});
        if !namespace.is_empty() {
            metadata["namespace"] = namespace.into();
        }
        // Typed clients do not accept an object without a spec.
        self.made(json!({"metadata": metadata, "spec": {}}), name, version, columns)
    }

    /// Returns a bookmark at this version. The bookmark after the initial events is marked as such.
    pub fn bookmark(&self, version: u64, ends_initial_events: bool) -> String {
        let mut metadata = json!({"resourceVersion": version.to_string(), "creationTimestamp": null});
        if ends_initial_events {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        self.made(json!({"metadata": metadata}), "", version, false)
    }

    /// Returns this object, with the kind's `apiVersion` and `kind`.
    fn made(&self, mut object: Json, name: &str, version: u64, columns: bool) -> String {
        (object["kind"], object["apiVersion"]) = (self.kind.kind().into(), self.kind.api_version().into());
        let cell = |column: &AnswerColumn| if column.is_name() { Json::from(name) } else { Json::Null };
        let mut out = self.begin_event(columns);
        self.item(self.columns.iter().map(cell).collect(), object, &mut out);
        self.end_event(&ListTrailer { version, ..ListTrailer::default() }, out)
    }

    /// Writes an item with these cells and this object; the form uses the parts that it shows.
    fn item(&self, cells: Vec<Json>, object: Json, out: &mut String) {
        let partial = |object: Json| {
            let metadata = &object["metadata"];
            json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
        };
        let item = match (self.form, self.include) {
            (Form::Objects, _) => object,
            (Form::Partial, _) => partial(object),
            (Form::Table, Include::None) => json!({"cells": cells}),
            (Form::Table, Include::Metadata) => json!({"cells": cells, "object": partial(object)}),
            (Form::Table, Include::Object) => json!({"cells": cells, "object": object}),
        };
        out.push_str(&item.to_string());
    }

    fn begin_event(&self, columns: bool) -> String {
        match self.form {
            Form::Table if columns => self.begin(),
            Form::Table => {
                r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[],"rows":["#.to_owned()
            }
            Form::Objects | Form::Partial => String::new(),
        }
    }

    fn end_event(&self, rest: &ListTrailer, mut out: String) -> String {
        if self.form == Form::Table {
            out.push_str(&self.end(rest));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::ObjectFacts;
    use crate::answer::Renderer;
    use crate::request::accept::Form;
    use crate::request::parameters::Include;
    use crd_specs::KINDS;
    use ingester_core::kind::find;
    use ingester_sql::query::States;
    use serde_json::{Value as Json, json};

    fn renderer(form: Form) -> Renderer {
        let kind = find(KINDS, "michelangelo.api/v2", "Model").unwrap();
        Renderer::new(*kind, form, Include::Metadata, States::default(), Vec::new())
    }

    fn json(text: &str) -> Json {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    const GONE: ObjectFacts<'_> = ObjectFacts { namespace: "ml", name: "a", uid: "u", version: 7 };

    #[test]
    fn an_object_without_its_row_has_its_metadata_and_can_be_decoded() {
        let metadata = json!({"namespace": "ml", "name": "a", "uid": "u", "resourceVersion": "7"});
        let object = json(&renderer(Form::Objects).bare(&GONE, true));
        let expected = json!({"kind": "Model", "apiVersion": "michelangelo.api/v2", "metadata": metadata, "spec": {}});
        assert_eq!(object, expected);
        serde_json::from_value::<crd_specs::model::Model>(object).expect("kube's clients decode it");
        let partial = json(&renderer(Form::Partial).bare(&GONE, true));
        assert_eq!((&partial["kind"], &partial["metadata"]), (&json!("PartialObjectMetadata"), &metadata));
        let table = json(&renderer(Form::Table).bare(&GONE, true));
        let row = &table["rows"][0];
        assert_eq!((&row["cells"][0], &row["object"]["metadata"]), (&json!("a"), &metadata));
        let columns = table["columnDefinitions"].as_array().unwrap().len();
        assert_eq!(row["cells"].as_array().unwrap().len(), columns);
        let later = json(&renderer(Form::Table).bare(&GONE, false));
        assert_eq!((&later["columnDefinitions"], &later["rows"]), (&json!([]), &table["rows"]));
    }

    #[test]
    fn a_bookmark_has_a_version_and_says_what_ends_with_it() {
        for (form, at) in
            [(Form::Objects, "/metadata"), (Form::Partial, "/metadata"), (Form::Table, "/rows/0/object/metadata")]
        {
            let bookmark = |ends: bool| json(&renderer(form).bookmark(5, ends)).pointer(at).cloned().unwrap();
            assert_eq!(
                (&bookmark(false)["resourceVersion"], &bookmark(false)["annotations"]),
                (&json!("5"), &Json::Null)
            );
            assert_eq!(bookmark(true)["annotations"], json!({"k8s.io/initial-events-end": "true"}));
        }
        assert_eq!(json(&renderer(Form::Table).bookmark(5, true))["metadata"]["resourceVersion"], "5");
    }
}
