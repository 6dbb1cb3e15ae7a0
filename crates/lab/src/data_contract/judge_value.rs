//! Compares one value of the fidelity table with one JSON value. Nothing is rounded: numbers are compared by digits.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::civil::DateTime;
use serde_json::Value;
use serde_json::value::RawValue;
use tolok_model::fidelity::Verdict;

use super::difference::is_same_value;
use super::digits::{Digits, is_near};
use super::document::{Kind, elements, fields, kind, parse, text};
use super::fidelity::Expected;
use super::judge_postgres::{array, instant, interval, truth};
use Verdict::{Altered, AsString, Exact, Lost, Reformatted, Rounded};

/// The result for a value.
pub(super) fn judge_value(expected: &Expected, token: &RawValue) -> Verdict {
    let altered = || Altered(token.get().to_owned());
    match (expected, kind(token)) {
        (Expected::Null, Kind::Null) => Exact,
        (Expected::Null, _) => altered(),
        // No JSON value in the table is the literal `null`.
        (_, Kind::Null) => Lost,
        (Expected::Whole(number) | Expected::Decimal(number), Kind::Number | Kind::Text) => decimal(number, token),
        (Expected::Flag(flag), _) => judge_flag(*flag, token),
        (Expected::Double(number), Kind::Number | Kind::Text) => double(*number, token),
        (Expected::Float(number), Kind::Number | Kind::Text) => float(*number, token),
        (Expected::Truth(owed), _) => truth(*owed, token),
        (Expected::Instant(written), Kind::Text) => instant(written, token),
        (Expected::Interval(written), Kind::Text | Kind::Object) => interval(written, token),
        (Expected::Array(written, elements), _) => array(written, elements, token),
        (Expected::Day(day), Kind::Text) => moment(day, token),
        (Expected::Moment(written), Kind::Text) => moment(written, token),
        (Expected::Time(time), Kind::Text) => length_of_time(time, token),
        (Expected::Text(written), Kind::Text) => judge_text(written, token),
        (Expected::Json(document), _) => json(document, token),
        (Expected::Bytes(bytes), _) => judge_bytes(bytes, token),
        _ => altered(),
    }
}

pub(super) fn reformatted(form: &str) -> Verdict {
    Reformatted(form.to_owned())
}

/// The text of a number, with or without quotes.
fn number_text(token: &RawValue) -> String {
    if kind(token) == Kind::Text { text(token).into_owned() } else { token.get().to_owned() }
}

fn decimal(number: &str, token: &RawValue) -> Verdict {
    let given = number_text(token);
    let is_text = kind(token) == Kind::Text;
    if is_text && given == number {
        return AsString;
    }
    match (Digits::read(number), Digits::read(&given)) {
        (Some(owed), Some(read)) if owed == read => {
            if is_text {
                reformatted("a string with other zeros")
            } else {
                Exact
            }
        }
        (_, Some(_)) => near_or_altered(number, &given, token),
        _ => Altered(token.get().to_owned()),
    }
}

fn near_or_altered(owed: &str, given: &str, token: &RawValue) -> Verdict {
    let is_rounded = match (owed.parse(), given.parse()) {
        (Ok(owed), Ok(given)) => is_near(owed, given),
        _ => false,
    };
    if is_rounded { Rounded(token.get().to_owned()) } else { Altered(token.get().to_owned()) }
}

fn judge_flag(flag: bool, token: &RawValue) -> Verdict {
    match (token.get(), flag) {
        ("1", true) | ("0", false) => Exact,
        ("\"1\"", true) | ("\"0\"", false) => AsString,
        ("true", true) | ("false", false) => reformatted("true or false"),
        _ => Altered(token.get().to_owned()),
    }
}

fn double(number: f64, token: &RawValue) -> Verdict {
    let given = number_text(token);
    match given.parse::<f64>() {
        Ok(read) if read == number || read.is_nan() && number.is_nan() => {
            if kind(token) == Kind::Text {
                AsString
            } else {
                Exact
            }
        }
        _ => near_or_altered(&number.to_string(), &given, token),
    }
}

fn float(number: f32, token: &RawValue) -> Verdict {
    let given = number_text(token);
    let is_text = kind(token) == Kind::Text;
    match given.parse::<f64>() {
        // The same bits, printed with the digits of a double-width type.
        Ok(read) if read == f64::from(number) && number.to_string().parse() != Ok(read) => reformatted(if is_text {
            "a string with the digits of a DOUBLE"
        } else {
            "a number with the digits of a DOUBLE"
        }),
        Ok(read) if read as f32 == number || read.is_nan() && number.is_nan() => {
            if is_text {
                AsString
            } else {
                Exact
            }
        }
        _ => near_or_altered(&number.to_string(), &given, token),
    }
}

/// A day, or a day and a time: the same, the same in another form, or a different one.
pub(super) fn moment(owed: &str, token: &RawValue) -> Verdict {
    let given = text(token);
    if given == owed {
        return Exact;
    }
    let (Some(read), Ok(expected)) = (Moment::read(&given), owed.parse::<DateTime>()) else {
        return Altered(token.get().to_owned());
    };
    let distance_us = read.utc.duration_since(expected).as_micros();
    match distance_us {
        0 => Reformatted(read.form.to_owned()),
        _ if distance_us.abs() < 1_000_000 => Rounded(token.get().to_owned()),
        _ => Altered(token.get().to_owned()),
    }
}

/// A moment as a driver wrote it.
struct Moment {
    utc: DateTime,
    form: &'static str,
}

impl Moment {
    fn read(given: &str) -> Option<Self> {
        if let Some(local) = given.strip_suffix('Z') {
            return Some(Self { utc: local.parse().ok()?, form: "a date-time in ISO form with Z" });
        }
        // A sign after the day starts an offset from UTC.
        let offset = given.get(10..).and_then(|rest| rest.rfind(['+', '-'])).map(|at| at + 10);
        if let Some((local, offset)) = offset.map(|at| given.split_at(at)) {
            let (hours, minutes) = offset[1..].split_once(':').unwrap_or((&offset[1..], "0"));
            let minutes = hours.parse::<i64>().ok()?.checked_mul(60)?.checked_add(minutes.parse().ok()?)?;
            let ahead = jiff::SignedDuration::from_mins(if offset.starts_with('-') { -minutes } else { minutes });
            let utc = local.parse::<DateTime>().ok()?.checked_sub(ahead).ok()?;
            return Some(Self { utc, form: "a date-time in ISO form with an offset" });
        }
        let form =
            if given.contains('T') { "a date-time in ISO form without a zone" } else { "a string with other zeros" };
        Some(Self { utc: given.parse().ok()?, form })
    }
}

fn length_of_time(owed: &str, token: &RawValue) -> Verdict {
    let given = text(token);
    if given == owed {
        return Exact;
    }
    let fraction = given.strip_prefix(owed).and_then(|rest| rest.strip_prefix('.'));
    match fraction {
        Some(zeros) if zeros.bytes().all(|byte| byte == b'0') => reformatted("a string with other zeros"),
        _ => Altered(token.get().to_owned()),
    }
}

fn judge_text(owed: &str, token: &RawValue) -> Verdict {
    let given = text(token);
    if given == owed {
        Exact
    } else if given == BASE64_STANDARD.encode(owed) {
        reformatted("base64")
    } else {
        Altered(token.get().to_owned())
    }
}

fn json(owed: &str, token: &RawValue) -> Verdict {
    let owed_value = parse(owed.as_bytes());
    if kind(token) == Kind::Text {
        let given = text(token);
        if given == owed {
            return Exact;
        }
        if given == BASE64_STANDARD.encode(owed) {
            return reformatted("base64");
        }
        if let (Some(owed_value), Some(value)) = (owed_value, parse(given.as_bytes()))
            && is_same_value(owed_value, value)
        {
            return reformatted("a string with other blanks");
        }
    }
    match owed_value {
        Some(owed) if is_same_value(owed, token) => reformatted("a JSON value of its own"),
        Some(owed) if is_near_value(owed, token) => Rounded(token.get().to_owned()),
        _ => Altered(token.get().to_owned()),
    }
}

/// Whether two JSON values differ only in the last digits of numbers.
pub(super) fn is_near_value(owed: &RawValue, given: &RawValue) -> bool {
    fn is_near_to(one: &Value, other: &Value) -> bool {
        match (one, other) {
            (Value::Number(one), Value::Number(other)) => match (one.as_f64(), other.as_f64()) {
                (Some(one), Some(other)) => is_near(one, other),
                _ => false,
            },
            (Value::Array(one), Value::Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_near_to(one, other))
            }
            (Value::Object(one), Value::Object(other)) => {
                let is_near_field = |(name, value)| other.get(name).is_some_and(|other| is_near_to(value, other));
                one.len() == other.len() && one.iter().all(is_near_field)
            }
            _ => one == other,
        }
    }
    let read = |value: &RawValue| serde_json::from_str::<Value>(value.get()).ok();
    read(owed).zip(read(given)).is_some_and(|(owed, given)| is_near_to(&owed, &given))
}

fn judge_bytes(owed: &[u8], token: &RawValue) -> Verdict {
    let form = match kind(token) {
        Kind::Text => return bytes_in_text(owed, token),
        Kind::Array => byte_array(token).filter(|given| given == owed).map(|_| "an array of bytes"),
        Kind::Object => bytes_in_object(token).filter(|(given, _)| given == owed).map(|(_, form)| form),
        _ => None,
    };
    form.map_or_else(|| Altered(token.get().to_owned()), reformatted)
}

fn bytes_in_text(owed: &[u8], token: &RawValue) -> Verdict {
    let given = text(token);
    let hex = owed.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    if given.as_bytes() == owed {
        Exact
    } else if given == BASE64_STANDARD.encode(owed) {
        reformatted("base64")
    } else if given.trim_start_matches("0x").trim_start_matches("\\x").eq_ignore_ascii_case(&hex) {
        reformatted("hexadecimal digits")
    } else if given.chars().map(u32::from).eq(owed.iter().map(|byte| u32::from(*byte))) {
        reformatted("a string of one character per byte")
    } else {
        Altered(token.get().to_owned())
    }
}

fn byte_array(token: &RawValue) -> Option<Vec<u8>> {
    elements(token)?.into_iter().map(|byte| byte.get().parse().ok()).collect()
}

/// The bytes in an object: Node.js's own form of a buffer, or one field per byte.
fn bytes_in_object(token: &RawValue) -> Option<(Vec<u8>, &'static str)> {
    let fields = fields(token)?;
    if let [(kind, word), (data, bytes)] = fields.as_slice()
        && (kind.as_str(), word.get(), data.as_str()) == ("type", "\"Buffer\"", "data")
    {
        return Some((byte_array(bytes)?, "a Buffer object"));
    }
    let byte = |(index, (name, value)): (usize, &(String, &RawValue))| {
        (*name == index.to_string()).then(|| value.get().parse().ok()).flatten()
    };
    let bytes: Option<Vec<u8>> = fields.iter().enumerate().map(byte).collect();
    Some((bytes?, "an object with a field per byte"))
}
