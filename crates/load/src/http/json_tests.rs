//! Equal documents, different documents, and invalid JSON, checked against serde_json.

use proptest::prelude::*;
use serde_json::Value as Tree;

use super::*;

fn compare(expected: &str, body: impl AsRef<[u8]>) -> Result<(), BodyFault> {
    Document::parse(expected.as_bytes()).unwrap().compare(body.as_ref()).map_err(|mismatch| mismatch.fault)
}

#[track_caller]
fn check_same(expected: &str, body: &str) {
    assert_eq!(compare(expected, body), Ok(()), "{expected} and {body}");
    assert_eq!(compare(body, expected), Ok(()), "{body} and {expected}");
}

#[track_caller]
fn check_differs(expected: &str, body: &str, at: u64, difference: JsonDifference) {
    assert_eq!(compare(expected, body), Err(BodyFault::DiffersInJson { at, difference }), "{expected} and {body}");
    assert!(compare(body, expected).is_err(), "{body} and {expected}");
}

#[track_caller]
fn check_flaw(body: impl AsRef<[u8]>, at: usize, flaw: JsonFlaw) {
    let body = body.as_ref();
    assert_eq!(Document::parse(body).map(drop), Err(NotJson { at, flaw }), "{:?}", String::from_utf8_lossy(body));
    assert!(serde_json::from_slice::<Tree>(body).is_err() || flaw == JsonFlaw::DuplicateKey);
}

#[test]
fn order_of_keys_blanks_and_escapes_mean_nothing() {
    check_same(r#"{"a":1,"b":[true,null]}"#, " {\n\t\"b\" : [ true , null ] ,\r\n \"a\" : 1 } ");
    check_same(r#""a/\u00e4\n\ud83d\ude00""#, "\"\\u0061\\/\u{e4}\\u000A\u{1f600}\"");
    check_same(r#"{"\u0061":{}}"#, r#"{"a":{}}"#);
    check_same("[]", "[ ]");
}

#[test]
fn numbers_are_compared_by_value() {
    for (one, other) in [
        ("1", "1.0"),
        ("100", "1e2"),
        ("-0", "0"),
        ("-0.0", "0e5"),
        ("0.001", "1E-3"),
        ("12.50e+1", "125"),
        ("0.1", "0.10000000000000001"),
        ("9007199254740993", "9007199254740993.0"),
        ("1e400", "10e399"),
        ("1e0000000000000000001", "10"),
    ] {
        check_same(one, other);
    }
    for (one, other) in [
        ("1", "-1"),
        ("1", "10"),
        ("0.1", "0.1000000000000001"),
        ("9007199254740992", "9007199254740993"),
        ("9007199254740992.0", "9007199254740993"),
        ("18446744073709551616", "18446744073709551617"),
        ("1e400", "1e401"),
        ("1e-400", "0.0"),
    ] {
        check_differs(one, other, 0, JsonDifference::Number);
    }
}

#[test]
fn a_difference_is_told_with_its_place() {
    use JsonDifference::*;
    check_differs(r#"{"a":[1,2]}"#, r#"{"a":[1,3]}"#, 8, Number);
    check_differs(r#"{"a":[1,2]}"#, r#"{"a":[1]}"#, 7, ElementMissing);
    check_differs(r#"{"a":[1,2]}"#, r#"{"a":[1,2, 3]}"#, 11, ElementExtra);
    check_differs(r#"{"a":1,"b":2}"#, r#"{"a":1}"#, 6, KeyMissing);
    check_differs(r#"{"a":1}"#, r#"{"a":1, "b":2}"#, 8, KeyExtra);
    check_differs(r#"{"a":1}"#, r#"{"A":1}"#, 1, KeyExtra);
    check_differs("[true]", "[false]", 1, Boolean);
    check_differs("[\"a\"]", "[\"b\"]", 1, String);
    check_differs("[0]", "[null]", 1, Type);
    check_differs("[0]", "[\"0\"]", 1, Type);
    check_differs("[[]]", "[{}]", 1, Type);
}

#[test]
fn what_is_no_json_is_told_with_its_place() {
    use JsonFlaw::*;
    for (body, at, flaw) in [
        ("", 0, EndsEarly),
        ("  ", 2, EndsEarly),
        ("[1,", 3, EndsEarly),
        ("{\"a\"", 4, EndsEarly),
        ("\"abc", 4, EndsEarly),
        ("\"\\", 2, EndsEarly),
        ("tru", 3, EndsEarly),
        ("-", 1, EndsEarly),
        ("x", 0, Unexpected),
        ("\u{feff}1", 0, Unexpected),
        ("True", 0, Unexpected),
        ("nuLl", 2, Unexpected),
        ("NaN", 0, Unexpected),
        ("[1 2]", 3, Unexpected),
        ("[1,]", 3, Unexpected),
        ("[,1]", 1, Unexpected),
        ("{,}", 1, Unexpected),
        ("{a:1}", 1, Unexpected),
        ("{\"a\":1,}", 7, Unexpected),
        ("{\"a\",1}", 4, Unexpected),
        ("[1}", 2, Unexpected),
        ("/**/1", 0, Unexpected),
        ("1 1", 2, Trailing),
        ("{}}", 2, Trailing),
        ("01", 1, Number),
        ("1.x", 2, Number),
        ("-x", 1, Number),
        ("1ex", 2, Number),
        ("+1", 0, Unexpected),
        (".5", 0, Unexpected),
        ("1.5.5", 3, Number),
        ("1e9999999999", 0, Number),
        ("\"\\x\"", 1, Escape),
        ("\"\\u12g4\"", 1, Escape),
        ("\"\\ud800\"", 1, Escape),
        ("\"\\ud800\\u0041\"", 1, Escape),
        ("\"\\udc00\"", 1, Escape),
        ("\"a\nb\"", 2, ControlCharacter),
        ("{\"a\":1,\"\\u0061\":1}", 7, DuplicateKey),
    ] {
        check_flaw(body, at, flaw);
    }
    check_flaw(b"\"a\xff\"", 2, Utf8);
    check_flaw(b"\"\xed\xa0\x80\"", 1, Utf8);
}

#[test]
fn a_key_that_is_there_twice_is_refused_also_if_both_say_the_same() {
    let flaw = JsonFlaw::DuplicateKey;
    assert_eq!(compare(r#"{"a":1}"#, r#"{"a":1,"a":1}"#), Err(BodyFault::NotJson { at: 7, flaw }));
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    check_same(&nested(128), &(nested(128) + " "));
    check_flaw(nested(129), 128, JsonFlaw::TooDeep);
    check_flaw("[".repeat(1_000_000), 128, JsonFlaw::TooDeep);
    check_flaw("{\"a\":".repeat(1_000_000), 128 * 5, JsonFlaw::TooDeep);
}

/// Any JSON tree, from so few different parts that two trees are sometimes equal.
fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::from),
        (-3i64..3).prop_map(Tree::from),
        any::<u64>().prop_map(Tree::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Tree::from),
        "[a-c\"\\\\\n\u{1}äß\u{1f600}]{0,4}".prop_map(Tree::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Tree::from),
            prop::collection::vec(("[a-d\n]{0,2}", inner), 0..5).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Writes a tree unlike serde_json does: members in reverse order, whitespace, every character escaped.
fn write_oddly(tree: &Tree, text: &mut String) {
    let list = |text: &mut String, brackets: [char; 2], length: usize, write: &mut dyn FnMut(usize, &mut String)| {
        text.push(brackets[0]);
        for index in 0..length {
            text.push_str(if index > 0 { " ,\t" } else { "\n" });
            write(index, text);
        }
        text.push(brackets[1]);
    };
    match tree {
        Tree::String(string) => {
            text.push('"');
            string.encode_utf16().for_each(|unit| text.push_str(&format!("\\u{unit:04X}")));
            text.push('"');
        }
        Tree::Array(elements) => {
            list(text, ['[', ']'], elements.len(), &mut |index, text| write_oddly(&elements[index], text));
        }
        Tree::Object(members) => {
            let backwards: Vec<_> = members.iter().rev().collect();
            list(text, ['{', '}'], members.len(), &mut |index, text| {
                write_oddly(&Tree::from(backwards[index].0.as_str()), text);
                text.push_str(" : ");
                write_oddly(backwards[index].1, text);
            });
        }
        other => text.push_str(&other.to_string()),
    }
}

proptest! {
    #[test]
    fn a_document_equals_itself_however_it_is_written(tree in tree()) {
        let mut oddly = String::new();
        write_oddly(&tree, &mut oddly);
        prop_assert_eq!(compare(&tree.to_string(), &oddly), Ok(()));
        prop_assert_eq!(compare(&oddly, serde_json::to_string_pretty(&tree).unwrap()), Ok(()));
    }

    #[test]
    fn two_documents_are_the_same_when_serde_json_says_so(one in tree(), other in tree()) {
        let same = compare(&one.to_string(), other.to_string()).is_ok();
        // serde_json distinguishes -0.0 from 0 and 1 from 1.0; the strategy rarely generates such pairs.
        prop_assert!(same == (one == other) || same && one.to_string().contains(['.', 'e', '0']));
    }

    #[test]
    fn json_with_a_byte_changed_is_judged_as_serde_json_judges_it(
        tree in tree(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = tree.to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        match (Document::parse(&bytes), serde_json::from_slice::<Tree>(&bytes)) {
            (Ok(document), Ok(_)) => prop_assert!(document.compare(&[&bytes[..], b" "].concat()).is_ok()),
            (Err(NotJson { at, .. }), Err(_)) => prop_assert!(at <= bytes.len()),
            // serde_json keeps the last of two equal keys, and rejects numbers out of a double's range.
            (Err(NotJson { flaw: JsonFlaw::DuplicateKey, .. }), Ok(_)) => {}
            (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("number out of range"), "{error}"),
            (ours, theirs) => prop_assert!(false, "{ours:?} against {theirs:?}"),
        }
    }
}
