//! `tolok load --capacity`, which ignores rates that the generator missed because the machine was busy.

use std::time::Duration;

use serde_json::Value;
use tolok_testkit::{EventServer, Pattern};

use crate::place::{Place, Said, my_turn};

/// Searches for the capacity of a server that takes 10 ms for each request, one after the other: 100 a second.
fn capacity(arguments: &[&str]) -> Said {
    let server = EventServer::start("hello", Pattern::OneAtATime { service: Duration::from_millis(10) });
    let url = server.url("/hello");
    let run = ["load", &url, "--capacity", "-d", "500ms", "--warmup", "1us", "-R", "20", "--capacity-precision", "50%"];
    Place::new().tolok(&[&run, arguments].concat())
}

#[test]
fn a_search_ends_below_the_rate_that_the_server_cannot_hold() {
    let _turn = my_turn();
    let said = capacity(&["--capacity-searches", "2", "--threshold", "p50 < 100ms", "--format", "json"]);
    let found: Value = serde_json::from_str(&said.output).unwrap();
    assert_eq!(found["searches"].as_array().unwrap().len(), 2, "{}", said.progress);
    for search in found["searches"].as_array().unwrap() {
        let (kept, crossed) = (search["kept_rps"].as_f64().unwrap(), search["crossed_rps"].as_f64().unwrap());
        // At 140/s the queue grows by 40 a second, and half of the responses take longer than 100 ms within half a second.
        assert!(kept < 140.0 && crossed > kept && crossed / kept <= 1.5, "{search}");
    }
    assert!(found["low_rps"].as_f64() <= found["capacity_rps"].as_f64());
    assert!(said.progress.contains("search 1 of 2"), "{}", said.progress);
}

#[test]
fn a_threshold_that_no_rate_keeps_leaves_with_3() {
    let _turn = my_turn();
    let said = capacity(&["--threshold", "p50 < 1ms"]);
    assert_eq!(said.code, Some(3), "{}", said.progress);
    assert!(said.output.contains("none: no rate keeps the thresholds"), "{}", said.output);
}
