//! A small catalogue, and problems as lines of text.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use std::collections::BTreeMap;

use tolok_model::{Catalogue, Here, Problem, Subject, SubjectChoice, Workload};

/// Three subjects and a ceiling, three workloads.
pub fn catalogue() -> Catalogue {
    let php = r#"
        title = "PHP-FPM"
        runtime = "php-fpm"
        workloads = ["hello", "json"]
        default = "pool"
        process = [{ name = "fpm", command = ["php-fpm"] }]
        parameter.pool.default = 16
        parameter.mode.default = "static"
        [variant.pool]
        [variant.jit]
        set = { pool = 8 }
        workloads = ["json"]
    "#;
    let plain = |id: &str, role: &str, workloads: &str| {
        let text = format!(
            "title = '{id}'\nruntime = '{id}'\nrole = '{role}'\nworkloads = {workloads}\n\
             process = [{{ name = 'server', command = ['server'] }}]"
        );
        Subject::read(id, &text).unwrap()
    };
    let workload = |name: &str| {
        let text = format!(
            "title = '{name}'\nrequest = {{ path = '/{name}' }}\nanswer = {{ content-type = 'text/plain', body = 'b' }}"
        );
        Workload::read(name, &text).unwrap()
    };
    Catalogue {
        subjects: vec![
            plain("bun/serve", "subject", "['hello', 'json', 'file']"),
            plain("go/nethttp", "subject", "['hello', 'json', 'file']"),
            Subject::read("php/fpm", php).unwrap(),
            plain("rust/ceiling", "ceiling", "['hello', 'json', 'file']"),
        ],
        workloads: vec![workload("file"), workload("hello"), workload("json")],
        programs: Vec::new(),
    }
}

/// The small catalogue plus two workloads that use a database. `bun/serve` and `php/fpm` serve both, and the ceiling
/// serves `rows`. `php/fpm` needs one more program for them.
pub fn catalogue_with_data() -> Catalogue {
    let mut catalogue = catalogue();
    let rows = "title = 'Rows'\ndatabase = true\nrequest.path = '/rows'\n[answer]\ncontent-type = 'application/json'\n\
                body.data = 'rows'\n[parameter]\nfields = { default = 40, one-of = [40, 50], help = 'columns' }\n\
                limit = { default = 10000, least = 1, most = 10000, help = 'rows of the answer' }\n";
    let query = "title = 'Query'\ndatabase = true\nrequest.path = '/query'\n\
                 answer = { content-type = 'application/json', body.data = 'query' }";
    catalogue.workloads.push(Workload::read("query", query).unwrap());
    catalogue.workloads.push(Workload::read("rows", rows).unwrap());
    let served =
        [("bun/serve", ["rows", "query"].as_slice()), ("php/fpm", &["rows", "query"]), ("rust/ceiling", &["rows"])];
    for (id, more) in served {
        let subject = catalogue.subjects.iter_mut().find(|subject| subject.id == id).unwrap();
        let variant = subject.variants.get_mut(&subject.default_variant).unwrap();
        variant.workloads.extend(more.iter().map(|name| (*name).to_owned()));
        if id == "php/fpm" {
            subject.database_needs = vec!["pdo_mysql".to_owned()];
        }
    }
    catalogue
}

/// A machine that can do everything.
pub fn everything() -> Here<'static> {
    Here {
        ready: &|_, _| Ok(()),
        ready_for_database: &|_, _, _| Ok(()),
        fits: &|_| Ok(()),
        tool: &|_| Ok(()),
        database: &|_, _| Ok(()),
    }
}

/// The values of a choice as `mode=static pool=8`.
pub fn values(choice: &SubjectChoice) -> String {
    let parameters: &BTreeMap<_, _> = &choice.parameters;
    parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Each problem as `line:column «what it points at» message (help)`.
pub fn listed(text: &str, problems: &[Problem]) -> String {
    let line = |problem: &Problem| {
        let (line, column) = problem.line_column(text);
        let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{line}:{column} «{}» {}{help}", &text[problem.span.clone()], problem.message)
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}
