//! The user's own workloads, without a checkout: recorded from a running server, then sent to it and to others.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::bring::Server;
use crate::place::{Said, TOLOK, assert_done, shared_turn};
use crate::standalone::Alone;

const PATH: &str = "/api/v1/users.json?page=2";
const SHORT: [&str; 5] = ["--blocks", "1", "--scale", "0.5", "--allow-shared"];

/// A server that tolok did not start, with an API of several path segments.
struct Api {
    child: Child,
    url: String,
}

impl Api {
    fn start(public: &Path) -> Self {
        let mut command = Command::new(faulty_subject());
        command.args(["--port", "0", "--assets"]).arg(public).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap();
        Self { child, url: format!("http://{address}") }
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn faulty_subject() -> PathBuf {
    let program = Path::new(TOLOK).with_file_name("faulty-subject");
    assert!(program.is_file(), "{} is not built: cargo build --workspace --bins", program.display());
    program
}

/// A folder with a server for the workload `users`, and its responses.
fn own_server(folder: &Path) -> PathBuf {
    let public = folder.join("public");
    fs::create_dir_all(public.join("api/v1")).unwrap();
    fs::write(public.join("api/v1/users.json"), r#"[{"id":1,"name":"Siti"}]"#).unwrap();
    let text = format!(
        "title = 'Mine'\nruntime = 'test'\nworkloads = ['users']\n[[process]]\nname = 'server'\n\
         command = ['{}', '--port', '{{{{ port }}}}', '--assets', '{{{{ subject }}}}/public', '--host', '{{{{ host }}}}']\n",
        faulty_subject().display()
    );
    fs::write(folder.join("subject.toml"), text).unwrap();
    public
}

fn run(alone: &Alone, arguments: &[&str]) -> Said {
    alone.tolok(&[&["run"], arguments, &SHORT].concat())
}

/// The outcomes of the only run, with the ids of their cases.
fn outcomes(alone: &Alone) -> Vec<(String, Value)> {
    let runs = fs::read_dir(alone.here().join("runs")).unwrap().map(|run| run.unwrap().path());
    let trials = runs.flat_map(|run| fs::read_dir(run.join("trials")).unwrap()).map(|trial| trial.unwrap().path());
    let records = trials.map(|trial| fs::read_to_string(trial.join("trial.json")).unwrap());
    let records = records.map(|text| serde_json::from_str::<Value>(&text).unwrap());
    records.map(|record| (record["case"].as_str().unwrap().to_owned(), record["outcome"].clone())).collect()
}

#[test]
fn a_recorded_response_is_asked_of_its_server_and_of_a_server_of_ones_own() {
    let _turn = shared_turn();
    let alone = Alone::new();
    let mine = alone.here().join("mine");
    let api = Api::start(&own_server(&mine));

    let made = alone.tolok(&["new", "workload", "users", "--from", &format!("{}{PATH}", api.url)]);
    assert_eq!(made.code, Some(0), "{}", made.progress);
    assert!(made.output.starts_with("workloads/users/workload.toml\n"), "{}", made.output);
    assert!(made.progress.contains(&format!("tolok run --workload users --url {}", api.url)), "{}", made.progress);
    let text = fs::read_to_string(alone.here().join("workloads/users/workload.toml")).unwrap();
    assert!(text.contains(&format!("path   = \"{PATH}\"")) && text.contains("status       = 200"), "{text}");
    assert!(alone.tolok(&["list", "workloads"]).output.contains("users"));

    let url = format!("there={}", api.url);
    let said = run(&alone, &["--workload", "users", "--url", &url, "--subject", "./mine"]);
    assert_done(said.code, &(said.output + &said.progress));
    let of_both = outcomes(&alone);
    for subject in ["external-there", "local-mine"] {
        let of_it: Vec<&Value> = of_both.iter().filter(|(case, _)| case.contains(subject)).map(|(_, it)| it).collect();
        assert!(!of_it.is_empty(), "{of_both:?}");
        for outcome in of_it {
            assert_eq!(outcome["kind"], "completed", "{outcome}");
            assert!(outcome["ledger"]["good"].as_u64().unwrap() > 0, "{outcome}");
        }
    }
    let checked = alone.tolok(&["check", "./mine"]);
    assert!(checked.output.starts_with("local/mine:default: right (users)"), "{}{}", checked.output, checked.progress);

    // The run finds its workload from any folder, warns if it changed, and refuses to continue once it is gone.
    let (elsewhere, runs) = (alone.folder.path().join("elsewhere"), alone.here().join("runs"));
    fs::create_dir(&elsewhere).unwrap();
    let resume = || alone.tolok_in(&elsewhere, &["resume", "latest", "--runs", runs.to_str().unwrap()]);
    fs::write(alone.here().join("workloads/users/body.json"), "[]").unwrap();
    let changed = resume();
    assert!(changed.progress.contains("warning: the workload users in"), "{}", changed.progress);
    fs::remove_dir_all(alone.here().join("workloads")).unwrap();
    let gone = resume();
    assert!(gone.code == Some(6) && gone.progress.contains("workloads/users is gone"), "{}", gone.progress);
}

#[test]
fn requests_of_a_file_take_values_and_a_changed_file_is_noticed() {
    let _turn = shared_turn();
    let alone = Alone::new();
    let mine = alone.here().join("mine");
    let public = own_server(&mine);
    for (name, body) in [("1", r#"{"next":"a"}"#), ("2", r#"{"next":"b"}"#), ("a", "end"), ("b", "end")] {
        fs::write(public.join(name), body).unwrap();
    }
    let folder = alone.here().join("workloads/users");
    fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let list = "title = 'Users'\n[requests]\nfile = 'users.jsonl'\ndata = 'users.csv'\nsequence = true\n";
    write("workload.toml", list);
    write("users.csv", "id\n1\n2\n");
    write("body", "end");
    let requests = |column: &str, body: &str| {
        format!(
            "{{\"path\":\"/{{{{ {column} }}}}\",\"capture\":{{\"next\":\"/next\"}}}}\n\
             {{\"path\":\"/{{{{ next }}}}\",\"expect_body\":\"{body}\"}}\n"
        )
    };
    let wrong = |text: &str| {
        write("users.jsonl", text);
        let said = alone.tolok(&["check", "./mine"]);
        assert_ne!(said.code, Some(0), "{}", said.output);
        said.progress
    };
    let unknown = wrong(&requests("ix", "body"));
    assert!(unknown.contains("users.jsonl:1: nothing is known here by the name of `{{ ix }}`"), "{unknown}");
    let outside = wrong(&requests("id", "../users/body"));
    assert!(outside.contains("users.jsonl:2: `../users/body` lies outside the workload's folder"), "{outside}");
    write("workload.toml", &list.replace("users.csv", "none.csv"));
    let missing = wrong(&requests("id", "body"));
    assert!(missing.contains("cannot read the data") && missing.contains("none.csv"), "{missing}");
    write("workload.toml", list);

    let api = Api::start(&public);
    let said = run(&alone, &["--workload", "users", "--url", &format!("there={}", api.url), "--subject", "./mine"]);
    assert_done(said.code, &(said.output + &said.progress));
    let found = outcomes(&alone);
    assert!(["external-there", "local-mine"].iter().all(|id| found.iter().any(|(case, _)| case.contains(id))));
    for (_, outcome) in &found {
        assert_eq!(outcome["kind"], "completed", "{outcome}");
        let ledger = &outcome["ledger"];
        assert!(ledger["good"].as_u64() > Some(0) && ledger["failed"].as_object().unwrap().is_empty(), "{outcome}");
    }
    let checked = alone.tolok(&["check", "./mine"]);
    assert!(checked.output.starts_with("local/mine:default: right (users)"), "{}{}", checked.output, checked.progress);
    fs::write(public.join("b"), "and").unwrap();
    fs::write(public.join("a"), "and").unwrap();
    let differs = alone.tolok(&["check", "./mine"]).output;
    assert!(differs.contains("GET /a: ") || differs.contains("GET /b: "), "{differs}");

    write("users.csv", "id\n2\n");
    let resumed = alone.tolok(&["resume", "latest"]);
    assert!(resumed.progress.contains("warning: the workload users in"), "{}", resumed.progress);
}

#[test]
fn a_body_that_differs_each_time_is_compared_by_its_shape() {
    let _turn = shared_turn();
    let alone = Alone::new();
    let server = Server::start(|number| format!("{{\"id\":{number}}}"), Duration::ZERO, None);
    let made = alone.tolok(&["new", "workload", "next", "--from", &server.url("/next")]);
    assert!(
        made.code == Some(0) && made.progress.contains("Three bodies differed, but had the same fields"),
        "{}",
        made.progress
    );
    let measured = run(&alone, &["--workload", "next", "--url", &server.url("")]);
    assert_done(measured.code, &(measured.output + &measured.progress));
    assert!(outcomes(&alone).iter().all(|(_, outcome)| outcome["kind"] == "completed"));
    fs::remove_dir_all(alone.here().join("runs")).unwrap();

    let other = Server::start(|number| format!("{{\"id\":\"{number}\"}}"), Duration::ZERO, None);
    let refused = run(&alone, &["--workload", "next", "--url", &other.url("")]);
    assert_eq!(refused.code, Some(5), "{}", refused.progress);
    for (_, outcome) in outcomes(&alone) {
        let message = outcome["message"].as_str().unwrap_or_default();
        assert!(message.contains("field `id`: a string instead of a number"), "{outcome}");
    }
}

#[test]
fn what_cannot_be_recorded_or_named_is_refused_with_what_to_do() {
    let alone = Alone::new();
    let server = Server::start(|_| "[]".to_owned(), Duration::ZERO, None);
    let refused = |arguments: &[&str]| {
        let said = alone.tolok(arguments);
        assert!(matches!(said.code, Some(2 | 5)), "{:?} {}", said.code, said.progress);
        said.progress
    };
    let url = server.url("/json");
    assert!(refused(&["new", "workload", "users", "--from", &url]).contains("answers with status 404"));
    let secure = url.replace("http:", "https:");
    assert!(refused(&["new", "workload", "users", "--from", &secure]).contains("the server behind the encryption"));
    assert!(refused(&["new", "workload", "json", "--from", &server.url("/a")]).contains("choose another name"));
    assert!(refused(&["run", "--workload", "usrs", "--url", &url]).contains("there is no workload `usrs`"));
    assert!(!alone.here().join("workloads").exists(), "a refused command leaves nothing behind");
    let folder = alone.here().join("workloads/json");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("workload.toml"),
        "title = 'J'\nrequest.path = '/j'\nanswer = { content-type = 'a/b', body = 'b' }\n",
    )
    .unwrap();
    let taken = refused(&["list", "workloads"]);
    assert!(taken.contains("has the name of a workload that comes with tolok"), "{taken}");
}
