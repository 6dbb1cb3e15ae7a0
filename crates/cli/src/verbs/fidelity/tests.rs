use super::*;

/// Two subjects. One variant of the first cannot be tested, and none of the second.
fn catalogue() -> Catalogue {
    let subject = |id: &str, workloads: &str, variants: &str| {
        let text = format!(
            "title = 'A'\nruntime = 'test'\nworkloads = {workloads}\ndefault = 'single'\n[[process]]\nname = 'server'\n\
             command = ['server']\n{variants}"
        );
        Subject::read(id, &text).unwrap()
    };
    let variants = "[variant.many]\nhelp = 'many processes'\n[variant.single]\nhelp = 'one'\n\
                    [variant.stream]\nhelp = 'streams'\nworkloads = ['hello']\n";
    let subjects = vec![
        subject("test/first", "['hello', 'fidelity']", variants),
        subject("test/second", "['hello']", "[variant.single]\nhelp = 'one'\n"),
    ];
    Catalogue { subjects, ..Catalogue::default() }
}

fn labels(named: &[&str]) -> Result<Vec<String>, String> {
    let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
    let chosen = choose(&named, &catalogue()).map_err(|complaint| complaint.text)?;
    Ok(chosen.into_iter().map(|choice| choice.label).collect())
}

#[test]
fn without_names_all_variants_that_serve_the_workload_are_checked() {
    let all = ["test/first:single".to_owned(), "test/first:many".to_owned()];
    assert_eq!(labels(&[]).unwrap(), all);
    assert_eq!(labels(&["*"]).unwrap(), all);
    assert_eq!(labels(&["test/first:*", "test/first"]).unwrap(), all, "without duplicates");
    assert_eq!(labels(&["test/first"]).unwrap(), all[..1]);
}

#[test]
fn a_subject_that_does_not_serve_the_workload_is_refused_with_those_that_do() {
    let refused = "does not serve the workload `fidelity`; these do: test/first:single, test/first:many";
    for name in ["test/second", "test/second:*", "test/first:stream"] {
        assert_eq!(labels(&[name]).unwrap_err(), format!("error: `{name}` {refused}"));
    }
    assert!(labels(&["test/third"]).unwrap_err().contains("there is no subject `test/third`"));
}
