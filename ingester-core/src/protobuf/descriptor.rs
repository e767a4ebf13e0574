//! A `FileDescriptorSet` as tables: messages with their fields by JSON name and by number.

use super::names::Names;
use super::special::Form;
use super::varint::WireType;
use crate::schema::Fingerprint;
use std::collections::HashMap;

/// The reason why bytes are not a descriptor set, or lack something that they refer to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a descriptor set: {reason}")]
pub struct DescriptorError {
    /// The reason.
    pub reason: String,
}

/// The messages and enums of a descriptor set.
#[derive(Debug)]
pub struct Descriptors {
    pub(super) messages: Vec<Message>,
    pub(super) enums: Vec<Enum>,
    pub(super) names: HashMap<Box<str>, MessageId>,
}

/// One message of [`Descriptors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageId(pub(super) usize);

#[derive(Debug)]
pub(super) struct Message {
    pub(super) form: Form,
    /// In the order of their numbers.
    pub(super) fields: Vec<Field>,
    pub(super) by_name: Names<u16>,
    /// The field into which an object's own `apiVersion` and `kind` go.
    pub(super) type_meta: Option<u16>,
    /// Fields that are written even if the object does not have them.
    pub(super) always: Vec<u16>,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    /// Its name in JSON.
    pub(super) json: Box<str>,
    pub(super) ty: Type,
    pub(super) shape: Shape,
    /// The oneof that it is a member of, 1 for the first; 0 for none.
    pub(super) oneof: u16,
    /// Write a zero value if the object has it.
    pub(super) presence: bool,
    /// Write the field even if the object does not have it.
    pub(super) always: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Single,
    List {
        packed: bool,
    },
    /// With strings, numbers or booleans for keys.
    Map {
        key: Type,
    },
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Double,
    Float,
    Int32,
    Int64,
    UInt32,
    UInt64,
    SInt32,
    SInt64,
    Fixed32,
    Fixed64,
    SFixed32,
    SFixed64,
    Bool,
    Text,
    Bytes,
    Enum(usize),
    Message(usize),
}

impl Type {
    pub(super) fn wire(self) -> WireType {
        match self {
            Type::Double | Type::Fixed64 | Type::SFixed64 => WireType::Fixed64,
            Type::Float | Type::Fixed32 | Type::SFixed32 => WireType::Fixed32,
            Type::Text | Type::Bytes | Type::Message(_) => WireType::Delimited,
            _ => WireType::Varint,
        }
    }
}

#[derive(Debug)]
pub(super) struct Enum {
    pub(super) numbers: Names<i32>,
    pub(super) names: HashMap<i32, Box<str>>,
}

impl Enum {
    pub(super) fn number(&self, name: &str) -> Option<i32> {
        self.numbers.get(name)
    }

    pub(super) fn name(&self, number: i32) -> Option<&str> {
        self.names.get(&number).map(AsRef::as_ref)
    }
}

impl Message {
    /// The index of the field with this name, in JSON's spelling or the descriptor's own.
    #[inline]
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).map(usize::from)
    }

    /// The field of this number.
    pub(super) fn numbered(&self, number: u32) -> Option<&Field> {
        self.fields.binary_search_by_key(&number, |field| field.number).ok().map(|place| &self.fields[place])
    }
}

impl Descriptors {
    /// Returns the number of a message's field from its JSON name.
    pub fn field_of(&self, message: MessageId, json: &str) -> Option<u32> {
        let message = &self.messages[message.0];
        message.place(json).map(|place| message.fields[place].number)
    }

    /// Returns a fingerprint of everything that a message's bytes are made from: its fields, and the fields of every message and enum that
    /// it reaches. The names of messages do not count, except names of messages with a special form.
    pub fn fingerprint(&self, message: MessageId) -> Fingerprint {
        // Messages and enums are numbered in the order in which they are reached, so that others in the set do not matter.
        let mut messages = vec![message.0];
        let mut enums = Vec::new();
        let mut fingerprint = Fingerprint::NONE;
        let mut next = 0;
        while let Some(message) = messages.get(next).map(|place| &self.messages[*place]) {
            next += 1;
            fingerprint = fingerprint.text(&format!("{:?}", message.form)).number(message.fields.len() as u64);
            for Field { number, json, ty, shape, oneof, presence, always } in &message.fields {
                let ty = match ty {
                    Type::Message(place) => format!("message {}", place_in(&mut messages, *place)),
                    Type::Enum(place) => format!("enum {}", place_in(&mut enums, *place)),
                    ty => format!("{ty:?}"),
                };
                let field = format!("{number} {json} {ty} {shape:?} {oneof} {presence} {always}");
                fingerprint = fingerprint.text(&field);
            }
        }
        for place in enums {
            let mut names: Vec<(&i32, &Box<str>)> = self.enums[place].names.iter().collect();
            names.sort_unstable();
            fingerprint = fingerprint.number(names.len() as u64);
            for (number, name) in names {
                fingerprint = fingerprint.text(&format!("{number} {name}"));
            }
        }
        fingerprint
    }

    /// The message of this full name, such as `michelangelo.api.v2.Model`.
    pub fn message(&self, name: &str) -> Option<MessageId> {
        self.names.get(name).copied()
    }
}

/// The index of `item` in `items`, where it is put if it is not there yet.
fn place_in(items: &mut Vec<usize>, item: usize) -> usize {
    items.iter().position(|other| *other == item).unwrap_or_else(|| {
        items.push(item);
        items.len() - 1
    })
}
