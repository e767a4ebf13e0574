//! The media types that a client accepts.

use crate::status::Status;

/// The form in which objects are returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As they are stored.
    Objects,
    /// `meta.k8s.io/v1 Table`
    Table,
    /// `meta.k8s.io/v1 PartialObjectMetadata`, or the list of it.
    Partial,
}

/// The offered types, for clients that accept none of them.
pub(crate) const OFFERED: &str = "application/json, application/json;as=Table;g=meta.k8s.io;v=v1, \
                           application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, \
                           application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// The alternative to plain JSON for a document of discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherForm {
    /// Groups with their resources, in one document.
    Aggregated,
    /// OpenAPI v2 in protobuf.
    Protobuf,
}

impl OtherForm {
    /// Returns its media type.
    pub const fn media(self) -> &'static str {
        match self {
            OtherForm::Aggregated => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            OtherForm::Protobuf => "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
        }
    }

    fn is(self, clause: &Clause<'_>) -> bool {
        match self {
            OtherForm::Aggregated => {
                clause.is_json()
                    && clause.get("as") == "APIGroupDiscoveryList"
                    && clause.get("g") == "apidiscovery.k8s.io"
                    && clause.get("v") == "v2"
            }
            // kubectl sends the `@`, which is not valid in a media type.
            OtherForm::Protobuf => clause.media.replace('@', ".") == self.media(),
        }
    }
}

/// One media type with its parameters.
struct Clause<'a> {
    media: String,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
}

impl Clause<'_> {
    fn is_json(&self) -> bool {
        matches!(self.media.as_str(), "application/json" | "application/*" | "*/*")
    }

    fn get(&self, name: &str) -> &str {
        self.parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
    }
}

/// Returns the clauses of an `Accept` header, the most wanted first.
fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = accept
        .split(',')
        .filter_map(|clause| {
            let mut parts = clause.split(';').map(str::trim);
            let media = parts.next().filter(|media| !media.is_empty())?.to_ascii_lowercase();
            let parameters: Vec<_> = parts.filter_map(|part| part.split_once('=')).collect();
            let quality = parameters.iter().find(|(key, _)| *key == "q").map_or(1.0, |(_, q)| q.parse().unwrap_or(0.0));
            (quality > 0.0).then_some(Clause { media, parameters, quality })
        })
        .collect();
    clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality));
    clauses
}

/// Returns the form of objects for a client that sends this `Accept`; an empty one accepts everything.
///
/// # Errors
/// 406 if it accepts no offered type. Kubernetes' clients list several forms, and take the first available one.
pub fn form(accept: &str) -> Result<Form, Status> {
    if accept.trim().is_empty() {
        return Ok(Form::Objects);
    }
    let of = |clause: &Clause<'_>| {
        let meta = clause.get("g") == "meta.k8s.io" && clause.get("v") == "v1";
        match clause.get("as") {
            "" if clause.is_json() => Some(Form::Objects),
            "Table" if clause.is_json() && meta => Some(Form::Table),
            "PartialObjectMetadata" | "PartialObjectMetadataList" if clause.is_json() && meta => Some(Form::Partial),
            _ => None,
        }
    };
    clauses(accept).iter().find_map(of).ok_or_else(|| Status::not_acceptable(OFFERED))
}

/// Chooses between plain JSON and the other form of a document of discovery.
///
/// # Errors
/// 406 if neither is accepted.
pub fn other_form(accept: &str, other: Option<OtherForm>) -> Result<Option<OtherForm>, Status> {
    let Some(other) = other else { return plain(accept).map(|()| None) };
    if accept.trim().is_empty() {
        return Ok(None);
    }
    let of = |clause: &Clause<'_>| match clause.get("as") {
        _ if other.is(clause) => Some(Some(other)),
        "" if clause.is_json() => Some(None),
        _ => None,
    };
    let found = clauses(accept).iter().find_map(of);
    found.ok_or_else(|| Status::not_acceptable(&format!("application/json, {}", other.media())))
}

/// Checks that plain JSON is accepted.
///
/// # Errors
/// 406 if it is not.
pub fn plain(accept: &str) -> Result<(), Status> {
    let json = accept.trim().is_empty() || clauses(accept).iter().any(|clause| clause.is_json());
    if json { Ok(()) } else { Err(Status::not_acceptable("application/json")) }
}

#[cfg(test)]
mod tests {
    use super::{Form, OtherForm, form, other_form};

    #[test]
    fn the_first_form_that_there_is_is_taken() {
        for (accept, expected) in [
            ("", Some(Form::Objects)),
            ("*/*", Some(Form::Objects)),
            ("application/json", Some(Form::Objects)),
            ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", Some(Form::Table)),
            ("application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", Some(Form::Objects)),
            ("application/json; as=PartialObjectMetadataList; g=meta.k8s.io; v=v1", Some(Form::Partial)),
            ("application/vnd.kubernetes.protobuf, application/json", Some(Form::Objects)),
            ("application/json;q=0.5, application/json;as=Table;v=v1;g=meta.k8s.io;q=0.8", Some(Form::Table)),
            ("application/json;q=0", None),
            ("application/vnd.kubernetes.protobuf", None),
            ("application/yaml", None),
            ("application/json;as=Table;v=v9;g=meta.k8s.io", None),
            (";;;,,,=", None),
        ] {
            assert_eq!(form(accept).ok(), expected, "{accept}");
        }
        assert_eq!(form("text/html").unwrap_err().code.as_u16(), 406);
    }

    #[test]
    fn aggregated_discovery_is_given_to_those_who_ask_for_it() {
        let kubectl = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
        let aggregated = |accept: &str| other_form(accept, Some(OtherForm::Aggregated)).ok();
        assert_eq!(aggregated(kubectl), Some(Some(OtherForm::Aggregated)));
        assert_eq!(aggregated("application/json"), Some(None));
        assert_eq!(aggregated(""), Some(None));
        assert_eq!(aggregated("application/vnd.kubernetes.protobuf"), None);
    }

    #[test]
    fn openapi_is_protobuf_for_clients_that_want_that() {
        let v2 = |accept: &str| other_form(accept, Some(OtherForm::Protobuf)).ok();
        let of_kubectl = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
        for (accept, expected) in [
            (of_kubectl, Some(Some(OtherForm::Protobuf))),
            (OtherForm::Protobuf.media(), Some(Some(OtherForm::Protobuf))),
            ("", Some(None)),
            ("*/*", Some(None)),
            ("application/json, application/com.github.proto-openapi.spec.v2@v1.0+protobuf;q=0.5", Some(None)),
            ("application/com.github.proto-openapi.spec.v3@v1.0+protobuf", None),
        ] {
            assert_eq!(v2(accept), expected, "{accept}");
        }
        assert_eq!(other_form(of_kubectl, None).unwrap_err().code.as_u16(), 406);
    }
}
