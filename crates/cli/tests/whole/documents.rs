//! The commands in the documents work: every block of commands is run as written, only shorter.
//!
//! A block that is not run gives the reason in a comment above it: `<!-- not run: it needs a server of yours -->`. Blocks of TOML
//! are read in `crates/model/tests/all/documents.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use tempfile::TempDir;

use crate::place::{TOLOK, repository, shared_turn};

/// Replacements that shorten commands, applied in this order: windows, rounds, fetches and long measurements. All else is run as
/// written. A longer text comes before its own parts.
const SHORTER: &[(&str, &str)] = &[
    ("./tolok quick", "./tolok quick --yes --no-open --blocks 1 --scale 0.2 --subjects node/http"),
    ("tolok run core --subject ", "tolok run quick --blocks 1 --scale 0.2 --subject "),
    ("tolok run core", "tolok run core --blocks 1 --scale 0.05 --subjects node/http"),
    ("tolok run tools", "tolok run tools --blocks 1 --scale 0.05"),
    ("tolok run database-light --scale 0.1", "tolok run database-light --blocks 1 --scale 0.05 --subjects node/http"),
    ("tolok run encoding --scale 0.1 --blocks 5", "tolok run encoding --scale 0.03 --blocks 1"),
    ("tolok run encoding  ", "tolok run encoding --scale 0.03 --blocks 1  "),
    ("tolok run --url", "tolok run --blocks 1 --scale 0.1 --url"),
    ("tolok compare --history api", "tolok compare --history mine"),
    ("tolok run quick --url", "tolok run quick --blocks 1 --scale 0.2 --url"),
    (
        "tolok run quick --blocks 1 --scale 0.2 --url mine=http://127.0.0.1:3000\n",
        "tolok run quick --blocks 1 --scale 0.2 --url mine=http://127.0.0.1:3000 --subjects external/mine\n",
    ),
    ("tolok run --subject ", "tolok run --blocks 1 --scale 0.2 --subject "),
    ("tolok setup", "tolok setup --dry-run"),
    ("tolok fidelity 'bun/serve:*' php/fpm", "tolok fidelity bun/serve php/fpm --no-aborts"),
    ("tolok fidelity 'bun/serve:*'", "tolok fidelity bun/serve"),
    ("tolok fidelity  ", "tolok fidelity node/http --no-aborts  "),
    // The default is ten seconds.
    ("tolok load http", "tolok load -d 300ms http"),
    ("tolok load --rate 2000", "tolok load -d 300ms --rate 2000"),
    ("tolok load -R 2000 --threshold", "tolok load -d 300ms -R 2000 --threshold"),
    ("tolok load --expect-body", "tolok load -d 300ms --expect-body"),
    ("tolok load --request-file", "tolok load -d 300ms --request-file"),
    ("-d 10s", "-d 300ms"),
    ("-d 30s", "-d 300ms"),
    ("-d 6s", "-d 300ms"),
    ("-d 5s", "-d 300ms"),
    ("--warmup 5s", "--warmup 100ms"),
    ("--warmup 1s", "--warmup 100ms"),
    ("-c 500", "-c 50"),
    ("--capacity", "--capacity -d 100ms --warmup 50ms"),
    (
        "-d 100ms --warmup 50ms --threshold 'p99 < 50ms' --threshold 'goodput >= 99.9%' -d 300ms",
        "-d 100ms --warmup 50ms --threshold 'p99 < 50ms' --threshold 'goodput >= 99.9%'",
    ),
];

/// Exit codes that report a result and not a fault of the command: see `tolok --help`.
const SAID: &str = "3|4|5";

/// A block of a document.
struct Block {
    line: usize,
    language: String,
    text: String,
    /// Why it is not run.
    not_run: Option<String>,
}

/// The blocks of a document, in their order.
fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut before = "";
    for (number, line) in document.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), open.take()) {
            (Some(language), None) => {
                let reason = before.strip_prefix("<!-- not run: ").and_then(|rest| rest.strip_suffix(" -->"));
                let not_run = reason.map(str::to_owned);
                open = Some(Block { line: number + 1, language: language.to_owned(), text: String::new(), not_run });
            }
            (Some(_), Some(done)) => blocks.push(done),
            (None, Some(mut block)) => {
                block.text += line;
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
        before = line;
    }
    assert!(open.is_none(), "a round is not closed");
    blocks
}

/// The commands of a block, or `None` if it is not for a shell.
fn typed(block: &Block) -> Option<String> {
    match block.language.as_str() {
        "sh" | "bash" => Some(block.text.clone()),
        "console" => {
            let commands = block.text.lines().filter_map(|line| line.strip_prefix("$ "));
            Some(commands.map(|command| format!("{command}\n")).collect())
        }
        _ => None,
    }
}

/// A reader's checkout, with a running server and a stored run.
struct Reader {
    folder: TempDir,
}

impl Reader {
    /// Copies a checkout that is prepared only once, because its run takes some seconds.
    fn new() -> Self {
        static FIRST: OnceLock<Reader> = OnceLock::new();
        let first = FIRST.get_or_init(Self::first);
        let reader = Self { folder: reader_folder() };
        let from = first.folder.path().join(".");
        assert!(Command::new("cp").arg("-a").arg(from).arg(reader.folder.path()).status().unwrap().success());
        reader
    }

    fn first() -> Self {
        let folder = reader_folder();
        for name in ["schemas", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "crates"] {
            symlink(repository().join(name), folder.path().join(name)).unwrap();
        }
        for made in ["home/code", "home/.local/share/bash-completion/completions", "home/.local/share/man/man1"] {
            fs::create_dir_all(folder.path().join(made)).unwrap();
        }
        // New files of the reader go beside existing ones, so the parent folders must be the reader's own.
        for within in ["workloads", "subjects/node"] {
            link_each(within, folder.path());
        }
        let copied = Command::new("cp").arg("-r").arg(repository().join("studies")).arg(folder.path()).status();
        assert!(copied.unwrap().success());
        link_each("subjects", folder.path());
        link_each("published", folder.path());
        let reader = Self { folder };
        reader.write("tolok", &wrapper());
        fs::set_permissions(reader.folder.path().join("tolok"), fs::Permissions::from_mode(0o755)).unwrap();
        reader.write("want.json", r#"{"ok":true}"#);
        reader.write("requests.jsonl", "{\"path\":\"/\"}\n{\"path\":\"/json\",\"weight\":3}\n");
        reader.write("studies/mine.toml", STUDY);
        let own = "tolok new subject my-server --runtime node --in ~/code && cp -r ~/code/my-server .";
        assert!(reader.shell(own).status.success());
        thread::scope(|scope| {
            scope.spawn(|| reader.keep_run(1, ["A", "before", "baseline"]));
            reader.keep_run(2, ["B", "after", "NAME"]);
        });
        for (of, names) in [("A", ["A1", "A2", "A3"]), ("B", ["B1", "B2", "B3"])] {
            names.iter().for_each(|name| reader.keep_as_another(of, name));
        }
        reader
    }

    /// Makes a run, and stores it under these names. Each copy is newer than the original, so `latest` is one of them.
    fn keep_run(&self, seed: u32, names: [&str; 3]) {
        let folder = self.folder.path().join(format!("made-{seed}"));
        let made = self.shell(&format!("tolok run mine --seed {seed} --runs made-{seed} -o made-{seed}.txt"));
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let runs = self.folder.path().join("runs");
        fs::create_dir_all(&runs).unwrap();
        let [run] = <[PathBuf; 1]>::try_from(folder_names(&folder)).unwrap();
        for name in names {
            let copied = Command::new("cp").arg("-r").arg(&run).arg(runs.join(name)).status();
            assert!(copied.unwrap().success());
        }
        fs::remove_dir_all(folder).unwrap();
    }

    /// Copies a run as another one. Its manifest does not contain the new id, so only `compare` reads it.
    fn keep_as_another(&self, of: &str, name: &str) {
        let runs = self.folder.path().join("runs");
        let copied = Command::new("cp").arg("-r").arg(runs.join(of)).arg(runs.join(name)).status();
        assert!(copied.unwrap().success());
        let file = runs.join(name).join("run.json");
        let mut run: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        run["id"] = name.into();
        fs::write(&file, run.to_string()).unwrap();
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Makes every study ignore disturbances: the figures do not matter, so no study waits for a quiet machine or repeats trials.
    fn let_studies_be_disturbed(&self) {
        let files = folder_names(&self.folder.path().join("studies")).into_iter().filter(|path| path.is_file());
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            if !text.contains("reruns") {
                fs::write(&file, format!("reruns = 0\n{text}")).unwrap();
            }
        }
    }

    /// Makes a run the latest by rewriting its file.
    fn begin_with(&self, file: &str) {
        let path = self.folder.path().join(file);
        let content = fs::read(&path).unwrap();
        fs::write(&path, content).unwrap();
    }

    /// Runs a script in the checkout, with tolok on the PATH.
    fn shell(&self, script: &str) -> std::process::Output {
        let _turn = shared_turn();
        let own = self.folder.path();
        let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(["-euc", script]).current_dir(own).env("PATH", path).env("TOLOK_HOME", own);
        // Files written below the home are not the user's; files read there still are.
        for (name, place) in [("XDG_CACHE_HOME", ".cache"), ("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
            let usual = PathBuf::from(std::env::var_os("HOME").unwrap()).join(place);
            command.env(name, std::env::var_os(name).unwrap_or(usual.into()));
        }
        command
            .env("TOLOK_IF_OTHER_RUN", "ignore")
            .env("TOLOK_IF_BUSY", "ignore")
            .env("HOME", own.join("home"))
            .env_remove("TOLOK_RUNS")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command.output().unwrap()
    }

    /// A script with all replacements applied.
    fn shortened(&self, script: &str) -> String {
        let shorter = SHORTER.iter().fold(script.to_owned(), |text, (from, to)| text.replace(from, to));
        let here = format!("127.0.0.1:{}", server_port());
        let ports = ["18080", "8080", "3000", "3001"];
        ports.iter().fold(shorter, |text, port| text.replace(&format!("127.0.0.1:{port}"), &here))
    }
}

fn reader_folder() -> TempDir {
    tempfile::Builder::new().prefix("tolok-reader-").tempdir().unwrap()
}

/// A study whose run has everything that the documents show: a database, several numbers of users, and enough rounds for intervals.
const STUDY: &str = "\
title = 'Mine'
subjects = ['node/http']
blocks = 3
seed = 7
ceiling = false
aa-pair = false
reruns = 0
[[scenario]]
workload = 'rows?limit=10'
load = { executor = 'constant-vus', vus = [2, 8], duration = '1s', warmup = '50ms' }
";

/// tolok for scripts that stop at an error: its result codes become 0.
fn wrapper() -> String {
    format!("#!/bin/sh\n'{TOLOK}' \"$@\"\ncode=$?\ncase $code in {SAID}) exit 0 ;; *) exit $code ;; esac\n")
}

/// The port of the small server that all readers share.
fn server_port() -> u16 {
    static SERVER: OnceLock<(Child, u16)> = OnceLock::new();
    SERVER.get_or_init(server).1
}

/// Starts a small server and returns it with its port. It exits when its standard input closes, so at the latest with this process.
fn server() -> (Child, u16) {
    let script = "const s = require('http').createServer((q, a) => { const hello = q.url.endsWith('/hello'); \
                  a.setHeader('content-type', hello ? 'text/html' : 'application/json'); \
                  a.end(hello ? '<h1>Hello, World!</h1>' : '{\"ok\":true}') }); \
                  s.listen(0, '127.0.0.1', () => console.log(s.address().port)); \
                  process.stdin.on('end', () => process.exit()).resume()";
    let mut command = Command::new("node");
    command.args(["-e", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().parse().unwrap())
}

/// Makes a folder with links to everything in the repository's folder, except what exists already.
fn link_each(within: &str, reader: &Path) {
    fs::create_dir_all(reader.join(within)).unwrap();
    for entry in fs::read_dir(repository().join(within)).unwrap().map(Result::unwrap) {
        let place = reader.join(within).join(entry.file_name());
        if !place.exists() {
            symlink(entry.path(), place).unwrap();
        }
    }
}

fn folder_names(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Every document for people, by its path in the repository.
fn documents() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for folder in ["", "docs", "docs/reference"] {
        let Ok(entries) = fs::read_dir(repository().join(folder)) else { continue };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let documents = names.filter(|name| name.ends_with(".md"));
        found.extend(documents.map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") }));
    }
    found
}

/// Runs all commands of a document. Each document begins with the same run as `latest`.
fn check(reader: &Reader, document: &str) {
    reader.begin_with("runs/NAME/run.json");
    let text = fs::read_to_string(repository().join(document)).unwrap();
    for block in blocks(&text) {
        let Some(script) = typed(&block).filter(|_| block.not_run.is_none()) else { continue };
        let script = reader.shortened(&script);
        reader.let_studies_be_disturbed();
        let ended = reader.shell(&script);
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{document}:{}: {}\n{script}\n{said}", block.line, ended.status);
    }
}

#[test]
fn what_the_readme_has_people_type() {
    check(&Reader::new(), "README.md");
}

#[test]
fn what_the_guide_has_people_type() {
    check(&Reader::new(), "docs/guide.md");
}

#[test]
fn what_the_page_on_load_has_people_type() {
    check(&Reader::new(), "docs/load.md");
}

#[test]
fn what_the_page_on_servers_of_ones_own_has_people_type() {
    check(&Reader::new(), "docs/own-servers.md");
}

#[test]
fn what_all_other_documents_have_people_type() {
    let own = ["README.md", "docs/guide.md", "docs/load.md", "docs/own-servers.md"];
    let others = documents();
    assert!(own.iter().all(|name| others.contains(*name)));
    let reader = Reader::new();
    others.iter().filter(|name| !own.contains(&name.as_str())).for_each(|name| check(&reader, name));
}

#[test]
fn scripts_in_javascript_and_documents_in_json_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    for document in documents().iter() {
        let text = fs::read_to_string(repository().join(document)).unwrap();
        for block in blocks(&text) {
            let place = format!("{document}:{}", block.line);
            if block.language == "js" {
                let file = folder.path().join("round.mjs");
                fs::write(&file, &block.text).unwrap();
                let read = Command::new("node").arg("--check").arg(&file).output().unwrap();
                assert!(read.status.success(), "{place}: {}", String::from_utf8_lossy(&read.stderr));
            }
            if block.language == "json" {
                let values = serde_json::Deserializer::from_str(&block.text).into_iter::<serde_json::Value>();
                values.for_each(|value| assert!(value.is_ok(), "{place}: {value:?}"));
            }
        }
    }
}

#[test]
fn a_block_that_is_not_run_says_why() {
    let text = "```sh\na\n```\n<!-- not run: b -->\n```sh\nc\n```\n```console\n$ d\ne\n```\n```toml\nf\n```\n";
    let found: Vec<_> = blocks(text).iter().map(|block| (typed(block), block.not_run.clone())).collect();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(found, [(text("a\n"), None), (text("c\n"), text("b")), (text("d\n"), None), (None, None)]);
}
