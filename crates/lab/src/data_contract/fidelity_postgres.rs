//! The table of PostgreSQL's types, and its true content.

use super::fidelity::{Column, Expected, ROW_COUNT};
use Expected::{
    Array, Bytes, Day, Decimal, Double, Float, Instant, Interval, Json, Moment, Null, Text, Time, Truth, Whole,
};

/// The name of our own enum type.
pub(crate) const ENUM_NAME: &str = "fidelity_enum";
/// Its values, as SQL writes them between quotes.
pub(super) const ENUM_VALUES: [&str; 4] = ["plain", "späti", "it''s", "two words"];

const fn of(
    name: &'static str,
    sql_type: &'static str,
    awkward: usize,
    [a, b, c, d, e, f, g]: [Expected; ROW_COUNT - 1],
) -> Column {
    Column { name, sql_type, awkward, values: [a, Null, b, c, d, e, f, g] }
}

/// Ordinary values, the ends of each type's range, and values that JSON or a driver's own types cannot hold. The second row is
/// NULL in every column.
#[rustfmt::skip]
pub(super) const COLUMNS: [Column; 24] = [
    of("bigint_", "BIGINT", 4, [
        Whole("17"), Whole("9223372036854775807"), Whole("-9223372036854775808"), Whole("9007199254740993"),
        Whole("-9007199254740993"), Whole("9007199254740992"), Whole("0"),
    ]),
    of("bigints", "BIGINT[]", 4, [
        Array("{17,-17}", "[17,-17]"), Array("{9223372036854775807}", "[9223372036854775807]"), Array("{}", "[]"),
        Array("{9007199254740993,NULL}", "[9007199254740993,null]"), Array("{{1,2},{3,4}}", "[[1,2],[3,4]]"),
        Array("{NULL}", "[null]"), Array("{0}", "[0]"),
    ]),
    of("bit_", "BIT(8)", 2, [
        Text("10101010"), Text("11111111"), Text("00000000"), Text("00000001"), Text("10000000"), Text("00001111"),
        Text("01010101"),
    ]),
    of("boolean", "BOOLEAN", 2, [
        Truth(true), Truth(true), Truth(false), Truth(true), Truth(false), Truth(true), Truth(false),
    ]),
    of("bytes", "BYTEA", 4, [
        Bytes(b"plain"), Bytes(&[0xFF; 16]), Bytes(&[]), Bytes(&[0x00, 0x80, 0xC3, 0x28]),
        Bytes(&[0x22, 0x5C, 0x0A, 0x00]), Bytes(&[0xF0, 0x9F, 0x91, 0x8D]), Bytes(&[0x01]),
    ]),
    of("char_", "CHAR(5)", 2, [
        Text("plain"), Text("ab   "), Text("     "), Text("äöü  "), Text("𠮷👍🏽  "), Text("\"\\'  "), Text("null "),
    ]),
    of("date_", "DATE", 2, [
        Day("2024-02-29"), Day("infinity"), Day("0001-01-01"), Day("1969-12-31"), Day("2024-03-31"), Day("9999-12-31"),
        Day("-infinity"),
    ]),
    of("double_", "DOUBLE PRECISION", 7, [
        Double(0.5), Double(f64::MAX), Double(f64::NEG_INFINITY), Double(0.1), Double(935265.5303724789),
        Double(f64::INFINITY), Double(f64::NAN),
    ]),
    of("enum_", ENUM_NAME, 3, [
        Text("plain"), Text("späti"), Text("it's"), Text("two words"), Text("plain"), Text("späti"), Text("it's"),
    ]),
    of("float_", "REAL", 5, [
        Float(0.5), Float(3e38), Float(-3e38), Float(0.1), Float(84.285), Float(8_388_609.0), Float(f32::NAN),
    ]),
    Column { values: KEYS, ..of("id", "INTEGER", 2, [Null; ROW_COUNT - 1]) },
    of("inet_", "INET", 3, [
        Text("192.168.0.1"), Text("10.0.0.0/8"), Text("2001:db8::1/64"), Text("::"), Text("0.0.0.0/0"),
        Text("::ffff:1.2.3.4"), Text("255.255.255.255"),
    ]),
    of("int_", "INTEGER", 2, [
        Whole("17"), Whole("2147483647"), Whole("-2147483648"), Whole("-1"), Whole("0"), Whole("1"), Whole("1000000000"),
    ]),
    of("interval_", "INTERVAL", 0, [
        Interval("1 year 2 mons 3 days 04:05:06.789123"), Interval("178000000 years"), Interval("-178000000 years"),
        Interval("-1 days +02:03:00"), Interval("00:00:00"), Interval("-00:00:00.000001"), Interval("100 days 25:00:00"),
    ]),
    of("json_", "JSON", 2, [
        Json(r#"{"a": 1}"#), Json(r#"{"n": 9007199254740993}"#), Json("[]"), Json(r#"{ "b" : 0.1, "a" : null }"#),
        Json(r#""text""#), Json("[1, [2, {}]]"), Json("true"),
    ]),
    of("jsonb_", "JSONB", 2, [
        Json(r#"{"a": 1}"#), Json(r#"{"n": 9007199254740993}"#), Json("[]"), Json(r#"{"b": 0.1, "aa": null}"#),
        Json(r#""text""#), Json("[1, [2, {}]]"), Json("true"),
    ]),
    of("numeric_", "NUMERIC", 2, [
        Decimal("12.5000000000"), Decimal("99999999999999999999.9999999999"), Decimal("-99999999999999999999.9999999999"),
        Decimal("0.1"), Decimal("12345678901234567890.0123456789"), Decimal("NaN"), Decimal("0.00"),
    ]),
    of("smallint_", "SMALLINT", 2, [
        Whole("17"), Whole("32767"), Whole("-32768"), Whole("-1"), Whole("0"), Whole("1"), Whole("2"),
    ]),
    of("text_", "TEXT", 2, [
        Text("plain"), Text("\u{2028}line\u{2029}"), Text(""), Text(r#"<a href="/x?y&z">\'</a>"#), Text("𠮷 👍🏽 é"),
        Text("SOH\u{1}, tab\t, line\n, slash/"), Text("null"),
    ]),
    of("texts", "TEXT[]", 4, [
        Array("{plain}", r#"["plain"]"#), Array(r#"{"a b","c,d"}"#, r#"["a b","c,d"]"#), Array("{}", "[]"),
        Array(r#"{NULL,"NULL"}"#, r#"[null,"NULL"]"#), Array(r#"{"\"q\"","back\\slash"}"#, r#"["\"q\"","back\\slash"]"#),
        Array(r#"{späti,""}"#, r#"["späti",""]"#), Array(r#"{"{}"}"#, r#"["{}"]"#),
    ]),
    of("time_", "TIME", 2, [
        Time("12:34:56"), Time("24:00:00"), Time("00:00:00"), Time("00:00:00.000001"), Time("23:59:59.999999"),
        Time("02:30:00"), Time("06:07:08.5"),
    ]),
    of("timestamp_", "TIMESTAMP", 2, [
        Moment("2024-02-29 12:34:56"), Moment("infinity"), Moment("0001-01-01 00:00:00"),
        Moment("1969-12-31 23:59:59.000001"), Moment("2024-03-31 02:30:00.12"), Moment("9999-12-31 23:59:59.999999"),
        Moment("-infinity"),
    ]),
    of("timestamptz_", "TIMESTAMPTZ", 2, [
        Instant("2024-02-29 12:34:56"), Instant("infinity"), Instant("0001-01-01 00:00:00"),
        Instant("1969-12-31 23:59:59.000001"), Instant("2024-03-31 02:30:00.12"), Instant("9999-12-31 23:59:59.999999"),
        Instant("-infinity"),
    ]),
    of("uuid_", "UUID", 2, [
        Text("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), Text("ffffffff-ffff-ffff-ffff-ffffffffffff"),
        Text("00000000-0000-0000-0000-000000000000"), Text("12345678-90ab-cdef-1234-567890abcdef"),
        Text("00000000-0000-4000-8000-000000000000"), Text("6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        Text("018f4e9a-7b3c-7def-8123-456789abcdef"),
    ]),
];

const KEYS: [Expected; ROW_COUNT] =
    [Whole("1"), Whole("2"), Whole("3"), Whole("4"), Whole("5"), Whole("6"), Whole("7"), Whole("8")];
