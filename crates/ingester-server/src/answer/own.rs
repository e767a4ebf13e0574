//! The server's own objects, such as saved queries, in the same forms as other objects.

use crate::request::accept::Form;
use crate::request::parameters::Include;
use serde_json::{Value as Json, json};

/// Objects of one of this server's own kinds. All of them are in memory.
pub struct OwnObjects {
    /// `mirror.michelangelo.api/v1`
    pub api_version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The columns of a table, with their descriptions. The first column has the names.
    pub columns: &'static [(&'static str, &'static str)],
    /// The objects, each with its cells.
    pub objects: Vec<(Json, Vec<Json>)>,
}

impl OwnObjects {
    /// Returns all objects.
    pub fn list(&self, form: Form, include: Include) -> Json {
        let items = || self.objects.iter().map(|(object, _)| object);
        // Clients treat an empty version as no version at all.
        let metadata = json!({"resourceVersion": "1"});
        match form {
            Form::Objects => json!({
                "kind": format!("{}List", self.kind), "apiVersion": self.api_version, "metadata": metadata,
                "items": items().collect::<Vec<_>>(),
            }),
            Form::Partial => json!({
                "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
                "items": items().map(partial).collect::<Vec<_>>(),
            }),
            Form::Table => self.table(include),
        }
    }

    /// Returns the first object, as an answer that is one object; `None` without objects.
    pub fn first(&self, form: Form, include: Include) -> Option<Json> {
        let (object, _) = self.objects.first()?;
        Some(match form {
            Form::Objects => object.clone(),
            Form::Partial => partial(object),
            Form::Table => self.table(include),
        })
    }

    fn table(&self, include: Include) -> Json {
        let columns: Vec<Json> = (self.columns.iter().enumerate())
            .map(|(place, (name, description))| {
                let format = if place == 0 { "name" } else { "" };
                json!({"name": name, "type": "string", "format": format, "description": description, "priority": 0})
            })
            .collect();
        let row = |(object, cells): &(Json, Vec<Json>)| match include {
            Include::None => json!({"cells": cells}),
            Include::Metadata => json!({"cells": cells, "object": partial(object)}),
            Include::Object => json!({"cells": cells, "object": object}),
        };
        json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "1"},
            "columnDefinitions": columns, "rows": self.objects.iter().map(row).collect::<Vec<_>>(),
        })
    }
}

/// `meta.k8s.io/v1 PartialObjectMetadata`
fn partial(object: &Json) -> Json {
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
}
