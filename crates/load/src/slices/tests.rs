use std::time::Duration;

use tolok_testkit::{Reply, ScriptedServer};

use super::*;

/// A job that loads servers in this order, without freezers.
fn job(servers: &[&ScriptedServer], order: &[usize]) -> (SlicesJob, Vec<Options>) {
    let options = servers.iter().map(|server| {
        let mut options = Options::new(&server.url("/")).unwrap();
        options.executor = Executor::ConstantVus { vus: 2, duration: Duration::from_secs(1) };
        options.warm_up = Duration::from_millis(5);
        options
    });
    let names: Vec<String> = (0..servers.len()).map(|number| format!("server {number}")).collect();
    let server = |name: &String| SlicedServer { name: name.clone(), ..SlicedServer::default() };
    let target = |(server, name): (usize, &String)| SlicedTarget { name: name.clone(), server, arguments: Vec::new() };
    let job = SlicesJob {
        format: SlicesJob::FORMAT,
        drain_limit_s: 20.0,
        servers: names.iter().map(server).collect(),
        database_cpu: None,
        targets: names.iter().enumerate().map(target).collect(),
        order: order.iter().map(|target| Turn { target: *target, lead_in_s: 0.005, window_s: 0.1 }).collect(),
    };
    (job, options.collect())
}

fn all((job, options): &(SlicesJob, Vec<Options>)) -> (SlicesRecord, Vec<SliceLine>) {
    let found = run(job, options, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(found.1.iter().all(SliceLine::closes), "{:?}", found.1);
    found
}

#[test]
fn targets_are_asked_in_the_order_of_the_job_over_connections_that_stay_open() {
    let (one, other) = (ScriptedServer::answering("one"), ScriptedServer::answering("other"));
    let (record, lines) = all(&job(&[&one, &other], &[0, 1, 1, 0]));
    assert_eq!(lines.iter().map(|line| line.target).collect::<Vec<_>>(), [0, 1, 1, 0]);
    assert!(lines.iter().all(|line| line.drained && line.unanswered == 0 && line.whole_failed == 0), "{lines:?}");
    assert!(lines.iter().map(|line| line.good).sum::<u64>() > 0);
    assert_eq!((one.connections(), other.connections()), (2, 2), "one for each user");
    assert!(lines[2..].iter().all(|line| line.opened == 0), "the warm-up opens them, or the first slice: {lines:?}");
    assert_eq!((record.slices, record.interrupted, record.targets[1].connections_opened), (4, false, 2));
    let of_one: u64 = lines.iter().filter(|line| line.target == 0).map(|line| line.whole_good).sum();
    let warm_up = record.targets[0].warm_up.good;
    assert_eq!(of_one + warm_up, one.requests() as u64, "every request is in one slice, or in the warm-up");
}

#[test]
fn nothing_is_asked_of_a_target_outside_its_slices() {
    let (one, other) = (ScriptedServer::answering("one"), ScriptedServer::answering("other"));
    let (_, lines) = all(&job(&[&one, &other], &[0, 0, 1]));
    for pair in lines.windows(2) {
        let end_s = pair[0].start_s + pair[0].lead_in_s + pair[0].window_s + pair[0].drain_s;
        assert!(end_s <= pair[1].start_s, "{lines:?}");
    }
}

#[test]
fn requests_that_are_never_answered_end_with_their_slice() {
    let silent = ScriptedServer::start(|_| Reply::never());
    let mut job = job(&[&silent], &[0, 0]);
    job.0.drain_limit_s = 0.01;
    // Long enough for two connections on a busy machine.
    job.0.order.iter_mut().for_each(|turn| turn.window_s = 0.4);
    job.1[0].warm_up = Duration::ZERO;
    let (record, lines) = all(&job);
    for line in &lines {
        assert_eq!((line.sent, line.unanswered, line.good, line.drained), (2, 2, 0, false), "{line:?}");
        assert_eq!(line.opened, 2, "the next slice begins with new connections");
    }
    assert_eq!(record.targets[0].connections_never_answered, 4);
}

#[test]
fn a_response_that_comes_after_the_window_is_no_good_response_of_it() {
    let slow = ScriptedServer::start(|_| Reply::ok("late").after(Duration::from_millis(200)));
    let mut job = job(&[&slow], &[0]);
    job.1[0].warm_up = Duration::ZERO;
    let (_, lines) = all(&job);
    assert_eq!((lines[0].good, lines[0].whole_good, lines[0].drained), (0, 2, true), "{lines:?}");
    assert!(lines[0].drain_s > 0.0);
}

#[test]
fn a_connection_that_a_server_closed_between_two_slices_is_opened_again_and_nothing_fails() {
    // It closes without notice, as impatient servers do.
    let impatient = ScriptedServer::start(|request| {
        let reply = Reply::ok("bye");
        if request.request == 0 { reply.after(Duration::from_millis(400)).then_close() } else { reply }
    });
    let patient = ScriptedServer::answering("there");
    let mut job = job(&[&impatient, &patient], &[0, 1, 0]);
    job.1[0].warm_up = Duration::ZERO;
    let (_, lines) = all(&job);
    assert_eq!((lines[2].whole_failed, lines[2].opened), (0, 2), "{lines:?}");
}

#[test]
fn wrong_responses_and_dead_servers_fail_in_their_own_slices() {
    let (good, bad) = (ScriptedServer::answering("good"), ScriptedServer::start(|_| Reply::status(500)));
    let mut dead = ScriptedServer::answering("dead");
    let job = job(&[&good, &bad, &dead], &[0, 1, 2, 0]);
    dead.stop();
    drop(dead);
    let (record, lines) = all(&job);
    assert!(lines[0].good > 0 && lines[0].whole_failed == 0, "{lines:?}");
    for at in [1, 2] {
        assert!(lines[at].good == 0 && lines[at].whole_failed > 0, "{lines:?}");
    }
    assert!(lines[3].whole_failed == 0, "{lines:?}");
    let classes: Vec<usize> = record.targets.iter().map(|target| target.error_examples.len()).collect();
    assert_eq!(classes[0], 0);
    assert!(classes[1] > 0 && classes[2] > 0, "{record:?}");
}

#[test]
fn a_wish_to_stop_ends_the_run_with_the_slices_that_there_were() {
    let server = ScriptedServer::answering("one");
    let (job, options) = job(&[&server], &[0; 1000]);
    let stop = AtomicBool::new(false);
    let (record, lines) = run(&job, &options, &stop, &mut |event| {
        if matches!(event, SliceEvent::Slices { .. }) {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    })
    .unwrap();
    assert!(record.interrupted && lines.len() < 1000, "{}", lines.len());
    assert!(lines.iter().all(SliceLine::closes));
}

#[test]
fn a_server_is_frozen_whenever_another_is_asked_and_thawed_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let states = ["one", "other"].map(|name| folder.path().join(name));
    let (states_of_one, states_of_other) = (states[0].clone(), states[1].clone());
    let frozen = |path: &std::path::Path| std::fs::read_to_string(path).is_ok_and(|state| state == "FROZEN");
    // Checks the freezer of the other server while this one is under load.
    let one = ScriptedServer::start(move |_| {
        Reply::ok(if frozen(&states_of_other) && !frozen(&states_of_one) { "alone" } else { "" })
    });
    let other = ScriptedServer::answering("other");
    let mut job = job(&[&one, &other], &[0, 1, 0]);
    for (server, state) in job.0.servers.iter_mut().zip(&states) {
        server.freezer = Some(FreezerFiles::V1 { state: state.clone() });
    }
    job.1[0].requests[0].expect.body = crate::options::ExpectBody::Length(5);
    let (_, lines) = all(&job);
    assert!(lines.iter().all(|line| line.frozen == Some(true) && line.whole_failed == 0), "{lines:?}");
    for state in &states {
        assert_eq!(std::fs::read_to_string(state).unwrap(), "THAWED");
    }
}

#[test]
fn cpu_time_is_what_a_group_used_from_thaw_to_drain() {
    let folder = tempfile::tempdir().unwrap();
    let usage = folder.path().join("cpuacct.usage");
    std::fs::write(&usage, "1000000000").unwrap();
    let server = ScriptedServer::answering("one");
    let mut job = job(&[&server], &[0, 0]);
    job.0.servers[0].cpu = Some(CpuAccount::Cpuacct(usage));
    job.0.database_cpu = Some(CpuAccount::CpuStat("/nonexistent".into()));
    let (_, lines) = all(&job);
    assert!(lines.iter().all(|line| line.cpu_s == Some(0.0) && line.database_cpu_s.is_none()), "{lines:?}");
    assert!(lines.iter().all(|line| line.generator_cpu_s >= 0.0));
}

#[test]
fn what_cannot_be_sliced_is_refused_by_name() {
    let server = ScriptedServer::answering("one");
    let (job, mut options) = job(&[&server], &[0]);
    options[0].executor = Executor::SharedIterations { vus: 1, iterations: 5, max_duration: Duration::from_secs(1) };
    let said = run(&job, &options, &AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string();
    assert_eq!(said, "use the option --slices: target `server 0`: slices need a closed loop of constant users");
}
