//! Rows and bodies: golden hashes, ranges, keys.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};
use tolok_model::Wire;

use crate::data_contract::columns::{Column, Rows};
use crate::data_contract::content::{Content, Value, row};
use crate::data_contract::{
    Answers, Purpose, data_sha256, load_script, queries_body, query_body, rows_body, table_comment,
};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn script(purpose: Purpose) -> String {
    let mut script = Vec::new();
    load_script(&mut script, purpose, Wire::Mysql).unwrap();
    String::from_utf8(script).unwrap()
}

fn objects(body: &[u8]) -> Vec<Map<String, Json>> {
    serde_json::from_slice(body).unwrap()
}

#[test]
fn bodies_and_script_are_the_same_for_ever() {
    // A change of these hashes changes the data that all earlier runs were measured with.
    insta::assert_snapshot!(sha256(&rows_body(40, 10_000).unwrap()), @"6f0d905f643bda05c3c24f44ff1ef9fe264ec782e282c7cefd90dbbb60f4f727");
    insta::assert_snapshot!(sha256(&rows_body(50, 1_000).unwrap()), @"f730e87cf3649f367670cf9491bf706b6145cf6daab0751f04eb155f41627db2");
    insta::assert_snapshot!(sha256(&query_body(17).unwrap()), @"51528366c0c7e2e2c4fe946877ccb61ff7f3d6c52676fc2c6444bf0c3a7a079b");
    insta::assert_snapshot!(sha256(&queries_body(20, 83_850)), @"50292f295eed81e867e5dbf124a4287657f0295de107367b73bea99fa9001f19");
    insta::assert_snapshot!(data_sha256(Wire::Mysql), @"6768a9560cf080492460079d2f3f29f2596696c328891d67772188e2d65f1da6");
}

#[test]
fn the_first_row_reads_as_a_person_would_expect() {
    insta::assert_snapshot!(String::from_utf8(query_body(1).unwrap()).unwrap(), @r#"{"account_id":107919,"active":1,"address":"ul. Długa 104","amount":"580047.28","balance":"58275.7463","birthday":"1961-05-17","campaign":null,"city":"Łódź","comment":"señor García's parcel; path C:\\orders\\in; ok 👍🏽","company":"Kopi Luwak Nusantara","country":"PL","created_at":"2022-07-02 08:55:57","currency":"PLN","deleted":0,"discount":"47.24","email":"andrei.papadopoulou1@example.net","first_name":"Андрей","height_cm":166,"id":1,"invoice":"R2020/000001","language":"pl","last_login":"2024-11-14 21:30:12","last_name":"Papadopoulou","manager_id":178309866,"newsletter":0,"note":"see https://example.com/faq; gift 🎁 wrapped; asked for a call back; twice as many & half as big; señor García's parcel","orders":231,"phone":"+48 42 55581410","points":-1570944923,"postcode":"24429","price":"25.68","quantity":305,"region":"Łódzkie","score":"28.702","sku":"R694-00001","status":"new","tax":"13.89","title":"Poster \"C:\\>_\"","updated_at":"2025-07-26 19:23:31","website":"https://example.net/~papadopoulou/1"}"#);
}

#[test]
fn a_row_is_as_long_as_those_of_the_measurements_that_are_replicated() {
    let bytes = rows_body(40, 10_000).unwrap().len();
    assert!((9_400_000..9_800_000).contains(&bytes), "{bytes} bytes");
}

#[test]
fn an_array_has_the_rows_that_its_limit_allows_in_the_order_of_their_keys() {
    for (fields, limit, expect) in [(40, 1, 1), (40, 750, 750), (40, 10_001, 10_000), (50, 10_000, 1_000)] {
        let rows = objects(&rows_body(fields, limit).unwrap());
        assert_eq!(rows.len(), expect);
        for (row, key) in rows.iter().zip(1..) {
            assert_eq!((row.len(), &row["id"]), (fields as usize, &Json::from(key)));
        }
    }
    assert_eq!(rows_body(45, 1), None);
    assert_eq!(rows_body(40, 0).unwrap(), b"[]");
}

#[test]
fn one_row_is_the_same_alone_and_among_others() {
    let all = objects(&rows_body(40, 10_000).unwrap());
    for key in [1, 2, 5_000, 10_000] {
        let alone: Map<String, Json> = serde_json::from_slice(&query_body(key).unwrap()).unwrap();
        assert_eq!(alone, all[key as usize - 1]);
    }
    assert_eq!((query_body(0), query_body(10_001)), (None, None));
}

#[test]
fn keys_follow_from_the_seed_as_the_contract_says() {
    // Park and Miller's check: from the seed 1, the ten thousandth number is 1043618065.
    let last = objects(&queries_body(10_000, 1)).pop().unwrap();
    assert_eq!(last["id"], 1 + 1_043_618_065 % 10_000);
    let keys: Vec<Json> = objects(&queries_body(3, 1)).iter().map(|row| row["id"].clone()).collect();
    // 16807, 282475249, 1622650073
    assert_eq!(keys, [6_808, 5_250, 74]);
}

#[test]
fn the_text_is_what_a_sound_encoder_writes() {
    // Two encoders that share only what JSON requires: ours, and serde_json's with sorted keys.
    for body in [rows_body(40, 10_000), rows_body(50, 1_000), query_body(9_999)] {
        let body = body.unwrap();
        let value: Json = serde_json::from_slice(&body).unwrap();
        assert!(serde_json::to_vec(&value).unwrap() == body);
        let text = String::from_utf8(body).unwrap();
        assert!(!text.contains(|character: char| character.is_control() || "\u{2028}\u{2029}".contains(character)));
    }
}

#[test]
fn what_encoders_trip_over_is_there() {
    let body = String::from_utf8(rows_body(40, 1_000).unwrap()).unwrap();
    for trap in ["/", "&", "<", ">", "'", "\\\"", "\\\\", "ß", "Łódź", "東京", "𠮷", "👍🏽", ":null", "\"-0."]
    {
        assert!(body.contains(trap), "{trap}");
    }
}

/// All values of a column, from the first row on.
fn values_of(table: Rows, name: &str) -> impl Iterator<Item = Value> {
    let position = table.columns().position(|column| column.name == name).unwrap();
    (1..=table.count()).map(move |key| row(table, key).nth(position).unwrap().1)
}

#[test]
fn columns_are_sorted_and_keys_are_unique() {
    for table in Rows::ALL {
        let names: Vec<&str> = table.columns().map(|column| column.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        for unique in ["account_id", "email", "id", "invoice", "sku"] {
            let values: BTreeSet<String> = values_of(table, unique).map(|value| format!("{value:?}")).collect();
            assert_eq!(values.len(), table.count() as usize, "{unique}");
        }
    }
}

/// The number in brackets after a type.
fn length(column: &Column) -> Option<usize> {
    column.sql_type.split_once('(')?.1.split([',', ')']).next()?.parse().ok()
}

#[test]
fn every_value_fits_its_column() {
    for table in Rows::ALL {
        for (column, value) in (1..=table.count()).flat_map(|key| row(table, key)) {
            match (&value, column.content) {
                (Value::Null, _) => assert!(column.nullable, "{}", column.name),
                (Value::Whole(number), _) => {
                    let most = if column.sql_type == "SMALLINT" { i64::from(i16::MAX) } else { i64::from(i32::MAX) };
                    assert!(number.abs() <= most, "{}: {number}", column.name);
                }
                (Value::Text(text), Content::Decimal { places, .. }) => {
                    let digits = text.bytes().filter(u8::is_ascii_digit).count();
                    assert!(
                        digits <= length(column).unwrap() && text.rfind('.') == Some(text.len() - places - 1),
                        "{text}"
                    );
                }
                (Value::Text(text), Content::Text(_)) => {
                    let characters = text.chars().count();
                    assert!((1..=length(column).unwrap()).contains(&characters), "{}: {text}", column.name);
                    assert!(text.trim() == text, "{}: {text}", column.name);
                }
                (Value::Text(text), Content::Day { .. }) => {
                    assert!(text.parse::<jiff::civil::Date>().is_ok(), "{text}")
                }
                (Value::Text(text), _) => assert!(text.parse::<jiff::civil::DateTime>().is_ok(), "{text}"),
            }
        }
    }
}

#[test]
fn about_15_of_100_values_of_nullable_columns_are_missing() {
    // Only the small table: nulls are drawn the same way for both.
    for column in Rows::Wide.columns().filter(|column| column.nullable) {
        let missing = values_of(Rows::Wide, column.name).filter(|value| *value == Value::Null).count();
        let share = missing as f64 / f64::from(Rows::Wide.count());
        assert!((0.11..0.19).contains(&share), "{}: {share}", column.name);
    }
}

#[test]
fn emails_belong_to_the_names_and_barcodes_scan() {
    for (key, row) in (1..).zip(objects(&rows_body(50, 1_000).unwrap())) {
        let text = |name: &str| row[name].as_str().unwrap();
        assert!(text("email").is_ascii() && text("email").contains(&format!("{key}@")), "{}", text("email"));
        if text("first_name").is_ascii() {
            assert!(text("email").starts_with(&text("first_name").to_lowercase()), "{}", text("email"));
        }
        let digits = text("barcode").bytes().map(|digit| u32::from(digit - b'0'));
        let sum: u32 = digits.zip([1, 3].into_iter().cycle()).map(|(digit, weight)| digit * weight).sum();
        assert_eq!((text("barcode").len(), sum % 10), (13, 0), "{}", text("barcode"));
        assert!(text("created_at") < text("updated_at"));
    }
}

#[test]
fn a_script_for_a_server_of_the_users_own_makes_tables_and_nothing_else() {
    let (private, external) = (script(Purpose::Private), script(Purpose::External));
    for statement in ["CREATE DATABASE", "USE ", "CREATE USER", "GRANT"] {
        let starts = |script: &str| script.lines().any(|line| line.starts_with(statement));
        assert!(starts(&private) && !starts(&external), "{statement}");
    }
    for script in [&private, &external] {
        assert!(
            !script.contains("DROP")
                && script.matches(&format!("COMMENT='{}'", table_comment(Wire::Mysql))).count() == 6
        );
        assert_eq!(script.matches("START TRANSACTION;").count(), script.matches("COMMIT;").count());
        let longest = script.split(";\n").map(str::len).max().unwrap();
        assert!(longest < 1 << 20, "a packet of {longest} bytes is more than a careful server takes");
    }
    assert_eq!(table_comment(Wire::Mysql), format!("tolok data {}", &data_sha256(Wire::Mysql)[..12]));
}

#[test]
fn many_answers_are_different_and_those_of_their_paths() {
    let workload = |data, path: &str, values: &[(&str, u32)]| tolok_model::Workload {
        name: path.to_owned(),
        title: String::new(),
        summary: String::new(),
        method: "GET".to_owned(),
        path: path.to_owned(),
        sent: None,
        status: 200,
        content_type: "application/json".to_owned(),
        body: tolok_model::Body::Data { data },
        database: true,
        pipeline: 1,
        parameters: Default::default(),
        values: values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        folder: None,
    };
    let number = |path: &str| path.rsplit_once('=').unwrap().1.parse::<u32>().unwrap();
    let query = workload(tolok_model::DataBody::Query, "/query?id=5", &[]);
    let Some(Answers::Many(answers)) = Answers::of(&query).unwrap() else { panic!("many") };
    let keys: BTreeSet<u32> = answers.iter().map(|answer| number(&answer.path)).collect();
    assert_eq!((answers.len(), keys.len()), (64, 64));
    for answer in &answers {
        assert_eq!(answer.path, format!("/query?id={}", number(&answer.path)));
        assert_eq!(Some(&answer.body), query_body(number(&answer.path)).as_ref());
    }
    let queries = workload(tolok_model::DataBody::Queries, "/queries?n=20", &[("n", 20)]);
    let Some(Answers::Many(answers)) = Answers::of(&queries).unwrap() else { panic!("many") };
    let seeds: BTreeSet<u32> = answers.iter().map(|answer| number(&answer.path)).collect();
    assert_eq!((answers.len(), seeds.len()), (16, 16));
    for answer in &answers {
        assert_eq!(answer.path, format!("/queries?n=20&seed={}", number(&answer.path)));
        assert_eq!(answer.body, queries_body(20, number(&answer.path)));
    }
}
