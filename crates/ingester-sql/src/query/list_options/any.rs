//! The value of a criterion: a `google.protobuf.Any`, as JSON or as bytes.

use super::element::{Element, ListOptionsError};
use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ingester_core::place::shortened;
use ingester_core::value::Value;
use serde_json::Value as Json;

const STRING: &str = "google.protobuf.StringValue";
const VALUE: &str = "google.protobuf.Value";

/// The content of an `Any`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AnyContent {
    Null,
    One(Value),
    Several(Vec<Value>),
}

/// Reads `{"@type": "type.googleapis.com/google.protobuf.StringValue", "value": "a"}`, which is protobuf's JSON, or
/// `{"type_url": "...", "value": "<base64>"}`, which is how Go writes the struct.
pub(super) fn read(member: &Element<'_>) -> Result<AnyContent, ListOptionsError> {
    if member.json.get("@type").is_none() {
        return read_bytes(member);
    }
    let [name, content] = member.message(["@type", "value"])?;
    let name = name.ok_or_else(|| member.fault("expected a type"))?;
    match type_name(name.read_text()?) {
        STRING => Ok(AnyContent::One(Value::text(content.map_or(Ok(""), |content| content.read_text())?))),
        VALUE => content.map_or(Ok(AnyContent::Null), |content| of_json(&content)),
        other => Err(unknown(&name, other)),
    }
}

/// The name after the last `/` of a type's address.
fn type_name(address: &str) -> &str {
    address.rsplit_once('/').map_or(address, |(_, name)| name)
}

fn unknown(member: &Element<'_>, name: &str) -> ListOptionsError {
    member.fault(format!("expected {STRING} or {VALUE}, found `{}`", shortened(name)))
}

fn of_json(member: &Element<'_>) -> Result<AnyContent, ListOptionsError> {
    let scalar = |json: &Json| match json {
        Json::Bool(value) => Some(Value::Bool(*value)),
        Json::String(text) => Some(Value::text(text.as_str())),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Some(Value::Int(number)),
            (None, Some(number)) => Some(Value::UInt(number)),
            (None, None) => number.as_f64().and_then(of_number),
        },
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    };
    let value = match member.json {
        Json::Array(elements) => elements.iter().map(scalar).collect::<Option<_>>().map(AnyContent::Several),
        json => scalar(json).map(AnyContent::One),
    };
    value.ok_or_else(|| member.fault("expected a text, a number, a boolean, or a list of these"))
}

/// A number that protobuf has as a double. A whole one is an integer as long as no two integers have the same double.
fn of_number(number: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Some(Value::Int(number as i64));
    }
    number.is_finite().then_some(Value::Double(number))
}

fn read_bytes(member: &Element<'_>) -> Result<AnyContent, ListOptionsError> {
    let Json::Object(_) = member.json else { return Err(member.expected("a google.protobuf.Any")) };
    let [address, content] = member.message(["type_url", "value"])?;
    let bytes = match &content {
        Some(content) => decode(content.read_text()?).ok_or_else(|| content.fault("expected base64"))?,
        None => Vec::new(),
    };
    let content = content.as_ref().unwrap_or(member);
    let broken = |name| content.fault(format!("these are not the bytes of a {name}"));
    match address.as_ref().map_or(Ok(""), Element::read_text).map(type_name)? {
        "" => String::from_utf8(bytes)
            .map(|text| AnyContent::One(Value::text(text)))
            .map_err(|_| content.fault("expected the bytes of a text in UTF-8")),
        STRING => string_of(&bytes).map(AnyContent::One).ok_or_else(|| broken(STRING)),
        VALUE => value_of(&bytes, false)
            .ok_or_else(|| broken("google.protobuf.Value that is a text, a number, a boolean, or a list of these")),
        other => Err(unknown(address.as_ref().unwrap_or(member), other)),
    }
}

/// Base64 in any of its forms, as protobuf's JSON has it.
fn decode(text: &str) -> Option<Vec<u8>> {
    let alphabet = if text.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(alphabet, config).decode(text).ok()
}

/// The value of a field in protobuf's wire format.
enum Wire<'b> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'b [u8]),
    Fixed32,
}

/// Takes the next field off, with its number.
fn field<'b>(rest: &mut &'b [u8]) -> Option<(u64, Wire<'b>)> {
    let tag = varint(rest)?;
    let wire = match tag & 7 {
        0 => Wire::Varint(varint(rest)?),
        1 => Wire::Fixed64(u64::from_le_bytes(take(rest, 8)?.try_into().ok()?)),
        2 => {
            let length = varint(rest)?;
            Wire::Bytes(take(rest, usize::try_from(length).ok()?)?)
        }
        5 => take(rest, 4).map(|_| Wire::Fixed32)?,
        _ => return None,
    };
    Some((tag >> 3, wire))
}

fn take<'b>(rest: &mut &'b [u8], n: usize) -> Option<&'b [u8]> {
    let (taken, behind) = rest.split_at_checked(n)?;
    *rest = behind;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn string_of(mut bytes: &[u8]) -> Option<Value> {
    let mut text = "";
    while !bytes.is_empty() {
        match field(&mut bytes)? {
            (1, Wire::Bytes(value)) => text = std::str::from_utf8(value).ok()?,
            (1, _) => return None,
            _ => {}
        }
    }
    Some(Value::text(text))
}

/// A list in a list is not one of these values.
fn value_of(mut bytes: &[u8], in_list: bool) -> Option<AnyContent> {
    let mut matched = AnyContent::Null;
    while !bytes.is_empty() {
        matched = match field(&mut bytes)? {
            (1, Wire::Varint(_)) => AnyContent::Null,
            (2, Wire::Fixed64(bits)) => AnyContent::One(of_number(f64::from_bits(bits))?),
            (3, Wire::Bytes(text)) => AnyContent::One(Value::text(std::str::from_utf8(text).ok()?)),
            (4, Wire::Varint(truth)) => AnyContent::One(Value::Bool(truth != 0)),
            (6, Wire::Bytes(list)) if !in_list => AnyContent::Several(elements_of(list)?),
            // A struct, or a wrong type.
            (1..=6, _) => return None,
            _ => matched,
        };
    }
    Some(matched)
}

/// The elements of a `ListValue`.
fn elements_of(mut bytes: &[u8]) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    while !bytes.is_empty() {
        match field(&mut bytes)? {
            (1, Wire::Bytes(element)) => match value_of(element, true)? {
                AnyContent::One(value) => values.push(value),
                AnyContent::Null | AnyContent::Several(_) => return None,
            },
            (1, _) => return None,
            _ => {}
        }
    }
    Some(values)
}
