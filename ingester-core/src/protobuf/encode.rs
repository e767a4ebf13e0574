//! JSON text to bytes, in one pass over the text and without a tree in between.
//!
//! Fields are written in the order of the text. At the end of a message they are put into the order of their numbers, and replaced values
//! are dropped: earlier values of a oneof, and earlier values of a key that comes twice, because here the last one counts.

use super::descriptor::{Descriptors, Field, Message, MessageId, Shape, Type};
use super::encode_special::bytes_of;
use super::encoder::{Encoder, Lost, Piece, WriteResult};
use super::special::Form;
use super::varint::{WireType, put_length, put_tag, put_varint};
use ingester_json::json::{Error, Reader, TokenKind, float, float_of_number, integer};
use std::borrow::Cow;
use std::cell::Cell;

impl Descriptors {
    /// The bytes of an object's JSON text, and what was left out of them.
    ///
    /// # Errors
    /// When the text is not JSON, is nested deeper than 120 levels, or is not an object.
    pub fn encode(&self, message: MessageId, text: &str) -> Result<(Vec<u8>, Lost), Error> {
        let mut reader = Reader::new(text);
        let Buffers { out, pieces, sorted } = BUFFERS.take();
        let mut encoder =
            Encoder { descriptors: self, out, pieces, sorted, entries: Vec::new(), lost: Lost::default() };
        // Not `message`: text that is not an object would give empty bytes, which are an object too.
        let result = encoder.plain(&mut reader, &self.messages[message.0]).and_then(|()| reader.finish()).map(|()| {
            let bytes = encoder.out.as_slice().to_vec();
            (bytes, encoder.lost)
        });
        Buffers { out: encoder.out, pieces: encoder.pieces, sorted: encoder.sorted }.keep();
        result.map_err(|error| error.locate(text))
    }
}

/// The encoder's buffers, used again for each object.
#[derive(Default)]
struct Buffers {
    out: Vec<u8>,
    pieces: Vec<Piece>,
    sorted: Vec<u8>,
}

thread_local! {
    /// The buffers of the thread's last object.
    static BUFFERS: Cell<Buffers> = const { Cell::new(Buffers { out: Vec::new(), pieces: Vec::new(), sorted: Vec::new() }) };
}

impl Buffers {
    /// The capacity, in bytes, that a buffer may keep between two objects.
    const MOST: usize = 64 << 10;

    /// Keeps the buffers for the thread's next object, but not those that an unusually large one has left.
    fn keep(mut self) {
        self.out.clear();
        self.pieces.clear();
        self.sorted.clear();
        if self.out.capacity().max(self.sorted.capacity()) <= Self::MOST && self.pieces.capacity() <= Self::MOST / 32 {
            BUFFERS.set(self);
        }
    }
}

impl<'t> Encoder<'_, 't> {
    /// Writes the fields of the object that comes next.
    fn plain(&mut self, reader: &mut Reader<'t>, message: &Message) -> Result<(), Error> {
        let begin = self.out.len();
        let base = self.pieces.len();
        // A bit for each field that was met; those from the 128th on share theirs.
        let mut met = 0_u128;
        // `kind` and `apiVersion`: next to the other members in JSON, in a separate message here.
        let mut inline: [Option<String>; 2] = [None, None];
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            if let Some(place) = message.place(&key) {
                let field = &message.fields[place];
                let bit = 1 << (place % 128);
                let start = self.out.len();
                let Some(written) = self.member(reader, field)? else { continue };
                // A later value replaces an earlier one; in a oneof only a value that is written does.
                if (written && field.oneof > 0) || (met & bit != 0 && field.oneof == 0) {
                    self.forget(field, base);
                }
                met |= bit;
                if written {
                    self.piece(field, start);
                }
                continue;
            }
            let place = match key.as_ref() {
                "kind" => Some(0),
                "apiVersion" => Some(1),
                _ => None,
            };
            match (message.type_meta, place, reader.peek()?) {
                (Some(_), Some(place), TokenKind::String) => inline[place] = Some(reader.string()?.into_owned()),
                (Some(_), Some(_), TokenKind::Null) => reader.null()?,
                _ => {
                    self.lost.fields += 1;
                    reader.skip()?;
                }
            }
        }
        if let (Some(place), true) = (message.type_meta, inline.iter().any(Option::is_some)) {
            let field = &message.fields[usize::from(place)];
            let start = self.out.len();
            put_tag(&mut self.out, field.number, WireType::Delimited);
            let length = self.hole();
            for (number, text) in (1..).zip(&inline) {
                self.write_text(number, text.as_deref().unwrap_or_default());
            }
            put_length(&mut self.out, length);
            self.forget(field, base);
            self.piece(field, start);
        }
        self.missing(message, base);
        self.in_order(begin, base);
        Ok(())
    }

    /// Writes the fields that are always written and that the text did not have.
    fn missing(&mut self, message: &Message, base: usize) {
        for place in &message.always {
            let field = &message.fields[usize::from(*place)];
            if self.pieces[base..].iter().all(|piece| piece.number != field.number) {
                let start = self.out.len();
                self.zero(field.number, field.ty);
                self.piece(field, start);
            }
        }
    }

    /// Writes a zero value.
    fn zero(&mut self, number: u32, ty: Type) {
        put_tag(&mut self.out, number, ty.wire());
        match ty {
            // The parts of an object have the fields that are always written.
            Type::Message(of) => {
                let length = self.hole();
                let begin = self.out.len();
                let base = self.pieces.len();
                let message = &self.descriptors.messages[of];
                // An absent time is empty, though a time that is present always has both its numbers.
                if message.form == Form::Plain {
                    self.missing(message, base);
                    self.in_order(begin, base);
                }
                put_length(&mut self.out, length);
            }
            _ => match ty.wire() {
                WireType::Fixed64 => self.out.extend([0; 8]),
                WireType::Fixed32 => self.out.extend([0; 4]),
                WireType::Varint | WireType::Delimited => self.out.push(0),
            },
        }
    }

    /// Leaves a byte for a length and returns its index.
    fn hole(&mut self) -> usize {
        self.out.push(0);
        self.out.len() - 1
    }

    /// Notes that a field was written.
    fn piece(&mut self, field: &Field, start: usize) {
        let place = start..self.out.len();
        self.pieces.push(Piece { number: field.number, oneof: field.oneof, place });
    }

    /// Forgets an earlier value of this field or of its oneof.
    fn forget(&mut self, field: &Field, base: usize) {
        let mut place = base;
        while let Some(piece) = self.pieces.get(place) {
            if piece.number == field.number || (field.oneof > 0 && piece.oneof == field.oneof) {
                self.pieces.remove(place);
            } else {
                place += 1;
            }
        }
    }

    /// Puts the pieces of a message into the order of their numbers.
    fn in_order(&mut self, begin: usize, base: usize) {
        let mut end = begin;
        let mut last = 0;
        let stands = self.pieces[base..].iter().all(|piece| {
            let stands = piece.place.start == end && piece.number >= last;
            (end, last) = (piece.place.end, piece.number);
            stands
        });
        if !stands || end != self.out.len() {
            self.pieces[base..].sort_by_key(|piece| piece.number);
            self.sorted.clear();
            for piece in &self.pieces[base..] {
                self.sorted.extend_from_slice(&self.out[piece.place.clone()]);
            }
            self.out.truncate(begin);
            self.out.extend_from_slice(&self.sorted);
        }
        self.pieces.truncate(base);
    }

    /// Writes the member of an object that is this field. `None` if it is null.
    fn member(&mut self, reader: &mut Reader<'t>, field: &Field) -> Result<Option<bool>, Error> {
        let start = self.out.len();
        let kind = reader.peek()?;
        if kind == TokenKind::Null && !self.takes_null(field) {
            reader.null()?;
            return Ok(None);
        }
        let written = match field.shape {
            Shape::Single => self.single(reader, field)?,
            Shape::List { packed } if kind == TokenKind::Array => self.list(reader, field, packed)?,
            Shape::Map { key } if kind == TokenKind::Object => self.map(reader, field, key)?,
            Shape::List { .. } | Shape::Map { .. } => self.misfit(reader)?,
        };
        if !written {
            self.out.truncate(start);
        }
        Ok(Some(written))
    }

    /// True if null is a value of this field.
    fn takes_null(&self, field: &Field) -> bool {
        field.shape == Shape::Single && self.takes_null_element(field.ty)
    }

    fn single(&mut self, reader: &mut Reader<'t>, field: &Field) -> WriteResult {
        put_tag(&mut self.out, field.number, field.ty.wire());
        let start = self.out.len();
        if !self.value(reader, field.ty)? {
            return Ok(false);
        }
        let zero = match field.ty {
            Type::Message(_) => false,
            // Minus zero is written with a bit set, and is zero to proto3 as to Go.
            Type::Double => matches!(self.out[start..], [0, 0, 0, 0, 0, 0, 0, 0 | 0x80]),
            Type::Float => matches!(self.out[start..], [0, 0, 0, 0 | 0x80]),
            _ => self.out[start..].iter().all(|byte| *byte == 0),
        };
        Ok(!zero || field.presence || field.always)
    }

    fn list(&mut self, reader: &mut Reader<'t>, field: &Field, packed: bool) -> WriteResult {
        let start = self.out.len();
        reader.begin_array()?;
        if packed {
            put_tag(&mut self.out, field.number, WireType::Delimited);
            let length = self.hole();
            while reader.next_element()? {
                let start = self.out.len();
                if !self.value(reader, field.ty)? {
                    self.out.truncate(start);
                }
            }
            let any = self.out.len() > length + 1;
            put_length(&mut self.out, length);
            return Ok(any);
        }
        while reader.next_element()? {
            let start = self.out.len();
            put_tag(&mut self.out, field.number, field.ty.wire());
            if !self.value(reader, field.ty)? {
                self.out.truncate(start);
            }
        }
        Ok(self.out.len() > start)
    }

    /// Writes the entries in the order of their keys; of a key that comes twice, the last.
    fn map(&mut self, reader: &mut Reader<'t>, field: &Field, key_type: Type) -> WriteResult {
        let begin = self.out.len();
        let base = self.entries.len();
        let mut in_order = true;
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            let start = self.out.len();
            put_tag(&mut self.out, field.number, WireType::Delimited);
            let length = self.hole();
            let mut written = self.key(&key, key_type);
            if !written {
                self.lost.values += 1;
                reader.skip()?;
            } else if reader.peek()? == TokenKind::Null && !self.takes_null_element(field.ty) {
                // As in protobuf's own readers, a null is not an entry.
                reader.null()?;
                written = false;
            } else {
                put_tag(&mut self.out, 2, field.ty.wire());
                written = self.value(reader, field.ty)?;
            }
            if written {
                put_length(&mut self.out, length);
                in_order &= self.entries.len() == base || self.entries.last().is_none_or(|(last, _)| *last < key);
                self.entries.push((key, start..self.out.len()));
            } else {
                self.out.truncate(start);
            }
        }
        if !in_order {
            let entries = &mut self.entries[base..];
            // A stable sort: among equal keys, the one that came last stays last.
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            self.sorted.clear();
            for (place, (key, range)) in entries.iter().enumerate() {
                if entries.get(place + 1).is_none_or(|(next, _)| next != key) {
                    self.sorted.extend_from_slice(&self.out[range.clone()]);
                }
            }
            self.out.truncate(begin);
            self.out.extend_from_slice(&self.sorted);
        }
        self.entries.truncate(base);
        Ok(self.out.len() > begin)
    }

    fn takes_null_element(&self, ty: Type) -> bool {
        matches!(ty, Type::Message(of) if self.descriptors.messages[of].form == Form::Value)
    }

    /// Writes a map entry's key, which JSON has as text whatever its type.
    fn key(&mut self, key: &str, ty: Type) -> bool {
        put_tag(&mut self.out, 1, ty.wire());
        match ty {
            Type::Text => {
                put_varint(&mut self.out, key.len() as u64);
                self.out.extend_from_slice(key.as_bytes());
                true
            }
            Type::Bool => match key {
                "true" | "false" => {
                    self.out.push(u8::from(key == "true"));
                    true
                }
                _ => false,
            },
            _ => self.integer_or_float(key, ty),
        }
    }

    /// Writes a message's contents.
    fn message(&mut self, reader: &mut Reader<'t>, message: &Message) -> WriteResult {
        let kind = reader.peek()?;
        match (message.form, kind) {
            (Form::Timestamp | Form::Time, TokenKind::String) => self.time(reader, message),
            (Form::Duration, TokenKind::String) => self.duration(reader),
            (Form::Struct, TokenKind::Object) | (Form::ListValue, TokenKind::Array) => {
                let field = &message.fields[0];
                match field.shape {
                    Shape::Map { key } => self.map(reader, field, key)?,
                    _ => self.list(reader, field, false)?,
                };
                Ok(true)
            }
            (Form::Value, _) => self.any_value(reader, message),
            (Form::Any, TokenKind::Object) => self.any(reader),
            (Form::Wrapper, _) => {
                let start = self.out.len();
                match self.single(reader, &message.fields[0])? {
                    true => {}
                    false => self.out.truncate(start),
                }
                Ok(true)
            }
            (Form::Quantity, TokenKind::String) => {
                let text = reader.string()?;
                self.write_text(1, &text);
                Ok(true)
            }
            (Form::Quantity, TokenKind::Number) => {
                let text = reader.number()?;
                self.write_text(1, text);
                Ok(true)
            }
            (Form::IntOrString, TokenKind::Number) => match integer::<i32>(reader.number()?) {
                Some(number) => {
                    self.int_or_string(0, number, "");
                    Ok(true)
                }
                None => self.no_place(),
            },
            (Form::IntOrString, TokenKind::String) => {
                let text = reader.string()?;
                self.int_or_string(1, 0, &text);
                Ok(true)
            }
            (Form::Fields, _) => self.fields(reader),
            (Form::Struct | Form::ListValue | Form::Any, _) => self.misfit(reader),
            // Messages that also occur as an object of their fields.
            (_, TokenKind::Object) => self.plain(reader, message).map(|()| true),
            _ => self.misfit(reader),
        }
    }

    /// `google.protobuf.Value`: one of its members, by the kind of the JSON value.
    fn any_value(&mut self, reader: &mut Reader<'t>, message: &Message) -> WriteResult {
        let number = match reader.peek()? {
            TokenKind::Null => {
                reader.null()?;
                self.number(1, 0);
                return Ok(true);
            }
            TokenKind::Number => 2,
            TokenKind::String => 3,
            TokenKind::Bool => 4,
            TokenKind::Object => 5,
            TokenKind::Array => 6,
        };
        let Some(field) = message.numbered(number) else { return self.misfit(reader) };
        put_tag(&mut self.out, number, field.ty.wire());
        self.value(reader, field.ty)
    }

    /// Writes a value without its tag, with its length if it has one. `false` if it does not fit.
    fn value(&mut self, reader: &mut Reader<'t>, ty: Type) -> WriteResult {
        let kind = reader.peek()?;
        match (ty, kind) {
            (Type::Message(of), _) => {
                let length = self.hole();
                let message = &self.descriptors.messages[of];
                let written = self.message(reader, message)?;
                put_length(&mut self.out, length);
                Ok(written)
            }
            (Type::Text, TokenKind::String) => {
                let text = reader.string()?;
                put_varint(&mut self.out, text.len() as u64);
                self.out.extend_from_slice(text.as_bytes());
                Ok(true)
            }
            (Type::Bytes, TokenKind::String) => {
                let text = reader.string()?;
                match bytes_of(&text) {
                    Some(bytes) => {
                        put_varint(&mut self.out, bytes.len() as u64);
                        self.out.extend_from_slice(&bytes);
                        Ok(true)
                    }
                    None => self.no_place(),
                }
            }
            (Type::Bool, TokenKind::Bool) => {
                let value = reader.bool()?;
                self.out.push(u8::from(value));
                Ok(true)
            }
            (Type::Enum(of), TokenKind::String) => {
                let name = reader.string()?;
                match self.descriptors.enums[of].number(&name) {
                    Some(number) => {
                        self.enum_number(number);
                        Ok(true)
                    }
                    None => {
                        self.lost.enums += 1;
                        Ok(false)
                    }
                }
            }
            (Type::Enum(_), TokenKind::Number) => match integer::<i32>(reader.number()?) {
                Some(number) => {
                    self.enum_number(number);
                    Ok(true)
                }
                None => self.no_place(),
            },
            (Type::Text | Type::Bytes | Type::Bool | Type::Enum(_), _) => self.misfit(reader),
            // The reader has looked at every digit already.
            (Type::Double, TokenKind::Number) => match float_of_number::<f64>(reader.number()?) {
                Some(value) => {
                    self.out.extend_from_slice(&value.to_le_bytes());
                    Ok(true)
                }
                None => self.no_place(),
            },
            (_, TokenKind::String | TokenKind::Number) => {
                let text: Cow<'_, str> =
                    if kind == TokenKind::String { reader.string()? } else { Cow::Borrowed(reader.number()?) };
                if self.integer_or_float(&text, ty) { Ok(true) } else { self.no_place() }
            }
            _ => self.misfit(reader),
        }
    }

    fn enum_number(&mut self, number: i32) {
        // Negative numbers take ten bytes, as int32 does.
        put_varint(&mut self.out, i64::from(number).cast_unsigned());
    }

    /// Writes a number that is given as text. `false` if it is not a number of this type.
    fn integer_or_float(&mut self, text: &str, ty: Type) -> bool {
        let out = &mut self.out;
        let varint = |out: &mut Vec<u8>, value: Option<u64>| value.map(|value| put_varint(out, value)).is_some();
        let bytes = |out: &mut Vec<u8>, value: Option<&[u8]>| value.map(|value| out.extend_from_slice(value)).is_some();
        match ty {
            Type::Int32 => varint(out, integer::<i32>(text).map(|value| i64::from(value).cast_unsigned())),
            Type::Int64 => varint(out, integer::<i64>(text).map(i64::cast_unsigned)),
            Type::UInt32 => varint(out, integer::<u32>(text).map(u64::from)),
            Type::UInt64 => varint(out, integer::<u64>(text)),
            Type::SInt32 => varint(out, integer::<i32>(text).map(|v| u64::from((v << 1 ^ v >> 31).cast_unsigned()))),
            Type::SInt64 => varint(out, integer::<i64>(text).map(|v| (v << 1 ^ v >> 63).cast_unsigned())),
            Type::Fixed32 => bytes(out, integer::<u32>(text).map(u32::to_le_bytes).as_ref().map(|b| &b[..])),
            Type::SFixed32 => bytes(out, integer::<i32>(text).map(i32::to_le_bytes).as_ref().map(|b| &b[..])),
            Type::Fixed64 => bytes(out, integer::<u64>(text).map(u64::to_le_bytes).as_ref().map(|b| &b[..])),
            Type::SFixed64 => bytes(out, integer::<i64>(text).map(i64::to_le_bytes).as_ref().map(|b| &b[..])),
            Type::Double => bytes(out, float::<f64>(text).map(f64::to_le_bytes).as_ref().map(|b| &b[..])),
            Type::Float => bytes(out, float::<f32>(text).map(f32::to_le_bytes).as_ref().map(|b| &b[..])),
            Type::Bool | Type::Text | Type::Bytes | Type::Enum(_) | Type::Message(_) => false,
        }
    }
}
