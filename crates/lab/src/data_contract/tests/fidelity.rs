//! Judgements of drivers: tokens that real drivers give, and whole responses.

use tolok_model::Wire::{self, Mysql, Postgres};
use tolok_model::fidelity::{ColumnVerdict, Verdict};

use crate::data_contract::document::parse;
use crate::data_contract::fidelity::{Column, Expected, ROW_COUNT, columns};
use crate::data_contract::judge_fidelity;
use crate::data_contract::judge_value::judge_value;

fn column(wire: Wire, name: &str) -> Column {
    columns(wire).into_iter().find(|column| column.name == name).unwrap()
}

/// The judgement of `token` as the value of `name` in the row with this key.
fn judge(name: &str, id: usize, token: &str) -> Option<Verdict> {
    Some(judge_value(&column(Mysql, name).values[id - 1], parse(token.as_bytes())?))
}

#[track_caller]
fn check_postgres(name: &str, id: usize, token: &str, expect: Verdict) {
    let judged = judge_value(&column(Postgres, name).values[id - 1], parse(token.as_bytes()).unwrap());
    assert_eq!(judged, expect, "{name} {id}: {token}");
}

fn reformatted(form: &str) -> Option<Verdict> {
    Some(Verdict::Reformatted(form.to_owned()))
}

#[track_caller]
fn check(column: &str, id: usize, token: &str, expect: Verdict) {
    assert_eq!(judge(column, id, token), Some(expect), "{column} {id}: {token}");
}

#[test]
fn keys_count_the_rows() {
    for wire in [Mysql, Postgres] {
        for (value, key) in column(wire, "id").values.iter().zip(1..) {
            assert!(matches!(value, Expected::Whole(text) if *text == format!("{key}")));
        }
        assert!(columns(wire).iter().map(|column| column.name).is_sorted());
    }
    assert_eq!(judge("id", 1, "1,"), None);
}

#[test]
fn big_integers() {
    check("bigint_signed", 5, "9007199254740993", Verdict::Exact);
    check("bigint_signed", 5, "\"9007199254740993\"", Verdict::AsString);
    check("bigint_signed", 5, "9007199254740992", Verdict::Rounded("9007199254740992".to_owned()));
    check("bigint_unsigned", 3, "18446744073709552000", Verdict::Rounded("18446744073709552000".to_owned()));
    check("bigint_unsigned", 3, "-1", Verdict::Altered("-1".to_owned()));
    check("bigint_unsigned", 3, "1.8446744073709552e+19", Verdict::Rounded("1.8446744073709552e+19".to_owned()));
    check("bigint_signed", 2, "null", Verdict::Exact);
    check("bigint_signed", 2, "0", Verdict::Altered("0".to_owned()));
    check("bigint_signed", 5, "null", Verdict::Lost);
    check("bigint_signed", 5, "true", Verdict::Altered("true".to_owned()));
}

#[test]
fn decimals_and_floating_numbers() {
    check("decimal_", 1, "\"12.5000000000\"", Verdict::AsString);
    assert_eq!(judge("decimal_", 1, "\"12.5\""), reformatted("a string with other zeros"));
    check("decimal_", 1, "12.5", Verdict::Exact);
    check("decimal_", 6, "1.2345678901234567e+19", Verdict::Rounded("1.2345678901234567e+19".to_owned()));
    check("double_", 6, "935265.5303724789", Verdict::Exact);
    check("double_", 6, "935265.5303724788", Verdict::Rounded("935265.5303724788".to_owned()));
    check("double_", 7, "1.0e+25", Verdict::Exact);
    check("double_", 7, "10000000000000000000000000", Verdict::Exact);
    check("double_", 3, "null", Verdict::Lost);
    check("float_", 6, "84.285", Verdict::Exact);
    assert_eq!(judge("float_", 6, "84.28500366210938"), reformatted("a number with the digits of a DOUBLE"));
    check("float_", 7, "8388610", Verdict::Rounded("8388610".to_owned()));
    check("float_", 1, "0.5", Verdict::Exact);
}

#[test]
fn dates_and_times() {
    check("date_", 1, "\"2024-02-29\"", Verdict::Exact);
    assert_eq!(judge("date_", 1, "\"2024-02-29T00:00:00.000Z\""), reformatted("a date-time in ISO form with Z"));
    assert_eq!(
        judge("date_", 1, "\"2024-02-29T07:00:00+07:00\""),
        reformatted("a date-time in ISO form with an offset")
    );
    let moved = "\"2024-02-28T17:00:00.000Z\"";
    check("date_", 1, moved, Verdict::Altered(moved.to_owned()));
    assert_eq!(judge("datetime_", 6, "\"2024-03-31 02:30:00.12\""), reformatted("a string with other zeros"));
    let rounded = "\"1969-12-31T23:59:59.000Z\"";
    check("datetime_", 5, rounded, Verdict::Rounded(rounded.to_owned()));
    assert_eq!(judge("timestamp_", 1, "\"2024-02-29T12:34:56Z\""), reformatted("a date-time in ISO form with Z"));
    check("zero_date", 3, "\"0000-00-00\"", Verdict::Exact);
    check("zero_date", 3, "null", Verdict::Lost);
    let first_day = "\"0001-01-01T00:00:00Z\"";
    check("zero_date", 3, first_day, Verdict::Altered(first_day.to_owned()));
    check("time_", 3, "\"838:59:59\"", Verdict::Exact);
    assert_eq!(judge("time_", 3, "\"838:59:59.000000\""), reformatted("a string with other zeros"));
    check("time_", 6, "\"00:00:01\"", Verdict::Altered("\"00:00:01\"".to_owned()));
    check("year_", 3, "2155", Verdict::Exact);
}

#[test]
fn flags_text_json_and_bytes() {
    check("boolean", 1, "1", Verdict::Exact);
    assert_eq!(judge("boolean", 4, "false"), reformatted("true or false"));
    check("text_", 3, "\"\\u2028line\\u2029\"", Verdict::Exact);
    check("text_", 7, "\"NUL\\u0000, tab\\t, line\\n, slash\\/\"", Verdict::Exact);
    assert_eq!(judge("text_", 1, "\"cGxhaW4=\""), reformatted("base64"));
    check("text_", 6, "\"? ? é\"", Verdict::Altered("\"? ? é\"".to_owned()));
    check("json_", 1, "\"{\\\"a\\\": 1}\"", Verdict::Exact);
    assert_eq!(judge("json_", 1, "\"{\\\"a\\\":1}\""), reformatted("a string with other blanks"));
    assert_eq!(judge("json_", 1, "{\"a\":1}"), reformatted("a JSON value of its own"));
    assert_eq!(judge("json_", 5, "{\"aa\":null,\"b\":0.1}"), reformatted("a JSON value of its own"));
    let rounded = "{\"n\":9007199254740992}";
    check("json_", 3, rounded, Verdict::Rounded(rounded.to_owned()));
    assert_eq!(judge("blob_", 5, "\"AIDDKA==\""), reformatted("base64"));
    assert_eq!(judge("blob_", 5, "\"0080c328\""), reformatted("hexadecimal digits"));
    assert_eq!(judge("blob_", 5, "\"\\u0000\u{80}Ã(\""), reformatted("a string of one character per byte"));
    assert_eq!(judge("blob_", 5, "{\"type\":\"Buffer\",\"data\":[0,128,195,40]}"), reformatted("a Buffer object"));
    assert_eq!(judge("blob_", 5, "[0,128,195,40]"), reformatted("an array of bytes"));
    let fields = "{\"0\":0,\"1\":128,\"2\":195,\"3\":40}";
    assert_eq!(judge("blob_", 5, fields), reformatted("an object with a field per byte"));
    check("blob_", 5, "\"\\u0000\u{FFFD}\u{FFFD}(\"", Verdict::Altered("\"\\u0000\u{FFFD}\u{FFFD}(\"".to_owned()));
}

#[test]
fn types_that_only_postgresql_has() {
    let reformatted = |form: &str| Verdict::Reformatted(form.to_owned());
    let altered = |token: &str| Verdict::Altered(token.to_owned());
    check_postgres("boolean", 1, "true", Verdict::Exact);
    check_postgres("boolean", 1, "\"t\"", reformatted("the letter t or f"));
    check_postgres("boolean", 4, "1", altered("1"));
    check_postgres("double_", 8, "\"NaN\"", Verdict::AsString);
    check_postgres("double_", 8, "null", Verdict::Lost);
    check_postgres("double_", 7, "\"Infinity\"", Verdict::AsString);
    check_postgres("numeric_", 7, "\"NaN\"", Verdict::AsString);
    check_postgres("bytes", 5, "\"\\\\x0080c328\"", reformatted("hexadecimal digits"));
    check_postgres("char_", 3, "\"ab\"", altered("\"ab\""));
    check_postgres("date_", 3, "\"infinity\"", Verdict::Exact);
    check_postgres("date_", 3, "null", Verdict::Lost);
    check_postgres("timestamptz_", 1, "\"2024-02-29 12:34:56+00\"", Verdict::Exact);
    check_postgres("timestamptz_", 1, "\"2024-02-29 12:34:56\"", reformatted("a string without the zone"));
    check_postgres("timestamptz_", 1, "\"2024-02-29T12:34:56Z\"", reformatted("a date-time in ISO form with Z"));
    check_postgres("timestamptz_", 3, "\"infinity\"", Verdict::Exact);
}

#[test]
fn intervals_in_words_in_iso_form_and_in_fields() {
    let check = |token: &str, expect| check_postgres("interval_", 1, token, expect);
    let reformatted = |form: &str| Verdict::Reformatted(form.to_owned());
    check(r#""1 year 2 mons 3 days 04:05:06.789123""#, Verdict::Exact);
    check(r#""14 months 3 days 4 hours 5 minutes 6.789123 seconds""#, reformatted("a string with other words"));
    check(r#""P1Y2M3DT4H5M6.789123S""#, reformatted("a duration in ISO form"));
    let fields = r#"{"years":1,"months":2,"days":3,"hours":4,"minutes":5,"seconds":6,"milliseconds":789.123}"#;
    check(fields, reformatted("an object with a field per unit"));
    let rounded = r#""P1Y2M3DT4H5M6.789S""#;
    check(rounded, Verdict::Rounded(rounded.to_owned()));
    let other = r#""P1Y2M4DT4H5M6.789123S""#;
    check(other, Verdict::Altered(other.to_owned()));
    for beyond in [
        r#"{"years":9223372036854775807}"#,
        r#"{"days":9223372036854775807,"day":1}"#,
        r#"{"months":-9223372036854775808,"month":-1}"#,
        r#"{"hours":1e300,"minutes":1e300}"#,
    ] {
        check(beyond, Verdict::Altered(beyond.to_owned()));
    }
    check_postgres("interval_", 6, "{}", reformatted("an object with a field per unit"));
    check_postgres("interval_", 5, r#""-1 days +02:03:00""#, Verdict::Exact);
    check_postgres("interval_", 5, r#""P-1DT2H3M""#, reformatted("a duration in ISO form"));
    check_postgres("interval_", 7, r#""PT-0.000001S""#, reformatted("a duration in ISO form"));
}

#[test]
fn arrays_as_json_as_text_and_as_objects() {
    let reformatted = |form: &str| Verdict::Reformatted(form.to_owned());
    check_postgres("bigints", 1, "[17,-17]", Verdict::Exact);
    check_postgres("bigints", 1, r#""{17,-17}""#, reformatted("a string in PostgreSQL's notation"));
    check_postgres("bigints", 1, r#"["17","-17"]"#, reformatted("an array of strings"));
    check_postgres("bigints", 1, r#"{"0":17,"1":-17}"#, reformatted("an object with a field per element"));
    let rounded = "[9007199254740992,null]";
    check_postgres("bigints", 5, rounded, Verdict::Rounded(rounded.to_owned()));
    check_postgres("texts", 5, r#"[null,"NULL"]"#, Verdict::Exact);
    check_postgres("texts", 5, "[null,null]", Verdict::Altered("[null,null]".to_owned()));
}

/// An answer with `token` for `name`, and a straightforward encoding of all others.
fn answer(wire: Wire, name: &str, token: impl Fn(&Expected) -> String) -> String {
    let row = |row: usize| {
        let field = |column: Column| {
            let expected = &column.values[row];
            let given = if column.name == name { token(expected) } else { plain(expected) };
            format!("{}:{given}", serde_json::to_string(column.name).unwrap())
        };
        format!("{{{}}}", columns(wire).into_iter().map(field).collect::<Vec<_>>().join(","))
    };
    format!("[{}]", (0..ROW_COUNT).map(row).collect::<Vec<_>>().join(","))
}

fn plain(expected: &Expected) -> String {
    match expected {
        Expected::Null => "null".to_owned(),
        Expected::Whole(digits) => (*digits).to_owned(),
        Expected::Flag(flag) => u8::from(*flag).to_string(),
        Expected::Truth(truth) => truth.to_string(),
        Expected::Double(number) if !number.is_finite() => format!("\"{number}\""),
        Expected::Double(number) => number.to_string(),
        Expected::Float(number) if number.is_nan() => "\"NaN\"".to_owned(),
        Expected::Float(number) => number.to_string(),
        Expected::Instant(text) => format!("\"{text}+00\""),
        Expected::Array(_, elements) => (*elements).to_owned(),
        Expected::Interval(text) => serde_json::to_string(text).unwrap(),
        Expected::Bytes(bytes) => serde_json::to_string(bytes).unwrap(),
        Expected::Decimal(text) | Expected::Day(text) | Expected::Moment(text) => serde_json::to_string(text).unwrap(),
        Expected::Time(text) | Expected::Text(text) | Expected::Json(text) => serde_json::to_string(text).unwrap(),
    }
}

fn sentence(column: &str, token: impl Fn(&Expected) -> String) -> String {
    let verdicts = judge_fidelity(answer(Mysql, column, token).as_bytes(), Mysql).unwrap();
    verdicts.into_iter().find(|verdict| verdict.column == column).unwrap().sentence
}

fn told(wire: Wire) -> String {
    let verdicts = judge_fidelity(answer(wire, "", plain).as_bytes(), wire).unwrap();
    let line = |verdict: &ColumnVerdict| format!("{} {}: {}", verdict.column, verdict.sql_type, verdict.sentence);
    verdicts.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_sound_driver_of_postgresql_is_told_in_one_sentence_a_type() {
    insta::assert_snapshot!(told(Postgres), @r"
    bigint_ BIGINT: a number, exact
    bigints BIGINT[]: an array, exact
    bit_ BIT(8): a string, exact
    boolean BOOLEAN: true or false, exact
    bytes BYTEA: an array of bytes
    char_ CHAR(5): a string, exact
    date_ DATE: a string, exact
    double_ DOUBLE PRECISION: a number or a string, depending on the value, exact
    enum_ fidelity_enum: a string, exact
    float_ REAL: a number or a string, depending on the value, exact
    id INTEGER: a number, exact
    inet_ INET: a string, exact
    int_ INTEGER: a number, exact
    interval_ INTERVAL: a string, exact
    json_ JSON: a string, exact
    jsonb_ JSONB: a string, exact
    numeric_ NUMERIC: a string, exact
    smallint_ SMALLINT: a number, exact
    text_ TEXT: a string, exact
    texts TEXT[]: an array, exact
    time_ TIME: a string, exact
    timestamp_ TIMESTAMP: a string, exact
    timestamptz_ TIMESTAMPTZ: a string, exact
    uuid_ UUID: a string, exact
    ");
}

#[test]
fn a_sound_driver_is_told_in_one_sentence_a_type() {
    insta::assert_snapshot!(told(Mysql), @r"
    bigint_signed BIGINT: a number, exact
    bigint_unsigned BIGINT UNSIGNED: a number, exact
    blob_ VARBINARY(16): an array of bytes
    boolean BOOLEAN: a number, exact
    date_ DATE: a string, exact
    datetime_ DATETIME(6): a string, exact
    decimal_ DECIMAL(30,10): a string, exact
    double_ DOUBLE: a number, exact
    float_ FLOAT: a number, exact
    id INT: a number, exact
    int_ INT: a number, exact
    json_ JSON: a string, exact
    text_ TEXT: a string, exact
    time_ TIME: a string, exact
    timestamp_ TIMESTAMP: a string, exact
    year_ YEAR: a number, exact
    zero_date DATE: a string, exact
    ");
}

#[test]
fn what_drivers_do_is_told_with_an_example() {
    let as_double = |expected: &Expected| match expected {
        Expected::Whole(digits) => serde_json::to_string(&digits.parse::<f64>().unwrap()).unwrap().replace(".0", ""),
        other => plain(other),
    };
    let big_as_string = |expected: &Expected| match expected {
        Expected::Whole(digits) if digits.len() > 15 => format!("\"{digits}\""),
        other => plain(other),
    };
    let iso = |expected: &Expected| match expected {
        Expected::Moment(text) => format!("\"{}Z\"", text.replace(' ', "T").get(..19).unwrap()),
        other => plain(other),
    };
    let finite = |expected: &Expected| match expected {
        Expected::Double(number) if number.abs() > 1e300 => "null".to_owned(),
        other => plain(other),
    };
    let report = [
        sentence("bigint_signed", as_double),
        sentence("bigint_signed", big_as_string),
        sentence("datetime_", iso),
        sentence("timestamp_", iso),
        sentence("double_", finite),
        sentence("blob_", |_| "null".to_owned()),
    ];
    insta::assert_snapshot!(report.join("\n"), @r#"
    a number, rounded: 9007199254740993 became 9007199254740992
    a number or a string, depending on the value, exact
    a date-time in ISO form with Z, rounded: 9999-12-31 23:59:59.999999 became "9999-12-31T23:59:59Z"
    a date-time in ISO form with Z
    a number, lost: 1.7976931348623157e308 became null
    lost: 0x0080C328 became null
    "#);
}

#[test]
fn an_answer_that_is_none_is_refused_with_the_reason() {
    let check = |body: &str, expect: &str| assert_eq!(judge_fidelity(body.as_bytes(), Mysql), Err(expect.to_owned()));
    check("gone", "the 4 bytes of the answer are no JSON");
    check("{}", "an object instead of an array of rows");
    check("[{}]", "1 rows instead of 8");
    check("[1,2,3,4,5,6,7,8]", "a row that is no object");
    let verdicts = judge_fidelity(b"[{},{},{},{},{},{},{},{}]", Postgres).unwrap();
    assert!(verdicts.iter().all(|verdict| verdict.sentence == "left out" && verdict.worst == Verdict::Lost));
}
