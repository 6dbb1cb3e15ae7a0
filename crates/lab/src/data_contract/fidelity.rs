//! The tables of the types that drivers represent differently, and their true content. This file has the table for MariaDB
//! and MySQL; [`super::fidelity_postgres`] has PostgreSQL's.
//!
//! Drivers are not ranked: any answer is accepted, and [`super::judge_fidelity`] reports the result for each type.

use tolok_model::Wire;

use super::fidelity_postgres;

/// Rows of each table.
pub(super) const ROW_COUNT: usize = 8;

/// A type with its values, one for each row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub name: &'static str,
    /// As in the `CREATE TABLE` statement.
    pub sql_type: &'static str,
    /// The row, counted from 0, whose value causes drivers the most trouble.
    pub awkward: usize,
    pub values: [Expected; ROW_COUNT],
}

/// The columns of the table for servers with this protocol, in order.
pub(super) fn columns(wire: Wire) -> Vec<Column> {
    if wire == Wire::Postgres {
        return fidelity_postgres::COLUMNS.to_vec();
    }
    let column = |(index, (name, sql_type))| Column {
        name,
        sql_type,
        awkward: AWKWARD[index],
        values: ROWS.map(|row: [Expected; COLUMNS.len()]| row[index]),
    };
    COLUMNS.into_iter().enumerate().map(column).collect()
}

/// A value in the table. Numbers that JSON parsers might round are kept as text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Expected {
    Null,
    /// A whole number of any size.
    Whole(&'static str),
    /// 0 or 1.
    Flag(bool),
    /// True or false.
    Truth(bool),
    /// A decimal number with all its places.
    Decimal(&'static str),
    /// A number of double precision.
    Double(f64),
    /// A number of single precision.
    Float(f32),
    Day(&'static str),
    /// A day and a time to the microsecond.
    Moment(&'static str),
    /// The same in UTC, for a type that knows its zone.
    Instant(&'static str),
    /// A length of time.
    Time(&'static str),
    /// Months, days and a time, as PostgreSQL writes them.
    Interval(&'static str),
    Text(&'static str),
    /// A JSON value as the server writes it. For most types: keys sorted by length, a space after each colon and comma.
    Json(&'static str),
    /// Bytes that are not text.
    Bytes(&'static [u8]),
    /// An array, as PostgreSQL writes it and as JSON.
    Array(&'static str, &'static str),
}

/// The columns with their types, in order.
const COLUMNS: [(&str, &str); 17] = [
    ("bigint_signed", "BIGINT"),
    ("bigint_unsigned", "BIGINT UNSIGNED"),
    ("blob_", "VARBINARY(16)"),
    ("boolean", "BOOLEAN"),
    ("date_", "DATE"),
    ("datetime_", "DATETIME(6)"),
    ("decimal_", "DECIMAL(30,10)"),
    ("double_", "DOUBLE"),
    ("float_", "FLOAT"),
    ("id", "INT"),
    ("int_", "INT"),
    ("json_", "JSON"),
    ("text_", "TEXT"),
    ("time_", "TIME"),
    ("timestamp_", "TIMESTAMP"),
    ("year_", "YEAR"),
    ("zero_date", "DATE"),
];

/// For each column, the row, counted from 0, whose value causes drivers the most trouble.
const AWKWARD: [usize; COLUMNS.len()] = [4, 2, 4, 2, 4, 2, 2, 5, 5, 2, 2, 2, 2, 2, 4, 2, 2];

use Expected::{Bytes, Day, Decimal, Double, Flag, Float, Json, Moment, Null, Text, Time, Whole};

/// The rows: ordinary values, nothing, the ends of each type's range, and the first values that doubles cannot hold.
#[rustfmt::skip]
const ROWS: [[Expected; COLUMNS.len()]; ROW_COUNT] = [
    [
        Whole("17"), Whole("17"), Bytes(b"plain"), Flag(true), Day("2024-02-29"),
        Moment("2024-02-29 12:34:56.000000"), Decimal("12.5000000000"), Double(0.5), Float(0.5),
        Whole("1"), Whole("17"), Json(r#"{"a": 1}"#), Text("plain"), Time("12:34:56"),
        Moment("2024-02-29 12:34:56"), Whole("2024"), Day("2024-02-29"),
    ],
    [
        Null, Null, Null, Null, Null, Null, Null, Null, Null, Whole("2"), Null, Null, Null, Null, Null, Null, Null,
    ],
    [
        Whole("9223372036854775807"), Whole("18446744073709551615"), Bytes(&[0xFF; 16]), Flag(true), Day("9999-12-31"),
        Moment("9999-12-31 23:59:59.999999"), Decimal("99999999999999999999.9999999999"), Double(f64::MAX), Float(3e38),
        Whole("3"), Whole("2147483647"), Json(r#"{"n": 9007199254740993}"#), Text("\u{2028}line\u{2029}"),
        Time("838:59:59"), Moment("2038-01-19 03:14:07"), Whole("2155"), Day("0000-00-00"),
    ],
    [
        Whole("-9223372036854775808"), Whole("0"), Bytes(&[]), Flag(false), Day("1000-01-01"),
        Moment("1000-01-01 00:00:00.000000"), Decimal("-99999999999999999999.9999999999"), Double(-f64::MAX),
        Float(-3e38), Whole("4"), Whole("-2147483648"), Json("[]"), Text(""), Time("-838:59:59"),
        Moment("1970-01-02 00:00:01"), Whole("1901"), Day("0000-00-00"),
    ],
    [
        Whole("9007199254740993"), Whole("9007199254740993"), Bytes(&[0x00, 0x80, 0xC3, 0x28]), Flag(true),
        Day("1969-12-31"), Moment("1969-12-31 23:59:59.000001"), Decimal("0.1000000000"), Double(0.1), Float(0.1),
        Whole("5"), Whole("-1"), Json(r#"{"b": 0.1, "aa": null}"#), Text(r#"<a href="/x?y&z">\'</a>"#),
        Time("00:00:00"), Moment("2024-03-31 02:30:00"), Whole("1970"), Day("0000-00-00"),
    ],
    [
        Whole("-9007199254740993"), Whole("9223372036854775808"), Bytes(&[0x22, 0x5C, 0x0A, 0x00]), Flag(false),
        Day("2024-03-31"), Moment("2024-03-31 02:30:00.120000"), Decimal("12345678901234567890.0123456789"),
        Double(935265.5303724789), Float(84.285), Whole("6"), Whole("0"), Json(r#""text""#), Text("𠮷 👍🏽 é"),
        Time("-00:00:01"), Moment("2000-01-01 00:00:00"), Whole("2000"), Day("0000-00-00"),
    ],
    [
        Whole("9007199254740992"), Whole("9007199254740992"), Bytes(&[0xF0, 0x9F, 0x91, 0x8D]), Flag(true),
        Day("2000-01-01"), Moment("2000-01-01 00:00:00.500000"), Decimal("0.0000000001"), Double(1e25),
        Float(8_388_609.0), Whole("7"), Whole("1"), Json("[1, [2, {}]]"), Text("NUL\0, tab\t, line\n, slash/"),
        Time("24:00:00"), Moment("2024-10-27 02:30:00"), Whole("1999"), Day("0000-00-00"),
    ],
    [
        Whole("0"), Whole("9223372036854775807"), Bytes(&[0x01]), Flag(false), Day("2025-06-15"),
        Moment("2025-06-15 06:07:08.999999"), Decimal("0.0000000000"), Double(5e-9), Float(1e-9), Whole("8"),
        Whole("1000000000"), Json("true"), Text("null"), Time("06:07:08"), Moment("2025-06-15 06:07:08"),
        Whole("2025"), Day("0000-00-00"),
    ],
];
