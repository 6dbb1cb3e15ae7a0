//! Versions of a program beside the one that the machine has.

use super::*;

/// An npm whose package has a Bun that prints this version.
fn program_npm(lab: &Lab, says: &str) {
    let package = if cfg!(target_arch = "aarch64") { "@oven/bun-linux-aarch64" } else { "@oven/bun-linux-x64" };
    lab.program(
        "bin/npm",
        &format!(
            r#"echo "$@" > {}; bin=$3/node_modules/{package}/bin; mkdir -p $bin
            printf '#!/bin/sh\necho {says}\n' > $bin/bun; chmod +x $bin/bun"#,
            lab.path("npm-arguments").display()
        ),
    );
}

#[test]
fn a_version_stands_beside_the_programs_own_and_is_never_taken_for_it() {
    let lab = Lab::debian();
    lab.program("bin/bun", "echo 1.4.5");
    program_npm(&lab, "1.0.0");
    let missing = lab.detect("bun@1.0.0");
    assert!(
        matches!(&missing, ProgramState::Missing { remedy: Remedy::Fetch { program, from }, .. }
            if program == "bun@1.0.0" && from.starts_with("npm package @oven/bun-linux-") && from.ends_with(" 1.0.0")),
        "the Bun on PATH is another version: {missing:?}"
    );
    let (outcome, _) = fetch(&lab.toolbox(), &["bun@1.0.0"]);
    assert!(outcome.failed.is_empty(), "{outcome:?}");
    let (own, old) = (lab.ready("bun"), lab.ready("bun@1.0.0"));
    assert_eq!((own.version.as_str(), own.source), ("1.4.5", Source::System));
    assert_eq!((old.version.as_str(), old.title.as_str(), old.source), ("1.0.0", "Bun@1.0.0", Source::Toolbox));
    let arguments = fs::read_to_string(lab.path("npm-arguments")).unwrap();
    assert!(arguments.contains("--ignore-scripts") && arguments.trim_end().ends_with("@1.0.0"), "{arguments}");
    assert_eq!(entries(&lab.path("toolbox/versions")), ["bun@1.0.0"]);
}

#[test]
fn what_says_another_version_than_was_asked_for_is_broken() {
    let lab = Lab::debian();
    program_npm(&lab, "1.0.1");
    fetch(&lab.toolbox(), &["bun@1.0.0"]);
    let state = lab.detect("bun@1.0.0");
    assert!(matches!(&state, ProgramState::Broken { seen, .. } if seen.contains("1.0.0 was asked for")), "{state:?}");
}

#[test]
fn a_go_fetches_its_own_toolchains() {
    let lab = Lab::debian();
    lab.program(
        "bin/go",
        r#"[ -z "$GOTOOLCHAIN" ] && echo go version go1.26.8 linux/amd64 && exit
        bin=$GOMODCACHE/golang.org/toolchain@v0.0.1-$GOTOOLCHAIN.linux-amd64/bin; mkdir -p $bin
        printf '#!/bin/sh\necho go version %s linux/amd64\n' $GOTOOLCHAIN > $bin/go; chmod +x $bin/go"#,
    );
    let (outcome, _) = fetch(&lab.toolbox(), &["go@1.25.0"]);
    assert!(outcome.failed.is_empty(), "{outcome:?}");
    assert_eq!((lab.ready("go@1.25.0").version.as_str(), lab.ready("go").version.as_str()), ("1.25.0", "1.26.8"));
}

#[test]
fn a_version_that_cannot_be_had_is_refused_by_name() {
    let toolbox = Lab::debian().toolbox();
    let said = |name: &str| toolbox.detect(name).unwrap_err().to_string();
    assert_eq!(
        said("nginx@1.26"),
        "find `nginx@1.26`: versions such as bun@1.0.0 can be fetched of go, node, bun, deno"
    );
    assert!(said("bun@latest").contains("can be fetched of"), "a word may mean another version tomorrow");
    assert!(said("bun@../../x").contains("can be fetched of"));
    assert!(said("bum@1.0.0").contains("`bum`"));
}
