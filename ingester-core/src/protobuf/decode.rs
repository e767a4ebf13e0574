//! Bytes to JSON text, for people to read and for tests to compare.
//!
//! We do not use prost-reflect's JSON, because it is not Kubernetes' JSON: it has `typeMeta` in place of `kind` and `apiVersion`, times as
//! `{seconds, nanos}`, 64-bit numbers of the metadata as strings and its empty fields, and it fails on an `Any` whose type the descriptors
//! do not have.

use super::descriptor::{Descriptors, Field, Message, MessageId, Shape, Type};
use super::special::{Form, OBJECT_META};
use super::varint::{Cursor, Raw, WireType};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ingester_wire::Duration;
use std::fmt::Write as _;

/// The reason why bytes are not a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a message at byte {offset}: {reason}")]
pub struct DecodeError {
    /// Offset in the bytes of the whole message.
    pub offset: usize,
    /// The reason.
    pub reason: String,
}

/// Deepest nesting of messages, as protobuf's own readers have it.
const DEPTH: usize = 100;

impl Descriptors {
    /// The JSON text of a message. Fields that the descriptors do not know are left out, as their names are not known.
    ///
    /// # Errors
    /// When the bytes are not in wire format, or a text in them is not UTF-8.
    pub fn decode(&self, message: MessageId, bytes: &[u8]) -> Result<String, DecodeError> {
        let mut text = String::with_capacity(bytes.len() * 2);
        let decoder = Decoder { descriptors: self };
        decoder.object(&self.messages[message.0], bytes, 0, Scope { depth: 0, metadata: false }, &mut text)?;
        Ok(text)
    }
}

#[derive(Clone, Copy)]
struct Decoder<'d> {
    descriptors: &'d Descriptors,
}

/// The context that decides about a value's JSON, in addition to its type.
#[derive(Clone, Copy)]
struct Scope {
    depth: usize,
    /// In the object's own metadata, whose JSON is Kubernetes', with numbers for 64 bits.
    metadata: bool,
}

type DecodeResult = Result<(), DecodeError>;

fn wrong(offset: usize, reason: impl Into<String>) -> DecodeError {
    DecodeError { offset, reason: reason.into() }
}

/// Every value of one field.
struct FieldValues<'d, 'b> {
    field: &'d Field,
    values: Vec<(Raw<'b>, usize)>,
}

impl<'d> Decoder<'d> {
    /// The fields of a message that the descriptors know, in the order of their numbers.
    fn fields<'b>(
        self,
        message: &'d Message,
        bytes: &'b [u8],
        base: usize,
        scope: Scope,
    ) -> Result<Vec<FieldValues<'d, 'b>>, DecodeError> {
        if scope.depth > DEPTH {
            return Err(wrong(base, format!("nested deeper than {DEPTH} messages")));
        }
        let mut found: Vec<FieldValues<'d, 'b>> = Vec::new();
        let mut cursor = Cursor::new(bytes, base);
        while !cursor.is_at_end() {
            let offset = cursor.offset();
            let (number, raw) = cursor.field().ok_or_else(|| wrong(offset, "no field begins here"))?;
            let Some(field) = message.numbered(number) else { continue };
            match found.iter_mut().find(|values| values.field.number == number) {
                Some(values) => values.values.push((raw, offset)),
                None => found.push(FieldValues { field, values: vec![(raw, offset)] }),
            }
        }
        // Of a oneof, the member that came last counts.
        let last = |values: &FieldValues<'_, '_>| values.values.last().map_or(0, |(_, offset)| *offset);
        let latest: Vec<(u16, usize)> = found.iter().map(|values| (values.field.oneof, last(values))).collect();
        found.retain(|values| {
            let oneof = values.field.oneof;
            let at = last(values);
            oneof == 0 || latest.iter().all(|(other, offset)| *other != oneof || *offset <= at)
        });
        found.sort_by_key(|values| values.field.number);
        Ok(found)
    }

    fn object(self, message: &'d Message, bytes: &[u8], base: usize, scope: Scope, out: &mut String) -> DecodeResult {
        let root = scope.depth == 0;
        let mut any = false;
        out.push('{');
        for FieldValues { field, values } in self.fields(message, bytes, base, scope)? {
            let inside =
                Scope { depth: scope.depth + 1, metadata: scope.metadata || (root && self.is(field, OBJECT_META)) };
            let before = out.len();
            let open = |out: &mut String| {
                if any {
                    out.push(',');
                }
            };
            if root && message.type_meta.is_some_and(|meta| std::ptr::eq(&message.fields[usize::from(meta)], field)) {
                // Kubernetes has `kind` and `apiVersion` next to the other members.
                open(out);
                let start = out.len();
                self.inline(field, &values, inside, out)?;
                if out.len() == start {
                    out.truncate(before);
                } else {
                    any = true;
                }
                continue;
            }
            open(out);
            string(&field.json, out);
            out.push(':');
            if self.field(field, &values, inside, out)? {
                any = true;
            } else {
                out.truncate(before);
            }
        }
        out.push('}');
        Ok(())
    }

    /// Returns true if Kubernetes writes this value for an absent one: zero, an empty text, no time.
    fn says_nothing(self, ty: Type, raw: Raw<'_>) -> bool {
        match raw {
            Raw::Varint(value) | Raw::Fixed64(value) => value == 0,
            Raw::Fixed32(value) => value == 0,
            Raw::Delimited(bytes, _) => {
                let time = |of: usize| self.descriptors.messages[of].form == Form::Time;
                bytes.is_empty() && !matches!(ty, Type::Message(of) if !time(of))
            }
        }
    }

    fn is(self, field: &Field, name: &str) -> bool {
        matches!(field.ty, Type::Message(of) if self.descriptors.message(name) == Some(MessageId(of)))
    }

    /// The members of a message without its braces.
    fn inline(self, field: &'d Field, values: &[(Raw<'_>, usize)], scope: Scope, out: &mut String) -> DecodeResult {
        let mut text = String::new();
        self.field(field, values, scope, &mut text)?;
        out.push_str(text.trim_start_matches('{').trim_end_matches('}'));
        Ok(())
    }

    /// Writes a field's value. `false` if it says nothing.
    fn field(
        self,
        field: &'d Field,
        values: &[(Raw<'_>, usize)],
        scope: Scope,
        out: &mut String,
    ) -> Result<bool, DecodeError> {
        let Some((last, offset)) = values.last().copied() else { return Ok(false) };
        match field.shape {
            Shape::Single => {
                if field.always && self.says_nothing(field.ty, last) {
                    return Ok(false);
                }
                self.value(field.ty, last, offset, scope, out)?;
            }
            Shape::List { .. } => {
                out.push('[');
                let mut first = true;
                let mut comma = |out: &mut String| {
                    if !std::mem::replace(&mut first, false) {
                        out.push(',');
                    }
                };
                for (raw, offset) in values {
                    // A list of numbers may be packed or not, whatever the descriptor says.
                    match (*raw, field.ty.wire()) {
                        (Raw::Delimited(bytes, base), wire) if wire != WireType::Delimited => {
                            let mut cursor = Cursor::new(bytes, base);
                            while !cursor.is_at_end() {
                                let offset = cursor.offset();
                                let raw = match wire {
                                    WireType::Fixed64 => cursor.fixed64().map(Raw::Fixed64),
                                    WireType::Fixed32 => cursor.fixed32().map(Raw::Fixed32),
                                    _ => cursor.varint().map(Raw::Varint),
                                };
                                comma(out);
                                let raw = raw.ok_or_else(|| wrong(offset, "a packed list is cut off"))?;
                                self.value(field.ty, raw, offset, scope, out)?;
                            }
                        }
                        (raw, _) => {
                            comma(out);
                            self.value(field.ty, raw, *offset, scope, out)?;
                        }
                    }
                }
                out.push(']');
            }
            Shape::Map { key } => self.map(field, key, values, scope, out)?,
        }
        Ok(true)
    }

    fn map(
        self,
        field: &'d Field,
        key_type: Type,
        values: &[(Raw<'_>, usize)],
        scope: Scope,
        out: &mut String,
    ) -> DecodeResult {
        out.push('{');
        for (place_in_map, (raw, offset)) in values.iter().enumerate() {
            let Raw::Delimited(bytes, base) = *raw else { return Err(wrong(*offset, "a map entry without a length")) };
            let mut key = None;
            let mut value = None;
            let mut cursor = Cursor::new(bytes, base);
            while !cursor.is_at_end() {
                let offset = cursor.offset();
                match cursor.field().ok_or_else(|| wrong(offset, "no field begins here"))? {
                    (1, raw) => key = Some((raw, offset)),
                    (2, raw) => value = Some((raw, offset)),
                    _ => {}
                }
            }
            if place_in_map > 0 {
                out.push(',');
            }
            let mut name = String::new();
            match key {
                Some((raw, offset)) => self.value(key_type, raw, offset, scope, &mut name)?,
                None => self.zero(key_type, &mut name),
            }
            if name.starts_with('"') {
                out.push_str(&name);
            } else {
                string(&name, out);
            }
            out.push(':');
            match (value, field.ty) {
                (Some((raw, offset)), ty) => self.value(ty, raw, offset, scope, out)?,
                (None, Type::Message(_)) => self.value(field.ty, Raw::Delimited(&[], base), base, scope, out)?,
                (None, ty) => self.zero(ty, out),
            }
        }
        out.push('}');
        Ok(())
    }

    fn zero(self, ty: Type, out: &mut String) {
        match ty {
            Type::Text | Type::Bytes => out.push_str("\"\""),
            Type::Bool => out.push_str("false"),
            Type::Int64 | Type::UInt64 | Type::SInt64 | Type::Fixed64 | Type::SFixed64 => out.push_str("\"0\""),
            Type::Enum(of) => match self.descriptors.enums[of].name(0) {
                Some(name) => string(name, out),
                None => out.push('0'),
            },
            _ => out.push('0'),
        }
    }

    fn value(self, ty: Type, raw: Raw<'_>, offset: usize, scope: Scope, out: &mut String) -> DecodeResult {
        match (ty, raw) {
            (Type::Message(of), Raw::Delimited(bytes, base)) => {
                return self.message(&self.descriptors.messages[of], bytes, base, scope, out);
            }
            (Type::Text, Raw::Delimited(bytes, base)) => string(utf8(bytes, base)?, out),
            (Type::Bytes, Raw::Delimited(bytes, _)) => string(&STANDARD.encode(bytes), out),
            (Type::Bool, Raw::Varint(value)) => out.push_str(if value == 0 { "false" } else { "true" }),
            (Type::Enum(of), Raw::Varint(value)) => {
                // As other readers: an enum has 32 bits.
                let number = value as i32;
                match self.descriptors.enums[of].name(number) {
                    Some(name) => string(name, out),
                    None => number_of(number, out),
                }
            }
            (Type::Int32, Raw::Varint(value)) => number_of(value as i32, out),
            (Type::UInt32, Raw::Varint(value)) => number_of(value as u32, out),
            (Type::SInt32, Raw::Varint(value)) => {
                let value = value as u32;
                number_of((value >> 1).cast_signed() ^ -((value & 1).cast_signed()), out);
            }
            (Type::Int64, Raw::Varint(value)) => long(value.cast_signed(), scope, out),
            (Type::UInt64, Raw::Varint(value)) => long(value, scope, out),
            (Type::SInt64, Raw::Varint(value)) => {
                long((value >> 1).cast_signed() ^ -((value & 1).cast_signed()), scope, out);
            }
            (Type::Fixed32, Raw::Fixed32(value)) => number_of(value, out),
            (Type::SFixed32, Raw::Fixed32(value)) => number_of(value.cast_signed(), out),
            (Type::Fixed64, Raw::Fixed64(value)) => long(value, scope, out),
            (Type::SFixed64, Raw::Fixed64(value)) => long(value.cast_signed(), scope, out),
            (Type::Float, Raw::Fixed32(value)) => float(f32::from_bits(value), out),
            (Type::Double, Raw::Fixed64(value)) => float(f64::from_bits(value), out),
            _ => return Err(wrong(offset, "a value of another type than its field's")),
        }
        Ok(())
    }

    fn message(self, message: &'d Message, bytes: &[u8], base: usize, scope: Scope, out: &mut String) -> DecodeResult {
        let inside = Scope { depth: scope.depth + 1, ..scope };
        let fields = || self.fields(message, bytes, base, scope);
        match message.form {
            Form::Plain => self.object(message, bytes, base, Scope { depth: scope.depth.max(1), ..scope }, out),
            Form::Timestamp | Form::Time => {
                let (seconds, nanos) = seconds_and_nanos(&fields()?)?;
                match moment(seconds, nanos) {
                    Some(time) => string(&time, out),
                    // RFC 3339 cannot express this time: the message's own fields.
                    None => self.object(message, bytes, base, inside, out)?,
                }
                Ok(())
            }
            Form::Duration => {
                let (seconds, nanos) = seconds_and_nanos(&fields()?)?;
                let whole = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
                match i64::try_from(whole) {
                    Ok(nanos) => string(&Duration(nanos).to_string(), out),
                    Err(_) => self.object(message, bytes, base, inside, out)?,
                }
                Ok(())
            }
            Form::Struct | Form::ListValue | Form::Value | Form::Wrapper | Form::Quantity => {
                let fields = fields()?;
                // The first field of `Value` is its null.
                let only = fields.first().filter(|only| message.form != Form::Value || only.field.number != 1);
                match (only, message.form) {
                    (Some(FieldValues { field, values }), _) => {
                        return self.field(field, values, inside, out).map(drop);
                    }
                    (None, Form::Struct) => out.push_str("{}"),
                    (None, Form::ListValue) => out.push_str("[]"),
                    (None, Form::Value) => out.push_str("null"),
                    (None, Form::Wrapper) => self.zero(message.fields[0].ty, out),
                    (None, _) => out.push_str("\"\""),
                }
                Ok(())
            }
            Form::Any => self.any(&fields()?, inside, out),
            Form::IntOrString => self.int_or_string(&fields()?, inside, out),
            Form::Fields => {
                raw_json(&fields()?, out);
                Ok(())
            }
        }
    }

    fn any(self, fields: &[FieldValues<'d, '_>], scope: Scope, out: &mut String) -> DecodeResult {
        let mut url = String::new();
        let mut value = String::new();
        for FieldValues { field, values } in fields {
            let text = if field.number == 1 { &mut url } else { &mut value };
            self.field(field, values, scope, text)?;
        }
        let or_empty = |text: String| if text.is_empty() { "\"\"".to_owned() } else { text };
        let _ = write!(out, "{{\"@type\":{},\"value\":{}}}", or_empty(url), or_empty(value));
        Ok(())
    }

    fn int_or_string(self, fields: &[FieldValues<'d, '_>], scope: Scope, out: &mut String) -> DecodeResult {
        let mut ty = 0;
        let mut number = "0".to_owned();
        let mut text = "\"\"".to_owned();
        for FieldValues { field, values } in fields {
            let Some((raw, offset)) = values.last() else { continue };
            let into = match (field.number, raw) {
                (1, Raw::Varint(value)) => {
                    ty = *value;
                    continue;
                }
                (2, _) => &mut number,
                _ => &mut text,
            };
            into.clear();
            self.value(field.ty, *raw, *offset, scope, into)?;
        }
        out.push_str(if ty == 0 { &number } else { &text });
        Ok(())
    }
}

/// Returns seconds and nanoseconds of a time or a duration.
fn seconds_and_nanos(fields: &[FieldValues<'_, '_>]) -> Result<(i64, i64), DecodeError> {
    let mut seconds = 0;
    let mut nanos = 0;
    for FieldValues { field, values } in fields {
        match values.last() {
            Some((Raw::Varint(value), _)) if field.number == 1 => seconds = value.cast_signed(),
            Some((Raw::Varint(value), _)) => nanos = i64::from(*value as i32),
            Some((_, offset)) => return Err(wrong(*offset, "a value of another type than its field's")),
            None => {}
        }
    }
    Ok((seconds, nanos))
}

/// The JSON that a message of the form [`Form::Fields`] has as its bytes; where they are not JSON, the bytes.
fn raw_json(fields: &[FieldValues<'_, '_>], out: &mut String) {
    let Some((Raw::Delimited(bytes, _), _)) = fields.first().and_then(|values| values.values.last()) else {
        return out.push_str("{}");
    };
    let text = std::str::from_utf8(bytes).ok().filter(|text| {
        let mut reader = ingester_json::json::Reader::new(text);
        reader.skip().is_ok() && reader.finish().is_ok()
    });
    match text {
        Some(text) => out.push_str(text),
        None => {
            let _ = write!(out, "{{\"Raw\":\"{}\"}}", STANDARD.encode(bytes));
        }
    }
}

/// RFC 3339 text with as many digits after the second as protobuf's JSON has: none, 3, 6 or 9. `None` for a time that RFC 3339
/// cannot express.
fn moment(seconds: i64, nanos: i64) -> Option<String> {
    let nanos = i32::try_from(nanos).ok().filter(|nanos| (0..1_000_000_000).contains(nanos))?;
    let digits = match nanos {
        0 => 0,
        _ if nanos % 1_000_000 == 0 => 3,
        _ if nanos % 1_000 == 0 => 6,
        _ => 9,
    };
    let time = ingester_wire::Moment::new(seconds, nanos)?;
    Some(format!("{time:.digits$}"))
}

fn utf8(bytes: &[u8], base: usize) -> Result<&str, DecodeError> {
    std::str::from_utf8(bytes).map_err(|error| wrong(base + error.valid_up_to(), "a text that is not UTF-8"))
}

fn string(text: &str, out: &mut String) {
    // Writing a string as JSON does not fail.
    out.push_str(&serde_json::Value::from(text).to_string());
}

fn number_of(number: impl std::fmt::Display, out: &mut String) {
    let _ = write!(out, "{number}");
}

/// 64 bits: as text, as in protobuf's JSON, except in the object's own metadata.
fn long(number: impl std::fmt::Display, scope: Scope, out: &mut String) {
    if scope.metadata {
        number_of(number, out);
    } else {
        let _ = write!(out, "\"{number}\"");
    }
}

fn float<T: Into<f64> + serde::Serialize + Copy>(value: T, out: &mut String) {
    let wide: f64 = value.into();
    if wide.is_nan() {
        out.push_str("\"NaN\"");
    } else if wide.is_infinite() {
        out.push_str(if wide > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" });
    } else {
        // The shortest text that reads back as the same number of its own width; a whole number as one.
        let text = serde_json::to_string(&value).unwrap_or_else(|_| wide.to_string());
        out.push_str(text.strip_suffix(".0").unwrap_or(&text));
    }
}
