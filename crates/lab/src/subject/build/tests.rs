//! Builds that are made once, repeated, failed, and concurrent. The command is a line of shell.

use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;
use tolok_model::Build;

use super::*;

/// A subject whose build is one line of shell, its sources, and a folder for builds.
struct Workshop {
    root: TempDir,
    subject: Subject,
}

impl Workshop {
    fn new(shell: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("sources")).unwrap();
        fs::write(root.path().join("sources/main.go"), "package main").unwrap();
        let text =
            "title='T'\nruntime='go'\nworkloads=['hello']\n[variant.plain]\n[[process]]\nname='s'\ncommand=['s']\n";
        let mut subject = Subject::read("go/example", text).unwrap();
        let command = ["/bin/sh", "-c", shell].map(str::to_owned).to_vec();
        let env = BTreeMap::from([("MADE".to_owned(), "{{ build }}/made".to_owned())]);
        subject.build = Some(Build { command, env, inputs: Vec::new() });
        Self { root, subject }
    }

    fn builds(&self) -> Builds {
        Builds::new(self.root.path().join("builds"))
    }

    fn sources(&self) -> PathBuf {
        self.root.path().join("sources")
    }

    /// The folder of the build with these programs.
    fn folder(&self, programs: &[&str]) -> PathBuf {
        let programs: Vec<String> = programs.iter().map(|program| (*program).to_owned()).collect();
        self.builds().folder(&self.subject, &self.sources(), &programs).unwrap()
    }

    fn build(&self, is_wanted: &dyn Fn() -> bool) -> Result<PathBuf, BuildError> {
        let folder = self.folder(&["go 1.26"]);
        let names = BuildNames {
            subject: self.sources().display().to_string(),
            build: folder.display().to_string(),
            layout: 0,
            program: BTreeMap::new(),
        };
        let job = BuildJob { subject: &self.subject, sources: &self.sources(), names: &names, env: &BTreeMap::new() };
        self.builds().build(&job, is_wanted).map(|()| folder)
    }

    /// How often the command ran: each run adds a line to a file in the root.
    fn times_built(&self) -> usize {
        fs::read_to_string(self.root.path().join("times")).unwrap_or_default().lines().count()
    }
}

const COUNTED: &str = "echo once >> ../times && cp main.go $MADE";

#[test]
fn the_same_sources_are_built_once() {
    let workshop = Workshop::new(COUNTED);
    let folder = workshop.build(&|| true).unwrap();
    assert_eq!(workshop.build(&|| true).unwrap(), folder);
    assert_eq!(workshop.times_built(), 1);
    assert_eq!(fs::read_to_string(folder.join("made")).unwrap(), "package main");
    assert!(workshop.builds().is_built(&folder));
}

#[test]
fn a_changed_file_builds_anew() {
    let workshop = Workshop::new(COUNTED);
    let before = workshop.build(&|| true).unwrap();
    fs::write(workshop.sources().join("main.go"), "package other").unwrap();
    let after = workshop.build(&|| true).unwrap();
    assert_ne!(before, after);
    assert_eq!(workshop.times_built(), 2);
}

#[test]
fn names_places_and_programs_count_as_much_as_content() {
    let workshop = Workshop::new(COUNTED);
    let sources = workshop.sources();
    let mut seen = vec![workshop.folder(&["go 1.26"]), workshop.folder(&["go 1.27"]), workshop.folder(&[])];
    fs::rename(sources.join("main.go"), sources.join("maine.go")).unwrap();
    seen.push(workshop.folder(&["go 1.26"]));
    fs::create_dir(sources.join("inner")).unwrap();
    fs::rename(sources.join("maine.go"), sources.join("inner/maine.go")).unwrap();
    seen.push(workshop.folder(&["go 1.26"]));
    let different: std::collections::BTreeSet<&PathBuf> = seen.iter().collect();
    assert_eq!(different.len(), seen.len(), "{seen:?}");
}

#[test]
fn a_command_that_fails_says_so_with_its_last_words_and_is_tried_again() {
    let workshop = Workshop::new("echo once >> ../times; touch $MADE; echo main.go:1: syntax error >&2; exit 3");
    let error = workshop.build(&|| true).unwrap_err();
    assert!(error.to_string().ends_with("` ended with exit status: 3"), "{error}");
    let BuildError::Command { tail, .. } = error else { panic!("{error}") };
    assert_eq!(tail, ["main.go:1: syntax error"]);
    assert!(!workshop.builds().is_built(&workshop.folder(&["go 1.26"])));
    assert!(workshop.build(&|| true).is_err());
    assert_eq!(workshop.times_built(), 2);
}

#[test]
fn a_build_begins_without_what_a_failed_one_left() {
    let workshop = Workshop::new("test ! -e $MADE && touch $MADE && test -e ../repaired");
    assert!(workshop.build(&|| true).is_err());
    fs::write(workshop.root.path().join("repaired"), "").unwrap();
    assert!(workshop.build(&|| true).is_ok());
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let mut workshop = Workshop::new("");
    workshop.subject.build.as_mut().unwrap().command = vec!["/nonexistent/go".to_owned(), "build".to_owned()];
    let expect = "`/nonexistent/go build` cannot be run: No such file or directory (os error 2)";
    assert_eq!(workshop.build(&|| true).unwrap_err().to_string(), expect);
}

#[test]
fn several_builders_at_once_build_once() {
    // Later builders wait for the first, and then find the build complete.
    let workshop = Workshop::new(COUNTED);
    std::thread::scope(|scope| {
        let builders = [(); 4].map(|()| scope.spawn(|| workshop.build(&|| true)));
        builders.into_iter().for_each(|builder| drop(builder.join().unwrap().unwrap()));
    });
    assert_eq!(workshop.times_built(), 1);
}

#[test]
fn a_build_that_is_not_wanted_any_more_is_killed_with_all_it_started() {
    // The fifo ends when its last writer has ended: the shell and its child.
    let workshop = Workshop::new("exec 3> ../alive; sleep 1000 & wait");
    let fifo = workshop.root.path().join("alive");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::from(0o600), 0).unwrap();
    let began = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut alive = File::open(&fifo).unwrap();
            began.store(true, Ordering::SeqCst);
            io::Read::read_to_end(&mut alive, &mut Vec::new()).unwrap()
        });
        let stopped = workshop.build(&|| !began.load(Ordering::SeqCst));
        assert!(matches!(stopped, Err(BuildError::Stopped)), "{stopped:?}");
        assert_eq!(watcher.join().unwrap(), 0);
    });
    assert!(!workshop.builds().is_built(&workshop.folder(&["go 1.26"])));
}

#[test]
fn waiting_for_another_builder_can_be_stopped() {
    let workshop = Workshop::new(COUNTED);
    let _other = lock_beside(&workshop.folder(&["go 1.26"]), &|| true).unwrap();
    assert!(matches!(workshop.build(&|| false), Err(BuildError::Stopped)));
    assert_eq!(workshop.times_built(), 0);
}

#[test]
fn a_link_that_leads_to_no_file_counts_by_where_it_leads() {
    let workshop = Workshop::new(COUNTED);
    let folder = || workshop.builds().folder(&workshop.subject, &workshop.sources(), &[]).unwrap();
    let plain = folder();
    for (to, name) in [("nowhere", "dangling"), (".", "itself")] {
        std::os::unix::fs::symlink(to, workshop.sources().join(name)).unwrap();
        assert_ne!(folder(), plain, "{name}");
        std::fs::remove_file(workshop.sources().join(name)).unwrap();
    }
    assert_eq!(folder(), plain);
}

#[test]
fn sources_that_cannot_be_read_are_named() {
    let workshop = Workshop::new(COUNTED);
    let path = workshop.sources().join("gone");
    let error = workshop.builds().folder(&workshop.subject, &path, &[]).unwrap_err();
    let expect = format!(
        "cannot build: {}: No such file or directory (os error 2); see whether the subject's files are whole, and whether there is \
         room in XDG_CACHE_HOME",
        path.display()
    );
    assert_eq!(error.to_string(), expect);
}
