//! `tolok load` alone: its output and exit code.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tolok_testkit::{Reply, ScriptedServer};

use crate::place::{PATIENCE, Place, Said};

/// Briefly loads a scripted server.
fn load(server: &ScriptedServer, arguments: &[&str]) -> Said {
    let url = format!("http://{}/hello", server.address());
    let mut all = vec!["load", &url, "--timeout", "500ms", "--grace", "1s"];
    if !arguments.contains(&"-R") {
        all.extend(["-c", "4"]);
    }
    if !arguments.iter().any(|word| ["-n", "-d"].contains(word)) {
        all.extend(["-d", "600ms"]);
    }
    Place::new().tolok(&[all, arguments.to_vec()].concat())
}

fn hello() -> ScriptedServer {
    ScriptedServer::start(|_| Reply::ok("hello"))
}

/// A server so slow that even the slowest generator is idle and punctual in comparison, so its figures can be trusted.
fn slow(answer: impl Fn(usize) -> Reply + Send + Sync + 'static) -> ScriptedServer {
    ScriptedServer::start(move |request| answer(request.number).after(Duration::from_millis(10)))
}

/// The text with every figure as `#` and its unit as `u`: its form.
fn form(text: &str) -> String {
    let mut form = String::new();
    for line in text.lines() {
        let words: Vec<String> = without_parentheses(line).iter().map(|word| form_of_word(word)).collect();
        form += &format!("{}\n", words.join(" "));
    }
    // Even without figures, the form depends on the machine's speed: through `–` for too few values, and through the units.
    for unit in ["ns", "µs", "ms", "s", "B", "KiB", "MiB"] {
        form = form.replace(&format!("# {unit} "), "# u ").replace(&format!("# {unit}/s"), "# u/s");
        form = form.replace(&format!("# {unit}\n"), "# u\n");
    }
    form.replace("# u ", "# ")
}

/// The words of a line, without the parentheses around a percentile of few instants: those depend on the machine.
fn without_parentheses(line: &str) -> Vec<&str> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    for at in 1..words.len() {
        if let (Some(figure), Some(unit)) = (words[at - 1].strip_prefix('('), words[at].strip_suffix(')'))
            && figure.parse::<f64>().is_ok()
        {
            (words[at - 1], words[at]) = (figure, unit);
        }
    }
    words
}

fn form_of_word(word: &str) -> String {
    if word == "–" || word.parse::<f64>().is_ok() || word.replace(',', "").parse::<f64>().is_ok() {
        "#".to_owned()
    } else if let Some((share, after)) = word.split_once('%')
        && share.parse::<f64>().is_ok()
    {
        format!("#%{after}")
    } else if let Some(rest) = word.strip_prefix("http://") {
        format!("http://#{}", rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || ".:".contains(letter)))
    } else if word.replace(',', "").trim_start_matches('(').trim_end_matches("/s").parse::<f64>().is_ok() {
        word.trim_end_matches("/s").replace(|letter: char| letter.is_ascii_digit() || ",.".contains(letter), "") + "#"
    } else {
        word.to_owned()
    }
}

#[test]
fn good_answers_leave_with_0_and_the_ledger_closes() {
    let said = load(&slow(|_| Reply::ok("hello")), &["--format", "json", "-n", "100"]);
    assert_eq!(said.code, Some(0), "{}{}", said.progress, said.output);
    let record: Value = serde_json::from_str(&said.output).unwrap();
    let count = |name: &str| record["ledger"][name].as_u64().unwrap();
    assert_eq!((count("good"), count("sent"), count("failed"), count("in_flight_at_end")), (100, 100, 0, 0));
    assert_eq!((record["format"].as_u64(), record["plan"]["executor"].as_str()), (Some(2), Some("shared-iterations")));
}

#[test]
fn the_summary_for_people_has_its_form_whatever_the_figures() {
    let said = load(&slow(|_| Reply::ok("hello")), &["-n", "100"]);
    assert_eq!(said.progress, "", "without a terminal there is no progress");
    let shown: Vec<String> = form(&said.output)
        .lines()
        // Whether other work had the CPU, and whether the generator can then be trusted, depends on the machine.
        .filter(|line| {
            let of_machine = ["waited for a CPU", "lateness", "! in parentheses"];
            !of_machine.iter().any(|words| line.starts_with(words)) && !line.contains("rusted")
        })
        .map(str::to_owned)
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn an_open_loop_names_its_rate_and_its_unsent_requests() {
    let said = load(&hello(), &["-R", "100", "--pool", "2"]);
    for words in
        ["constant-arrival-rate (open loop): 100/s evenly spaced · pool of 2 connections", "/s offered", "unsent"]
    {
        assert!(said.output.contains(words), "{words:?} is missing:\n{}", said.output);
    }
}

#[test]
fn a_server_that_is_too_slow_for_the_rate_leaves_with_5_and_says_so() {
    // Two connections, and 10 ms per response: at most 200 per second.
    let server = slow(|_| Reply::ok("hello"));
    let said = load(&server, &["-R", "2000", "--pool", "2"]);
    assert_eq!(said.code, Some(5), "{}", said.output);
    let line = said.output.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["NOT TRUSTED: the offered rate was missed: ", " of 1200 requests (", "or the pool too small for it"] {
        assert!(line.contains(words), "{words:?} is missing:\n{}", said.output);
    }
    let server = slow(|_| Reply::ok("hello"));
    let said = load(&server, &["-R", "2000", "--pool", "2", "--format", "json"]);
    assert_eq!(said.code, Some(5), "{}", said.output);
    let record: Value = serde_json::from_str(&said.output).unwrap();
    let gates: Vec<&str> =
        record["verdict"]["reasons"].as_array().unwrap().iter().filter_map(|it| it["gate"].as_str()).collect();
    assert!(gates.contains(&"offered-rate"), "{gates:?}");
    let waiting: Vec<u64> =
        record["timeline"].as_array().unwrap().iter().filter_map(|row| row["queued"].as_u64()).collect();
    assert!(waiting.iter().any(|queued| *queued > 900), "{waiting:?}");
}

#[test]
fn one_failed_request_leaves_with_5_and_says_what_happened() {
    let server = slow(|number| if number == 3 { Reply::status(500) } else { Reply::ok("hello") });
    let said = load(&server, &["-n", "100"]);
    assert_eq!(said.code, Some(5), "{}", said.output);
    assert!(said.output.contains("1 bad_status: status 500 is not the expected one"), "{}", said.output);
    assert!(said.output.contains("1 of 100 finished requests (1%)"), "{}", said.output);
}

#[test]
fn a_threshold_that_is_crossed_leaves_with_3_and_a_kept_one_with_0() {
    let server = slow(|number| if number.is_multiple_of(4) { Reply::status(500) } else { Reply::ok("hello") });
    let kept = load(&server, &["-n", "100", "--threshold", "failed <= 30%"]);
    assert_eq!(kept.code, Some(0), "{}", kept.output);
    assert!(kept.output.contains("✓ failed <= 30%  25%"), "{}", kept.output);
    let crossed = load(&server, &["-n", "100", "--threshold", "failed <= 30%", "--threshold", "max < 1ns"]);
    assert_eq!(crossed.code, Some(3), "{}", crossed.output);
    assert!(crossed.output.contains("✗ max < 1ns"), "{}", crossed.output);
}

#[test]
fn a_run_can_end_at_the_first_crossed_threshold() {
    let began = Instant::now();
    let said = load(&hello(), &["-d", "1h", "--threshold", "max < 1ns", "--abort"]);
    assert!(began.elapsed() < PATIENCE);
    assert!(matches!(said.code, Some(3 | 5)), "{}", said.output);
    assert!(said.output.contains("ended after"), "{}", said.output);
}

#[test]
fn another_body_than_the_expected_one_is_no_good_answer() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "hello").unwrap();
    let server = ScriptedServer::start(|_| Reply::ok("jello"));
    let said = load(&server, &["--expect-body", file.path().to_str().unwrap(), "-n", "10"]);
    assert_eq!(said.code, Some(5), "{}", said.output);
    assert!(said.output.contains("bad_body"), "{}", said.output);
}

#[test]
fn a_server_that_never_answers_is_not_a_rate_of_zero_but_a_failure() {
    let server = ScriptedServer::start(|_| Reply::never());
    // Long enough that requests time out inside the window even if a busy machine starts them late.
    let said = load(&server, &["-d", "2s"]);
    assert_eq!(said.code, Some(5), "{}", said.output);
    assert!(said.output.contains("timeout"), "{}", said.output);
    assert!(said.output.contains("never answered"), "{}", said.output);
    assert!(said.output.contains("NOT TRUSTED: not one correct response"), "{}", said.output);
}

#[test]
fn where_nobody_listens_is_one_sentence() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let said = Place::new().tolok(&["load", &format!("http://127.0.0.1:{port}/")]);
    assert_eq!(said.code, Some(5), "{}", said.output);
    assert!(said.progress.starts_with("error: "), "{}", said.progress);
    assert!(said.progress.contains(&format!("127.0.0.1:{port}")), "{}", said.progress);
    assert_eq!(said.progress.lines().count(), 1, "{}", said.progress);
}

#[test]
fn what_is_typed_wrongly_is_a_usage_error() {
    let server = hello();
    let url = format!("http://{}/", server.address());
    for (wrong, words) in [
        (vec!["ftp://127.0.0.1/"], "http://"),
        (vec![&url, "-t", "9", "-c", "2"], "--vus: each thread needs at least one connection"),
        (vec![&url, "-H", "Host: a"], "`Host` belongs to the engine"),
    ] {
        let said = Place::new().tolok(&[vec!["load"], wrong].concat());
        assert_eq!(said.code, Some(2), "{}", said.progress);
        assert!(said.progress.contains(words), "{}", said.progress);
    }
}

#[test]
fn a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seconds.csv");
    fs::write(&file, "old\n".repeat(1000)).unwrap();
    let said = load(&slow(|_| Reply::ok("hello")), &["-n", "50", "--format", "csv", "-o", file.to_str().unwrap()]);
    assert_eq!((said.code, said.output.as_str()), (Some(0), ""), "{}", said.progress);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("phase,start_s,"), "{text}");
    assert!(text.lines().nth(1).unwrap().starts_with("measure,0,"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    let said = load(&slow(|_| Reply::ok("hello")), &["-n", "10", "-o", "/dev/null"]);
    assert_eq!(said.code, Some(0), "{}", said.progress);
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

/// A load in its own session that runs until it is stopped.
fn begin_session(server: &ScriptedServer) -> Child {
    let url = format!("http://{}/", server.address());
    let mut command = Place::new().command(&["load", &url, "-c", "1", "-d", "1h", "--own-session"]);
    // A load does not use the folder, which is gone by now.
    command.current_dir("/").stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Parses its first line, `load generator in session N, …`. Returns N, the process that generates the load.
fn session_of(child: &mut Child) -> Pid {
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    while !said.contains('\n') {
        let mut byte = [0];
        assert_eq!(stderr.read(&mut byte).unwrap(), 1, "it ended after {said:?}");
        said.push(char::from(byte[0]));
    }
    let number = said.strip_prefix("load generator in session ").unwrap();
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    Pid::from_raw(digits.parse().unwrap()).unwrap()
}

/// The session of a process; 0 if its leader is outside this container.
fn session_number(pid: Pid) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    after_name.split_whitespace().nth(3).unwrap().parse().unwrap()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_session_of_its_own_hears_ctrl_c_all_the_same() {
    let server = hello();
    let mut child = begin_session(&server);
    let generator = session_of(&mut child);
    assert_eq!(session_number(generator), generator.as_raw_pid(), "the generator leads its session");
    assert_ne!(
        session_number(Pid::from_child(&child)),
        generator.as_raw_pid(),
        "the command itself stays in its session"
    );
    wait_until("requests arrive", || server.completed() > 10);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted after"));
}

#[test]
fn the_generator_does_not_outlive_what_was_typed() {
    let server = hello();
    let mut child = begin_session(&server);
    let generator = session_of(&mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    let entry = format!("/proc/{}", generator.as_raw_nonzero());
    let is_gone = || {
        let state = fs::read_to_string(Path::new(&entry).join("stat")).unwrap_or_default();
        state.rsplit(')').next().is_none_or(|rest| rest.trim().is_empty() || rest.trim().starts_with('Z'))
    };
    wait_until("the generator is gone", is_gone);
}

#[test]
fn a_session_of_its_own_hands_on_the_exit_code() {
    let server = ScriptedServer::start(|_| Reply::status(500));
    let said = load(&server, &["-n", "10", "--own-session"]);
    assert_eq!(said.code, Some(5), "{}", said.output);
    assert!(said.progress.starts_with("load generator in session "), "{}", said.progress);
}

#[test]
fn requests_of_a_file_are_judged_each_by_its_own_line() {
    let server = ScriptedServer::start(|request| match (request.path(), request.number) {
        ("/b", 8..) => Reply::ok("answer c"),
        ("/b", _) => Reply::ok("answer b"),
        _ => Reply::status(201),
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("requests.jsonl");
    let lines = [r#"{"path":"/b","expect_body":"b"}"#, r#"{"method":"POST","path":"/c","expect_status":201}"#];
    fs::write(&file, lines.join("\n")).unwrap();
    fs::write(folder.path().join("b"), "answer b").unwrap();
    let (url, file) = (format!("http://{}", server.address()), file.display().to_string());
    let run = ["load", &url, "--request-file", &file, "--sequence", "-c", "1", "--format", "json"];
    let good = Place::new().tolok(&[&run[..], &["-n", "4"]].concat());
    let record: Value = serde_json::from_str(&good.output).unwrap();
    assert_eq!((record["ledger"]["good"].as_u64(), record["ledger"]["failed"].as_u64()), (Some(8), Some(0)));
    assert_eq!(
        (record["plan"]["request_count"].as_u64(), record["plan"]["body_check"].as_str()),
        (Some(2), Some("mixed"))
    );
    assert_eq!(record["whole_run"], serde_json::json!({ "sent": 8, "good": 8 }));
    // From the ninth request on, the response to `/b` is wrong.
    let bad = Place::new().tolok(&[&run[..], &["-n", "2"]].concat());
    let record: Value = serde_json::from_str(&bad.output).unwrap();
    let text = record["error_examples"][0]["text"].as_str().unwrap();
    assert_eq!(bad.code, Some(5), "{}", bad.output);
    let expect =
        "GET /b: the body is not the expected one: it differs from byte 7 on; expected `answer b`, got `answer c`";
    assert_eq!(text, expect);
}

#[test]
fn a_target_that_refuses_is_told_in_json_to_programs() {
    let gone = hello().address();
    let url = format!("http://{gone}/hello");
    for more in [&[][..], &["--capacity", "--threshold", "p99 < 50ms"]] {
        let said = Place::new().tolok(&[&["load", &url, "--format", "json"], more].concat());
        assert_eq!(said.code, Some(5), "{}", said.progress);
        let told: Value = serde_json::from_str(&said.output).unwrap();
        assert_eq!((&told["url"], &told["error"]["kind"]), (&Value::from(url.as_str()), &Value::from("unreachable")));
        let sentence = told["error"]["text"].as_str().unwrap();
        assert!(sentence.contains("Connection refused") && said.progress.contains(sentence), "{}", said.progress);
        assert!(told["format"].is_null() && told["schema_version"] == 1);
    }
    let said = Place::new().tolok(&["load", &url]);
    assert_eq!((said.code, said.output.as_str()), (Some(5), ""));
}

#[test]
fn users_that_are_idle_leave_with_5_and_are_named() {
    let said = load(
        &ScriptedServer::start(|request| if request.number < 40 { Reply::ok("hello") } else { Reply::close() }),
        &[],
    );
    assert_eq!(said.code, Some(5), "{}", said.output);
    let line = said.output.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["NOT TRUSTED: users were idle: of 4 only ", " of 4 users on average"] {
        assert!(line.contains(words), "{words:?} is missing:\n{}", said.output);
    }
}
