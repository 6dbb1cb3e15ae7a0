//! `tolok audit` on invented tables: its output and exit code.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Standard output, standard error, and the exit code.
fn audit(words: &[&str]) -> (String, String, i32) {
    audit_of(words, Stdio::null())
}

fn audit_of(words: &[&str], input: Stdio) -> (String, String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_tolok"))
        .arg("audit")
        .stdin(input)
        .args(words)
        .env("NO_COLOR", "1")
        .env("TOLOK_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    let [printed, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (printed, said, output.status.code().unwrap())
}

/// A table that the transcripts use too.
fn table(name: &str) -> String {
    format!("{}/tests/whole/transcripts/audit.in/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_sound_table_is_not_contradicted_and_leaves_with_0() {
    let (printed, said, code) = audit(&[&table("sound.toml")]);
    assert_eq!((said.as_str(), code), ("", 0), "{printed}");
    assert!(printed.contains("\nNo check is contradicted by the table’s own figures: "), "{printed}");
}

#[test]
fn a_broken_table_leaves_with_3_and_says_where_it_breaks() {
    let (printed, said, code) = audit(&[&table("broken.toml"), "--format", "json"]);
    assert_eq!((said.as_str(), code), ("", 3), "{printed}");
    let found: Value = serde_json::from_str(&printed).unwrap();
    let contradicted = found[0]["findings"].as_array().unwrap().iter().filter(|it| it["verdict"] == "contradicted");
    let mut laws: Vec<&str> = contradicted.map(|it| it["law"].as_str().unwrap()).collect();
    laws.dedup();
    // The claim of 7 times, and the mean of `left`, which is impossible with 50 connections and 5,000 responses per second.
    assert_eq!(laws, ["claims", "littles-law"]);
    let (short, _, code) = audit(&[&table("broken.toml"), "--brief"]);
    assert!(code == 3 && short.contains("✗ contradicted: ") && !short.contains("What holds"), "{short}");
}

/// The columns of `table.csv`, and its method.
const COLUMNS: [&str; 22] = [
    "--subject",
    "Server",
    "--tool",
    "k6",
    "--connections",
    "50",
    "--duration",
    "60s",
    "--method",
    "loop=closed",
    "--method",
    "streams=1",
    "--method",
    "ramp=false",
    "--column",
    "Req/s=throughput_rps",
    "--column",
    "Mean [ms]=latency_mean_ms",
    "--column",
    "p95 [ms]=latency_p95_ms",
    "--column",
    "Notes=",
];

#[test]
fn a_table_in_csv_is_read_as_the_options_say() {
    let (printed, said, code) = audit(&[[table("table.csv").as_str(), "--brief"].as_slice(), &COLUMNS].concat());
    assert_eq!((said.as_str(), code), ("", 3), "{printed}");
    assert!(printed.contains("line 2 ") && printed.contains("Little’s law"), "{printed}");
}

#[test]
fn a_table_may_come_from_standard_input_in_either_form() {
    let from = |name: &str| Stdio::from(File::open(table(name)).unwrap());
    let (printed, said, code) = audit_of(&["-"], from("sound.toml"));
    assert_eq!((said.as_str(), code), ("", 0), "{printed}");
    let (printed, said, code) = audit_of(&[["-", "--brief"].as_slice(), &COLUMNS].concat(), from("table.csv"));
    assert_eq!((said.as_str(), code), ("", 3), "{printed}");
    assert!(printed.contains("standard input") && printed.contains("line 2 "), "{printed}");
    let (_, said, code) = audit_of(&["-", "--tool", "wrk"], from("sound.toml"));
    assert!(code == 2 && said.contains("a transcription states its own columns"), "{said}");
}

#[test]
fn several_tables_go_to_one_file_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for (format, begins) in
        [("md", "# 2 published tables"), ("json", "[\n"), ("html", "<!doctype html>"), ("text", "2 published tables")]
    {
        let file: PathBuf = folder.path().join(format);
        let tables = [table("sound.toml"), table("broken.toml")];
        let (printed, said, code) = audit(&[&tables[0], &tables[1], "--format", format, "-o", file.to_str().unwrap()]);
        assert_eq!((printed.as_str(), said.as_str(), code), ("", "", 3));
        assert!(std::fs::read_to_string(file).unwrap().starts_with(begins), "{format}");
    }
}

#[test]
fn nothing_is_printed_where_one_of_several_cannot_be_read() {
    let (printed, said, code) = audit(&[&table("sound.toml"), &table("faulty.toml"), "no-such-table"]);
    assert_eq!((printed.as_str(), code), ("", 2));
    assert!(
        said.contains("faulty.toml has ") && said.contains("there is no published table `no-such-table`"),
        "{said}"
    );
}

/// A recorded output from the tests of the load generators' drivers.
fn output_of(name: &str) -> String {
    format!("{}/../tools/src/recorded/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn what_a_tool_printed_is_audited_as_it_is() {
    // wrk overstates its mean: 8 connections at that rate cannot have it.
    let (printed, said, code) = audit(&[&output_of("wrk/4.1.0-hello.txt"), "--method", "streams=1"]);
    assert_eq!((said.as_str(), code), ("", 3), "{printed}");
    assert!(printed.contains("line 1 ") && printed.contains("latency_mean_us of 4.1.0-hello = 804.30"), "{printed}");
    let (printed, said, code) = audit(&[&output_of("ab/2.3-slow.txt"), "--method", "loop=closed"]);
    assert_eq!((said.as_str(), code), ("", 0), "{printed}");
    assert!(printed.contains("Little’s law"), "{printed}");
}

#[test]
fn what_a_tool_does_not_print_comes_from_options() {
    let words =
        [&output_of("hey/0.1.5-hello.txt"), "--connections", "8", "--method", "loop=closed", "--format", "json"];
    let (printed, said, code) = audit(&words);
    assert_eq!((said.as_str(), code), ("", 0), "{printed}");
    assert!(printed.contains("\"8\"") && printed.contains("littles-law"), "{printed}");
    let (_, said, code) = audit(&[&output_of("hey/0.1.5-hello.txt"), "--column", "a=b"]);
    assert!(code == 2 && said.contains("is the output of a load generator and has no columns"), "{said}");
}

#[test]
fn what_is_not_understood_is_said_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("alpha.txt");
    let printed = std::fs::read_to_string(output_of("wrk/4.1.0-hello.txt")).unwrap();
    std::fs::write(&file, format!("$ wrk -c8\n{}", printed.replace("99009.68", "99,009.68"))).unwrap();
    let (_, said, _) = audit(&[file.to_str().unwrap()]);
    let said = said.replace(&folder.path().display().to_string(), "FOLDER");
    let expected = "FOLDER/alpha.txt:1: no part of an output: $ wrk -c8\n\
                    FOLDER/alpha.txt:13: not understood: Requests/sec:  99,009.68\n";
    assert_eq!(said, expected);
    let prose = folder.path().join("prose.txt");
    std::fs::write(&prose, "Dear reader,\n").unwrap();
    let (_, said, code) = audit(&[prose.to_str().unwrap()]);
    assert!(code == 2 && said.contains("prose.txt has no table that tolok knows: "), "{said}");
}

#[test]
fn a_transcription_begins_with_outputs_and_is_audited_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let own = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tolok"));
        command.args(["new", "audit"]).args(words).args(["--in", folder.path().to_str().unwrap()]).env("NO_COLOR", "1");
        command.env("TOLOK_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).output().unwrap()
    };
    let ab = output_of("ab/2.3-slow.txt");
    let begun = own(&["blog", "--from", &format!("alpha={ab}"), &output_of("h2load/documented-1.70.0.txt")]);
    assert_eq!(begun.status.code(), Some(0), "{}", String::from_utf8_lossy(&begun.stderr));
    let file = folder.path().join("blog.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("# 2.3-slow.txt, line 1\n[[row]]\nsubject = \"alpha\"\ntool = \"ab\"\n"), "{text}");
    assert!(text.contains("subject = \"documented-1.70.0\"\ntool = \"h2load\"\n"), "{text}");
    let (printed, said, code) = audit(&[file.to_str().unwrap()]);
    assert_eq!((said.as_str(), code), ("", 0), "{printed}");
    let again = own(&["twice", "--from", &format!("alpha={ab}"), &format!("alpha={ab}"), "--repetitions"]);
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    let text = std::fs::read_to_string(folder.path().join("twice.toml")).unwrap();
    assert!(text.contains("repetitions = 2\n") && text.contains("throughput_rps = [71.52, 71.52]\n"), "{text}");
    let wrong = own(&["none", "--from", &table("sound.toml")]);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.status.code() == Some(2) && said.contains("is no output, CSV or page"), "{said}");
    let page = folder.path().join("page.md");
    std::fs::write(&page, PAGE).unwrap();
    let page = page.to_str().unwrap();
    let words = [
        "--table",
        "2",
        "--subject",
        "Server",
        "--column",
        "Req/s=throughput_rps",
        "--column",
        "Note=",
        "--tool",
        "wrk",
    ];
    let named = own(&[["none", "--from", &format!("one={page}")].as_slice(), &words].concat());
    let said = String::from_utf8_lossy(&named.stderr).into_owned();
    assert!(named.status.code() == Some(2) && said.contains("names 2 servers itself"), "{said}");
    let begun = own(&[["page", "--from", page].as_slice(), &words].concat());
    assert_eq!(begun.status.code(), Some(0), "{}", String::from_utf8_lossy(&begun.stderr));
    let text = std::fs::read_to_string(folder.path().join("page.toml")).unwrap();
    assert!(
        text.contains("[method]\ntool = \"wrk\"\n") && text.contains("raw = [\n  \"Beta | 9950.20 | \",\n]"),
        "{text}"
    );
}

const PAGE: &str = "# Results\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n| Server | Req/s | Note |\n|:--|--:|---|\n\
                    | **Alpha** | 19,876.30 | fast |\n| Beta | 9950.20 |\n";

#[test]
fn a_page_is_read_table_by_table_as_csv_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.md");
    std::fs::write(&file, PAGE).unwrap();
    let page = file.to_str().unwrap();
    let (_, said, code) = audit(&[page]);
    assert!(code == 2 && said.contains("has 2 tables; --table takes its number:"), "{said}");
    assert!(said.contains("\n  --table 2   line 7, rows: 2   Server | Req/s | Note"), "{said}");
    let (_, said, code) = audit(&[page, "--table", "2", "--subject", "Server"]);
    assert!(code == 2 && said.contains("page.md:7:1") && said.contains("--column \"Req/s=throughput_rps\""), "{said}");
    let words = ["--table", "2", "--subject", "Server", "--column", "Req/s=throughput_rps", "--column", "Note="];
    let (printed, said, code) = audit(&[[page].as_slice(), &words, &["--format", "json"]].concat());
    assert_eq!((said.as_str(), code), ("", 0), "{printed}");
    assert!(printed.contains("\"line\": 10") && printed.contains("9950.20"), "{printed}");
}

#[test]
fn what_holds_no_table_is_told_by_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let said = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let (_, said, code) = audit(&[path.to_str().unwrap()]);
        assert_eq!(code, 2, "{said}");
        said
    };
    assert!(said("program", b"\x7fELF\xff\xfe").contains("has no table: it is a binary file"));
    assert!(said("empty.csv", b"").contains("has no table: it is an empty file"));
    assert!(
        said("mine.toml", b"subjects = ['a']\n[[scenario]]\n")
            .contains("it is a study; to see what it would do: tolok plan")
    );
    assert!(said("run.json", b"{}").contains("has no table that tolok knows"));
    let (_, said, code) = audit(&[folder.path().to_str().unwrap()]);
    assert!(code == 2 && said.contains("is not a table but the folder of a run; to read it: tolok report"), "{said}");
}
