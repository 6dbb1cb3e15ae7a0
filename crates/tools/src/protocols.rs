//! The arguments of each tool for TLS and HTTP/2.

use tolok_model::{LoadTool, Protocol, Scenario};

use super::driver;
use super::driver::Invocation;
use super::jobs::{closed, job, scenario};

fn invocation(tool: LoadTool, protocol: Protocol, streams: u32) -> Invocation {
    let scenario = Scenario { protocol, streams, ..scenario(closed()) };
    driver(tool).invocation(&job(&scenario))
}

/// Arguments that HTTP/1.1 without TLS does not have, then a slash and those that only it has.
fn differs(tool: LoadTool, protocol: Protocol, streams: u32) -> String {
    let [usual, asked] = [invocation(tool, Protocol::Http1, 1), invocation(tool, protocol, streams)]
        .map(|invocation| invocation.arguments);
    let more: Vec<&str> = asked.iter().filter(|part| !usual.contains(part)).map(String::as_str).collect();
    let fewer: Vec<&str> = usual.iter().filter(|part| !asked.contains(part)).map(String::as_str).collect();
    format!("{} / {}", more.join(" "), fewer.join(" "))
}

#[test]
fn each_tool_is_asked_for_the_protocol_in_its_own_words() {
    let check = |tool, protocol, streams, expect: &str| {
        assert_eq!(differs(tool, protocol, streams), expect, "{tool:?} over {protocol:?}");
    };
    check(LoadTool::Tolok, Protocol::Https, 1, "--insecure / ");
    check(LoadTool::Tolok, Protocol::Http1, 16, "--pipeline=16 / ");
    check(LoadTool::Tolok, Protocol::H2, 4, "--insecure --http2 --streams=4 / ");
    check(LoadTool::Tolok, Protocol::H2c, 1, "--http2 / ");
    check(LoadTool::H2load, Protocol::Https, 1, " / ");
    check(LoadTool::H2load, Protocol::H2, 1, "-m 1 / --h1");
    // Eight users with four streams per connection have two connections. There were two threads before.
    check(LoadTool::H2load, Protocol::H2c, 4, "-m 4 / --h1 8");
    check(LoadTool::Oha, Protocol::Https, 1, "--insecure / ");
    check(LoadTool::Oha, Protocol::H2, 4, "2 --http2 -p 4 --insecure / 8");
    for tool in [LoadTool::K6, LoadTool::Wrk, LoadTool::Ab, LoadTool::Hey] {
        // Those of them that check certificates disable that elsewhere.
        check(tool, Protocol::Https, 1, " / ");
    }
}

#[test]
fn k6_takes_any_certificate_and_keeps_to_http1_where_it_is_to() {
    let of = |protocol| {
        let Invocation { files, env, .. } = invocation(LoadTool::K6, protocol, 1);
        let trusts = files.iter().any(|(_, text)| text.contains("insecureSkipTLSVerify"));
        (trusts, env.get("GODEBUG").cloned())
    };
    assert_eq!(of(Protocol::Http1), (false, None));
    assert_eq!(of(Protocol::Https), (true, Some("http2client=0".to_owned())));
    assert_eq!(of(Protocol::H2), (true, None));
}
