//! Judgements of drivers: tokens that real drivers give, and whole responses.

use tolok_model::fidelity::Verdict;

use crate::data_contract::document::parse;
use crate::data_contract::fidelity::{COLUMNS, Expected, ROWS};
use crate::data_contract::judge_fidelity;
use crate::data_contract::judge_value::judge_value;

/// The judgement of `token` as the value of `column` in the row with this key.
fn judge(column: &str, id: usize, token: &str) -> Option<Verdict> {
    let index = COLUMNS.iter().position(|(name, _)| *name == column).unwrap();
    Some(judge_value(&ROWS[id - 1][index], parse(token.as_bytes())?))
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
    let id = COLUMNS.iter().position(|(name, _)| *name == "id").unwrap();
    for (row, key) in ROWS.iter().zip(1..) {
        assert!(matches!(row[id], Expected::Whole(text) if text == format!("{key}")));
    }
    assert!(COLUMNS.is_sorted());
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
    assert_eq!(judge("blob_", 5, "\"\\u0000\u{80}Ã(\""), reformatted("a string of one character a byte"));
    assert_eq!(judge("blob_", 5, "{\"type\":\"Buffer\",\"data\":[0,128,195,40]}"), reformatted("a Buffer object"));
    assert_eq!(judge("blob_", 5, "[0,128,195,40]"), reformatted("an array of bytes"));
    let fields = "{\"0\":0,\"1\":128,\"2\":195,\"3\":40}";
    assert_eq!(judge("blob_", 5, fields), reformatted("an object with a field a byte"));
    check("blob_", 5, "\"\\u0000\u{FFFD}\u{FFFD}(\"", Verdict::Altered("\"\\u0000\u{FFFD}\u{FFFD}(\"".to_owned()));
}

/// An answer with `token` for `column`, and a straightforward encoding of all others.
fn answer(column: &str, token: impl Fn(&Expected) -> String) -> String {
    let row = |expected_row: &[Expected; COLUMNS.len()]| {
        let field = |(expected, (name, _)): (&Expected, &(&str, &str))| {
            let given = if *name == column { token(expected) } else { plain(expected) };
            format!("{}:{given}", serde_json::to_string(name).unwrap())
        };
        format!("{{{}}}", expected_row.iter().zip(&COLUMNS).map(field).collect::<Vec<_>>().join(","))
    };
    format!("[{}]", ROWS.iter().map(row).collect::<Vec<_>>().join(","))
}

fn plain(expected: &Expected) -> String {
    match expected {
        Expected::Null => "null".to_owned(),
        Expected::Whole(digits) => (*digits).to_owned(),
        Expected::Flag(flag) => u8::from(*flag).to_string(),
        Expected::Double(number) => number.to_string(),
        Expected::Float(number) => number.to_string(),
        Expected::Bytes(bytes) => serde_json::to_string(bytes).unwrap(),
        Expected::Decimal(text) | Expected::Day(text) | Expected::Moment(text) => serde_json::to_string(text).unwrap(),
        Expected::Time(text) | Expected::Text(text) | Expected::Json(text) => serde_json::to_string(text).unwrap(),
    }
}

fn sentence(column: &str, token: impl Fn(&Expected) -> String) -> String {
    let verdicts = judge_fidelity(answer(column, token).as_bytes()).unwrap();
    verdicts.into_iter().find(|verdict| verdict.column == column).unwrap().sentence
}

#[test]
fn a_sound_driver_is_told_in_one_sentence_a_type() {
    let verdicts = judge_fidelity(answer("", plain).as_bytes()).unwrap();
    let table: Vec<String> = verdicts
        .iter()
        .map(|verdict| format!("{} {}: {}", verdict.column, verdict.sql_type, verdict.sentence))
        .collect();
    insta::assert_snapshot!(table.join("\n"), @r"
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
    let check = |body: &str, expect: &str| assert_eq!(judge_fidelity(body.as_bytes()), Err(expect.to_owned()));
    check("gone", "the 4 bytes of the answer are no JSON");
    check("{}", "an object instead of an array of rows");
    check("[{}]", "1 rows instead of 8");
    check("[1,2,3,4,5,6,7,8]", "a row that is no object");
    let verdicts = judge_fidelity(b"[{},{},{},{},{},{},{},{}]").unwrap();
    assert!(verdicts.iter().all(|verdict| verdict.sentence == "left out" && verdict.worst == Verdict::Lost));
}
