//! A `FileDescriptorSet` read with prost-reflect.

use super::descriptor::{DescriptorError, Descriptors, Enum, Field, Message, MessageId, Shape, Type};
use super::names::Names;
use super::special::{Form, OBJECT_META, TYPE_META, always};
use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, Kind as Reflected, MessageDescriptor,
};
use std::collections::HashMap;

/// Where messages and enums are in [`Descriptors`], by their full names.
struct DescriptorIndex {
    messages: HashMap<String, usize>,
    enums: HashMap<String, usize>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Descriptors, DescriptorError> {
    let pool = DescriptorPool::decode(bytes).map_err(|error| DescriptorError { reason: error.to_string() })?;
    let all: Vec<MessageDescriptor> = pool.all_messages().filter(|message| !message.is_map_entry()).collect();
    let places = DescriptorIndex {
        messages: all.iter().enumerate().map(|(place, message)| (message.full_name().to_owned(), place)).collect(),
        enums: pool.all_enums().enumerate().map(|(place, ty)| (ty.full_name().to_owned(), place)).collect(),
    };
    let enums = pool.all_enums().map(|descriptor| read_enum(&descriptor)).collect();
    let messages = all.iter().map(|message| read_message(message, &places)).collect();
    let names = places.messages.into_iter().map(|(name, place)| (name.into(), MessageId(place))).collect();
    Ok(Descriptors { messages, enums, names })
}

fn read_enum(descriptor: &EnumDescriptor) -> Enum {
    let values = || descriptor.values().map(|value| (Box::<str>::from(value.name()), value.number()));
    let mut names = HashMap::new();
    for (name, number) in values() {
        names.entry(number).or_insert(name);
    }
    Enum { numbers: Names::new(values()), names }
}

fn read_message(descriptor: &MessageDescriptor, places: &DescriptorIndex) -> Message {
    let name = descriptor.full_name();
    let mut fields: Vec<Field> = Vec::new();
    let mut by_name = Vec::new();
    let is_object = is_object(descriptor);
    let mut in_order: Vec<_> = descriptor.fields().collect();
    in_order.sort_by_key(FieldDescriptor::number);
    for (place, field) in in_order.iter().enumerate() {
        let (ty, shape) = places.shape(field);
        by_name.push((field.name().into(), place as u16));
        fields.push(Field {
            number: field.number(),
            json: field.json_name().into(),
            ty,
            shape,
            oneof: oneof(descriptor, field),
            presence: field.supports_presence(),
            always: always(name).contains(&field.number()) || (is_object && field.number() <= 4),
        });
    }
    // A name in JSON's spelling beats another field's own name.
    by_name.extend(fields.iter().zip(0..).map(|(field, place)| (field.json.clone(), place)));
    let type_meta = places.messages.get(TYPE_META).and_then(|type_meta| {
        let is_type_meta = |field: &Field| field.ty == Type::Message(*type_meta) && field.shape == Shape::Single;
        fields.iter().position(is_type_meta).map(|place| place as u16)
    });
    let always = (0..fields.len()).filter(|place| fields[*place].always).map(|place| place as u16).collect();
    Message { form: Form::from_name(name), fields, by_name: Names::new(by_name), type_meta, always }
}

/// Returns true for a Kubernetes object. Its four parts are values in Go, not pointers, so all of them are written.
fn is_object(descriptor: &MessageDescriptor) -> bool {
    let of = |number, of: &str| {
        let field = descriptor.get_field(number);
        field.is_some_and(|field| matches!(field.kind(), Reflected::Message(ty) if ty.full_name() == of))
    };
    of(1, TYPE_META) && of(2, OBJECT_META)
}

/// The oneof of a field, 1 for the first; 0 for none. `optional` of proto3 is a oneof of one member in the descriptor, and none
/// otherwise.
fn oneof(descriptor: &MessageDescriptor, field: &FieldDescriptor) -> u16 {
    field.containing_oneof().filter(|oneof| !oneof.is_synthetic()).map_or(0, |oneof| {
        let position = descriptor.oneofs().position(|other| other.name() == oneof.name());
        position.unwrap_or(0) as u16 + 1
    })
}

impl DescriptorIndex {
    fn shape(&self, field: &FieldDescriptor) -> (Type, Shape) {
        match field.kind() {
            Reflected::Message(entry) if field.is_map() => (
                self.ty(entry.map_entry_value_field().kind()),
                Shape::Map { key: self.ty(entry.map_entry_key_field().kind()) },
            ),
            kind if field.cardinality() == Cardinality::Repeated => {
                (self.ty(kind), Shape::List { packed: field.is_packed() })
            }
            kind => (self.ty(kind), Shape::Single),
        }
    }

    fn ty(&self, kind: Reflected) -> Type {
        match kind {
            Reflected::Double => Type::Double,
            Reflected::Float => Type::Float,
            Reflected::Int32 => Type::Int32,
            Reflected::Int64 => Type::Int64,
            Reflected::Uint32 => Type::UInt32,
            Reflected::Uint64 => Type::UInt64,
            Reflected::Sint32 => Type::SInt32,
            Reflected::Sint64 => Type::SInt64,
            Reflected::Fixed32 => Type::Fixed32,
            Reflected::Fixed64 => Type::Fixed64,
            Reflected::Sfixed32 => Type::SFixed32,
            Reflected::Sfixed64 => Type::SFixed64,
            Reflected::Bool => Type::Bool,
            Reflected::String => Type::Text,
            Reflected::Bytes => Type::Bytes,
            Reflected::Enum(of) => Type::Enum(self.enums[of.full_name()]),
            Reflected::Message(of) => Type::Message(self.messages[of.full_name()]),
        }
    }
}
