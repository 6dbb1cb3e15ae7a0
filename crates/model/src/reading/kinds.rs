//! Values that may be of several kinds, such as a number or text.

/// Implements reading a type from several kinds of values. A value that maps to `None` is refused as "`value` is not
/// …"; serde refuses other kinds. Serde's own untagged enums lose both the reason and the place of an error.
macro_rules! read_kinds {
    ($type:ident, $expected:expr, $($visit:ident($value:ident: $kind:ty) $made:expr;)* $([$table:ident: $entries:ty] $of_table:expr;)?) => {
        const _: () = {
            struct Kinds;

            impl<'de> serde::de::Visitor<'de> for Kinds {
                type Value = $type;

                fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    formatter.write_str($expected)
                }

                $(fn $visit<E: serde::de::Error>(self, $value: $kind) -> Result<$type, E> {
                    let made: Option<$type> = $made;
                    made.ok_or_else(|| E::custom(format!("`{}` is not {}", $value, $expected)))
                })*

                $(fn visit_map<A: serde::de::MapAccess<'de>>(self, entries: A) -> Result<$type, A::Error> {
                    let $table: $entries =
                        serde::Deserialize::deserialize(serde::de::value::MapAccessDeserializer::new(entries))?;
                    let made: Result<$type, &str> = $of_table;
                    made.map_err(serde::de::Error::custom)
                })?
            }

            impl<'de> serde::Deserialize<'de> for $type {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    deserializer.deserialize_any(Kinds)
                }
            }
        };
    };
}

pub(crate) use read_kinds;
