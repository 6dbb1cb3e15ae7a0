//! Load profiles: the keys and name of each executor, and the messages about misplaced keys.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue, listed};
use insta::{assert_json_snapshot, assert_snapshot};
use tolok_model::{LoadProfile, Scenario, Study};

fn study(load: &str, rest: &str) -> String {
    format!("title = 'T'\nsubjects = ['go/nethttp']\n[[scenario]]\nworkload = 'hello'\n{rest}\nload = {{ {load} }}\n")
}

fn scenarios(load: &str) -> Vec<Scenario> {
    let text = study(load, "");
    Study::read(&text, &catalogue()).unwrap_or_else(|problems| panic!("{load}\n{}", listed(&text, &problems))).scenarios
}

fn profile(load: &str) -> LoadProfile {
    scenarios(load).remove(0).load
}

/// Ids of the scenarios, with the descriptions of their loads.
fn named(load: &str) -> String {
    let line = |scenario: Scenario| format!("{}: {}", scenario.id, scenario.load.describe());
    scenarios(load).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The problems of a scenario, without the places, which are the same for all.
fn problems(load: &str, rest: &str) -> String {
    let text = study(load, rest);
    match Study::read(&text, &catalogue()) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => listed(&text, &problems),
    }
}

#[test]
fn every_executor_of_k6_has_a_name_and_words() {
    assert_snapshot!(named("executor = 'constant-vus', vus = [1, 64], duration = '10s'"), @r"
    hello-c1: closed loop, 1 virtual user, keep-alive, 10 s
    hello-c64: closed loop, 64 virtual users, keep-alive, 10 s
    ");
    assert_snapshot!(named("executor = 'ramping-vus', stages = [{ target = 300, duration = '10s' }, { target = 300, duration = '1m' }, { target = 0, duration = '0s' }]"), @"hello-ramp0-300-0: closed loop, virtual users 0 → 300 in 10 s → 300 in 1 min → 0 in 0 s, keep-alive, 1 min 10 s");
    assert_snapshot!(named("executor = 'ramping-vus', start-vus = 10, stages = [{ target = 20, duration = '10s' }]"), @"hello-ramp10-20: closed loop, virtual users 10 → 20 in 10 s, keep-alive, 10 s");
    assert_snapshot!(named("executor = 'per-vu-iterations', vus = 10, iterations = 20, max-duration = '30s'"), @"hello-c10-i20-each: closed loop, 10 virtual users, 20 requests each, keep-alive, at most 30 s");
    assert_snapshot!(named("executor = 'shared-iterations', vus = [1, 10], iterations = 200, max-duration = '30s'"), @r"
    hello-c1-i200: closed loop, 1 virtual user sends 200 requests, keep-alive, at most 30 s
    hello-c10-i200: closed loop, 10 virtual users share 200 requests, keep-alive, at most 30 s
    ");
    assert_snapshot!(named("executor = 'constant-arrival-rate', rate = [2000, '30000/m', 0.5, '100/m'], duration = '10s'"), @r"
    hello-r2000: open loop, 2000/s evenly spaced, 64 connections, keep-alive, 10 s
    hello-r500: open loop, 500/s evenly spaced, 64 connections, keep-alive, 10 s
    hello-r0.5: open loop, 0.5/s evenly spaced, 64 connections, keep-alive, 10 s
    hello-r1.667: open loop, 1.667/s evenly spaced, 64 connections, keep-alive, 10 s
    ");
    assert_snapshot!(named("executor = 'constant-arrival-rate', rate = 2000, duration = '10s', arrivals = 'poisson', pool = 'unbounded'"), @"hello-r2000-poisson-unbounded: open loop, 2000/s as a Poisson process, as many connections as it takes, keep-alive, 10 s");
    assert_snapshot!(named("executor = 'ramping-arrival-rate', stages = [{ target = 300, duration = '10s' }], arrivals = 'poisson', pool = 16"), @"hello-r0-300-poisson-pool16: open loop, 0/s → 300/s in 10 s as a Poisson process, 16 connections, keep-alive, 10 s");
    assert_snapshot!(named("executor = 'ramping-arrival-rate', start-rate = '60/m', stages = [{ target = '5000/s', duration = '10s' }]"), @"hello-r1-5000: open loop, 1/s → 5000/s in 10 s evenly spaced, 64 connections, keep-alive, 10 s");
}

#[test]
fn what_goes_beside_the_executor_is_in_the_name() {
    let with = |rest: &str| named(&format!("executor = 'constant-vus', vus = 8, duration = '10s', {rest}"));
    assert_snapshot!(with("connection = 'per-request'"), @"hello-c8-per-request: closed loop, 8 virtual users, a connection per request, 10 s");
    assert_snapshot!(with("requests-per-connection = 10"), @"hello-c8-reuse10: closed loop, 8 virtual users, a connection per 10 requests, 10 s");
    assert_snapshot!(with("requests-per-connection = 1"), @"hello-c8-per-request: closed loop, 8 virtual users, a connection per request, 10 s");
    assert_snapshot!(with("think-time = '100ms'"), @"hello-c8-think100ms: closed loop, 8 virtual users, a pause of 100 ms after each, keep-alive, 10 s");
    assert_snapshot!(with("think-time = ['50ms', '1s 500ms'], connection = 'keep-alive'"), @"hello-c8-think50ms-1s500ms: closed loop, 8 virtual users, a pause of 50 ms to 1.5 s after each, keep-alive, 10 s");
    assert_snapshot!(with("read-rate = '64KiB/s', write-rate = '1.5KB/s'"), @"hello-c8-read64KiB-write1500B: closed loop, 8 virtual users, keep-alive, reading 64 KiB/s at most, writing 1500 B/s at most, 10 s");
    assert_snapshot!(with("read-rate = '64KiB/s', slow-share = '20%'"), @"hello-c8-slow20-read64KiB: closed loop, 8 virtual users, keep-alive, 2 of them slow, reading 64 KiB/s at most, 10 s");
    assert_snapshot!(with("think-time = '0s'"), @"hello-c8: closed loop, 8 virtual users, keep-alive, 10 s");
}

#[test]
fn profiles_as_they_are_stored() {
    let ramp = "executor = 'ramping-arrival-rate', start-rate = 10, stages = [{ target = 300, duration = '10s' }], \
                arrivals = 'poisson', pool = 'unbounded', requests-per-connection = 10";
    let shared = "executor = 'shared-iterations', vus = 2, iterations = 200, max-duration = '30s', think-time = '1s'";
    assert_json_snapshot!([profile(ramp), profile(shared)]);
}

#[test]
fn the_default_warm_up_depends_on_the_executor() {
    let warmup = |load: &str| profile(load).warmup_s;
    assert_eq!(warmup("executor = 'constant-arrival-rate', rate = 5, duration = '10s'"), 2.0);
    assert_eq!(warmup("executor = 'constant-arrival-rate', rate = 5, duration = '1s'"), 0.3);
    assert_eq!(warmup("executor = 'per-vu-iterations', vus = 5, iterations = 5, max-duration = '1m'"), 1.0);
    assert_eq!(warmup("executor = 'ramping-vus', stages = [{ target = 5, duration = '10s' }]"), 0.0);
    assert_eq!(warmup("executor = 'ramping-vus', start-vus = 5, stages = [{ target = 5, duration = '10s' }]"), 2.0);
    assert_eq!(warmup("executor = 'ramping-vus', stages = [{ target = 5, duration = '10s' }], warmup = '7s'"), 7.0);
}

#[test]
fn a_key_of_another_executor_is_refused_with_those_that_have_it() {
    let all = "vus = 1, start-vus = 1, rate = 1, start-rate = 1, stages = [{ target = 1, duration = '1s' }], iterations = 1, \
               duration = '1s', max-duration = '1s', arrivals = 'poisson', pool = 1, think-time = '1s', slow-share = '9%'";
    let of = |executor: &str| problems(&format!("executor = '{executor}', {all}"), "");
    assert_snapshot!(of("constant-vus"), @r"
    6:58 «1» `constant-vus` has no `start-vus` (`start-vus` belongs to ramping-vus)
    6:68 «1» `constant-vus` has no `rate` (`rate` belongs to constant-arrival-rate)
    6:84 «1» `constant-vus` has no `start-rate` (`start-rate` belongs to ramping-arrival-rate)
    6:96 «[{ target = 1, duration = '1s' }]» `constant-vus` has no `stages` (`stages` belongs to ramping-vus, ramping-arrival-rate)
    6:144 «1» `constant-vus` has no `iterations` (`iterations` belongs to per-vu-iterations, shared-iterations)
    6:179 «'1s'» `constant-vus` has no `max-duration` (`max-duration` belongs to per-vu-iterations, shared-iterations)
    6:196 «'poisson'» `constant-vus` has no `arrivals` (`arrivals` belongs to constant-arrival-rate, ramping-arrival-rate)
    6:214 «1» `constant-vus` has no `pool` (`pool` belongs to constant-arrival-rate, ramping-arrival-rate)
    6:249 «'9%'» slow users need a rate (give `read-rate` or `write-rate`)
    ");
    assert_snapshot!(of("ramping-arrival-rate"), @r"
    6:51 «1» `ramping-arrival-rate` has no `vus` (`vus` belongs to constant-vus, per-vu-iterations, shared-iterations)
    6:66 «1» `ramping-arrival-rate` has no `start-vus` (`start-vus` belongs to ramping-vus)
    6:76 «1» `ramping-arrival-rate` has no `rate` (`rate` belongs to constant-arrival-rate)
    6:152 «1» `ramping-arrival-rate` has no `iterations` (`iterations` belongs to per-vu-iterations, shared-iterations)
    6:166 «'1s'» `ramping-arrival-rate` has no `duration` (`duration` belongs to constant-vus, constant-arrival-rate)
    6:187 «'1s'» `ramping-arrival-rate` has no `max-duration` (`max-duration` belongs to per-vu-iterations, shared-iterations)
    6:238 «'1s'» `ramping-arrival-rate` has no `think-time` (`think-time` belongs to constant-vus, ramping-vus, per-vu-iterations, shared-iterations)
    6:257 «'9%'» `ramping-arrival-rate` has no `slow-share` (`slow-share` belongs to constant-vus, ramping-vus)
    ");
}

#[test]
fn each_executor_says_what_it_lacks() {
    let of = |executor: &str| problems(&format!("executor = '{executor}'"), "");
    assert_snapshot!(of("constant-vus"), @r#"
    6:8 «{ executor = 'constant-vus' }» missing key `vus` (for example: vus = 64)
    6:8 «{ executor = 'constant-vus' }» missing key `duration` (for example: duration = "10s")
    "#);
    assert_snapshot!(of("ramping-vus"), @r#"6:8 «{ executor = 'ramping-vus' }» missing key `stages` (for example: stages = [{ target = 250, duration = "10s" }])"#);
    assert_snapshot!(of("per-vu-iterations"), @r#"
    6:8 «{ executor = 'per-vu-iterations' }» missing key `vus` (for example: vus = 64)
    6:8 «{ executor = 'per-vu-iterations' }» missing key `iterations` (for example: iterations = 10000)
    6:8 «{ executor = 'per-vu-iterations' }» missing key `max-duration` (for example: max-duration = "30s")
    "#);
    assert_snapshot!(of("shared-iterations"), @r#"
    6:8 «{ executor = 'shared-iterations' }» missing key `vus` (for example: vus = 64)
    6:8 «{ executor = 'shared-iterations' }» missing key `iterations` (for example: iterations = 10000)
    6:8 «{ executor = 'shared-iterations' }» missing key `max-duration` (for example: max-duration = "30s")
    "#);
    assert_snapshot!(of("constant-arrival-rate"), @r#"
    6:8 «{ executor = 'constant-arrival-rate' }» missing key `rate` (for example: rate = 1000)
    6:8 «{ executor = 'constant-arrival-rate' }» missing key `duration` (for example: duration = "10s")
    "#);
    assert_snapshot!(of("ramping-arrival-rate"), @r#"6:8 «{ executor = 'ramping-arrival-rate' }» missing key `stages` (for example: stages = [{ target = 5000, duration = "10s" }])"#);
    assert_snapshot!(problems("executor = 'ramping-vus', stages = [{ duration = '1s' }, { target = 1 }]", ""), @r#"
    6:46 «{ duration = '1s' }» missing key `target` (for example: target = 250)
    6:67 «{ target = 1 }» missing key `duration` (for example: duration = "10s")
    "#);
}

#[test]
fn values_that_make_no_sense_are_refused() {
    let vus = |rest: &str| problems(&format!("executor = 'constant-vus', vus = 8, duration = '1s', {rest}"), "");
    assert_snapshot!(vus("think-time = ['2s', '1s']"), @r#"6:76 «['2s', '1s']» `think-time` is one duration, or the shortest and the longest (for example: think-time = ["50ms", "150ms"])"#);
    assert_snapshot!(vus("think-time = 3"), @r#"6:76 «3» expected a duration with its unit in quotes, such as "500ms" or "2s", found the number 3"#);
    assert_snapshot!(vus("read-rate = '64KiB/m'"), @r#"6:75 «'64KiB/m'» `64KiB/m` is not a size a second in quotes, such as "10KB/s", "64KiB/s" or "2MB/s""#);
    assert_snapshot!(vus("write-rate = '0B/s'"), @r#"6:76 «'0B/s'» `0B/s` is not a size a second in quotes, such as "10KB/s", "64KiB/s" or "2MB/s""#);
    assert_snapshot!(vus("slow-share = '20%'"), @"6:76 «'20%'» slow users need a rate (give `read-rate` or `write-rate`)");
    assert_snapshot!(vus("read-rate = '64KiB/s', slow-share = '5%'"), @"6:99 «'5%'» of 8 users 0 would be slow, and there must be slow and fast ones (give more users, or another share)");
    assert_snapshot!(vus("read-rate = '64KiB/s', slow-share = '100%'"), @"6:99 «'100%'» of 8 users 8 would be slow, and there must be slow and fast ones (give more users, or another share)");
    assert_snapshot!(vus("read-rate = '64KiB/s', slow-share = 0.2"), @r#"6:99 «0.2» expected a share in quotes, such as "3%", found the number 0.2"#);
    assert_snapshot!(vus("requests-per-connection = 0"), @"6:89 «0» `requests-per-connection` must be at least 1");
    assert_snapshot!(vus("requests-per-connection = 3, connection = 'per-request'"), @"6:89 «3» a connection for each request serves one request (leave out one of `connection` and `requests-per-connection`)");
    let rate =
        |rate: &str| problems(&format!("executor = 'constant-arrival-rate', duration = '1s', rate = {rate}"), "");
    assert_snapshot!(rate("[0, 2e6, -1]"), @r#"
    6:71 «0» `rate` must be more than nothing
    6:74 «2e6» at most 1,000,000 requests per second are possible
    6:79 «-1» `-1` is not a rate: a number per second, or a text such as "500/s" or "30000/m"
    "#);
    assert_snapshot!(rate("['5/d']"), @r#"6:71 «'5/d'» `5/d` is not a rate: a number per second, or a text such as "500/s" or "30000/m""#);
    assert_snapshot!(rate("[]"), @"6:70 «[]» no rate is listed");
    assert_snapshot!(rate("5, pool = 0, arrivals = 'even'"), @r"
    6:80 «0» a pool needs at least one connection
    6:94 «'even'» unknown value `even` (known here: uniform, poisson)
    ");
    assert_snapshot!(rate("5, pool = 'infinite'"), @r#"6:80 «'infinite'» `infinite` is not a number of connections, or "unbounded""#);
    assert_snapshot!(rate("5, pool = 30000"), @"6:80 «30000» at most 28,000 connections are possible (each needs a local port of its own, and Linux has about that many)");
    let ramp = |stages: &str| problems(&format!("executor = 'ramping-vus', stages = {stages}"), "");
    assert_snapshot!(ramp("[]"), @"6:45 «[]» no stage is listed");
    assert_snapshot!(ramp("[{ target = 0, duration = '1s' }]"), @"6:57 «0» a ramp that stays at 0 is no load (give a `target` of more)");
    assert_snapshot!(ramp("[{ target = 5, duration = '0s' }]"), @"6:45 «[{ target = 5, duration = '0s' }]» the stages take no time");
    assert_snapshot!(ramp("[{ target = 2.5, duration = '1s' }, { target = '5/s', duration = '1s' }, { target = 28001, duration = '1s' }]"), @r"
    6:57 «2.5» a number of users is a whole number
    6:92 «'5/s'» a target of `ramping-vus` is a number of users and no rate (rates belong to ramping-arrival-rate)
    6:129 «28001» at most 28,000 virtual users are possible (each needs a local port of its own, and Linux has about that many)
    ");
    assert_snapshot!(ramp("[5, 10]"), @r"
    6:46 «5» expected a table, found the number 5
    6:49 «10» expected a table, found the number 10
    ");
    let shared = |rest: &str| problems(&format!("executor = 'shared-iterations', max-duration = '1s', {rest}"), "");
    assert_snapshot!(shared("vus = [4, 10], iterations = 5"), @"6:91 «5» 10 users cannot share 5 iterations (give each user one at least)");
    assert_snapshot!(shared("vus = 1, iterations = 0"), @"6:85 «0» `iterations` must be at least 1");
}

#[test]
fn objectives_stand_beside_the_load() {
    let text = study(
        "executor = 'constant-vus', vus = [1, 2], duration = '1s'",
        "objective = ['goodput >= 99.9%', 'p95<50ms']\nabort = true",
    );
    let scenarios = Study::read(&text, &catalogue()).unwrap().scenarios;
    assert_json_snapshot!(&scenarios[1]);
    let one = study("executor = 'constant-vus', vus = 1, duration = '1s'", "objective = 'failed < 1%'");
    let one = Study::read(&one, &catalogue()).unwrap().scenarios.remove(0);
    assert_eq!((one.objectives[0].to_string().as_str(), one.abort), ("failed < 1%", false));
}

#[test]
fn invalid_objectives_are_reported_at_their_place() {
    let closed = "executor = 'constant-vus', vus = 1, duration = '1s'";
    assert_snapshot!(problems(closed, "objective = ['p95 < 50', 'goodputt > 1/s', 'p95 < 1s', 'p(95)<1000ms']"), @r"
    5:14 «'p95 < 50'» `50` is no value of `p95` (write a duration with its unit, such as 50ms or 1.5s)
    5:26 «'goodputt > 1/s'» there is no metric `goodputt` (did you mean `goodput`? known here: p50, p90, p95, p99, p99.9, mean, median, max, min, goodput, rate, failed)
    5:56 «'p(95)<1000ms'» `p95 < 1s` is listed twice
    ");
    assert_snapshot!(problems(closed, "objective = 'queue.p99 < 1s'"), @"5:13 «'queue.p99 < 1s'» in a closed loop nothing waits in a queue (only requests that start by the clock can find no free connection)");
    assert_snapshot!(problems(closed, "objective = 5"), @"5:13 «5» expected a string, found the number 5");
    assert_snapshot!(problems(closed, "abort = true"), @r#"5:9 «true» without an `objective` there is nothing to stop at (for example: objective = ["failed < 1%"])"#);
    assert_snapshot!(problems(closed, "objective = 'rate > 9/s'\nabort = true"), @"6:9 «true» no `objective` here can end a trial before its time (an upper limit can, such as failed < 1%, and goodput as a share)");
    assert_snapshot!(problems(closed, "abort = 'yes'"), @r#"5:9 «'yes'» expected `true` or `false`, found the string "yes""#);
    assert_snapshot!(problems("executor = 'constant-arrival-rate', rate = 5, duration = '1s'", "objective = 'queue.p99 < 1s'"), @"no problem");
}

#[test]
fn a_ramp_has_a_level_at_every_instant() {
    let load = profile(
        "executor = 'ramping-arrival-rate', start-rate = 100, stages = [{ target = 300, duration = '10s' }, \
         { target = 50, duration = '0s' }, { target = 50, duration = '5s' }]",
    );
    let level = |at_s: f64| load.executor.level_at(at_s);
    assert_eq!([level(0.0), level(5.0), level(10.0), level(14.9), level(99.0)], [100.0, 200.0, 50.0, 50.0, 50.0]);
    assert_eq!(load.duration_s, 15.0);
}

#[test]
fn the_number_of_waiting_requests_if_a_subject_falls_silent() {
    let waiting = |load: &str, silent_s| profile(load).waiting_if_silent(silent_s);
    assert_eq!(waiting("executor = 'constant-vus', vus = 8, duration = '9s'", 3.0), Some(8));
    let ramp = |target| {
        format!("executor = 'ramping-vus', start-vus = 8, stages = [{{ target = {target}, duration = '9s' }}]")
    };
    assert_eq!(waiting(&ramp(3), 3.0), Some(3));
    assert_eq!(waiting(&ramp(0), 3.0), None, "no user is left to wait");
    let rate = |rest: &str| format!("executor = 'constant-arrival-rate', duration = '9s', {rest}");
    assert_eq!(waiting(&rate("rate = 1000"), 3.0), Some(64), "all connections");
    assert_eq!(waiting(&rate("rate = 10"), 3.0), Some(15), "half of what arrived");
    assert_eq!(waiting(&rate("rate = 1000, pool = 'unbounded'"), 3.0), Some(1500));
    assert_eq!(waiting(&rate("rate = 0.5"), 3.0), None, "too little to tell");
    let down = "executor = 'ramping-arrival-rate', start-rate = 40, stages = [{ target = 0, duration = '9s' }]";
    assert_eq!(waiting(down, 4.5), Some(22), "half of 45 that arrived");
}
