//! What a fetch does, and what it leaves after failures.

use super::*;

/// An npm that creates a Bun in the given place, and counts its calls.
pub(super) fn program_npm(lab: &Lab) {
    let calls = lab.path("npm-calls");
    lab.program(
        "bin/npm",
        &format!(
            "echo called >> {}; bin=$3/node_modules/@oven/bun-linux-x64/bin; mkdir -p $bin
             printf '#!/bin/sh\\necho 1.4.5\\n' > $bin/bun; chmod +x $bin/bun",
            calls.display()
        ),
    );
}

pub(super) fn fetch(toolbox: &Toolbox, names: &[&str]) -> (FetchOutcome, Vec<FetchEvent>) {
    let mut events = Vec::new();
    let plan = toolbox.plan(names).unwrap();
    let outcome = toolbox.fetch(&plan, &mut |event| events.push(event)).unwrap();
    (outcome, events)
}

pub(super) fn entries(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn an_npm_package_is_fetched_recorded_and_found() {
    let lab = Lab::debian();
    program_npm(&lab);
    let (outcome, events) = fetch(&lab.toolbox(), &["bun"]);
    assert_eq!((outcome.fetched, outcome.failed.len()), (vec!["bun".to_owned()], 0));
    assert!(
        matches!(events.as_slice(), [FetchEvent::Step { number: 1, of: 1, .. }, FetchEvent::Started { command }, FetchEvent::Finished { succeeded: true, .. }]
            if command.contains("npm ci --prefix")),
        "{events:?}"
    );
    assert_eq!(lab.ready("bun").version, "1.4.5");
    assert_eq!(entries(&lab.path("toolbox")), ["installed.json", "lock", "npm"], "nothing else is left");
    assert!(fs::read_to_string(lab.path("toolbox/installed.json")).unwrap().contains(r#""bun": "1.4.5""#));
}

#[test]
fn a_failed_fetch_shows_the_end_of_the_output_and_leaves_the_old_program() {
    let lab = Lab::debian();
    program_npm(&lab);
    fetch(&lab.toolbox(), &["bun"]);
    lab.program(
        "bin/npm",
        "mkdir -p $3/node_modules; seq 100; echo 'npm error ENOSPC no space left on device' >&2; exit 228",
    );
    let (outcome, _) = fetch(&lab.toolbox(), &["bun"]);
    let [failure] = outcome.failed.as_slice() else { panic!("{outcome:?}") };
    let message = failure.error.to_string();
    assert!(message.starts_with("run `npm_config_update_notifier=false npm ci "), "{message}");
    assert!(message.contains("(exit status: 228)"), "{message}");
    assert!(message.ends_with("\n  100\n  npm error ENOSPC no space left on device"), "{message}");
    assert_eq!(message.lines().count(), 13, "{message}");
    assert_eq!(lab.ready("bun").version, "1.4.5", "the old one still works");
    assert_eq!(entries(&lab.path("toolbox")), ["installed.json", "lock", "npm"]);
}

#[test]
fn a_failed_step_does_not_stop_the_others() {
    let lab = Lab::debian();
    program_npm(&lab);
    lab.program("bin/apt-get", "echo 'E: Unable to locate package nginx' >&2; exit 100");
    let (outcome, _) = fetch(&lab.toolbox(), &["nginx", "bun"]);
    assert_eq!(outcome.fetched, ["bun"]);
    assert_eq!(outcome.failed[0].programs, ["nginx"]);
    assert!(outcome.failed[0].error.to_string().contains("Unable to locate package nginx"));
}

/// An apt whose packages are empty files named after the request, and a dpkg-deb that makes a program of each.
pub(super) fn program_apt(lab: &Lab) {
    lab.program(
        "bin/apt-get",
        r#"staging=${APT_CONFIG%/apt.conf}; test -f $APT_CONFIG || exit 9
        case "$*" in *update) exit 0;; esac
        shift 4; for package in libc6 "$@"; do : > $staging/cache/archives/${package}_1.0_all.deb; done"#,
    );
    lab.program(
        "bin/dpkg-deb",
        r#"name=$(basename $2 _1.0_all.deb); mkdir -p $3/usr/sbin
        printf '#!/bin/sh\necho nginx version: nginx/1.22.1; echo PHP Version =\> 8.2.0\n' > $3/usr/sbin/$name
        chmod +x $3/usr/sbin/$name"#,
    );
}

#[test]
fn debian_packages_become_one_tree() {
    let lab = Lab::debian();
    program_apt(&lab);
    let (outcome, _) = fetch(&lab.toolbox(), &["nginx"]);
    assert!(outcome.failed.is_empty(), "{outcome:?}");
    assert_eq!(lab.ready("nginx").source, Source::Toolbox);
    let (outcome, _) = fetch(&lab.toolbox(), &["php_fpm"]);
    assert!(outcome.failed.is_empty(), "{outcome:?}");
    assert!(lab.detect("php_fpm").ready().is_some() && lab.detect("nginx").ready().is_some());
    assert_eq!(entries(&lab.path("toolbox")), ["installed.json", "lock", "root"]);
    let record = fs::read_to_string(lab.path("toolbox/installed.json")).unwrap();
    assert!(record.contains(r#""name": "php-fpm""#) && record.contains(r#""name": "nginx""#), "{record}");
    assert!(!record.contains("libc6"), "the C library stays the system's: {record}");
}

#[test]
fn a_plan_made_before_another_fetch_does_not_undo_it() {
    let lab = Lab::debian();
    program_apt(&lab);
    let toolbox = lab.toolbox();
    let old_plan = toolbox.plan(&["php_fpm"]).unwrap();
    fetch(&toolbox, &["nginx"]);
    toolbox.fetch(&old_plan, &mut |_| ()).unwrap();
    assert!(lab.detect("php_fpm").ready().is_some() && lab.detect("nginx").ready().is_some());
}

#[test]
fn of_two_fetches_at_once_one_waits_and_finds_the_work_done() {
    let lab = Lab::debian();
    program_npm(&lab);
    // The first fetch's npm ends only after the second fetch has reported that it waits.
    let npm = fs::read_to_string(lab.path("bin/npm")).unwrap();
    let sign = lab.path("second-waits");
    let wait = format!("for i in $(seq 3000); do test -e {} && exit; sleep 0.01; done; exit 1", sign.display());
    lab.program("bin/npm", &format!("{npm}\n{wait}"));
    let toolbox = lab.toolbox();
    let plan = toolbox.plan(&["bun"]).unwrap();
    std::thread::scope(|scope| {
        let (started, first_started) = std::sync::mpsc::channel();
        let (toolbox, plan) = (&toolbox, &plan);
        let first = scope.spawn(move || toolbox.fetch(plan, &mut |_| started.send(()).unwrap()).unwrap());
        first_started.recv().unwrap();
        let mut waited = false;
        let second = toolbox.fetch(plan, &mut |event| {
            if matches!(event, FetchEvent::Waiting { .. }) {
                waited = true;
                lab.write("second-waits", "");
            }
        });
        assert!(waited);
        assert_eq!(second.unwrap().fetched, ["bun"]);
        assert_eq!(first.join().unwrap().fetched, ["bun"]);
    });
    assert_eq!(fs::read_to_string(lab.path("npm-calls")).unwrap(), "called\n", "the work was done once");
}

#[test]
fn what_a_killed_fetch_left_is_never_used_and_is_removed() {
    let lab = Lab::debian();
    program_npm(&lab);
    lab.program("toolbox/staging-1/bun/node_modules/@oven/bun-linux-x64/bin/bun", "echo 1.4.5");
    lab.program("toolbox/staging-1/root/usr/sbin/nginx", "echo nginx version: nginx/1.22.1");
    lab.missing("bun");
    lab.missing("nginx");
    fetch(&lab.toolbox(), &["bun"]);
    assert!(!lab.path("toolbox/staging-1").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_one_clear_sentence() {
    let lab = Lab::debian();
    lab.write("toolbox", "a file, where the folder should be");
    let toolbox = lab.toolbox();
    let error = toolbox.fetch(&toolbox.plan(&["bun"]).unwrap(), &mut |_| ()).unwrap_err().to_string();
    let start = format!("write {}: ", lab.path("toolbox").display());
    assert!(
        error.starts_with(&start)
            && error.ends_with("set TOLOK_TOOLBOX to a folder that has room and that you may write to"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn swoole_is_built_and_a_refusal_of_its_source_is_shown() {
    let lab = Lab::debian();
    lab.program("bin/php", PHP_INFO);
    lab.program(
        "bin/pecl",
        r"mkdir swoole-6.2.2; printf '#!/bin/sh\necho configured\n' > swoole-6.2.2/configure
        chmod +x swoole-6.2.2/configure; touch swoole-6.2.2/config.m4 package.xml
        tar -czf swoole-6.2.2.tgz package.xml swoole-6.2.2",
    );
    lab.program("bin/make", "test -x configure && mkdir modules && echo so > modules/swoole.so");
    for name in ["phpize", "php-config", "c++", "strip"] {
        lab.program(&format!("bin/{name}"), "exit 0");
    }
    let (outcome, _) = fetch(&lab.toolbox(), &["swoole"]);
    assert!(outcome.failed.is_empty(), "{outcome:?}");
    assert_eq!(fs::read_to_string(lab.path("toolbox/swoole/swoole.so")).unwrap(), "so\n");
    assert!(
        fs::read_to_string(lab.path("toolbox/installed.json")).unwrap().contains(r#""swoole": "swoole-6.2.2.tgz""#)
    );

    lab.program("bin/pecl", "echo 'No releases available for package swoole'; exit 1");
    let (outcome, _) = fetch(&lab.toolbox(), &["swoole"]);
    assert!(outcome.failed[0].optional);
    assert!(outcome.failed[0].error.to_string().contains("No releases available"));
}
