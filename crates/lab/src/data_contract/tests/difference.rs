//! Messages about wrong responses: examples, and seeded random mutations.

use serde_json::{Value as Json, json};
use tolok_model::SplitMix64;

use crate::data_contract::{difference, rows_body, shape_difference};

fn rows(count: u32) -> Vec<Json> {
    serde_json::from_slice(&rows_body(40, count).unwrap()).unwrap()
}

fn said(owed: &str, given: &str) -> String {
    difference(owed.as_bytes(), given.as_bytes())
}

#[test]
fn a_wrong_value_is_named_by_row_and_field() {
    let owed = r#"[{"city":"Palu","id":1},{"city":"Palu","id":2}]"#;
    let check = |given: &str, expect: &str| assert_eq!(said(owed, given), expect);
    check(
        r#"[{"city":"Palu","id":1},{"city":"Makassar","id":2}]"#,
        r#"row 2, field `city`: "Makassar" instead of "Palu""#,
    );
    check(r#"[{"city":null,"id":1},{"city":"Palu","id":2}]"#, r#"row 1, field `city`: null instead of "Palu""#);
    check(
        r#"[{"city":"Palu","id":"1"},{"city":"Palu","id":2}]"#,
        r#"row 1, field `id`: "1" instead of 1 (a string instead of a number)"#,
    );
    check(r#"[{"city":"Palu","id":1.0},{"city":"Palu","id":2}]"#, "row 1, field `id`: 1.0 instead of 1");
    assert_eq!(
        said(r#"{"amount":"5.00"}"#, r#"{"amount":5}"#),
        r#"field `amount`: 5 instead of "5.00" (a number instead of a string)"#
    );
    assert_eq!(said("9007199254740993", "9007199254740992"), "9007199254740992 instead of 9007199254740993");
}

#[test]
fn rows_that_are_too_few_or_too_many_are_counted() {
    let owed = r#"[{"id":1},{"id":2},{"id":3}]"#;
    let check = |given: &str, expect: &str| assert_eq!(said(owed, given), expect);
    check(r#"[{"id":1},{"id":2}]"#, "2 rows instead of 3, the same as far as they go");
    check(r#"[{"id":1}]"#, "1 row instead of 3, the same as far as they go");
    check(r#"[{"id":1},{"id":3}]"#, "2 rows instead of 3; row 2, field `id`: 3 instead of 2");
    check(r#"[{"id":1},{"id":2},{"id":3},{"id":4}]"#, "4 rows instead of 3, the same as far as they go");
    check("[]", "0 rows instead of 3, the same as far as they go");
    check(
        r#"{"error":"gone"}"#,
        r#"{"error":"gone"} instead of [{"id":1},{"id":2},{"id":3}] (an object instead of an array)"#,
    );
}

#[test]
fn fields_that_are_missing_or_moved_or_not_owed_are_named() {
    let owed = r#"[{"a":1,"b":2}]"#;
    let check = |given: &str, expect: &str| assert_eq!(said(owed, given), expect);
    check(r#"[{"a":1}]"#, "row 1: the field `b` is missing");
    check(r#"[{"a":1,"B":2}]"#, "row 1: the field `b` is missing");
    check(r#"[{"a":1,"b":2,"c":3}]"#, "row 1: the field `c` is not owed");
    check(r#"[{"a":1,"b":2,"a":1}]"#, "row 1: 3 fields instead of 2, some twice");
    check(r#"[{"b":2,"a":1}]"#, "row 1: the fields are in another order: field 1 is `b` instead of `a`");
    // A wrong value is more important than order, even if it comes later.
    check(r#"[{"b":3,"a":1}]"#, "row 1, field `b`: 3 instead of 2");
}

#[test]
fn the_same_values_written_otherwise_are_told_by_their_bytes() {
    assert_eq!(
        said(r#"["a/b"]"#, r#"["a\/b"]"#),
        r#"the same values, written otherwise: a body of 8 bytes instead of 7, different from byte 3 on: "\\/b\"]" instead of "/b\"]""#
    );
    assert_eq!(
        said("[1]", "[1]\n"),
        r#"the same values, written otherwise: a body of 4 bytes instead of 3, different from byte 3 on: "\n" instead of """#
    );
}

#[test]
fn what_is_no_json_is_told_by_its_bytes() {
    let expect = r#"a body of 2 bytes instead of 3, different from byte 2 on: "" instead of "]""#;
    assert_eq!(said("[1]", "[1"), expect);
    assert_eq!(
        said("<p>a", "<p>b"),
        r#"a body of the right length (4 bytes), different from byte 3 on: "b" instead of "a""#
    );
    let latin1 = difference("\"ä\"".as_bytes(), b"\"\xE4\"");
    assert_eq!(
        latin1,
        "a body of 3 bytes instead of 4, different from byte 1 on: \"\u{FFFD}\\\"\" instead of \"ä\\\"\""
    );
}

#[test]
fn of_long_values_the_place_where_they_differ_is_shown() {
    let long = "x".repeat(150);
    let said = said(&format!("[\"{long}old{long}\"]"), &format!("[\"{long}new{long}\"]"));
    let (lead, rest) = ("x".repeat(20), "x".repeat(37));
    assert_eq!(said, format!("element 1: …{lead}new{rest}… instead of …{lead}old{rest}…"));
}

#[test]
fn nested_places_are_named_from_the_outside_in() {
    let said = said(r#"{"a":[{"b":[1,2]}]}"#, r#"{"a":[{"b":[1,3]}]}"#);
    assert_eq!(said, "field `a`, element 1, field `b`, element 2: 3 instead of 2");
}

#[test]
fn a_shape_is_names_and_kinds_whatever_the_values_their_number_and_their_order() {
    let example = r#"{"users":[{"id":1,"name":"Siti","last":null}],"total":17}"#;
    let check = |given: &str| shape_difference(example.as_bytes(), given.as_bytes());
    for same in [
        r#"{"users":[{"id":1,"name":"Siti","last":null}],"total":17}"#,
        r#"{"total":2,"users":[{"name":"Budi","id":7,"last":"now"},{"id":8,"name":null,"last":3}]}"#,
        r#"{"users":[],"total":0}"#,
    ] {
        assert_eq!(check(same), None, "{same}");
    }
    let differs = |given: &str, expect: &str| assert_eq!(check(given).as_deref(), Some(expect));
    differs(
        r#"{"users":[{"id":1,"name":"a","last":null},{"id":"2","name":"b","last":null}],"total":2}"#,
        "field `users`, element 2, field `id`: a string instead of a number",
    );
    differs(r#"{"users":[{"id":1,"last":null}],"total":2}"#, "field `users`, element 1: the field `name` is missing");
    differs(r#"{"users":{},"total":2}"#, "field `users`: an object instead of an array");
    differs(r#"{"users":[],"total":2,"next":3}"#, "the field `next` is not owed");
    differs("oh no", "a body of 5 bytes that is no JSON");
}

/// Changes one place of one row, and returns the words that the message must contain.
fn mutate(rows: &mut Vec<Json>, random: &mut SplitMix64) -> Vec<String> {
    let index = random.below(rows.len() as u64) as usize;
    let row = rows[index].as_object_mut().unwrap();
    let name = row.keys().nth(random.below(row.len() as u64) as usize).unwrap().clone();
    let place = format!("row {}, field `{name}`: ", index + 1);
    let whole_row = format!("row {}: ", index + 1);
    match random.below(5) {
        0 => {
            row.insert(name, json!("something else"));
            vec![place, "\"something else\" instead of ".to_owned()]
        }
        1 => {
            row.insert(name, json!([17]));
            vec![place, "[17] instead of ".to_owned()]
        }
        2 => {
            row.remove(&name);
            vec![whole_row, format!("the field `{name}` is missing")]
        }
        3 => {
            row.insert(format!("{name}_too"), Json::Null);
            vec![whole_row, format!("the field `{name}_too` is not owed")]
        }
        _ => {
            let count = rows.len();
            rows.truncate(index);
            let s = if index == 1 { "" } else { "s" };
            vec![format!("{index} row{s} instead of {count}, the same as far as they go")]
        }
    }
}

#[test]
fn any_single_change_is_found_where_it_was_made() {
    let original = rows(20);
    let owed = serde_json::to_vec(&original).unwrap();
    for seed in 0..400 {
        let mut changed = original.clone();
        let words = mutate(&mut changed, &mut SplitMix64::new(seed));
        let said = difference(&owed, &serde_json::to_vec(&changed).unwrap());
        for part in &words {
            assert!(said.contains(part), "seed {seed}: {said:?} lacks {part:?}");
        }
        assert!(said.starts_with(&words[0]) && said.len() < 250, "seed {seed}: {said}");
    }
}

#[test]
fn a_difference_is_symmetric_in_its_place() {
    let original = rows(3);
    for seed in 0..100 {
        let mut random = SplitMix64::new(seed);
        let mut changed = original.clone();
        let row = changed[random.below(3) as usize].as_object_mut().unwrap();
        let name = row.keys().nth(random.below(40) as usize).unwrap().clone();
        row.insert(name, json!(-0.5));
        let [owed, given] = [&original, &changed].map(|rows| serde_json::to_vec(rows).unwrap());
        let place = |said: String| said.split_once(": ").unwrap().0.to_owned();
        assert_eq!(place(difference(&owed, &given)), place(difference(&given, &owed)));
    }
}

#[test]
fn no_text_makes_the_comparison_fail() {
    let texts =
        ["", "[", "]", "{}", "[[]]", "[{}]", r#"{"a":"\ud800"}"#, "1e999999", "\"", "[null,[],{\"\":[]}]", "\u{0}"];
    for owed in texts {
        for given in texts.iter().filter(|given| **given != owed) {
            assert!(!said(owed, given).is_empty());
        }
    }
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert!(!said("[1]", &deep).is_empty());
}
