//! Links delay packets as configured.

use rustix::process::geteuid;
use serde_json::Value;
use tolok_testkit::require;

use crate::databases::require_mariadb;
use crate::place::{assert_done, my_turn};
use crate::postgres::require_postgres;
use crate::{databases, environments};

#[test]
fn every_packet_of_a_link_takes_its_time() {
    require!(geteuid().is_root(), "links are tried as root here; other users have tests of their own");
    let _turn = my_turn();
    let place = environments::place("none", "link = [{ rtt = '30ms' }, { backend = 'veth' }]");
    let (said, records) = environments::run(&place, &[]);
    assert_done(said.code, &said.progress);
    let of = |network: &str| records.iter().find(|record| record["isolation"]["network"] == network).unwrap();
    let (distant, near) = (of("emulator"), of("veth"));
    let fastest = &distant["outcome"]["latency"]["percentiles"][0]["latency_s"];
    assert!(fastest.as_f64().unwrap() >= 0.03, "{fastest}");
    let link = &distant["outcome"]["link"];
    let packets = |direction: &str| link[direction]["packets"].as_u64().unwrap();
    assert!(packets("to_subject") > 0 && packets("to_client") > 0, "{link}");
    assert_eq!(near["outcome"]["link"], Value::Null);
    // A handshake and a request take two round trips, so nothing nearer answered in the subject's place.
    assert!(distant["outcome"]["cold_start_s"].as_f64().unwrap() >= 0.06);
    assert_eq!(distant["isolation"]["sysctls"]["net.ipv4.tcp_congestion_control"], "cubic");
}

#[test]
fn the_way_to_the_database_takes_its_time() {
    require_mariadb!();
    require!(geteuid().is_root(), "links are tried as root here; other users have tests of their own");
    let _turn = my_turn();
    let load = "vus = 4, duration = '1s', warmup = '200ms'";
    let place = databases::place("['go/nethttp']", "'query'", load, "database = { rtt = ['0ms', '40ms'] }");
    let (said, records) = databases::run(&place, &[]);
    assert_done(said.code, &said.progress);
    let distant = records.iter().find(|record| record["case"].as_str().unwrap().contains("40ms")).unwrap();
    let near = records.iter().find(|record| !record["case"].as_str().unwrap().contains("40ms")).unwrap();
    let median = |record: &Value| record["outcome"]["latency"]["percentiles"][0]["latency_s"].as_f64().unwrap();
    assert!(median(distant) >= 0.04 && median(near) < median(distant), "{} and {}", median(near), median(distant));
    assert_eq!(distant["isolation"]["database_network"], "emulator");
    let link = &distant["outcome"]["database"]["link"];
    assert!(link["to_client"]["packets"].as_u64().unwrap() > 0, "{link}");
}

#[test]
fn the_way_to_a_postgresql_takes_its_time() {
    require_postgres!();
    require!(geteuid().is_root(), "links are tried as root here; other users have tests of their own");
    let _turn = my_turn();
    let load = "vus = 4, duration = '1s', warmup = '300ms'";
    let environment = "database = { engine = 'postgres', pool = 4, rtt = '40ms', memory = '512MiB' }";
    let place = databases::place("['go/nethttp', 'go/nethttp:prepared']", "'query'", load, environment);
    let (said, records) = databases::run(&place, &[]);
    assert_done(said.code, &said.progress);
    for record in &records {
        let median = record["outcome"]["latency"]["percentiles"][0]["latency_s"].as_f64().unwrap();
        assert!((0.04..0.08).contains(&median), "one round trip: {median} in {}", record["case"]);
    }
}
