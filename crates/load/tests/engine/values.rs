//! Requests filled with values: from the rows of a table, and from earlier answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tolok_load::fault::ErrorClass;
use tolok_load::options::{Capture, ConnectionPolicy, Data, DataOrder, Executor, Method, Mix, Options, Request};
use tolok_testkit::{Reply, ScriptedServer};

use crate::stage::{ENDLESS, run};

fn data(order: DataOrder) -> Option<Arc<Data>> {
    let values = ["1", "A b", "2", "\"C\""].map(Box::from).to_vec();
    Some(Arc::new(Data { columns: vec!["id".to_owned(), "name".to_owned()], values, order }))
}

/// Options for `iterations` iterations of one user.
fn options(server: &ScriptedServer, iterations: u64) -> Options {
    let mut options = Options::new(&server.url("/")).unwrap();
    options.executor = Executor::SharedIterations { vus: 1, iterations, max_duration: ENDLESS };
    options
}

/// A server that answers a form with a token derived from it, and keeps the requests.
fn login() -> (ScriptedServer, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let server = ScriptedServer::start({
        let asked = Arc::clone(&asked);
        move |request| {
            let token = request.header("x-token").unwrap_or_default().to_owned();
            asked.lock().unwrap().push(format!(
                "{} {token} {}",
                request.path(),
                String::from_utf8_lossy(&request.body)
            ));
            match request.path() {
                "/login" => Reply::ok(format!("{{\"user\":{{\"token\":\"t{}\"}}}}", request.body.len())),
                _ => Reply::ok("[]"),
            }
        }
    });
    (server, asked)
}

/// A form with the values of a row; its token goes into the next request.
fn sequence(options: &mut Options) {
    let body = b"{\"id\":{{ id }},\"name\":\"{{name}}\"}".to_vec();
    let captures = vec![Capture { name: "token".to_owned(), pointer: "/user/token".to_owned() }];
    let headers = vec![("X-Token".to_owned(), "{{ token }}".to_owned())];
    options.mix = Mix::Sequence;
    options.requests = vec![
        Request { method: Method::Post, body, captures, ..Request::get("/login") },
        Request { headers, ..Request::get("/me/{{id}}") },
    ];
}

#[test]
fn rows_come_in_order_and_captured_values_go_into_the_next_request() {
    for connection in [ConnectionPolicy::KeepAlive, ConnectionPolicy::PerRequest] {
        let (server, asked) = login();
        let mut options = options(&server, 3);
        sequence(&mut options);
        (options.data, options.connection) = (data(DataOrder::InOrder), connection);
        let record = run(&options);
        assert_eq!((record.ledger.good, record.ledger.failed), (6, 0));
        let (one, two) = ("{\"id\":1,\"name\":\"A b\"}", "{\"id\":2,\"name\":\"\\\"C\\\"\"}");
        let expected = [
            format!("/login  {one}"),
            format!("/me/1 t{} ", one.len()),
            format!("/login  {two}"),
            format!("/me/2 t{} ", two.len()),
            format!("/login  {one}"),
            format!("/me/1 t{} ", one.len()),
        ];
        assert_eq!(*asked.lock().unwrap(), expected);
        let told = record.plan.data.unwrap();
        assert_eq!((told.rows, told.order), (2, DataOrder::InOrder));
    }
}

#[test]
fn an_answer_without_the_value_is_a_bad_body_and_ends_its_iteration() {
    let server = ScriptedServer::start(|request| match request.number {
        0 => Reply::ok("{}"),
        _ => Reply::ok("{\"user\":{\"token\":7}}"),
    });
    let mut options = options(&server, 2);
    sequence(&mut options);
    options.data = data(DataOrder::Random);
    let record = run(&options);
    assert_eq!((record.ledger.sent, record.ledger.good), (3, 2));
    assert_eq!(record.ledger.failed_by_class, BTreeMap::from([(ErrorClass::BadBody, 1)]));
    let words = &record.error_examples[0].text;
    assert!(words.starts_with("POST /login: "), "{words}");
    assert!(words.ends_with("no text, number or boolean where one is to be captured"), "{words}");
}

#[test]
fn what_cannot_be_filled_is_refused_before_a_request_is_sent() {
    let server = ScriptedServer::answering("[]");
    let refused = |change: fn(&mut Options)| {
        let mut options = options(&server, 1);
        sequence(&mut options);
        options.data = data(DataOrder::Random);
        change(&mut options);
        tolok_load::run(&options, &std::sync::atomic::AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string()
    };
    let message = refused(|options| options.data = None);
    assert!(message.contains("nothing is known here by the name of `{{ id }}`; known: none"), "{message}");
    let message = refused(|options| options.requests.reverse());
    assert!(message.contains("the request that captures it comes later"), "{message}");
    let message = refused(|options| options.mix = Mix::Weighted);
    assert!(message.contains("`capture` needs --sequence"), "{message}");
    let message = refused(|options| options.requests[0].captures[0].pointer = "user".to_owned());
    assert!(message.contains("`user` is no JSON pointer"), "{message}");
    let message = refused(|options| options.requests[0].captures[0].name = "id".to_owned());
    assert!(message.contains("`id` is a name of letters"), "{message}");
    assert_eq!(server.requests(), 0);
}
