//! Describes how an answer differs from the correct one, and names the row and the field.

use serde_json::value::RawValue;

use super::document::{Kind, elements, fields, kind, parse, text};

/// The most that is quoted of a value.
const EXCERPT_CHARACTERS: usize = 60;
/// How much is quoted before the first difference of long values.
const LEAD_CHARACTERS: usize = 20;
/// How much is quoted of a body that is not JSON.
const EXCERPT_BYTES: usize = 30;

/// How `given` differs from `owed`: by its values if both are JSON, else by its bytes. The two must differ.
pub fn difference(owed: &[u8], given: &[u8]) -> String {
    let (Some(owed_value), Some(given_value)) = (parse(owed), parse(given)) else { return by_bytes(owed, given) };
    // A wrong value is more informative than wrong order, even if it comes later.
    let found = [Look::Values, Look::Order].into_iter().find_map(|look| look.at(&Place::Top, owed_value, given_value));
    found.unwrap_or_else(|| format!("the same values, written otherwise: {}", by_bytes(owed, given)))
}

/// How the shape of `given`, its field names and kinds of values, differs from that of `example`. All elements of an array must have
/// the shape of the example's first. A value that is null in either may be anything.
pub fn shape_difference(example: &[u8], given: &[u8]) -> Option<String> {
    let Some(given_value) = parse(given) else {
        return Some(format!("a body of {} bytes that is no JSON", given.len()));
    };
    Look::Shape.at(&Place::Top, parse(example)?, given_value)
}

/// How two bodies of unknown format differ.
fn by_bytes(owed: &[u8], given: &[u8]) -> String {
    let first = given.iter().zip(owed).position(|(given, owed)| given != owed);
    let at = first.unwrap_or(given.len().min(owed.len()));
    let excerpt = |bytes: &[u8]| {
        let excerpt = &bytes[at.min(bytes.len())..(at + EXCERPT_BYTES).min(bytes.len())];
        String::from_utf8_lossy(excerpt).into_owned()
    };
    let length = match (given.len(), owed.len()) {
        (same, owed) if same == owed => format!("a body of the right length ({same} bytes)"),
        (given, owed) => format!("a body of {given} bytes instead of {owed}"),
    };
    format!("{length}, different from byte {at} on: {:?} instead of {:?}", excerpt(given), excerpt(owed))
}

/// Whether two values are equal except for the order of fields and formatting.
pub(super) fn is_same_value(owed: &RawValue, given: &RawValue) -> bool {
    Look::Values.at(&Place::Top, owed, given).is_none()
}

#[derive(Clone, Copy)]
enum Look {
    /// Different values, regardless of field order.
    Values,
    /// Fields in a different order.
    Order,
    /// Names of fields and kinds of values.
    Shape,
}

/// A place in a document.
enum Place<'a> {
    Top,
    /// An element of an array, counted from 1. Objects in a top-level array are called rows.
    Element {
        within: &'a Place<'a>,
        number: usize,
        noun: &'static str,
    },
    Field {
        within: &'a Place<'a>,
        name: &'a str,
    },
}

impl Place<'_> {
    /// The place in words; empty for the whole document.
    fn words(&self) -> String {
        let (within, own) = match self {
            Self::Top => return String::new(),
            Self::Element { within, number, noun } => (within, format!("{noun} {number}")),
            Self::Field { within, name } => (within, format!("field `{name}`")),
        };
        let outer = within.words();
        if outer.is_empty() { own } else { format!("{outer}, {own}") }
    }

    /// A message about this place.
    fn says(&self, what: &str) -> String {
        let words = self.words();
        if words.is_empty() { what.to_owned() } else { format!("{words}: {what}") }
    }
}

impl Look {
    /// The first difference of this kind.
    fn at(self, place: &Place<'_>, owed: &RawValue, given: &RawValue) -> Option<String> {
        if owed.get() == given.get() {
            return None;
        }
        let is_same = match (kind(owed), kind(given)) {
            (Kind::Array, Kind::Array) => return self.in_arrays(place, &elements(owed)?, &elements(given)?),
            (Kind::Object, Kind::Object) => return self.in_objects(place, &fields(owed)?, &fields(given)?),
            (Kind::Text, Kind::Text) => text(owed) == text(given),
            _ => false,
        };
        if is_same || matches!(self, Self::Order) {
            return None;
        }
        let (owed_kind, given_kind) = (kind(owed), kind(given));
        if matches!(self, Self::Shape) {
            let is_alike = owed_kind == given_kind || [owed_kind, given_kind].contains(&Kind::Null);
            return (!is_alike).then(|| place.says(&format!("{given_kind} instead of {owed_kind}")));
        }
        let (given, owed) = excerpts(given.get(), owed.get());
        let kinds = [owed_kind, given_kind];
        let is_worth_saying = owed_kind != given_kind && !kinds.contains(&Kind::Null);
        let note = if is_worth_saying { format!(" ({given_kind} instead of {owed_kind})") } else { String::new() };
        Some(place.says(&format!("{given} instead of {owed}{note}")))
    }

    fn in_arrays(self, place: &Place<'_>, owed: &[&RawValue], given: &[&RawValue]) -> Option<String> {
        let has_rows = matches!(place, Place::Top) && owed.iter().chain(given).all(|row| kind(row) == Kind::Object);
        let noun = if has_rows { "row" } else { "element" };
        if matches!(self, Self::Shape) {
            let example = owed.first()?;
            let element = |number| Place::Element { within: place, number, noun };
            return given.iter().zip(1..).find_map(|(given, number)| self.at(&element(number), example, given));
        }
        let pairs = owed.iter().zip(given).zip(1..);
        let mut differences = pairs.filter_map(|((owed, given), number)| {
            self.at(&Place::Element { within: place, number, noun }, owed, given)
        });
        let first = differences.next();
        if owed.len() == given.len() || matches!(self, Self::Order) {
            return first;
        }
        let s = if given.len() == 1 { "" } else { "s" };
        let count = place.says(&format!("{} {noun}{s} instead of {}", given.len(), owed.len()));
        Some(match first {
            Some(first) => format!("{count}; {first}"),
            None => format!("{count}, the same as far as they go"),
        })
    }

    fn in_objects(
        self,
        place: &Place<'_>,
        owed: &[(String, &RawValue)],
        given: &[(String, &RawValue)],
    ) -> Option<String> {
        if matches!(self, Self::Order) {
            let nested = owed.iter().find_map(|(name, value)| self.at_field(place, name, value, given));
            let moved = owed.iter().zip(given).zip(1..).find(|((owed, given), _)| owed.0 != given.0);
            let words = moved.map(|((owed, given), number)| {
                place.says(&format!(
                    "the fields are in another order: field {number} is `{}` instead of `{}`",
                    given.0, owed.0
                ))
            });
            return words.or(nested);
        }
        let lacks = |fields: &[(String, &RawValue)], name: &str| fields.iter().all(|(other, _)| other != name);
        if owed.len() != given.len() || owed.iter().zip(given).any(|(owed, given)| owed.0 != given.0) {
            if let Some((name, _)) = owed.iter().find(|(name, _)| lacks(given, name)) {
                return Some(place.says(&format!("the field `{name}` is missing")));
            }
            if let Some((name, _)) = given.iter().find(|(name, _)| lacks(owed, name)) {
                return Some(place.says(&format!("the field `{name}` is not owed")));
            }
            if owed.len() != given.len() {
                return Some(place.says(&format!("{} fields instead of {}, some twice", given.len(), owed.len())));
            }
        }
        owed.iter().find_map(|(name, value)| self.at_field(place, name, value, given))
    }

    fn at_field(self, place: &Place<'_>, name: &str, owed: &RawValue, given: &[(String, &RawValue)]) -> Option<String> {
        let (_, given) = given.iter().find(|(other, _)| other == name)?;
        self.at(&Place::Field { within: place, name }, owed, given)
    }
}

/// The quoted parts of two values: short ones as a whole, long ones around the first difference.
fn excerpts(one: &str, other: &str) -> (String, String) {
    let alike = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let longest = one.chars().count().max(other.chars().count());
    let skipped = if longest <= EXCERPT_CHARACTERS { 0 } else { alike.saturating_sub(LEAD_CHARACTERS) };
    let excerpt = |text: &str| {
        let start = if skipped == 0 { "" } else { "…" };
        let shown: String = text.chars().skip(skipped).take(EXCERPT_CHARACTERS).collect();
        let end = if text.chars().count() > skipped + EXCERPT_CHARACTERS { "…" } else { "" };
        format!("{start}{shown}{end}")
    };
    (excerpt(one), excerpt(other))
}
