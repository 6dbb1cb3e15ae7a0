//! Load generators and timers: how each prints its version, and how k6 and hey are built.

use super::*;

/// A program that prints this text and exits with `status`.
fn prints(lab: &Lab, name: &str, status: u8, text: &str) {
    lab.program(&format!("bin/{name}"), &format!("cat <<'END'\n{text}\nEND\nexit {status}"));
}

#[test]
fn each_tool_says_its_version_in_its_own_way() {
    for (name, program, status, text, version) in [
        ("k6", "k6", 0, "k6 v1.8.1 (go1.26.8, linux/amd64)", "1.8.1"),
        ("k6", "k6", 0, "k6 v0.49.0 (commit/96dfd48c16, go1.21.6, linux/amd64)", "0.49.0"),
        ("wrk", "wrk", 1, "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\nUsage: wrk", "4.1.0-3+b2"),
        ("wrk", "wrk", 1, "wrk 4.2.0 [epoll] Copyright (C) 2012 Will Glozer\nUsage: wrk", "4.2.0"),
        ("ab", "ab", 0, "This is ApacheBench, Version 2.3 <$Revision: 1903618 $>", "2.3 (r1903618)"),
        ("ab", "ab", 0, "This is ApacheBench, Version 2.3 <$Revision$>", "2.3"),
        ("h2load", "h2load", 0, "h2load nghttp2/1.52.0", "1.52.0"),
        ("oha", "oha", 0, "oha 1.16.0", "1.16.0"),
        ("hyperfine", "hyperfine", 0, "hyperfine 1.15.0", "1.15.0"),
        ("gnu_time", "time", 0, "time (GNU Time) 1.9", "1.9"),
        ("gnu_time", "time", 0, "GNU time 1.7", "1.7"),
    ] {
        let lab = Lab::new();
        prints(&lab, program, status, text);
        assert_eq!(lab.ready(name).version, version, "{text}");
    }
}

#[test]
fn another_program_of_the_same_name_is_refused_with_what_it_said() {
    let lab = Lab::new();
    let busybox = "time: unrecognized option '--version'\nBusyBox v1.35.0 multi-call binary.";
    for (status, how) in [(0, "printed no version"), (1, "failed (exit status: 1)")] {
        prints(&lab, "time", status, busybox);
        let seen = lab.broken("gnu_time");
        assert!(seen.contains(how) && seen.contains("BusyBox v1.35.0"), "{seen}");
    }
    prints(&lab, "wrk", 2, "wrk: unknown option");
    assert!(lab.broken("wrk").contains("failed (exit status: 2): wrk: unknown option"));
    prints(&lab, "ab", 0, "AB, the audio bank, Version 2.3");
    assert!(lab.broken("ab").contains("printed no version: AB, the audio bank, Version 2.3"));
    prints(&lab, "hey", 0, "hey 3.0, the greeter");
    assert!(lab.broken("hey").contains("printed no version: hey 3.0, the greeter"));
}

#[test]
fn a_tool_that_is_too_old_is_refused() {
    for (name, program, text, smallest) in [
        ("k6", "k6", "k6 v0.45.1 (go1.20, linux/amd64)", "0.46"),
        ("h2load", "h2load", "h2load nghttp2/1.36.0", "1.40"),
        ("hyperfine", "hyperfine", "hyperfine 1.12.0", "1.13"),
    ] {
        let lab = Lab::new();
        prints(&lab, program, 0, text);
        assert!(lab.broken(name).contains(&format!("and {smallest} is the oldest that will do")), "{text}");
    }
}

/// A system program, with the records of its Debian package.
fn packaged(lab: &Lab, program: &str, text: &str, package: &str) {
    lab.program(&format!("system/usr/bin/{program}"), &format!("cat <<'END'\n{text}\nEND"));
    std::os::unix::fs::symlink(lab.path(&format!("system/usr/bin/{program}")), lab.path(&format!("bin/{program}")))
        .unwrap();
    lab.write(&format!("system/var/lib/dpkg/info/{package}.list"), &format!("/.\n/usr/bin\n/usr/bin/{program}\n"));
    lab.write("system/var/lib/dpkg/status", &format!("Package: {package}\nVersion: 9.1-2\n"));
}

#[test]
fn what_the_program_does_not_know_its_package_tells() {
    const UNKNOWN: &str = "time (GNU Time) UNKNOWN\nCopyright (C) 2018 Free Software Foundation, Inc.";
    let lab = Lab::new();
    packaged(&lab, "time", UNKNOWN, "time");
    assert_eq!(lab.ready("gnu_time").version, "9.1-2");
    packaged(&lab, "ab", "This is ApacheBench, Version 2.3 <$Revision$>", "apache2-utils");
    assert_eq!(lab.ready("ab").version, "2.3 (apache2-utils 9.1-2)");

    fs::remove_file(lab.path("bin/time")).unwrap();
    prints(&lab, "time", 0, UNKNOWN);
    let seen = lab.broken("gnu_time");
    assert!(seen.ends_with("bin/time does not tell its version, and it is written nowhere else"), "{seen}");

    let record = r#"{ "format_version": 1, "apt_asked": ["time"], "npm": {}, "swoole": null,
        "apt": [{ "name": "time", "version": "1.9-0.2", "architecture": "amd64" }] }"#;
    lab.write("toolbox/installed.json", record);
    lab.program("toolbox/root/usr/bin/time", &format!("cat <<'END'\n{UNKNOWN}\nEND"));
    fs::create_dir_all(lab.path("toolbox/root/usr/lib/x86_64-linux-gnu")).unwrap();
    let time = lab.ready("gnu_time");
    assert_eq!((time.version.as_str(), time.source), ("1.9-0.2", Source::Toolbox));
    assert!(time.env.is_empty(), "what it starts must not get the toolbox's libraries: {time:?}");
}

/// A hey that is a script with the linker's note after it.
fn hey(lab: &Lab, path: &str, module: &str) {
    let script = "#!/bin/sh\ncat <<'END'\nUsage: hey [options...] <url>\nEND\nexit\n";
    let mut bytes = script.as_bytes().to_vec();
    bytes.resize(bytes.len().next_multiple_of(16), b'\n');
    bytes.extend(super::super::build_info::tests::program(&format!("path\tgithub.com/rakyll/hey\n{module}\n")));
    lab.program(path, "");
    fs::write(lab.path(path), bytes).unwrap();
}

#[test]
fn the_version_of_hey_is_the_one_that_go_wrote_into_it() {
    let lab = Lab::new();
    hey(&lab, "bin/hey", "mod\tgithub.com/rakyll/hey\tv0.1.5\th1:x=");
    assert_eq!(lab.ready("hey").version, "0.1.5");
    hey(&lab, "bin/hey", "mod\tgithub.com/rakyll/hey\tv0.1.2\th1:x=");
    assert!(lab.broken("hey").contains("is version 0.1.2, and 0.1.4 is the oldest"));
    hey(&lab, "bin/hey", "mod\tgithub.com/rakyll/hey\t(devel)");
    assert!(lab.broken("hey").contains("does not tell its version"));
    hey(&lab, "toolbox/go/hey", "mod\tgithub.com/rakyll/hey\tv0.1.5\th1:x=");
    assert_eq!(lab.ready("hey").source, Source::Toolbox, "the toolbox's is used instead");
}

/// A Go of that version that builds a k6, read-only modules, and a list of its settings.
fn program_go(lab: &Lab, version: &str) {
    let settings = lab.path("go-settings");
    lab.program(
        "bin/go",
        &format!(
            r#"[ "$1" = version ] && echo go version go{version} linux/amd64 && exit
            env | grep -E '^(GO|CGO)' | sort > {}; echo "$@" >> {0}
            mkdir -p $GOMODCACHE/m $GOBIN; [ -d $GOTMPDIR ] || exit 9
            printf '#!/bin/sh\necho "k6 v1.8.1 (go{version}, linux/amd64)"\n' > $GOBIN/k6; chmod +x $GOBIN/k6"#,
            settings.display()
        ),
    );
}

#[test]
fn k6_is_built_recorded_and_found() {
    let lab = Lab::debian();
    program_go(&lab, "1.26.8");
    let toolbox = lab.toolbox();
    let (outcome, events) = fetch(&toolbox, &["k6"]);
    assert!(outcome.failed.is_empty(), "{outcome:?}");
    assert!(
        matches!(events.as_slice(), [FetchEvent::Step { number: 1, of: 1, .. }, FetchEvent::Started { command }, FetchEvent::Finished { succeeded: true, .. }]
            if command.ends_with(" go install go.k6.io/k6@v1.8.1")),
        "{events:?}"
    );
    let k6 = lab.ready("k6");
    assert_eq!((k6.version.as_str(), k6.source), ("1.8.1", Source::Toolbox));
    assert!(k6.env.is_empty() && k6.prefix.is_empty(), "it is not a Debian package: {k6:?}");
    assert_eq!(entries(&lab.path("toolbox")), ["go", "installed.json", "lock"], "no modules and no cache are left");
    assert_eq!(entries(&lab.path("toolbox/go")), ["k6"]);
    assert!(fs::read_to_string(lab.path("toolbox/installed.json")).unwrap().contains(r#""go.k6.io/k6": "v1.8.1""#));

    let settings = fs::read_to_string(lab.path("go-settings")).unwrap();
    let staging = toolbox.staging();
    for (name, folder) in
        [("GOBIN", "bin"), ("GOCACHE", "cache"), ("GOMODCACHE", "modules"), ("GOPATH", "path"), ("GOTMPDIR", "tmp")]
    {
        let line = format!("{name}={}/go/{folder}\n", staging.display());
        assert!(settings.contains(&line), "{line}: {settings}");
    }
    for line in ["CGO_ENABLED=0\n", "GOFLAGS=-modcacherw\n", "GOTOOLCHAIN=local\n", "GOWORK=off\n"] {
        assert!(settings.contains(line), "{line}: {settings}");
    }
}

#[test]
fn a_build_that_fails_shows_the_end_of_its_output_and_leaves_nothing() {
    let lab = Lab::debian();
    program_go(&lab, "1.26.8");
    let go = fs::read_to_string(lab.path("bin/go")).unwrap();
    lab.program("bin/go", &format!("{go}\nseq 100; echo 'go: go.k6.io/k6@v1.8.1: no such host' >&2; exit 1"));
    let (outcome, _) = fetch(&lab.toolbox(), &["k6"]);
    let [failure] = outcome.failed.as_slice() else { panic!("{outcome:?}") };
    let message = failure.error.to_string();
    assert!(message.contains("go install go.k6.io/k6@v1.8.1` (exit status: 1)"), "{message}");
    assert!(message.ends_with("\n  100\n  go: go.k6.io/k6@v1.8.1: no such host"), "{message}");
    assert_eq!(entries(&lab.path("toolbox")), ["lock"]);

    lab.program("bin/go", "[ $1 = version ] && echo go version go1.26.8 linux/amd64; exit 0");
    let (outcome, _) = fetch(&lab.toolbox(), &["k6"]);
    assert_eq!(outcome.failed[0].error.to_string(), "find k6 in what was fetched");
}

#[test]
fn without_a_go_that_is_new_enough_the_remedy_says_which_one_is() {
    let lab = Lab::debian();
    let reason = |name: &str| lab.missing(name);
    assert_eq!(reason("k6").0, "it is built from source with Go 1.25 or newer, but this machine has no Go");
    let Remedy::ByHand { command } = reason("hey").1 else { panic!("{:?}", reason("hey")) };
    assert_eq!(command, "install Go 1.24 or newer as go.dev/doc/install says and run tolok setup hey");

    program_go(&lab, "1.24.9");
    assert_eq!(reason("k6").0, "it is built from source with Go 1.25 or newer, but this machine has Go 1.24.9");
    assert!(matches!(reason("hey").1, Remedy::Fetch { program, .. } if program == "hey"));
    program_go(&lab, "1.21.0");
    assert!(reason("k6").0.contains("but this machine has none that will do: "), "{:?}", reason("k6"));
}

#[test]
fn a_plan_for_tools_says_what_is_downloaded_and_names_what_is_left_to_do() {
    let lab = Lab::debian();
    program_go(&lab, "1.26.8");
    let toolbox = lab.toolbox();
    let text = toolbox.plan(&["k6", "wrk", "ab", "oha"]).unwrap().to_string();
    let text = text.replace(toolbox.staging().to_str().unwrap(), "STAGING");
    insta::assert_snapshot!(text, @r#"
    # wrk, ab (Debian packages apache2-utils, wrk)
    APT_CONFIG=STAGING/apt.conf apt-get --quiet update
    APT_CONFIG=STAGING/apt.conf apt-get --quiet --yes --download-only install apache2-utils wrk
    for package in STAGING/cache/archives/*.deb; do dpkg-deb --extract "$package" STAGING/root; done
    # k6 (Go package go.k6.io/k6 v1.8.1, built from source: some 100 MB of modules, a minute or two)
    CGO_ENABLED=0 GO111MODULE=on GOBIN=STAGING/go/bin GOCACHE=STAGING/go/cache GOFLAGS=-modcacherw GOMODCACHE=STAGING/go/modules GOPATH=STAGING/go/path GOTMPDIR=STAGING/go/tmp GOTOOLCHAIN=local GOWORK=off go install go.k6.io/k6@v1.8.1
    # oha, by hand: tolok cannot put it into the toolbox
    cargo install --locked oha@1.16.0   # compiles for many minutes
    "#);
    let remedy = |name: &str| lab.missing(name).1.to_string();
    assert_eq!(remedy("wrk"), "tolok setup wrk (Debian package wrk)");
    assert_eq!(remedy("gnu_time"), "tolok setup gnu_time (Debian package time)");
    assert!(
        remedy("k6").starts_with("tolok setup k6 (Go package go.k6.io/k6 v1.8.1, built from source: "),
        "{}",
        remedy("k6")
    );
}
