//! One value or a list of values, each with its place in the text.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::limits::LIST;
use crate::reading::node::SEVERAL;
use crate::reading::table::Spanned;

/// One value or a list of values, each with its place in the text. Serde's untagged enums would lose both the reason
/// and the place of an error.
#[derive(Debug)]
pub struct Several<T>(pub Vec<Spanned<T>>);

enum OneOrMany<T> {
    One(T),
    Many(Vec<Spanned<T>>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Several<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Spanned::<OneOrMany<T>>::deserialize(deserializer)?;
        let span = read.span();
        match read.into_inner() {
            OneOrMany::One(value) => Ok(Self(vec![Spanned::new(span, value)])),
            OneOrMany::Many(values) => match LIST.holds(values.len() as u64) {
                Ok(()) => Ok(Self(values)),
                Err(why) => Err(D::Error::custom(why)),
            },
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(SEVERAL, OneOrManyVisitor(PhantomData))
    }
}

struct OneOrManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value or a list of values")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<Self::Value, D::Error> {
        T::deserialize(value).map(OneOrMany::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(OneOrMany::Many)
    }
}
