//! What a `workload.toml` contains, and what can be wrong with it.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::listed;
use insta::{assert_json_snapshot, assert_snapshot};
use tolok_model::{Catalogue, DataOrder, Workload};

fn check(text: &str) -> String {
    match Workload::read("file", text) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => listed(text, &problems),
    }
}

#[test]
fn a_body_lies_in_a_file_or_is_generated() {
    let text = |body: &str| {
        format!("title = 'T'\nrequest.path = '/a.png'\nanswer.content-type = 'image/png'\nanswer.body = {body}")
    };
    let file = Workload::read("file", &text("'body.html'")).unwrap();
    let generated = Workload::read("file", &text("{ generate = 'png', bytes = 100, seed = 1 }")).unwrap();
    assert_json_snapshot!((&file, &generated.body));
    assert_eq!(file.asset(), "a.png");
    let mix = check(&text("{ generate = 'mix', bytes = 100, seed = 1 }"));
    assert!(mix.contains("`/a.png` is not the folder of a mix"), "{mix}");
}

#[test]
fn stored_workloads_are_read_back() {
    let text = "title = 'T'\nrequest.path = '/a'\n[answer]\ncontent-type = 'a/b'\nbody = { generate = 'png', bytes = 9, seed = 1 }";
    let workload = Workload::read("file", text).unwrap();
    let stored = serde_json::to_string(&workload).unwrap();
    assert_eq!(serde_json::from_str::<Workload>(&stored).unwrap(), workload);
}

#[test]
fn many_mistakes_are_many_problems() {
    let text = r#"titl = "T"
[request]
method = "PUT"
path = "hello world"
[answer]
status = 99
content_type = "text/html"
body = { generate = "pgn", bytes = -1, seeds = 3 }
"#;
    assert_snapshot!(check(text), @r#"
    1:1 «titl» unknown key `titl` (did you mean `title`? known here: title, summary, database, pipeline, request, answer, part, requests, program, parameter)
    3:10 «"PUT"» workloads cannot use the method `PUT` (this version sends `GET` and `POST`)
    4:8 «"hello world"» `hello world` is not the path of a request (a slash, then what a URL may have after the host, as in `/api/users?page=2`; other characters are encoded, such as a blank as %20)
    6:10 «99» 99 is not the status of an answer
    7:1 «content_type» unknown key `content_type` (did you mean `content-type`? known here: status, content-type, body)
    8:21 «"pgn"» unknown value `pgn` (did you mean `png`? known here: png, mix)
    8:36 «-1» expected a whole number that is not negative, found the number -1
    8:40 «seeds» unknown key `seeds` (did you mean `seed`? known here: generate, bytes, seed, data, compute, compared, file)
    "#);
    assert_snapshot!(check("title = 'T'\n[request]\n[answer]\ncontent-type = 'a/b'\nbody = '../x'\n"), @r#"
    2:1 «[request]» missing key `path` (for example: path = "/hello")
    5:8 «'../x'» `../x` is not the name of a file here (it must lie beside this one, as in `body.html`)
    "#);
    assert_snapshot!(check(
        "title = 'T'\nrequest.path = '/x'\nanswer = { content-type = 'a/b', body = 7, status = 70000 }\n"
    ), @r#"
    3:41 «7» expected the name of a file, or a table such as { generate = "png", bytes = 546816, seed = 534 }, { data = "rows" }, { compute = "items" } or { compared = "shape", file = "body.json" }, found the number 7
    3:53 «70000» expected a whole number from 0 to 65,535, found the number 70000
    "#);
}

#[test]
fn what_is_sent_lies_beside_the_workload() {
    let text = |request: &str| {
        format!("title = 'T'\n[request]\npath = '/a'\n{request}\n[answer]\ncontent-type = 'a/b'\nbody = 'body.json'")
    };
    let sound = "method = 'POST'\nbody = 'document.json'\ncontent-type = 'application/json'\nrefused = 'refused.json'";
    let workload = Workload::read("check", &text(sound)).unwrap();
    let sent = workload.sent.clone().unwrap();
    assert_eq!((sent.file.as_str(), sent.refused.as_deref()), ("document.json", Some("refused.json")));
    let stored = serde_json::to_string(&workload).unwrap();
    assert_eq!(serde_json::from_str::<Workload>(&stored).unwrap(), workload);
    assert_snapshot!(check(&text("body = '../x'\ncontent-type = 'a/b'")), @r#"
    4:8 «'../x'» only `POST` has a body (add method = "POST")
    4:8 «'../x'» `../x` is not the name of a file here (it must lie beside this one, as in `body.html`)
    "#);
    assert_snapshot!(check(&text("method = 'POST'\nbody = 'x'")), @r#"2:1 «[request]» missing key `content-type` (for example: content-type = "application/json")"#);
    assert_snapshot!(check(&text("refused = 'x'\ncontent-type = 'a/b'")), @"
    4:11 «'x'» a request without `body` has no `refused`
    5:16 «'a/b'» a request without `body` has no `content-type`
    ");
}

#[test]
fn a_path_has_several_segments_and_a_query() {
    let text =
        |path: &str| format!("title = 'T'\nrequest.path = {path:?}\nanswer.content-type = 'a/b'\nanswer.body = 'body'");
    for path in ["/", "/api/v1/users", "/api/users?page=2&q=%22a%22", "/a/@me;v=1"] {
        let workload = Workload::read("users", &text(path)).unwrap_or_else(|problems| panic!("{path}: {problems:?}"));
        assert_eq!((workload.path.as_str(), workload.asset().as_str()), (path, "answer@users"));
    }
    for path in ["", "users", "/a b", "/a#b", "/ä", "/a\"b"] {
        assert!(check(&text(path)).contains("is not the path of a request"), "{path}");
    }
    let data = "title = 'T'\ndatabase = true\nrequest.path = '/a?b=1'\nanswer.content-type = 'a/b'\nanswer.body = { data = 'query' }";
    assert_snapshot!(check(data), @"5:15 «{ data = 'query' }» the answer to a path with a query cannot follow from `data` (take the query out of `path`: tolok adds the parameters)");
}

#[test]
fn an_answer_can_be_computed_from_its_request() {
    let text = |request: &str, compute: &str, parameter: &str| {
        format!(
            "title = 'T'\nrequest = {{ {request} }}\n[answer]\ncontent-type = 'application/json'\nbody = {{ compute = '{compute}' }}\n\
             [parameter.{parameter}]\ndefault = 5\nleast = 1\nmost = 1000\n"
        )
    };
    let items = Workload::read("items", &text("path = '/items'", "items", "n")).unwrap();
    let upload = Workload::read("upload", &text("method = 'POST', path = '/upload'", "digest", "bytes")).unwrap();
    assert_eq!((items.sends_body(), upload.sends_body()), (false, true));
    for workload in [&items, &upload] {
        let stored = serde_json::to_string(workload).unwrap();
        assert_eq!(serde_json::from_str::<Workload>(&stored).unwrap(), *workload);
    }
    let catalogue = Catalogue { workloads: vec![items, upload], ..Catalogue::default() };
    let chosen = |text: &str| {
        let workload = catalogue.choose_workload(text).unwrap();
        format!("{} · {} · {}", workload.name, workload.path, workload.title)
    };
    assert_snapshot!(chosen("items?n=1000"), @"items?n=1000 · /items?n=1000 · T, 1,000 objects");
    assert_snapshot!(chosen("upload"), @"upload · /upload · T, 5 bytes");
    assert_snapshot!(chosen("upload?bytes=1"), @"upload?bytes=1 · /upload · T, 1 byte");
    let wrong = [
        text("path = '/items?a=1'", "items", "m"),
        text("path = '/upload'", "digest", "bytes"),
        text("method = 'POST', path = '/upload', body = 'b', content-type = 'a/b'", "digest", "bytes"),
        text("path = '/items'", "itmes", "n"),
    ];
    assert_snapshot!(wrong.map(|text| check(&text).trim().to_owned()).join("\n"), @r#"
    5:8 «{ compute = 'items' }» the answer to a path with a query cannot be computed (take the query out of `path`: tolok adds the parameters)
    5:8 «{ compute = 'items' }» the answer depends on a parameter `n` (add [parameter.n] with `default`, `least` and `most`)
    6:12 «m» the answer does not depend on `m` (known here: n)
    5:8 «{ compute = 'digest' }» only `POST` has a body, of which the answer is computed (add method = "POST")
    5:8 «{ compute = 'digest' }» the answer to a body in a file cannot be computed (leave `body` out of the request: tolok draws what it sends)
    5:20 «'itmes'» unknown value `itmes` (did you mean `items`? known here: items, compressed, react, digest, upstream)
    "#);
}

#[test]
fn a_varying_body_declares_what_is_compared() {
    let text = |body: &str| {
        format!("title = 'T'\nrequest.path = '/a'\nanswer.content-type = 'application/json'\nanswer.body = {body}")
    };
    for sound in
        ["{ compared = 'shape', file = 'b.json' }", "{ compared = 'length', bytes = 9 }", "{ compared = 'nothing' }"]
    {
        let workload = Workload::read("a", &text(sound)).unwrap();
        assert!(workload.body.varying().is_some());
        let stored = serde_json::to_string(&workload).unwrap();
        assert_eq!(serde_json::from_str::<Workload>(&stored).unwrap(), workload);
    }
    let all = [
        "{ compared = 'shape' }",
        "{ compared = 'length' }",
        "{ compared = 'length', bytes = 9, file = 'b' }",
        "{ compared = 'nothing', bytes = 9 }",
        "{ compared = 'shape', file = '../b' }",
        "{ compared = 'shape', seed = 1 }",
        "{ file = 'b.json' }",
    ];
    assert_snapshot!(all.map(|body| check(&text(body)).trim().to_owned()).join("\n"), @r#"
    4:15 «{ compared = 'shape' }» missing key `file` (for example: file = "body.json", a body whose shape is expected)
    4:15 «{ compared = 'length' }» missing key `bytes` (for example: bytes = 532)
    4:15 «{ compared = 'length', bytes = 9, file = 'b' }» only `shape` has a `file` (take it out, or compare the `shape`)
    4:15 «{ compared = 'nothing', bytes = 9 }» `nothing` has no `file` and no `bytes` (take it out, or compare the `shape`)
    4:15 «{ compared = 'shape', file = '../b' }» `../b` is not the name of a file here (it must lie beside this one, as in `body.html`)
    4:15 «{ compared = 'shape', seed = 1 }» a body is generated, follows from `data`, is computed, or is `compared` in part: one of the four
    4:15 «{ file = 'b.json' }» a body in a `file` that differs needs `compared = "shape"`
    "#);
}

#[test]
fn a_mixed_workload_has_parts_and_nothing_else() {
    let part = |text: &str| format!("[[part]]\n{text}\n");
    let (json, row) = (part("workload = 'json'\nweight = 3"), part("workload = 'query'"));
    let mixed = Workload::read("mine", &format!("title = 'M'\n{json}{row}")).unwrap();
    assert!(mixed.is_mixed() && mixed.parts().next().is_none(), "only the catalogue resolves parts");
    let wrong = [
        format!("title = 'M'\n{json}"),
        format!("title = 'M'\ndatabase = true\nrequest.path = '/a'\n{json}{row}"),
        format!("title = 'M'\n{json}{json}"),
        format!("title = 'M'\n{row}{}", part("workload = 'json'\nweight = 0")),
        format!("title = 'M'\n{row}{}", part("weight = 101")),
    ];
    assert_snapshot!(wrong.map(|text| check(&text).trim().to_owned()).join("\n"), @r#"
    2:1 «[[part]]» a mixed workload has 2 to 5 parts, and this one has 1 (each part is [[part]] with workload = "json" and weight = 3)
    2:12 «true» a workload with parts has no `database` (leave it out: the workload of each part says it)
    3:1 «request» a workload with parts has no `request` (leave it out: the workload of each part says it)
    6:12 «'json'» `json` is listed twice (add up the weights)
    6:10 «0» 0 is not a weight (a whole number from 1 to 100; only proportions count)
    4:1 «[[part]]» missing key `workload` (for example: workload = "json")
    5:10 «101» 101 is not a weight (a whole number from 1 to 100; only proportions count)
    "#);
}

#[test]
fn a_file_of_requests_stands_for_request_and_answer() {
    let text = "title = 'L'\ndatabase = true\n[requests]\nfile = 'a.jsonl'\ndata = 'rows'\ndata-order = 'in-order'\n";
    let listed = Workload::read("mine", text).unwrap();
    let list = listed.list().unwrap();
    assert_eq!((list.data.as_deref(), list.data_order, list.sequence), (Some("rows"), DataOrder::InOrder, false));
    assert!(listed.database && !listed.is_single());
    let stored = serde_json::to_string(&listed).unwrap();
    assert_eq!(serde_json::from_str::<Workload>(&stored).unwrap(), listed);
    let wrong = [
        "title = 'L'\n[requests]\n",
        "title = 'L'\nrequest.path = '/a'\n[requests]\nfile = '../a'\n",
        "title = 'L'\n[requests]\nfile = 'a'\ndata-order = 'random'\n[[part]]\n",
        "title = 'L'\n[requests]\nfile = 'a'\ndata-order = 'sorted'\n",
    ];
    assert_snapshot!(wrong.map(|text| check(text).trim().to_owned()).join("\n"), @r#"
    2:1 «[requests]» missing key `file` (for example: file = "requests.jsonl")
    2:1 «request» a workload with `requests` has no `request` (leave it out: the file of requests says it)
    4:8 «'../a'» `../a` is not the name of a file here (it must lie beside this one, as in `body.html`)
    4:14 «'random'» there is no `data` to be taken in an order (add data = "values.csv")
    5:1 «[[part]]» a workload with `requests` has no `part` (leave it out: the file of requests says it)
    4:14 «'sorted'» unknown value `sorted` (known here: random, in-order)
    "#);
}

#[test]
fn parts_mean_workloads_that_can_be_compared() {
    let read = |name: &str, text: &str| Workload::read(name, text).unwrap();
    let plain = |name: &str| {
        let text = format!("title = 'T'\nrequest.path = '/{name}'\nanswer = {{ content-type = 'a/b', body = 'b' }}");
        read(name, &text)
    };
    let data = |name: &str| {
        let answer = format!("answer = {{ content-type = 'a/b', body.data = '{name}' }}");
        read(name, &format!("title = 'T'\ndatabase = true\nrequest.path = '/{name}'\n{answer}"))
    };
    let settled = |parts: [&str; 2]| {
        let [one, other] = parts.map(|part| format!("[[part]]\nworkload = '{part}'\n"));
        let mixed = read("mine", &format!("title = 'M'\n{one}{other}"));
        let workloads = vec![data("counter"), mixed, plain("json"), data("query")];
        let mut catalogue = Catalogue { workloads, ..Catalogue::default() };
        catalogue.settle_mixed().map(|()| catalogue.workload("mine").unwrap().clone())
    };
    let mixed = settled(["json", "query"]).unwrap();
    assert!(mixed.database, "one part uses a database");
    assert_eq!(
        mixed.parts().map(|(weight, part)| (weight, part.path.as_str())).collect::<Vec<_>>(),
        [(1, "/json"), (1, "/query")]
    );
    let stored = serde_json::to_string(&mixed).unwrap();
    assert_eq!(serde_json::from_str::<Workload>(&stored).unwrap(), mixed);
    let said = |parts| {
        let wrong = settled(parts).unwrap_err();
        format!("{}: {} ({})", wrong.part, wrong.message, wrong.help.unwrap_or_default())
    };
    assert_snapshot!([["json", "jsn"], ["json", "counter"], ["json", "mine"], ["json", "query?n=1"]].map(said).join("\n"), @"
    jsn: there is no workload `jsn` (did you mean `json`? known here: counter, mine, json, query)
    counter: `counter` cannot be a part: it is checked by counting all requests ()
    mine: `mine` cannot be a part: it has parts itself ()
    query?n=1: `query` has no parameter `n` (known here: nothing)
    ");
}
