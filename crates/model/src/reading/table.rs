//! Values and tables of a TOML text, with their places.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{EnumAccess, MapAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::reading::node::{PLACED, unpacked};
use crate::reading::text::Span;

/// A value of a TOML text, with its place. Unlike toml's own type, it has a schema: the value's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Spanned<T>(toml::Spanned<T>);

impl<T> Spanned<T> {
    pub fn new(span: Span, value: T) -> Self {
        Self(toml::Spanned::new(span, value))
    }

    pub fn span(&self) -> Span {
        self.0.span()
    }

    /// The place of a key, if it is present.
    pub fn place(key: &Option<Self>) -> Option<Span> {
        key.as_ref().map(Self::span)
    }

    pub fn get_ref(&self) -> &T {
        self.0.get_ref()
    }

    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum(PLACED, &[], SpannedVisitor(PhantomData))
    }
}

struct SpannedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
    type Value = Spanned<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value with its place")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, placed: A) -> Result<Self::Value, A::Error> {
        let (place, value) = placed.variant()?;
        Ok(Spanned::new(unpacked(place), value.newtype_variant()?))
    }
}

/// A table of a TOML text, with its place. Structures with a derived reader also accept a list as their fields in
/// order, which is not what `load = ["constant-vus", 8]` means.
#[derive(Debug, Default)]
pub struct Table<T> {
    /// The header of the table, or its braces.
    pub span: Span,
    pub entries: T,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Spanned::<OnlyTable<T>>::deserialize(deserializer)?;
        Ok(Self { span: read.span(), entries: read.into_inner().0 })
    }
}

struct OnlyTable<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OnlyTable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnlyTableVisitor(PhantomData))
    }
}

struct OnlyTableVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OnlyTableVisitor<T> {
    type Value = OnlyTable<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(OnlyTable)
    }
}
