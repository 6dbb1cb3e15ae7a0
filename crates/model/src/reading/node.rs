//! A TOML value, as serde reads it.
//!
//! toml has its own deserializer, but it passes dates and spans on as maps, and lists as structures. Serde then
//! compiles every reader several times, and this crate takes a quarter longer to build.

use std::fmt;

use serde::de::value::U64Deserializer;
use serde::de::{DeserializeSeed, EnumAccess, Error, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected};
use serde::de::{VariantAccess, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::reading::text::Span;

/// The name of an enum that represents a value with its place: the variant is the place, and holds the value.
pub const PLACED: &str = "$placed";
/// The name of a structure that is read from a list, or from a single value.
pub const SEVERAL: &str = "$several";

/// A value or a key with its place.
pub struct Node<'i> {
    value: DeValue<'i>,
    span: Span,
}

impl<'i> Node<'i> {
    pub fn root(table: Spanned<DeTable<'i>>) -> Self {
        Self { span: table.span(), value: DeValue::Table(table.into_inner()) }
    }

    fn of(value: Spanned<DeValue<'i>>) -> Self {
        Self { span: value.span(), value: value.into_inner() }
    }
}

/// Why a value cannot be read, and where.
#[derive(Debug)]
pub struct NodeError {
    pub message: String,
    pub span: Option<Span>,
}

impl NodeError {
    /// Sets the place, unless an inner one is set.
    fn within(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    fn wrong_type(value: &DeValue<'_>, expected: &dyn Expected) -> Self {
        let found = match value {
            DeValue::String(text) => Unexpected::Str(text),
            DeValue::Integer(_) => Unexpected::Other("integer"),
            DeValue::Float(_) => Unexpected::Other("float"),
            DeValue::Boolean(is_true) => Unexpected::Bool(*is_true),
            DeValue::Datetime(_) => Unexpected::Other("date"),
            DeValue::Array(_) => Unexpected::Seq,
            DeValue::Table(_) => Unexpected::Map,
        };
        Self::invalid_type(found, expected)
    }
}

impl Error for NodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), span: None }
    }
}

impl std::error::Error for NodeError {}

impl fmt::Display for NodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// A number in the narrowest type that visitors accept.
enum Number {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

impl Number {
    fn of(value: &DeValue<'_>, expected: &dyn Expected) -> Result<Self, NodeError> {
        let number = match value {
            DeValue::Integer(whole) => {
                let signed = i64::from_str_radix(whole.as_str(), whole.radix()).map(Self::Signed);
                signed.or_else(|_| u64::from_str_radix(whole.as_str(), whole.radix()).map(Self::Unsigned)).ok()
            }
            DeValue::Float(float) => {
                let number = float.as_str().parse().ok();
                let number = number.filter(|number: &f64| !number.is_infinite() || float.as_str().contains("inf"));
                return number.map(Self::Float).ok_or_else(|| Error::custom("floating-point number overflowed"));
            }
            _ => None,
        };
        number.ok_or_else(|| NodeError::wrong_type(value, expected))
    }
}

/// Implements methods for one kind of value. They refuse any other kind without calling the visitor.
macro_rules! read_only {
    ($($method:ident)+, $kind:ident($value:ident), $visitor:ident => $visit:expr) => {$(
        fn $method<V: Visitor<'de>>(self, $visitor: V) -> Result<V::Value, NodeError> {
            let read = match self.value {
                DeValue::$kind($value) => $visit,
                other => Err(NodeError::wrong_type(&other, &$visitor)),
            };
            read.map_err(|error| error.within(self.span))
        }
    )+};
}

macro_rules! read_numbers {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
            let read = Number::of(&self.value, &visitor).and_then(|number| match number {
                Number::Signed(number) => visitor.visit_i64(number),
                Number::Unsigned(number) => visitor.visit_u64(number),
                Number::Float(number) => visitor.visit_f64(number),
            });
            read.map_err(|error| error.within(self.span))
        }
    )+};
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = NodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        match &self.value {
            DeValue::String(_) => self.deserialize_str(visitor),
            DeValue::Integer(_) | DeValue::Float(_) => self.deserialize_f64(visitor),
            DeValue::Boolean(_) => self.deserialize_bool(visitor),
            DeValue::Array(_) => self.deserialize_seq(visitor),
            DeValue::Table(_) => self.deserialize_map(visitor),
            DeValue::Datetime(_) => Err(NodeError::wrong_type(&self.value, &visitor).within(self.span)),
        }
    }

    read_only!(deserialize_str deserialize_string deserialize_identifier, String(text), visitor => match text {
        std::borrow::Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
        std::borrow::Cow::Owned(text) => visitor.visit_string(text),
    });
    read_only!(deserialize_bool, Boolean(is_true), visitor => visitor.visit_bool(is_true));
    read_only!(deserialize_seq, Array(items), visitor => visitor.visit_seq(Items(items.into_iter())));
    read_only!(deserialize_map, Table(table), visitor => {
        visitor.visit_map(Entries { entries: table.into_iter(), value: None })
    });
    read_numbers!(deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64);
    read_numbers!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_f32 deserialize_f64);

    /// A key that is present is never `None`.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, NodeError> {
        match self.value {
            DeValue::Array(_) if name == SEVERAL => self.deserialize_seq(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NodeError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NodeError> {
        let span = self.span.clone();
        let read = match self.value {
            _ if name == PLACED => visitor.visit_enum(Placed(self)),
            DeValue::String(word) => visitor.visit_enum(IntoDeserializer::<NodeError>::into_deserializer(word)),
            other => Err(NodeError::wrong_type(&other, &"a string")),
        };
        read.map_err(|error| error.within(span))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct
    }
}

struct Items<'i>(std::vec::IntoIter<Spanned<DeValue<'i>>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = NodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, NodeError> {
        self.0.next().map(|item| seed.deserialize(Node::of(item))).transpose()
    }
}

struct Entries<'i> {
    entries: <DeTable<'i> as IntoIterator>::IntoIter,
    /// The value of the key returned last.
    value: Option<Spanned<DeValue<'i>>>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = NodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, NodeError> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some(value);
        let key = Node { span: key.span(), value: DeValue::String(key.into_inner()) };
        let span = key.span.clone();
        seed.deserialize(key).map(Some).map_err(|error| error.within(span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, NodeError> {
        let value = self.value.take().ok_or_else(|| NodeError::custom("a value is read before its key"))?;
        let span = value.span();
        seed.deserialize(Node::of(value)).map_err(|error| error.within(span))
    }
}

/// Passes the place as one number, with the end in its lower half.
struct Placed<'i>(Node<'i>);

pub fn unpacked(place: u64) -> Span {
    (place >> 32) as usize..(place & u64::from(u32::MAX)) as usize
}

impl<'de> EnumAccess<'de> for Placed<'de> {
    type Error = NodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), NodeError> {
        let place = (self.0.span.start as u64) << 32 | self.0.span.end as u64;
        Ok((seed.deserialize(U64Deserializer::new(place))?, self))
    }
}

impl<'de> VariantAccess<'de> for Placed<'de> {
    type Error = NodeError;

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, NodeError> {
        seed.deserialize(self.0)
    }

    fn unit_variant(self) -> Result<(), NodeError> {
        Err(NodeError::wrong_type(&self.0.value, &"a value with its place"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, NodeError> {
        Err(NodeError::wrong_type(&self.0.value, &"a value with its place"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, NodeError> {
        Err(NodeError::wrong_type(&self.0.value, &"a value with its place"))
    }
}
