//! The workloads, subjects and studies of this repository are valid.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use std::fs;
use std::path::{Path, PathBuf};

use examples::everything;
use tolok_model::{Body, Catalogue, Plan, Problem, ProgramWorkload, Role, Scale, Study, Subject, Workload};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The entries of a folder, sorted by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Everything readable, and every problem as `file:line:column: message`.
#[derive(Default)]
struct Repository {
    catalogue: Catalogue,
    problems: Vec<String>,
}

impl Repository {
    fn read() -> Self {
        let mut repository = Self::default();
        for folder in entries(&root().join("workloads")) {
            let file = folder.join("workload.toml");
            if fs::read_to_string(&file).is_ok_and(|text| ProgramWorkload::is_meant(&text)) {
                let program = repository.read_file(&file, |text| ProgramWorkload::read(&name(&folder), text));
                repository.catalogue.programs.extend(program);
            } else {
                let workload = repository.read_file(&file, |text| Workload::read(&name(&folder), text));
                repository.catalogue.workloads.extend(workload);
            }
        }
        for runtime in entries(&root().join("subjects")).iter().filter(|path| path.is_dir()) {
            for folder in entries(runtime).iter().filter(|path| path.is_dir()) {
                let id = format!("{}/{}", name(runtime), name(folder));
                let subject = repository.read_file(&folder.join("subject.toml"), |text| Subject::read(&id, text));
                repository.catalogue.subjects.extend(subject);
            }
        }
        repository.catalogue.settle_mixed().unwrap();
        repository
    }

    fn read_file<T>(&mut self, path: &Path, read: impl Fn(&str) -> Result<T, Vec<Problem>>) -> Option<T> {
        let shown = path.strip_prefix(root()).unwrap().display().to_string();
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => {
                self.problems.push(format!("{shown}: {error}"));
                return None;
            }
        };
        let found = read(&text);
        for problem in found.as_ref().err().into_iter().flatten() {
            let (line, column) = problem.line_column(&text);
            let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            self.problems.push(format!("{shown}:{line}:{column}: {}{help}", problem.message));
        }
        found.ok()
    }

    fn studies(&mut self) -> Vec<(String, Study)> {
        let catalogue = self.catalogue.clone();
        self.studies_in(&root().join("studies"), &catalogue)
    }

    /// The studies of published sources, each named `<key>/<part>`.
    fn studies_of_sources(&mut self) -> Vec<(String, Study)> {
        let catalogue = self.catalogue.clone();
        let sources = entries(&root().join("studies/sources"));
        let with_key = |source: &PathBuf, found: Vec<(String, Study)>| {
            found.into_iter().map(|(part, study)| (format!("{}/{part}", name(source)), study)).collect::<Vec<_>>()
        };
        sources.iter().flat_map(|source| with_key(source, self.studies_in(source, &catalogue))).collect()
    }

    fn studies_in(&mut self, folder: &Path, catalogue: &Catalogue) -> Vec<(String, Study)> {
        let files = entries(folder);
        let is_study = |path: &&PathBuf| {
            path.extension().is_some_and(|ending| ending == "toml") && !path.ends_with("replication.toml")
        };
        files
            .iter()
            .filter(is_study)
            .filter_map(|path| {
                let study = self.read_file(path, |text| Study::read(text, catalogue))?;
                Some((name(path), study))
            })
            .collect()
    }

    fn assert_sound(&self) {
        assert!(self.problems.is_empty(), "\n{}\n", self.problems.join("\n"));
    }
}

#[test]
fn workloads_and_subjects_can_be_read() {
    let repository = Repository::read();
    repository.assert_sound();
    let workloads: Vec<&str> = repository.catalogue.workloads.iter().map(|found| found.name.as_str()).collect();
    assert_eq!(
        workloads,
        [
            "compressed",
            "counter",
            "crud",
            "fidelity",
            "file-534k",
            "fortunes",
            "hello",
            "items",
            "json",
            "mixed",
            "pipelined",
            "queries",
            "query",
            "quicksort",
            "react-ssr",
            "rows",
            "static",
            "updates",
            "upload",
            "upstream",
            "validate"
        ]
    );
    let programs: Vec<&str> = repository.catalogue.programs.iter().map(|found| found.name.as_str()).collect();
    assert_eq!(programs, ["queue-async", "queue-sync"]);
    let ceilings = repository.catalogue.subjects.iter().filter(|subject| subject.role == Role::Ceiling);
    assert_eq!(ceilings.count(), 1);
}

#[test]
fn bodies_and_templates_that_are_named_are_there() {
    let Catalogue { subjects, workloads, .. } = Repository::read().catalogue;
    let bodies = workloads.iter().filter_map(|workload| match &workload.body {
        Body::File(file) => Some(root().join("workloads").join(&workload.name).join(file)),
        _ => None,
    });
    let templates = subjects.iter().flat_map(|subject| {
        subject.files.iter().map(|file| root().join("subjects").join(&subject.id).join(&file.from))
    });
    let missing: Vec<PathBuf> = bodies.chain(templates).filter(|path| !path.is_file()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Each subject is a self-contained folder, so what two of them share is a copy and must stay one.
#[test]
fn what_subjects_have_in_common_is_the_same() {
    let script =
        |subject: &str, file: &str| fs::read_to_string(root().join("subjects").join(subject).join(file)).unwrap();
    let same = |file: &str, subjects: &[&str]| {
        for subject in subjects {
            assert!(
                script(subject, file) == script(subjects[0], file),
                "{subject}/{file} differs from {}",
                subjects[0]
            );
        }
    };
    for file in ["index.php", "data.php", "database.php", "quicksort.php", "validate.php", "items.php"] {
        same(file, &["php/fpm", "apache/prefork"]);
    }
    same("fortunes.php", &["php/fpm", "apache/prefork", "php/swoole"]);
    // One application on four runtimes: only the runtime may differ.
    let hono = ["node/hono", "bun/hono", "deno/hono", "workerd/hono"];
    same("app.js", &hono);
    let react = [&hono[..], &["node/react", "bun/react"]].concat();
    same("page.js", &react);
    same("items.js", &[&react[..], &["node/express", "node/fastify", "node/koa", "bun/elysia"]].concat());
    let mut drivers = hono[..3].to_vec();
    drivers.extend(["node/express", "node/fastify", "node/koa", "bun/elysia"]);
    for file in ["database.js", "mysql.js", "postgres.js"] {
        same(file, &drivers);
    }
    same("upstream.js", &[&hono[..], &["node/express", "node/fastify", "node/koa", "bun/elysia"]].concat());
    for file in ["tables.go", "database.go", "engine.go", "crud.go", "items.go", "fortunes.html"] {
        same(file, &["go/chi", "go/fiber", "go/gin"]);
    }
    for file in ["src/tables.rs", "src/database.rs", "src/items.rs", "src/kept.rs"] {
        same(file, &["rust/actix", "rust/axum"]);
    }
    same("views/fortunes.ejs", &["node/express", "node/fastify", "node/koa"]);
    same("items.py", &["python/django", "python/fastapi", "python/flask"]);
    same("cache.py", &["python/django", "python/flask"]);
    same("templates/fortunes.html", &["python/django", "python/fastapi", "python/flask"]);
    let locked = |subject: &str, package: &str| {
        let lock: serde_json::Value = serde_json::from_str(&script(subject, "package-lock.json")).unwrap();
        lock["packages"][format!("node_modules/{package}")]["integrity"].to_string()
    };
    let one = |package: &str, subjects: &[&str]| {
        let first = locked(subjects[0], package);
        assert!(subjects.iter().all(|subject| locked(subject, package) == first), "one {package}");
    };
    one("hono", &hono);
    one("react-dom", &react);
}

#[test]
fn servers_serve_workloads_of_servers_and_programs_those_of_programs() {
    let catalogue = Repository::read().catalogue;
    for subject in &catalogue.subjects {
        let known: Vec<&String> = match &subject.program {
            Some(_) => catalogue.programs.iter().map(|workload| &workload.name).collect(),
            None => catalogue.workloads.iter().map(|workload| &workload.name).collect(),
        };
        for workload in subject.variants.values().flat_map(|variant| &variant.workloads) {
            assert!(known.contains(&workload), "{} serves `{workload}`, which is not among {known:?}", subject.id);
        }
    }
}

/// Reports show their tables side by side, so none of them may lack a row.
#[test]
fn every_program_workload_is_done_by_every_variant_of_the_same_subjects() {
    let catalogue = Repository::read().catalogue;
    let programs: Vec<&Subject> = catalogue.subjects.iter().filter(|subject| subject.program.is_some()).collect();
    let ids: Vec<&str> = programs.iter().map(|subject| subject.id.as_str()).collect();
    assert_eq!(ids, ["bun/queue", "go/queue", "node/queue"]);
    for subject in programs {
        assert!(subject.variants.keys().eq(["parallel", "serial"]), "{}", subject.id);
        for (variant, workload) in
            subject.variants.keys().flat_map(|it| catalogue.programs.iter().map(move |one| (it, one)))
        {
            assert!(subject.workloads(variant).contains(&workload.name), "{}:{variant}: {}", subject.id, workload.name);
        }
    }
}

/// Subjects of a kind that the study does not use are not reported as skipped.
#[test]
fn a_star_means_servers_where_servers_are_asked_and_programs_where_programs_are_timed() {
    let catalogue = Repository::read().catalogue;
    let subjects_of = |asked: &str| -> Vec<String> {
        let study = Study::read(
            &format!("title = 'T'\nsubjects = ['*']\nceiling = false\naa-pair = false\n{asked}"),
            &catalogue,
        )
        .unwrap();
        let plan = Plan::expand(&study, &catalogue, everything(), 1).unwrap();
        assert_eq!(plan.skipped, [], "{asked}");
        plan.cases.into_iter().map(|case| case.subject.subject).collect()
    };
    let servers =
        subjects_of("[[scenario]]\nworkload = 'hello'\nload = { executor = 'constant-vus', vus = 1, duration = '1s' }");
    assert!(servers.contains(&"go/nethttp".to_owned()) && !servers.contains(&"go/queue".to_owned()), "{servers:?}");
    assert_eq!(subjects_of("[[program]]\nworkload = 'queue-sync'"), ["bun/queue", "go/queue", "node/queue"]);
}

#[test]
fn every_parameter_a_command_uses_is_declared_and_the_other_way_round() {
    for subject in Repository::read().catalogue.subjects {
        let folder = root().join("subjects").join(&subject.id);
        let templates = subject.files.iter().map(|file| fs::read_to_string(folder.join(&file.from)).unwrap());
        let commands = subject
            .processes
            .iter()
            .flat_map(|process| process.command.iter().chain(process.env.values()).cloned().collect::<Vec<String>>());
        let build = subject.build.iter().flat_map(|build| build.command.iter().chain(build.env.values()).cloned());
        let program =
            subject.program.iter().flat_map(|program| program.command.iter().chain(program.env.values()).cloned());
        let text: String = templates.chain(commands).chain(program).chain(build).collect::<Vec<String>>().join("\n");
        for parameter in subject.parameters.keys() {
            assert!(text.contains(&format!("parameter.{parameter}")), "{}: `{parameter}` is never used", subject.id);
        }
        for used in text.split("parameter.").skip(1) {
            let name: String = used.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
            assert!(subject.parameters.contains_key(&name), "{}: `{name}` is not declared", subject.id);
        }
    }
}

#[test]
fn studies_can_be_read_and_take_as_long_as_they_say() {
    let mut repository = Repository::read();
    let studies = repository.studies();
    repository.assert_sound();
    let minutes = |file: &str| {
        let (_, study) = studies.iter().find(|(found, _)| found == file).unwrap();
        let plan = Plan::expand(study, &repository.catalogue, everything(), 1).unwrap();
        assert_eq!(plan.skipped, [], "{file}");
        plan.estimate_s() / 60.0
    };
    let (quick, core, open_loop) = (minutes("quick.toml"), minutes("core.toml"), minutes("open-loop.toml"));
    assert!((2.0..=3.0).contains(&quick), "quick.toml takes {quick:.1} min");
    assert!((22.0..=26.0).contains(&core), "core.toml takes {core:.1} min");
    assert!((3.3..3.7).contains(&open_loop), "open-loop.toml takes {open_loop:.1} min");
    let (frameworks, runtimes) = (minutes("frameworks.toml"), minutes("runtimes.toml"));
    assert!((10.0..60.0).contains(&frameworks), "frameworks.toml takes {frameworks:.1} min");
    assert!((5.0..15.0).contains(&runtimes), "runtimes.toml takes {runtimes:.1} min");
    let short_lived = minutes("short-lived.toml");
    assert!((2.0..4.0).contains(&short_lived), "short-lived.toml takes {short_lived:.1} min");
    let heavy = minutes("data-heavy.toml");
    assert!((25.0..60.0).contains(&heavy), "data-heavy.toml takes {heavy:.1} min");
    let (queue, two_cpus, tools) = (minutes("queue.toml"), minutes("queue-parallel.toml"), minutes("tools.toml"));
    assert!((34.0..38.0).contains(&queue), "queue.toml takes {queue:.1} min at most");
    assert!((7.0..11.0).contains(&two_cpus), "queue-parallel.toml takes {two_cpus:.1} min at most");
    assert!((7.0..11.0).contains(&tools), "tools.toml takes {tools:.1} min");
}

/// At the scale that their headers name, all parts of a source together fit into an hour, even with enough CPUs for
/// all.
#[test]
fn studies_of_sources_can_be_read_and_fit_an_hour_in_short() {
    let mut repository = Repository::read();
    let studies = repository.studies_of_sources();
    repository.assert_sound();
    let scales = [
        ("asshuffi-apache-node", 0.25),
        ("astamal-swoole-node-go", 0.1),
        ("kamarudin-go-bun-php", 0.02),
        ("nunez-queue", 0.1),
        ("srivastava-node-bun-go", 0.1),
    ];
    let sources = entries(&root().join("studies/sources"));
    assert!(sources.iter().map(|source| name(source)).eq(scales.map(|(source, _)| source.to_owned())), "{sources:?}");
    for (source, scale) in scales {
        let parts = studies.iter().filter(|(part, _)| part.starts_with(source));
        let minutes: f64 = parts.map(|(part, study)| minutes_of(part, study, scale, &repository.catalogue)).sum();
        assert!((1.0..60.0).contains(&minutes), "{source} takes {minutes:.1} min");
    }
}

fn minutes_of(part: &str, study: &Study, scale: f64, catalogue: &Catalogue) -> f64 {
    let study = study.clone().scaled(Scale::new(scale).unwrap());
    let plan = Plan::expand(&study, catalogue, everything(), 1).unwrap();
    assert_eq!(plan.skipped, [], "{part}");
    plan.estimate_s() / 60.0
}
