//! JSON to bytes, for messages whose JSON is not an object of their fields.

use super::descriptor::Message;
use super::encoder::{Encoder, WriteResult};
use super::special::Form;
use super::varint::{WireType, put_tag, put_varint};
use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ingester_json::json::{Reader, TokenKind};
use ingester_wire::{Duration, moment};
use std::borrow::Cow;

/// Base64 with or without padding.
const STANDARD: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl<'t> Encoder<'_, 't> {
    pub(super) fn time(&mut self, reader: &mut Reader<'t>, message: &Message) -> WriteResult {
        let text = reader.string()?;
        let Some(time) = moment(&text) else { return self.no_place() };
        let seconds = time.second();
        let nanos = time.nanosecond();
        let always = message.form == Form::Time;
        self.seconds_and_nanos(seconds, nanos, always);
        Ok(true)
    }

    fn seconds_and_nanos(&mut self, seconds: i64, nanos: i32, always: bool) {
        if seconds != 0 || always {
            self.number(1, seconds.cast_unsigned());
        }
        if nanos != 0 || always {
            self.number(2, i64::from(nanos).cast_unsigned());
        }
    }

    pub(super) fn duration(&mut self, reader: &mut Reader<'t>) -> WriteResult {
        let text = reader.string()?;
        let Some(Duration(nanos)) = Duration::parse(&text) else { return self.no_place() };
        // Both have the sign.
        self.seconds_and_nanos(nanos / 1_000_000_000, (nanos % 1_000_000_000) as i32, false);
        Ok(true)
    }

    pub(super) fn int_or_string(&mut self, ty: u64, number: i32, text: &str) {
        self.number(1, ty);
        self.number(2, i64::from(number).cast_unsigned());
        self.write_text(3, text);
    }

    pub(super) fn any(&mut self, reader: &mut Reader<'t>) -> WriteResult {
        let mut url = None;
        let mut value = None;
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match (key.as_ref(), reader.peek()?) {
                ("@type", TokenKind::String) => url = Some(reader.string()?),
                ("value", TokenKind::String) => {
                    value = bytes_of(&reader.string()?);
                    self.lost.values += u64::from(value.is_none());
                }
                (_, TokenKind::Null) => reader.null()?,
                _ => {
                    self.lost.fields += 1;
                    reader.skip()?;
                }
            }
        }
        if let Some(url) = url.filter(|url| !url.is_empty()) {
            self.write_text(1, &url);
        }
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            put_tag(&mut self.out, 2, WireType::Delimited);
            put_varint(&mut self.out, value.len() as u64);
            self.out.extend_from_slice(&value);
        }
        Ok(true)
    }

    /// `FieldsV1`: Kubernetes' JSON has what it describes, protobuf's the text of that as base64 in `Raw`.
    pub(super) fn fields(&mut self, reader: &mut Reader<'t>) -> WriteResult {
        let raw = reader.raw()?;
        let encoded = raw_member(raw);
        let bytes: Cow<'_, [u8]> = match encoded {
            Some(bytes) => Cow::Owned(bytes),
            None => Cow::Borrowed(raw.as_bytes()),
        };
        put_tag(&mut self.out, 1, WireType::Delimited);
        put_varint(&mut self.out, bytes.len() as u64);
        self.out.extend_from_slice(&bytes);
        Ok(true)
    }
}

/// The bytes of `{"Raw": "base64"}`, where the text is that.
fn raw_member(text: &str) -> Option<Vec<u8>> {
    let mut reader = Reader::new(text);
    reader.begin_object().ok()?;
    let key = reader.next_key().ok()??;
    if !key.eq_ignore_ascii_case("raw") || reader.peek().ok()? != TokenKind::String {
        return None;
    }
    let bytes = bytes_of(&reader.string().ok()?)?;
    reader.next_key().ok()?.is_none().then_some(bytes)
}

pub(super) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()
}
