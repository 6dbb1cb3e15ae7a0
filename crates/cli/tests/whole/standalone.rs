//! The program alone, without its checkout: its built-in files are enough.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::{Place, Said, TOLOK, assert_done, copy_program, shared_turn};

/// A copy of the program in its own folder, with only a home beside it.
pub struct Alone {
    place: Place,
    pub folder: tempfile::TempDir,
    program: PathBuf,
}

impl Alone {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("tolok");
        copy_program(Path::new(TOLOK), &program);
        fs::create_dir(folder.path().join("here")).unwrap();
        Self { place: Place::new(), folder, program }
    }

    pub fn here(&self) -> PathBuf {
        self.folder.path().join("here")
    }

    pub fn tolok(&self, arguments: &[&str]) -> Said {
        self.tolok_in(&self.here(), arguments)
    }

    /// A round of hello, at half the usual length.
    fn short_run(&self, more: &[&str]) -> Said {
        let short = ["run", "--workload", "hello", "--blocks", "1", "--scale", "0.5", "--allow-shared"];
        self.tolok(&[short.as_slice(), more].concat())
    }

    /// Runs tolok in another working folder.
    pub fn tolok_in(&self, folder: &Path, arguments: &[&str]) -> Said {
        let mut command = Command::new(&self.program);
        self.place.settle(command.args(arguments));
        command.current_dir(folder).env_remove("TOLOK_HOME").env_remove("TOLOK_RUNS");
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache"));
        Said::of(command.output().unwrap())
    }
}

#[test]
fn what_comes_with_tolok_is_in_the_program() {
    let alone = Alone::new();
    assert_eq!(alone.tolok(&["--version"]).code, Some(0));
    assert!(!alone.folder.path().join("cache").exists(), "nothing is laid out before it is needed");
    let studies = alone.tolok(&["list", "studies"]);
    assert_eq!(studies.code, Some(0), "{}", studies.progress);
    assert!(studies.output.contains("quick") && studies.output.contains("data-heavy"), "{}", studies.output);
    let audited = alone.tolok(&["audit", "kamarudin-go-bun-php", "--format", "json"]);
    assert!(matches!(audited.code, Some(0 | 3)), "{}", audited.progress);
    let runs = alone.tolok(&["list", "runs"]);
    assert!((runs.output + &runs.progress).contains("here/runs"), "runs are kept in the working folder");
}

#[test]
fn an_interpreted_server_that_comes_with_tolok_is_measured() {
    let _turn = shared_turn();
    let alone = Alone::new();
    let measured = alone.short_run(&["--subjects", "node/http", "--format", "json"]);
    assert_done(measured.code, &(measured.output.clone() + &measured.progress));
    let findings: serde_json::Value = serde_json::from_str(&measured.output).unwrap();
    let case = &findings["scenarios"][0]["cases"][0];
    assert!(case["failures"].as_array().is_none_or(Vec::is_empty), "{case}");
    assert_eq!(case["subject"], "node/http:single");
}

#[test]
fn the_program_may_lie_in_the_folder_of_temporary_files_itself() {
    let _turn = shared_turn();
    let mut alone = Alone::new();
    let lying = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    copy_program(Path::new(TOLOK), &lying);
    fs::set_permissions(&lying, fs::Permissions::from_mode(0o755)).unwrap();
    alone.program = lying.to_path_buf();
    let measured = alone.short_run(&["--subjects", "rust/ceiling"]);
    assert_done(measured.code, &(measured.output.clone() + &measured.progress));
}

#[test]
fn a_server_of_ones_own_is_measured_beside_the_ceiling_into_the_working_folder() {
    let _turn = shared_turn();
    let alone = Alone::new();
    let server = Path::new(TOLOK).with_file_name("faulty-subject");
    assert!(server.is_file(), "{} is not built: cargo build --workspace --bins", server.display());
    let text = format!(
        "title = 'Mine'\nruntime = 'test'\nworkloads = ['hello', 'json']\n[[process]]\nname = 'server'\n\
         command = ['{}', '--port', '{{{{ port }}}}', '--assets', '{{{{ assets }}}}', '--host', '{{{{ host }}}}', '--fault', 'none']\n",
        server.display()
    );
    fs::create_dir(alone.here().join("mine")).unwrap();
    fs::write(alone.here().join("mine/subject.toml"), text).unwrap();
    let measured = alone.tolok(&[
        "run",
        "--subject",
        "./mine",
        "--blocks",
        "1",
        "--scale",
        "0.3",
        "--allow-shared",
        "--format",
        "json",
    ]);
    assert_done(measured.code, &(measured.output.clone() + &measured.progress));
    let findings: serde_json::Value = serde_json::from_str(&measured.output).unwrap();
    assert_eq!(findings["run"]["title"], "Mine");
    assert_eq!(findings["scenarios"][0]["ceiling"]["subject"], "rust/ceiling:epoll", "{findings}");
    let kept: Vec<_> = fs::read_dir(alone.here().join("runs")).unwrap().collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(alone.tolok(&["report", "latest", "--format", "id"]).code, Some(0));
}
