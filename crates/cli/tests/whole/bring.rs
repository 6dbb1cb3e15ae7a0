//! The user's own servers in a run: folders with a `subject.toml`, and servers that already run.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

use serde_json::Value;

use crate::place::{Place, Said, assert_done, repository, shared_turn};

/// A server that tolok did not start. It responds until it is dropped, or for a given number of requests.
pub struct Server {
    address: SocketAddr,
    over: Arc<AtomicBool>,
}

/// A server's response to its *n*-th request.
pub type Answers = fn(u64) -> String;

impl Server {
    pub fn start(answers: Answers, delay: Duration, dies_after: Option<u64>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, over) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let (count, is_over) = (Arc::new(AtomicU64::new(0)), Arc::clone(&over));
        spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let (count, is_over) = (Arc::clone(&count), Arc::clone(&is_over));
                spawn(move || serve(stream.unwrap(), answers, delay, &count, &is_over, dies_after));
            }
        });
        Self { address, over }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&self.over, self.address);
    }
}

/// One more connection wakes the thread that waits for connections.
fn end(over: &AtomicBool, address: SocketAddr) {
    over.store(true, Ordering::Relaxed);
    drop(TcpStream::connect(address));
}

fn serve(
    mut stream: TcpStream,
    answers: Answers,
    delay: Duration,
    count: &AtomicU64,
    over: &AtomicBool,
    dies_after: Option<u64>,
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !lines.read_line(&mut head).is_ok_and(|length| length > 0) {
                return;
            }
        }
        let number = count.fetch_add(1, Ordering::Relaxed);
        if dies_after.is_some_and(|most| number == most) {
            end(over, stream.local_addr().unwrap());
        }
        if over.load(Ordering::Relaxed) {
            return;
        }
        if !delay.is_zero() {
            // This makes it the slower server.
            sleep(delay);
        }
        let (status, body) = match head.split(' ').nth(1) {
            Some("/json") => ("404 Not Found", "no".to_owned()),
            Some("/hello") => ("200 OK", hello()),
            _ => ("200 OK", answers(number)),
        };
        let kind = if head.starts_with("GET /hello") { "text/html" } else { "text/plain" };
        let answer =
            format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn hello() -> String {
    fs::read_to_string(repository().join("workloads/hello/body.html")).unwrap()
}

const AT_ONCE: Duration = Duration::ZERO;
/// Slow enough that no disturbance makes the other server slower.
const SLOW: Duration = Duration::from_millis(100);

fn same(_: u64) -> String {
    "the same each time".to_owned()
}

fn one_length(number: u64) -> String {
    format!("{:08}", number % 100_000_000)
}

fn any_length(number: u64) -> String {
    "x".repeat(1 + number as usize % 7)
}

/// Windows of a second.
const SHORT: [&str; 2] = ["--scale", "0.5"];

fn run(place: &Place, arguments: &[&str]) -> Said {
    place.tolok(&[&["run"], arguments, &SHORT].concat())
}

fn findings(place: &Place) -> Value {
    serde_json::from_str(&fs::read_to_string(place.run_folder().join("report.json")).unwrap()).unwrap()
}

/// Checks that a new report works, and that the figures follow from the raw files.
fn assert_it_holds(place: &Place) {
    let folder = place.run_folder();
    let folder = folder.to_str().unwrap();
    let report = place.tolok(&["report", folder]);
    assert_eq!(report.code, Some(0), "{}", report.progress);
    let verified = place.tolok(&["verify", folder]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.output, verified.progress);
}

#[test]
fn two_servers_that_run_already_are_compared_and_nothing_is_said_of_what_they_used() {
    let _turn = shared_turn();
    let (place, quick, slow) = (Place::new(), Server::start(same, AT_ONCE, None), Server::start(same, SLOW, None));
    let urls = [format!("quick={}", quick.url("/a")), format!("slow={}", slow.url("/b?c=d"))];
    let said = run(&place, &["--url", &urls[0], "--url", &urls[1], "--blocks", "2"]);
    assert!(said.progress.contains("status and every byte of the body are compared"), "{}", said.progress);
    let findings = findings(&place);
    for scenario in findings["scenarios"].as_array().unwrap() {
        for case in scenario["cases"].as_array().unwrap() {
            for absent in ["cpu_s_per_good", "memory_bytes", "cold_start_s", "subject_busy"] {
                assert!(case[absent].is_null(), "{absent}: {case}");
            }
            let flags = case["flags"].as_array().unwrap();
            assert!(flags.iter().any(|flag| flag["kind"] == "external" && flag["voids_rank"] == false), "{case}");
        }
        // Other work may disturb it, but the slow server is never found to be faster.
        for pair in scenario["comparisons"].as_array().unwrap() {
            assert_eq!((&pair["a"], &pair["b"]), (&"external/quick:as-it-is".into(), &"external/slow:as-it-is".into()));
        }
    }
    for record in place.records() {
        let outcome = &record["outcome"];
        assert_eq!(outcome["kind"], "completed", "{outcome}");
        assert!(outcome.get("subject").is_none() && outcome.get("cold_start_s").is_none(), "{outcome}");
        assert!(outcome["generator"]["cpu_s"].as_f64().unwrap() > 0.0);
        assert_eq!((&record["isolation"]["network"], &record["commands"]), (&"host".into(), &Value::Array(Vec::new())));
    }
    assert_it_holds(&place);
    // tolok only sent requests, so the server still responds.
    let mut stream = TcpStream::connect(quick.address).unwrap();
    stream.write_all(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
}

#[test]
fn a_server_that_is_not_there_is_one_sentence_before_anything_is_measured() {
    let place = Place::new();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = run(&place, &["--url", &format!("http://{nobody}/")]);
    let expect = format!("error: http://{nobody}/ gave no answer: Connection refused");
    assert_eq!(said.code, Some(5), "{}", said.progress);
    assert!(said.progress.starts_with(&expect), "{}", said.progress);
    assert!(!place.path().join("runs").exists());
}

#[test]
fn a_server_on_another_machine_is_asked_only_with_consent() {
    let place = Place::new();
    let said = run(&place, &["--url", "http://198.51.100.7/"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.progress.contains("may count as an attack") && said.progress.contains("--allow-remote"),
        "{}",
        said.progress
    );
}

#[test]
fn bodies_that_differ_are_compared_by_as_much_as_is_the_same() {
    let _turn = shared_turn();
    let (place, length, nothing) =
        (Place::new(), Server::start(one_length, AT_ONCE, None), Server::start(any_length, AT_ONCE, None));
    let urls = [format!("length={}", length.url("/")), format!("nothing={}", nothing.url("/"))];
    run(&place, &["--url", &urls[0], "--url", &urls[1], "--blocks", "1"]);
    for record in place.records() {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
        assert!(record["outcome"]["ledger"]["failed"].as_object().unwrap().is_empty(), "{record}");
    }
    let report = fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    assert!(report.contains("only status and length are compared") && report.contains("only the status is compared"));
    let plan = fs::read_to_string(place.run_folder().join("plan.json")).unwrap();
    assert!(plan.contains("\"compared\": \"length\"") || plan.contains("\"compared\":\"length\""), "{plan}");
    assert_it_holds(&place);
}

#[test]
fn a_server_that_dies_is_a_failure_of_its_trials_and_no_crash() {
    let _turn = shared_turn();
    let (place, mortal) = (Place::new(), Server::start(same, Duration::from_millis(1), Some(400)));
    let said = run(&place, &["--url", &mortal.url("/"), "--blocks", "2"]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let records = place.records();
    assert_eq!(records.len(), 4, "{}", said.progress);
    let last = &records[3]["outcome"];
    assert_eq!((&last["kind"], &last["reason"]), (&"failed".into(), &"unreachable".into()), "{last}");
    assert_it_holds(&place);
    // The server is gone, so the run cannot continue, and reports that.
    let resumed = place.tolok(&["resume", place.run_folder().to_str().unwrap()]);
    assert_eq!(resumed.code, Some(5), "{}", resumed.progress);
    assert!(resumed.progress.contains("gave no answer"), "{}", resumed.progress);
}

const STUDY: &str = "title = 'Both'\nsubjects = ['test/sound']\nblocks = 2\nceiling = false\nreruns = 0\n\
                     [[scenario]]\nworkload = ['hello', 'json']\n\
                     load = { executor = 'constant-vus', vus = 4, duration = '1s', warmup = '50ms', timeout = '1s' }\n";

#[test]
fn beside_a_study_s_subjects_it_is_asked_what_they_are_asked_and_what_it_lacks_is_left_out() {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("sound", "none");
    fs::write(place.path().join("studies/both.toml"), STUDY).unwrap();
    let server = Server::start(same, AT_ONCE, None);
    let said = place.tolok(&["run", "both", "--url", &format!("mine={}", server.url(""))]);
    assert!(
        said.progress.contains("left out: external/mine: it answers /json with status 404 instead of 200"),
        "{}",
        said.progress
    );
    let cases: Vec<String> = place.records().iter().map(|record| record["case"].to_string()).collect();
    assert!(cases.iter().any(|case| case.contains("hello-c4--external-mine")), "{cases:?}");
    assert!(!cases.iter().any(|case| case.contains("json-c4--external-mine")), "{cases:?}");
    let ours = place.records().into_iter().find(|record| record["case"].to_string().contains("hello-c4--test-sound"));
    assert!(ours.unwrap()["outcome"]["subject"]["cpu_s"].is_number());
    assert_it_holds(&place);
}

/// A folder with a copy of the server for Node.js, outside the checkout.
fn brought(place: &Place, name: &str) -> String {
    let folder = place.path().join("elsewhere").join(name);
    fs::create_dir_all(&folder).unwrap();
    for entry in fs::read_dir(repository().join("subjects/node/http")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
        }
    }
    folder.display().to_string()
}

fn has_node() -> bool {
    let asked = Command::new("node").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    asked.is_ok_and(|mut child: Child| child.wait().is_ok_and(|status| status.success()))
}

#[test]
fn a_folder_is_measured_beside_the_study_s_subjects_and_goes_on_later() {
    if !has_node() {
        return tolok_testkit::skip(tolok_testkit::test_name!(), "there is no node");
    }
    let _turn = shared_turn();
    let place = Place::new().with_faulty("sound", "none");
    fs::write(place.path().join("studies/both.toml"), STUDY).unwrap();
    let folder = brought(&place, "mine");
    let said = place.tolok(&["run", "both", "--subject", &folder]);
    assert_done(said.code, &said.progress);
    let records = place.records();
    let of_it = |record: &&Value| record["case"].to_string().contains("--local-mine");
    assert!(records.iter().filter(of_it).count() >= 4, "{}", said.progress);
    assert!(records.iter().filter(of_it).all(|record| record["outcome"]["subject"]["cpu_s"].is_number()));
    assert_it_holds(&place);
    let run = fs::read_to_string(place.run_folder().join("run.json")).unwrap();
    assert!(
        run.contains(&format!("tolok run both --subject {}", fs::canonicalize(&folder).unwrap().display())),
        "{run}"
    );

    // One trial is lost, and the folder has changed: the run continues with a warning. Without the folder it cannot.
    let lost = fs::read_dir(place.run_folder().join("trials")).unwrap().next().unwrap().unwrap().path();
    fs::remove_dir_all(lost).unwrap();
    fs::write(
        Path::new(&folder).join("server.js"),
        fs::read_to_string(Path::new(&folder).join("server.js")).unwrap() + "\n",
    )
    .unwrap();
    let resumed = place.tolok(&["resume", place.run_folder().to_str().unwrap()]);
    assert!(
        resumed.progress.contains("warning: local/mine in ")
            && resumed.progress.contains("has changed since the run began"),
        "{}",
        resumed.progress
    );
    assert_eq!(place.records().len(), records.len(), "{}", resumed.progress);
    fs::remove_dir_all(&folder).unwrap();
    let gone = place.tolok(&["resume", place.run_folder().to_str().unwrap()]);
    assert_eq!(gone.code, Some(6), "{}", gone.progress);
    assert!(gone.progress.contains("elsewhere/mine, is gone"), "{}", gone.progress);
}

#[test]
fn a_folder_that_is_no_subject_is_refused_with_what_to_do() {
    let place = Place::new();
    let (empty, wrong) = (place.path().join("empty"), place.path().join("wrong"));
    fs::create_dir_all(&empty).unwrap();
    fs::create_dir_all(&wrong).unwrap();
    fs::write(wrong.join("subject.toml"), "titel = 'Mine'\n").unwrap();
    let said = |path: &Path| place.tolok(&["plan", "--subject", path.to_str().unwrap()]);
    let of_empty = said(&empty);
    assert!(of_empty.code == Some(2) && of_empty.progress.contains("workloads = ["), "{}", of_empty.progress);
    let of_wrong = said(&wrong);
    assert!(of_wrong.code == Some(2) && of_wrong.progress.contains("subject.toml:1:1"), "{}", of_wrong.progress);
    let of_none = said(Path::new("test/sound"));
    assert!(of_none.code == Some(2) && of_none.progress.contains("--subjects test/sound"), "{}", of_none.progress);
}

#[test]
fn two_of_one_name_are_refused() {
    let place = Place::new();
    let (first, second) = (brought(&place, "mine"), brought(&place, "other/mine"));
    let said = place.tolok(&["plan", "--subject", &first, "--subject", &second]);
    assert_eq!(said.code, Some(2));
    assert!(said.progress.contains("there are two subjects `local/mine`"), "{}", said.progress);
}
