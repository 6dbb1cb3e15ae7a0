//! Workloads that use a database, and the parameters that a study sets in them.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue_with_data, listed};
use insta::{assert_json_snapshot, assert_snapshot};
use tolok_model::{Body, DataBody, Study, Workload};

const ROWS: &str = "title = 'Rows'\ndatabase = true\nrequest.path = '/rows'\n[answer]\ncontent-type = 'application/json'\n\
                    body = { data = 'rows' }\n";

fn check(text: &str) -> String {
    match Workload::read("rows", text) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => listed(text, &problems),
    }
}

/// Name, path and title of what a study means, or the problem.
fn chosen(text: &str) -> String {
    match catalogue_with_data().choose_workload(text) {
        Ok(workload) => format!("{} · {} · {}", workload.name, workload.path, workload.title),
        Err((message, Some(help))) => format!("error: {message} ({help})"),
        Err((message, None)) => format!("error: {message}"),
    }
}

#[test]
fn an_answer_can_follow_from_the_tables() {
    let catalogue = catalogue_with_data();
    let rows = catalogue.workload("rows").unwrap();
    assert_json_snapshot!(rows);
    assert_eq!(rows.body, Body::Data { data: DataBody::Rows });
    let stored = serde_json::to_string(rows).unwrap();
    assert_eq!(serde_json::from_str::<Workload>(&stored).unwrap(), *rows);
    let counter = "title = 'Counter'\ndatabase = true\nrequest = { method = 'POST', path = '/counter' }\n\
                   answer = { content-type = 'application/json', body.data = 'counter' }";
    assert_eq!(Workload::read("counter", counter).unwrap().method, "POST");
}

/// Once one parameter is set, the name has all of them, so that a changed default does not change its meaning.
#[test]
fn a_name_is_the_same_however_its_parameters_are_written() {
    assert_snapshot!(chosen("rows"), @"rows · /rows?fields=40&limit=10000 · 10,000 rows of 40 fields");
    assert_snapshot!(chosen("rows?"), @"rows · /rows?fields=40&limit=10000 · 10,000 rows of 40 fields");
    assert_snapshot!(chosen("rows?limit=1000"), @"rows?fields=40&limit=1000 · /rows?fields=40&limit=1000 · 1,000 rows of 40 fields");
    assert_snapshot!(chosen("rows?limit=1&fields=40"), @"rows?fields=40&limit=1 · /rows?fields=40&limit=1 · 1 row of 40 fields");
    assert_snapshot!(chosen("rows?fields=50&limit=1000"), @"rows?fields=50&limit=1000 · /rows?fields=50&limit=1000 · 1,000 rows of 50 fields");
    assert_snapshot!(chosen("query"), @"query · /query · Query");
    assert_snapshot!(chosen("hello"), @"hello · /hello · hello");
    let workload = catalogue_with_data().choose_workload("rows?limit=0007").unwrap();
    assert_eq!(workload.values, [("fields".to_owned(), 40), ("limit".to_owned(), 7)].into());
    assert_eq!((workload.path.as_str(), workload.asset().as_str()), ("/rows?fields=40&limit=7", "rows"));
    assert_eq!(catalogue_with_data().choose_workload(&workload.name).unwrap(), workload);
}

#[test]
fn what_a_parameter_cannot_be_is_said() {
    assert_snapshot!(chosen("rwos?limit=1"), @"error: there is no workload `rwos` (did you mean `rows`? known here: file, hello, json, query, rows)");
    assert_snapshot!(chosen("rows?limits=1"), @"error: `rows` has no parameter `limits` (did you mean `limit`? known here: fields, limit)");
    assert_snapshot!(chosen("rows?limit"), @"error: `limit` is not of the form parameter=value, such as limit=1000");
    assert_snapshot!(chosen("rows?limit=many"), @"error: parameter `limit` is a whole number, not `many`");
    assert_snapshot!(chosen("rows?limit=-1"), @"error: parameter `limit` is a whole number, not `-1`");
    assert_snapshot!(chosen("rows?limit=1&limit=2"), @"error: parameter `limit` is set twice; leave one of them out");
    assert_snapshot!(chosen("rows?limit=0"), @"error: `limit` is a number from 1 to 10,000, not 0 (limit: rows of the answer)");
    assert_snapshot!(chosen("rows?limit=10001"), @"error: `limit` is a number from 1 to 10,000, not 10001 (limit: rows of the answer)");
    assert_snapshot!(chosen("rows?fields=45"), @"error: `fields` is 40 or 50, not 45 (fields: columns)");
    assert_snapshot!(chosen("hello?limit=1"), @"error: `hello` has no parameter `limit` (known here: nothing)");
}

#[test]
fn a_table_has_no_more_rows_than_it_has() {
    assert_snapshot!(chosen("rows?fields=50"), @"error: the table with 50 fields has 1,000 rows, and 10,000 are asked for (for example: limit=1000)");
    assert_snapshot!(chosen("rows?fields=50&limit=1001"), @"error: the table with 50 fields has 1,000 rows, and 1,001 are asked for (for example: limit=1000)");
}

fn study(workload: &str) -> Result<Study, String> {
    let text = format!(
        "title = 'T'\nsubjects = ['bun/serve']\n[[scenario]]\nworkload = {workload}\n\
         load = {{ executor = 'constant-vus', vus = [8, 64], duration = '1s' }}"
    );
    Study::read(&text, &catalogue_with_data()).map_err(|problems| listed(&text, &problems))
}

#[test]
fn scenarios_have_the_parameters_in_their_names() {
    let study = study("['hello', 'rows', 'rows?limit=1000', 'rows?fields=50&limit=7']").unwrap();
    let line = |one: &tolok_model::Scenario| {
        format!("{} · {} · {} · database {}", one.id, one.workload, one.workload_name(), one.database)
    };
    assert_snapshot!(study.scenarios.iter().map(line).collect::<Vec<_>>().join("\n"), @"
    hello-c8 · hello · hello · database false
    hello-c64 · hello · hello · database false
    rows-c8 · rows · rows · database true
    rows-c64 · rows · rows · database true
    rows-fields40-limit1000-c8 · rows?fields=40&limit=1000 · rows · database true
    rows-fields40-limit1000-c64 · rows?fields=40&limit=1000 · rows · database true
    rows-fields50-limit7-c8 · rows?fields=50&limit=7 · rows · database true
    rows-fields50-limit7-c64 · rows?fields=50&limit=7 · rows · database true
    ");
}

#[test]
fn mistakes_in_a_study_are_said_at_their_places() {
    let problems = |workload: &str| study(workload).unwrap_err();
    assert_snapshot!(problems("['rows?limit=0', 'rows?fields=50', 'row', 'rows?limit=1000&page=2']"), @"
    4:13 «'rows?limit=0'» `limit` is a number from 1 to 10,000, not 0 (limit: rows of the answer)
    4:29 «'rows?fields=50'» the table with 50 fields has 1,000 rows, and 10,000 are asked for (for example: limit=1000)
    4:47 «'row'» there is no workload `row` (did you mean `rows`? known here: file, hello, json, query, rows)
    4:54 «'rows?limit=1000&page=2'» `rows` has no parameter `page` (known here: fields, limit)
    ");
    assert_snapshot!(problems("['rows', 'rows?limit=10000']"), @"4:21 «'rows?limit=10000'» `rows?limit=10000` is what `rows` means already");
    assert_snapshot!(problems("['rows?limit=5', 'rows?limit=5&fields=40']"), @"
    3:1 «[[scenario]]» scenario `rows-fields40-limit5-c8` appears twice (scenarios are told apart by workload, executor, users or rates, connections, protocol, and tool)
    3:1 «[[scenario]]» scenario `rows-fields40-limit5-c64` appears twice (scenarios are told apart by workload, executor, users or rates, connections, protocol, and tool)
    ");
}

#[test]
fn the_parameters_are_those_that_the_answer_depends_on() {
    let fields = "[parameter.fields]\ndefault = 40\none-of = [40, 50]\n";
    let limit = "[parameter.limit]\ndefault = 1000\nleast = 1\nmost = 10000\n";
    assert_eq!(check(&format!("{ROWS}{fields}{limit}")), "no problem");
    assert_snapshot!(check(&format!("{ROWS}{fields}")), @"6:8 «{ data = 'rows' }» the answer depends on a parameter `limit` (add [parameter.limit] with `default`, `least` and `most`)");
    assert_snapshot!(check(&format!("{ROWS}{fields}{limit}[parameter.page]\ndefault = 1\nleast = 1\nmost = 9\n")), @"14:12 «page» the answer does not depend on `page` (known here: fields, limit)");
    assert_snapshot!(check(&format!("{ROWS}{limit}[parameter.fields]\ndefault = 50\none-of = [40, 50]").replace("= 1000\n", "= 2000\n")), @"6:8 «{ data = 'rows' }» with the defaults of the parameters, the table with 50 fields has 1,000 rows, and 2,000 are asked for (for example: limit=1000)");
    assert_snapshot!(check(&format!("{ROWS}{limit}[parameter.fields]\ndefault = 41\nleast = 40\nmost = 50\n")), @"6:8 «{ data = 'rows' }» with the defaults of the parameters, there is no table with 41 fields (there are two: 40, 50)");
    let text = ROWS.replace("{ data = 'rows' }", "'body.json'");
    assert_snapshot!(check(&format!("{text}[parameter.n]\ndefault = 1\nleast = 1\nmost = 9\n")), @"7:12 «n» the answer does not depend on `n` (only answers that follow from `data` or are computed have parameters)");
}

#[test]
fn many_mistakes_are_many_problems() {
    let text = r#"title = "Rows"
database = "yes"
[request]
method = "PUT"
path = "/rows?limit=1"
[answer]
content-type = "application/json"
body = { data = "row" }
[parameter.limit]
default = 0
least = 5
most = 1
[parameter.fields]
default = 45
one-of = [40, 50]
most = 60
size = 1
[parameter.n]
one-of = []
"#;
    assert_snapshot!(check(text), @r#"
    2:12 «"yes"» expected `true` or `false`, found the string "yes"
    4:10 «"PUT"» workloads cannot use the method `PUT` (this version sends `GET` and `POST`)
    8:17 «"row"» unknown value `row` (did you mean `rows`? known here: rows, query, queries, fortunes, updates, crud, counter, fidelity)
    11:9 «5» `least` is more than `most`
    14:11 «45» `default` is 40 or 50, not 45
    16:8 «60» `most` follows from `one-of` (leave out `most`)
    17:1 «size» unknown key `size` (known here: default, least, most, one-of, help)
    18:1 «[parameter.n]» missing key `default` (for example: default = 20)
    19:10 «[]» no value is listed (for example: one-of = [40, 50])
    "#);
    assert_snapshot!(check(&ROWS.replace("database = true\n", "").replace("'rows' }", "'query' }")), @"5:8 «{ data = 'query' }» an answer that follows from `data` needs a database (add `database = true` at the top)");
    assert_snapshot!(check(&ROWS.replace("'rows' }", "'query', bytes = 3 }")), @"6:8 «{ data = 'query', bytes = 3 }» a body is generated, follows from `data`, is computed, or is `compared` in part: one of the four");
    assert_snapshot!(check(&ROWS.replace("{ data = 'rows' }", "{}")), @r#"
    6:8 «{}» missing key `generate` (for example: generate = "png")
    6:8 «{}» missing key `bytes` (for example: bytes = 546816)
    6:8 «{}» missing key `seed` (for example: seed = 534)
    "#);
}
