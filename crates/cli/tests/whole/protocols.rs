//! TLS and HTTP/2 as factors of a study: real servers over each protocol, and subjects that are left out.

use serde_json::Value;

use crate::place::assert_done;
use crate::real_servers::run;

#[test]
fn node_and_go_are_measured_over_tls_and_http2() {
    let study = "title = 'Protocols'\nsubjects = ['go/nethttp', 'node/http', 'python/http']\nblocks = 1\nreruns = 0\naa-pair = false\n\
                 [[scenario]]\nworkload = 'json'\nprotocol = ['https', 'h2', 'h2c']\n\
                 load = { executor = 'constant-vus', vus = 8, streams = 4, duration = '1s', warmup = '100ms' }\n";
    let (records, runs, output) = run(study);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_done(output.status.code(), &said);
    for record in &records {
        let (case, outcome) = (record["case"].as_str().unwrap(), &record["outcome"]);
        assert_eq!(outcome["kind"], "completed", "{case}: {outcome}");
        let ledger = &outcome["ledger"];
        assert_eq!(ledger["failed"], serde_json::json!({}), "{case}: {ledger}");
        // Eight users have one connection each, or share two.
        let connections = if case.contains("https") { 8 } else { 2 };
        assert_eq!(ledger["connections"], connections, "{case}: {ledger}");
        assert_eq!(outcome["checks"]["body_check"], "exactly", "{case}: {outcome}");
    }
    let folder = std::fs::read_dir(runs.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let plan: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("plan.json")).unwrap()).unwrap();
    let left_out: Vec<&Value> = plan["skipped"].as_array().unwrap().iter().collect();
    let is_said = |subject: &str| left_out.iter().any(|one| one["subject"].as_str().unwrap().starts_with(subject));
    assert!(is_said("python/http") && is_said("rust/ceiling"), "{left_out:?}");
    let cases = plan["cases"].as_array().unwrap().len();
    assert_eq!(records.len(), cases, "{said}");
    let report = std::fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(report.contains("over HTTP/2 with TLS, 4 streams a connection"), "{report}");
}
