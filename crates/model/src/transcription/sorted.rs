//! A table that mixes known keys with keys of figures.
//!
//! Serde's `flatten` would separate them, but it loses their places in the text.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::StringDeserializer;
use serde::de::{DeserializeSeed, IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};

use super::figure_key::figure_key;
use super::number_reading::Written;
use crate::reading::several::Several;
use crate::reading::table::Spanned;

/// A figure as written: its key, and one number or several.
pub type WrittenFigure = (Spanned<String>, Spanned<Several<Written>>);

/// The contents of a table, sorted.
#[derive(Debug, Default)]
pub struct Sorted<T> {
    pub known: T,
    /// Keys of figures, with their values.
    pub figures: Vec<WrittenFigure>,
    /// Any other key.
    pub unknown: Vec<Spanned<String>>,
    pub keys: &'static [&'static str],
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Sorted<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SortedVisitor(PhantomData))
    }
}

struct SortedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SortedVisitor<T> {
    type Value = Sorted<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        let (mut figures, mut unknown, mut keys) = (Vec::new(), Vec::new(), [].as_slice());
        let aside = Aside { figures: &mut figures, unknown: &mut unknown, keys: &mut keys };
        let known = T::deserialize(Sorting { entries, aside })?;
        // The parser yields keys sorted by name, so this restores text order.
        figures.sort_by_key(|(key, _): &WrittenFigure| key.span().start);
        Ok(Sorted { known, figures, unknown, keys })
    }
}

/// Passes a structure the keys that it has, and sets the others aside.
struct Sorting<'a, A> {
    entries: A,
    aside: Aside<'a>,
}

/// The keys that a structure does not have.
struct Aside<'a> {
    figures: &'a mut Vec<WrittenFigure>,
    unknown: &'a mut Vec<Spanned<String>>,
    keys: &'a mut &'static [&'static str],
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Sorting<'_, A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.entries)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        *self.aside.keys = fields;
        visitor.visit_map(Known { sorting: self, fields })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Known<'a, A> {
    sorting: Sorting<'a, A>,
    fields: &'static [&'static str],
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Known<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.sorting.entries.next_key::<Spanned<String>>()? {
            if self.fields.contains(&key.get_ref().as_str()) {
                let key: StringDeserializer<A::Error> = key.into_inner().into_deserializer();
                return seed.deserialize(key).map(Some);
            }
            if figure_key(key.get_ref()).is_some() {
                let value = self.sorting.entries.next_value()?;
                self.sorting.aside.figures.push((key, value));
            } else {
                self.sorting.entries.next_value::<IgnoredAny>()?;
                self.sorting.aside.unknown.push(key);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.sorting.entries.next_value_seed(seed)
    }
}
