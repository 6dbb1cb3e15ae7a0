//! Which subjects a study enters twice.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which case of a scenario is entered twice. Its two halves are equal, so they differ only by noise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AaPair {
    None,
    /// The first case, in every block.
    First,
    /// One case in each block, in turn.
    #[default]
    Rotating,
}

pub(crate) const AA_PAIR: &str = "`true`, `false` or \"first\"";

struct AaPairVisitor;

impl Visitor<'_> for AaPairVisitor {
    type Value = AaPair;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(AA_PAIR)
    }

    fn visit_bool<E: Error>(self, is_wanted: bool) -> Result<AaPair, E> {
        Ok(if is_wanted { AaPair::Rotating } else { AaPair::None })
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<AaPair, E> {
        match word {
            "first" => Ok(AaPair::First),
            other => Err(E::invalid_value(Unexpected::Str(other), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for AaPair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AaPairVisitor)
    }
}

impl Serialize for AaPair {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_bool(false),
            Self::First => serializer.serialize_str("first"),
            Self::Rotating => serializer.serialize_bool(true),
        }
    }
}
