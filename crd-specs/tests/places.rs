//! The Michelangelo API as `data/api.json` describes it, and the paths of its fields in an object.

use ingester_core::Kind;
use serde_json::Value;
use std::sync::LazyLock;

/// Kinds, messages and enums of the API.
pub(crate) static API: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(include_str!("data/api.json")).unwrap());

/// How often a field may occur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    One,
    List,
    Map,
}

/// The type of one value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Type {
    Text,
    Bool,
    Int32,
    Int64,
    Float,
    Double,
    Enum,
    Timestamp,
    /// Kubernetes' `metav1.Time`.
    Time,
    Duration,
    /// A message of Kubernetes or protobuf that is stored without being decoded.
    Opaque,
    /// A message whose fields are, or could be, sources of columns.
    Message,
}

/// One field of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// Its name in JSON.
    pub(crate) json: &'static str,
    pub(crate) shape: Shape,
    pub(crate) ty: Type,
    /// The name of its message, enum or scalar type.
    pub(crate) of: &'static str,
}

/// One step of a path from an object's root to a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// Into the field of this name.
    Field(&'static str),
    /// Into the only item of a list.
    Item,
    /// Into the only entry of a map.
    Entry,
}

/// A field and its path in the objects of a kind.
#[derive(Clone, Debug)]
pub(crate) struct FieldPath {
    pub(crate) kind: &'static Kind,
    /// The path from the root. Its last step is the field's name.
    pub(crate) steps: Vec<Step>,
    pub(crate) field: Field,
}

impl FieldPath {
    /// The path to one value of the field: to an item of a list, or an entry of a map.
    pub(crate) fn value(&self) -> Vec<Step> {
        let mut steps = self.steps.clone();
        steps.extend(self.field.shape.step());
        steps
    }
}

impl Shape {
    fn step(self) -> Option<Step> {
        match self {
            Shape::One => None,
            Shape::List => Some(Step::Item),
            Shape::Map => Some(Step::Entry),
        }
    }
}

/// The key that [`Step::Entry`] stands for.
pub(crate) const ENTRY: &str = "entry";

/// The path as error messages write it: `spec.workers[0].minInstances`.
pub(crate) fn path(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        let name = match step {
            Step::Field(name) => name,
            Step::Entry => ENTRY,
            Step::Item => {
                path.push_str("[0]");
                continue;
            }
        };
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
    }
    path
}

/// The API's description of a kind.
pub(crate) fn kind(kind: &Kind) -> &'static Value {
    API["kinds"].get(kind.kind()).unwrap_or_else(|| panic!("{kind:?} is not a kind of the API"))
}

/// The message of a kind's `spec` or `status`.
pub(crate) fn section(of: &Kind, section: &str) -> &'static str {
    kind(of)[section].as_str().unwrap()
}

/// The fields of a message.
pub(crate) fn fields(message: &str) -> Vec<Field> {
    let message = API["messages"].get(message).unwrap_or_else(|| panic!("{message} is not a message of the API"));
    message["fields"].as_array().unwrap().iter().map(field).collect()
}

fn field(field: &'static Value) -> Field {
    let text = |key: &str| field[key].as_str().unwrap();
    let (shape, of) = match text("type") {
        "map" => {
            assert_eq!(text("key"), "string", "a JSON object has no other keys: {field}");
            (Shape::Map, text("value"))
        }
        ty if field["repeated"] == true => (Shape::List, ty),
        ty => (Shape::One, ty),
    };
    Field { json: text("json"), shape, ty: type_of(of), of }
}

fn type_of(name: &str) -> Type {
    match name {
        "string" => Type::Text,
        "bool" => Type::Bool,
        "int32" => Type::Int32,
        "int64" => Type::Int64,
        "float" => Type::Float,
        "double" => Type::Double,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "google.protobuf.Duration" => Type::Duration,
        "google.protobuf.Struct" | "google.protobuf.Any" => Type::Opaque,
        "k8s.io.apimachinery.pkg.apis.meta.v1.Time" => Type::Time,
        // The only Kubernetes message that a column is read from.
        "k8s.io.apimachinery.pkg.apis.meta.v1.TypeMeta" => Type::Message,
        _ if API["enums"].get(name).is_some() => Type::Enum,
        _ if name.starts_with("k8s.io.") => Type::Opaque,
        _ if name.starts_with("michelangelo.api.") => Type::Message,
        _ => panic!("a field of type {name}: say in `type_of` what it is"),
    }
}

/// Every field that objects of `kind` can have in spec and status. Recursive messages are followed one level down.
pub(crate) fn places(kind: &'static Kind) -> Vec<FieldPath> {
    let mut places = Vec::new();
    for name in ["spec", "status"] {
        let message = section(kind, name);
        visit(kind, message, &mut vec![Step::Field(name)], &mut vec![message], &mut places);
    }
    places
}

fn visit(
    kind: &'static Kind,
    message: &'static str,
    steps: &mut Vec<Step>,
    within: &mut Vec<&'static str>,
    places: &mut Vec<FieldPath>,
) {
    for field in fields(message) {
        let depth = steps.len();
        steps.push(Step::Field(field.json));
        places.push(FieldPath { kind, steps: steps.clone(), field });
        if field.ty == Type::Message && within.iter().filter(|outer| **outer == field.of).count() < 2 {
            steps.extend(field.shape.step());
            within.push(field.of);
            visit(kind, field.of, steps, within, places);
            within.pop();
        }
        steps.truncate(depth);
    }
}
