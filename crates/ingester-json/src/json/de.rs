//! Decoding of typed values, straight from the tokens. The rules are in the module's documentation.

use std::borrow::Cow;
use std::str::FromStr;

use serde::de::value::CowStrDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, Visitor};

use super::key::MapKey;
use super::number::{Fault, parse_float, parse_integer};
use super::{Error, Reader, TokenKind, float_of_number};

/// The name by which a newtype asks for the text of a value instead of the value:
/// `deserializer.deserialize_newtype_struct(RAW_TOKEN, visitor)` calls `visit_borrowed_str` with the text as it
/// stands in the document, checked to be JSON and without white space around.
pub const RAW_TOKEN: &str = "$ingester::Raw";

/// Decodes one value; nothing but white space may follow it. See the module's documentation for the rules.
///
/// # Errors
/// When the text is not JSON, is nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH), or does not fit the type; the error
/// knows its path.
pub fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    let mut reader = Reader::new(text);
    let value = reader.decode()?;
    reader.finish().map_err(|error| error.locate(text))?;
    Ok(value)
}

impl<'de> Reader<'de> {
    /// Decodes the value that comes next.
    ///
    /// # Errors
    /// As [`from_str`](super::from_str); the path of an error starts at the beginning of the reader's text.
    pub fn decode<T: Deserialize<'de>>(&mut self) -> Result<T, Error> {
        let start = self.offset();
        let text = self.text();
        T::deserialize(self).map_err(|error| error.place(start).locate(text))
    }

    /// Takes an integer, or a string that may hold one.
    #[inline]
    fn integer<T: FromStr>(&mut self) -> Result<T, Error> {
        let start = self.offset();
        let token = match self.peek()? {
            TokenKind::String => self.string()?,
            _ => Cow::Borrowed(self.number()?),
        };
        parse_integer(&token).map_err(|fault| fault.into_error::<T>(start, self.since(start)))
    }

    /// Takes a number, or a string that may hold one.
    #[inline]
    fn float<T: FromStr + Into<f64> + Copy>(&mut self) -> Result<T, Error> {
        let start = self.offset();
        let value = match self.peek()? {
            TokenKind::String => parse_float(&self.string()?),
            _ => float_of_number(self.number()?).ok_or(Fault::Range),
        };
        value.map_err(|fault| fault.into_error::<T>(start, self.since(start)))
    }

    fn visit_object<V: Visitor<'de>>(&mut self, visitor: V, nulls: Nulls) -> Result<V::Value, Error> {
        self.begin_object()?;
        let mut members = Members { reader: self, nulls, done: false };
        let value = visitor.visit_map(&mut members)?;
        match members.done || members.next_key()?.is_none() {
            true => Ok(value),
            false => Err(Error::value(self.offset(), "expected no further entry in the object")),
        }
    }

    fn visit_array<V: Visitor<'de>>(&mut self, visitor: V, nulls: Nulls) -> Result<V::Value, Error> {
        self.begin_array()?;
        let mut members = Members { reader: self, nulls, done: false };
        let value = visitor.visit_seq(&mut members)?;
        match members.done || !members.next_element()? {
            true => Ok(value),
            false => Err(Error::value(self.offset(), "expected no further element in the array")),
        }
    }
}

/// The treatment of null members of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nulls {
    Absent,
    Kept,
}

/// The members of an open object or array, as serde asks for them.
struct Members<'r, 'de> {
    reader: &'r mut Reader<'de>,
    nulls: Nulls,
    done: bool,
}

impl<'de> Members<'_, 'de> {
    #[inline]
    fn next_key(&mut self) -> Result<Option<Cow<'de, str>>, Error> {
        while let Some(key) = self.reader.next_key()? {
            if self.nulls == Nulls::Absent && self.reader.at_null() {
                self.reader.null()?;
            } else {
                return Ok(Some(key));
            }
        }
        self.done = true;
        Ok(None)
    }

    #[inline]
    fn next_element(&mut self) -> Result<bool, Error> {
        while self.reader.next_element()? {
            if self.nulls == Nulls::Kept || !self.reader.at_null() {
                return Ok(true);
            }
            self.reader.null()?;
        }
        self.done = true;
        Ok(false)
    }

    #[inline]
    fn value<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let start = self.reader.offset();
        seed.deserialize(&mut *self.reader).map_err(|error| error.place(start))
    }
}

impl<'de> de::MapAccess<'de> for Members<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        match self.next_key()? {
            // At the value, so that the path ends in the key.
            Some(key) => seed.deserialize(MapKey(key)).map(Some).map_err(|error| error.place(self.reader.offset())),
            None => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        self.value(seed)
    }
}

impl<'de> de::SeqAccess<'de> for Members<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.next_element()? { self.value(seed).map(Some) } else { Ok(None) }
    }
}

/// The members of a null.
struct NullMembers;

impl<'de> de::MapAccess<'de> for NullMembers {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, _: K) -> Result<Option<K::Value>, Error> {
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, _: T) -> Result<T::Value, Error> {
        Err(de::Error::custom("null has no entries"))
    }
}

impl<'de> de::SeqAccess<'de> for NullMembers {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, _: T) -> Result<Option<T::Value>, Error> {
        Ok(None)
    }
}

macro_rules! integers {
    ($($method:ident $visit:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(self.integer()?)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek()? {
            TokenKind::Object => self.visit_object(visitor, Nulls::Kept),
            TokenKind::Array => self.visit_array(visitor, Nulls::Kept),
            TokenKind::String => self.deserialize_str(visitor),
            TokenKind::Bool => visitor.visit_bool(self.bool()?),
            TokenKind::Null => self.deserialize_unit(visitor),
            TokenKind::Number => {
                let start = self.offset();
                let token = self.number()?;
                if !token.starts_with('-') {
                    if let Ok(value) = token.parse() {
                        return visitor.visit_u64(value);
                    }
                // So `-0` is the integer 0, as for Go's clients; an API server writes the float -0.0 in this way, too.
                } else if let Ok(value) = token.parse() {
                    return visitor.visit_i64(value);
                }
                visitor.visit_f64(parse_float(token).map_err(|fault| fault.into_error::<f64>(start, token))?)
            }
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(self.bool()?)
    }

    integers! {
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32 deserialize_i64 visit_i64
        deserialize_i128 visit_i128
        deserialize_u8 visit_u8 deserialize_u16 visit_u16 deserialize_u32 visit_u32 deserialize_u64 visit_u64
        deserialize_u128 visit_u128
    }

    #[inline]
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_f32(self.float()?)
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_f64(self.float()?)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.string()? {
            Cow::Borrowed(value) => visitor.visit_borrowed_str(value),
            Cow::Owned(value) => visitor.visit_string(value),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek()? {
            TokenKind::Array | TokenKind::Null => self.deserialize_seq(visitor),
            // The bytes of the string itself; only the type knows what base64 means.
            _ => match self.string()? {
                Cow::Borrowed(value) => visitor.visit_borrowed_bytes(value.as_bytes()),
                Cow::Owned(value) => visitor.visit_byte_buf(value.into_bytes()),
            },
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.at_null() {
            self.null()?;
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.null()?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if name == RAW_TOKEN { visitor.visit_borrowed_str(self.raw()?) } else { visitor.visit_newtype_struct(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.at_null() {
            self.null()?;
            return visitor.visit_seq(NullMembers);
        }
        self.visit_array(visitor, Nulls::Absent)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.at_null() {
            self.null()?;
            return visitor.visit_map(NullMembers);
        }
        self.visit_object(visitor, Nulls::Absent)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.peek()? {
            TokenKind::String => visitor.visit_enum(CowStrDeserializer::new(self.string()?)),
            TokenKind::Object => {
                let start = self.offset();
                let not_one = || Error::value(start, "expected an object with one entry, whose key is the variant");
                self.begin_object()?;
                let key = self.next_key()?.ok_or_else(not_one)?;
                let value = visitor.visit_enum(Variant { reader: &mut *self, key })?;
                if self.next_key()?.is_some() { Err(not_one()) } else { Ok(value) }
            }
            _ => Err(self.mismatch("a string or an object with one entry")),
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.skip()?;
        visitor.visit_unit()
    }
}

/// The one entry of an object that is an enum's variant.
struct Variant<'r, 'de> {
    reader: &'r mut Reader<'de>,
    key: Cow<'de, str>,
}

impl<'r, 'de> de::EnumAccess<'de> for Variant<'r, 'de> {
    type Error = Error;
    type Variant = Content<'r, 'de>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self::Variant), Error> {
        Ok((seed.deserialize(CowStrDeserializer::new(self.key))?, Content(self.reader)))
    }
}

/// The content of a variant.
struct Content<'r, 'de>(&'r mut Reader<'de>);

impl<'de> de::VariantAccess<'de> for Content<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.0.null()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        let start = self.0.offset();
        seed.deserialize(self.0).map_err(|error| error.place(start))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        let start = self.0.offset();
        self.0.deserialize_seq(visitor).map_err(|error| error.place(start))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        let start = self.0.offset();
        self.0.deserialize_map(visitor).map_err(|error| error.place(start))
    }
}
