//! The rows. Each follows only from its table and key, so any of them can be made without the others.
//!
//! Only integers are used in the computation, so the rows are the same on every machine.

use std::fmt;

use jiff::civil::Date;
use tolok_model::SplitMix64;

use super::columns::{Column, Rows};
use super::words::{
    CAMPAIGNS, CARRIERS, COMPANIES, DOMAINS, FIRST_NAMES, LAST_NAMES, Name, PLACES, Place, REMARKS, STATUSES, STREETS,
    TITLES,
};

/// How many of a hundred values of a nullable column are missing.
const NULLS_PERCENT: u64 = 15;

#[derive(Clone, Copy)]
pub(super) enum Content {
    /// The key of the row.
    Key,
    /// A unique number, in no visible order.
    Account,
    /// A whole number within these bounds.
    Whole { least: i64, most: i64 },
    /// 1 in this many of a hundred rows, else 0.
    Flag { percent: u64 },
    /// A decimal number; the bounds are in units of the last place.
    Decimal { least: i64, most: i64, places: usize },
    /// A day within these years.
    Day { first_year: i16, last_year: i16 },
    /// A day and a time.
    Moment { first_year: i16, last_year: i16 },
    /// Text drawn by this function.
    Text(fn(&Person, &mut SplitMix64) -> String),
}

impl fmt::Debug for Content {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Content")
    }
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Whole(i64),
    /// Text, and also decimal numbers and dates, in the database's format.
    Text(String),
}

/// What the fields of one row share.
pub(super) struct Person {
    key: u32,
    first: Name,
    last: Name,
    place: &'static Place,
    domain: &'static str,
}

/// The values of one row, in the order of the columns.
pub(super) fn row(table: Rows, key: u32) -> impl Iterator<Item = (&'static Column, Value)> {
    // The first number of one stream seeds the next, because streams of neighbouring seeds would share numbers.
    let mut random = SplitMix64::new(SplitMix64::new(table.seed() << 32 | u64::from(key)).next_u64());
    let person = Person {
        key,
        first: pick(&mut random, &FIRST_NAMES),
        last: pick(&mut random, &LAST_NAMES),
        place: &PLACES[random.below(PLACES.len() as u64) as usize],
        domain: pick(&mut random, &DOMAINS),
    };
    table.columns().map(move |column| {
        let is_missing = column.nullable && random.below(100) < NULLS_PERCENT;
        let value = if is_missing { Value::Null } else { column.content.draw(&person, &mut random) };
        (column, value)
    })
}

impl Content {
    fn draw(self, person: &Person, random: &mut SplitMix64) -> Value {
        match self {
            Self::Key => Value::Whole(i64::from(person.key)),
            // The factor is a prime that does not divide the modulus, so no two keys below the modulus collide.
            Self::Account => Value::Whole(100_000 + i64::from(person.key) * 7_919 % 899_981),
            Self::Whole { least, most } => Value::Whole(between(random, least, most)),
            Self::Flag { percent } => Value::Whole(i64::from(random.below(100) < percent)),
            Self::Decimal { least, most, places } => Value::Text(decimal(between(random, least, most), places)),
            Self::Day { first_year, last_year } => Value::Text(day(random, first_year, last_year)),
            Self::Moment { first_year, last_year } => {
                let day = day(random, first_year, last_year);
                let second = random.below(86_400);
                let (hour, minute) = (second / 3_600, second / 60 % 60);
                Value::Text(format!("{day} {hour:02}:{minute:02}:{:02}", second % 60))
            }
            Self::Text(text) => Value::Text(text(person, random)),
        }
    }
}

fn pick<T: Copy>(random: &mut SplitMix64, words: &[T]) -> T {
    words[random.below(words.len() as u64) as usize]
}

fn between(random: &mut SplitMix64, least: i64, most: i64) -> i64 {
    least + random.below((most - least) as u64 + 1) as i64
}

/// A number of `units` of the last of `places`, formatted as databases print it.
fn decimal(units: i64, places: usize) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let one = 10_u64.pow(places as u32);
    let size = units.unsigned_abs();
    format!("{sign}{}.{:0places$}", size / one, size % one)
}

fn day(random: &mut SplitMix64, first_year: i16, last_year: i16) -> String {
    let year = between(random, i64::from(first_year), i64::from(last_year)) as i16;
    let month = between(random, 1, 12) as i8;
    let length = Date::constant(year, month, 1).days_in_month();
    let day = between(random, 1, i64::from(length));
    format!("{year:04}-{month:02}-{day:02}")
}

fn digits(random: &mut SplitMix64, count: u32) -> String {
    format!("{:0width$}", random.below(10_u64.pow(count)), width = count as usize)
}

/// `count` remarks in a row.
fn remarks(random: &mut SplitMix64, count: u64) -> String {
    let remarks: Vec<&str> = (0..count).map(|_| pick(random, &REMARKS)).collect();
    remarks.join("; ")
}

pub(super) fn address(_: &Person, random: &mut SplitMix64) -> String {
    format!("{} {}", pick(random, &STREETS), 1 + random.below(240))
}

/// Thirteen digits; the last is the standard check digit.
pub(super) fn barcode(_: &Person, random: &mut SplitMix64) -> String {
    let digits = digits(random, 12);
    let weighed =
        digits.bytes().zip([1, 3].into_iter().cycle()).map(|(digit, weight)| u32::from(digit - b'0') * weight);
    let check = (10 - weighed.sum::<u32>() % 10) % 10;
    format!("{digits}{check}")
}

pub(super) fn campaign(_: &Person, random: &mut SplitMix64) -> String {
    pick(random, &CAMPAIGNS).to_owned()
}

pub(super) fn carrier(_: &Person, random: &mut SplitMix64) -> String {
    pick(random, &CARRIERS).to_owned()
}

pub(super) fn city(person: &Person, _: &mut SplitMix64) -> String {
    person.place.city.to_owned()
}

pub(super) fn comment(_: &Person, random: &mut SplitMix64) -> String {
    let count = 1 + random.below(3);
    remarks(random, count)
}

pub(super) fn company(_: &Person, random: &mut SplitMix64) -> String {
    pick(random, &COMPANIES).to_owned()
}

pub(super) fn country(person: &Person, _: &mut SplitMix64) -> String {
    person.place.country.to_owned()
}

pub(super) fn currency(person: &Person, _: &mut SplitMix64) -> String {
    person.place.currency.to_owned()
}

pub(super) fn email(person: &Person, _: &mut SplitMix64) -> String {
    format!("{}.{}{}@{}", person.first.1, person.last.1, person.key, person.domain)
}

pub(super) fn first_name(person: &Person, _: &mut SplitMix64) -> String {
    person.first.0.to_owned()
}

pub(super) fn invoice(person: &Person, random: &mut SplitMix64) -> String {
    format!("R{}/{:06}", 2015 + random.below(11), person.key)
}

pub(super) fn language(person: &Person, _: &mut SplitMix64) -> String {
    person.place.language.to_owned()
}

pub(super) fn last_name(person: &Person, _: &mut SplitMix64) -> String {
    person.last.0.to_owned()
}

pub(super) fn note(_: &Person, random: &mut SplitMix64) -> String {
    let count = 3 + random.below(3);
    remarks(random, count)
}

pub(super) fn phone(person: &Person, random: &mut SplitMix64) -> String {
    format!("{} 555{}", person.place.dialling, digits(random, 5))
}

pub(super) fn postcode(person: &Person, random: &mut SplitMix64) -> String {
    digits(random, person.place.postcode_digits)
}

pub(super) fn region(person: &Person, _: &mut SplitMix64) -> String {
    person.place.region.to_owned()
}

pub(super) fn shelf(_: &Person, random: &mut SplitMix64) -> String {
    let aisle = char::from(b'A' + random.below(26) as u8);
    format!("{aisle}{}-{}", digits(random, 2), digits(random, 2))
}

pub(super) fn sku(person: &Person, random: &mut SplitMix64) -> String {
    let kind = char::from(b'A' + random.below(26) as u8);
    format!("{kind}{}-{:05}", digits(random, 3), person.key)
}

pub(super) fn status(_: &Person, random: &mut SplitMix64) -> String {
    pick(random, &STATUSES).to_owned()
}

pub(super) fn title(_: &Person, random: &mut SplitMix64) -> String {
    pick(random, &TITLES).to_owned()
}

pub(super) fn website(person: &Person, _: &mut SplitMix64) -> String {
    format!("https://{}/~{}/{}", person.domain, person.last.1, person.key)
}
