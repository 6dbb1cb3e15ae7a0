//! The pages of invented runs, requested like a browser does.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

#[path = "../../analysis/tests/invented/mod.rs"]
mod invented;
mod stored;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use invented::two_runs::several;
use invented::{BUN, GO, InventedRun, NODE};
use tolok_serve::{Options, Server};
use tolok_store::RunFolder;

const FIRST: &str = "2026-11-21-api-000001";
const SECOND: &str = "2026-11-22-api-000002";

/// A server of invented runs, shared by all tests because writing them waits for the disk. It runs until the tests end.
struct Served {
    runs: PathBuf,
    /// `127.0.0.1:40123`
    name: String,
}

static SERVED: LazyLock<Served> = LazyLock::new(|| Served::of("stored-runs", |runs| stored::write_all(runs).unwrap()));

/// Eight runs of one study; from the fifth on, Go is slower by an eighth.
static OVER_TIME: LazyLock<Served> = LazyLock::new(|| {
    Served::of("stored-history", |runs| {
        let all = [several(4, 0.008, 1.0, 1), several(4, 0.008, 0.88, 5)].concat();
        all.iter().for_each(|run| stored::write(runs, run).unwrap());
    })
});

impl Served {
    fn of(folder: &str, write: impl Fn(&Path)) -> Self {
        let runs = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        // Removes what an earlier run of the tests left.
        let _ = std::fs::remove_dir_all(&runs);
        write(&runs);
        let server = Server::bind(&Options { runs: runs.clone(), port: Some(0) }).unwrap();
        let name = server.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
        std::thread::spawn(move || server.run());
        Self { runs, name }
    }

    /// Head and body of an answer.
    fn ask(&self, request: &str) -> (String, String) {
        let mut connection = TcpStream::connect(&self.name).unwrap();
        let more = format!("Host: {}\r\nConnection: close\r\n\r\n", self.name);
        connection.write_all(format!("{request} HTTP/1.1\r\n{more}").as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        // Templates also escape slashes.
        (head.to_owned(), body.replace("&#x2f;", "/"))
    }

    /// A page that must exist.
    fn page(&self, path: &str) -> String {
        let (head, body) = self.ask(&format!("GET {path}"));
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        body
    }

    fn status(&self, path: &str) -> String {
        self.ask(&format!("GET {path}")).0.lines().next().unwrap().to_owned()
    }
}

fn has(page: &str, words: &[&str]) {
    words.iter().for_each(|words| assert!(page.contains(words), "{words} is missing in {page}"));
}

#[test]
fn the_list_has_every_run_with_its_state_and_what_it_says() {
    let served = &*SERVED;
    let list = served.page("/");
    has(&list, &["7 runs", "✓ finished", "! stopped", "48 trials missing", "! unreadable", "its format is 99"]);
    has(&list, &["JSON: Bun.serve is fastest: 1.15× the runner-up, Go net/http", "0 of 6 trials"]);
    let places: Vec<usize> = [SECOND, FIRST].map(|id| list.find(&format!("value=\"{id}\"")).unwrap()).to_vec();
    assert!(places[0] < places[1], "the latest comes first");
    let filtered = served.page("/?filter=api+FINISHED");
    has(&filtered, &["3 of 7 runs", FIRST, SECOND]);
    assert!(!filtered.contains("unreadable"));
}

/// All three trials of a case exist, but two of them were disturbed.
#[test]
fn a_run_of_which_most_was_discarded_is_a_warning() {
    let served = Served::of("stored-discarded", |runs| {
        let mut run = InventedRun::new(3);
        run.scenario("json-c64", "json", "JSON", 64).steady(GO, 34_300.0);
        (1..=2).for_each(|block| _ = run.disturb(block, "foreign-cpu", 0.2, "other programs used 20% of the CPUs"));
        stored::write(runs, &run).unwrap();
    });
    let words = "2 of 3 trials discarded";
    let list = served.page("/");
    has(&list, &["<span class=\"chip warn\">! not sound</span>", "3 of 3 trials", words]);
    assert!(!list.contains("✓ finished"), "{list}");
    assert!(served.page("/?filter=not+sound").contains("1 run"), "the filter finds it");
    let id = served.runs.read_dir().unwrap().next().unwrap().unwrap().file_name().into_string().unwrap();
    has(&served.page(&format!("/runs/{id}/")), &["! not sound", words]);
}

#[test]
fn a_run_has_its_sentences_its_report_and_the_others_of_its_study() {
    let served = &*SERVED;
    let run = served.page(&format!("/runs/{FIRST}/"));
    has(
        &run,
        &["Is the API as fast as it was?", "90 of 90 trials", "Bun.serve is fastest: 1.15× the runner-up", SECOND],
    );
    has(&served.page("/runs/2026-11-23-quick-57099d/"), &["tolok resume 2026-11-23-quick-57099d"]);
    has(
        &served.page(&format!("/runs/{FIRST}/report")),
        &["<h1>Is the API as fast as it was?</h1>", "style-src 'unsafe-inline'"],
    );
    let (head, body) = served.ask(&format!("GET /runs/{FIRST}/report.csv"));
    has(&head, &["text/csv", &format!("attachment; filename*=UTF-8''{FIRST}.csv")]);
    assert!(body.starts_with("run,"), "{body}");
    let (head, _) = served.ask(&format!("GET /runs/{FIRST}/report.tidy"));
    has(&head, &["text/csv", &format!("UTF-8''{FIRST}.tidy.csv")]);
    let live = served.page(&format!("/runs/{FIRST}/live"));
    has(&live, &["No trial is being run.", "10 of 10", "ceiling: Minimal server", "each trial, from 0"]);
}

/// Three subjects, after half of the trials; the lock marks the run as active.
#[test]
fn a_running_run_has_a_preliminary_order_of_its_clean_trials() {
    let served = Served::of("stored-running", |runs| {
        let mut run = InventedRun::new(4);
        run.scenario("json-c64", "json", "JSON", 64).steady(GO, 30_000.0).steady(BUN, 40_000.0).steady(NODE, 20_000.0);
        run.disturb(1, "foreign-cpu", 0.2, "other programs used 20% of the CPUs");
        run.trials.retain(|trial| trial.block <= 2);
        stored::write(runs, &run).unwrap();
    });
    let folder = served.runs.read_dir().unwrap().next().unwrap().unwrap();
    let id = folder.file_name().into_string().unwrap();
    let path = format!("/runs/{id}/");
    assert!(!served.page(&path).contains("Preliminary ranking"), "a run that is not in progress has none");
    let _lock = RunFolder::open_to_write(&folder.path()).unwrap();
    for page in [served.page(&path), served.page(&format!("{path}live"))] {
        has(&page, &["Preliminary ranking", "only the report says what is told apart", "1 of 4 rounds"]);
        let order = ["bun-serve", "go-nethttp", "node-http"].map(|name| {
            page.find(&format!("data-case=\"json-c64--{name}")).unwrap_or_else(|| panic!("{name} is missing: {page}"))
        });
        assert!(order.is_sorted(), "{order:?}");
        let widths =
            page.split("height=\"10\" width=\"").skip(1).filter_map(|rest| rest.split('"').next()?.parse::<f64>().ok());
        let widths: Vec<f64> = widths.collect();
        let is_near = |(seen, expected): (&f64, f64)| (seen - expected).abs() < 3.0;
        assert!(widths.len() == 3 && widths.iter().zip([100.0, 75.0, 50.0]).all(is_near), "{widths:?}");
    }
}

#[test]
fn two_runs_are_compared_and_laid_over_each_other() {
    let served = &*SERVED;
    let compared = served.page(&format!("/compare?a={FIRST}&b={SECOND}"));
    has(
        &compared,
        &[
            "? Changed between these two runs",
            "6 figures are worse by 3% or more",
            &format!("tolok compare {FIRST} {SECOND}"),
        ],
    );
    let (head, _) = served.ask(&format!("GET /compare?run={SECOND}&run={FIRST}"));
    has(&head, &["303", &format!("location: /compare?a={FIRST}&b={SECOND}")]);
    has(
        &served.page(&format!("/overlay?run={SECOND}&run={FIRST}")),
        &["correct responses per second in each run", "ceiling: Minimal server"],
    );
    let refused = format!("/compare?a={FIRST}&b=2026-11-19-api-e15e00");
    has(
        &served.ask(&format!("GET {refused}")).1,
        &["CPU model: Example CPU 3000 → Other CPU 9", "Compare them anyway"],
    );
    has(&served.page(&format!("{refused}&allow-differences=yes")), &["The conditions differ", "--allow-differences"]);
    for question in
        ["/compare?run=one", "/compare", &format!("/compare?a={FIRST}&b={FIRST}"), "/overlay?run=one", "/history"]
    {
        assert_eq!(served.status(question), "HTTP/1.1 422 Unprocessable Entity", "{question}");
    }
}

#[test]
fn too_few_runs_of_a_study_have_no_history_and_the_page_says_why() {
    let (head, page) = SERVED.ask(&format!("GET /history?run={FIRST}"));
    has(&head, &["422"]);
    has(&page, &["A history needs at least 4 comparable runs of one study"]);
}

#[test]
fn a_study_is_shown_over_time_from_any_of_its_runs() {
    let served = &*OVER_TIME;
    let place = format!("/history?run={FIRST}");
    has(&served.page(&format!("/runs/{FIRST}/")), &[&format!("href=\"{place}\"")]);
    assert!(!SERVED.page(&format!("/runs/{FIRST}/")).contains("/history?"), "two runs are too few for a history");
    let found = served.page(&place);
    has(&found, &["Go net/http in json-c64, goodput", "from 2026-11-25-api-000005 on (worse)"]);
    has(&found, &["build of go/nethttp: 60600000000000aa → 60600000000000bb", "tolok compare --history api"]);
    assert_eq!(found.matches("<figure").count(), 7, "main figures and CPU time of three scenarios");
}

#[test]
fn the_events_of_a_run_are_numbered_and_followed_by_an_end() {
    let served = &*SERVED;
    let events = "{\"event\":\"run-started\"}\n{\"event\":\"run-ended\",\"missing\":0}\n";
    std::fs::write(served.runs.join(FIRST).join("events.jsonl"), events).unwrap();
    let body = served.page(&format!("/runs/{FIRST}/events"));
    has(
        &body,
        &["id: 1\ndata: {\"event\":\"run-started\"}\n\n", "id: 2\ndata: {\"event\":\"run-ended\"", "event: end\n"],
    );
}

#[test]
fn unknown_paths_are_not_found_and_nothing_is_changed() {
    let served = &*SERVED;
    let wrong =
        ["/runs/..%2f/", "/runs/%2e%2e/", "/runs/latest/", "/etc/passwd", "/runs/", &format!("/runs/{FIRST}/run.json")];
    for path in wrong {
        assert_eq!(served.status(path), "HTTP/1.1 404 Not Found", "{path}");
    }
    let (head, _) = served.ask("DELETE /");
    has(&head, &["405", "allow: GET, HEAD", "content-security-policy: default-src 'none'"]);
    assert_eq!(served.ask(&format!("HEAD /runs/{FIRST}/")).1, "");
}
