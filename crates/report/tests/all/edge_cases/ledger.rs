//! Runs whose subjects had unequal resources, and one with more scenarios than fit a glance.

use tolok_analysis::{Findings, ParameterSetup, ProcessSetup, SubjectSetup, VariantSetup};
use tolok_model::{Measurement, NetworkBytes, ParameterValue};

use crate::invented::{APACHE, BUN, CEILING, FPM, GO, InventedRun, NODE, SWOOLE};

/// Subjects with a recorded setup: one does less work, two have many processes, one closes connections, all have headers.
pub fn declared() -> Findings {
    let mut run = InventedRun::new(6);
    for (id, workload, title, body) in [("hello-c64", "hello", "Hello", 22), ("json-c64", "json", "JSON", 27)] {
        run.scenario(id, workload, title, 64);
        run.steady(CEILING, 61_200.0).change(|_, trial| send(trial, body, 209));
        run.steady(GO, 43_900.0).change(|_, trial| send(trial, body, 261));
        run.steady(BUN, 45_100.0).change(|_, trial| send(trial, body, 274));
        run.steady(FPM, 5_310.0).change(|_, trial| send(trial, body, 341));
        if workload == "hello" {
            run.steady(APACHE, 7_840.0).change(|_, trial| {
                send(trial, body, 402);
                trial.ledger.connections = Some(trial.ledger.good / 100);
            });
        }
    }
    let choose = |run: &mut InventedRun, subject: &str, parameters: &[(&str, i64)]| {
        for case in run.plan.cases.iter_mut().filter(|case| case.subject.subject == subject) {
            let values = parameters.iter().map(|(name, value)| ((*name).to_owned(), ParameterValue::Integer(*value)));
            case.subject.parameters = values.collect();
        }
    };
    choose(&mut run, "php/fpm", &[("pool", 32)]);
    choose(&mut run, "php/apache", &[("max_request_workers", 150), ("start_servers", 5)]);
    run.names.subjects.get_mut("go/nethttp").expect("it was added").setup = go();
    run.names.subjects.get_mut("php/fpm").expect("it was added").setup = fpm();
    run.findings()
}

fn go() -> SubjectSetup {
    let less_work = Some("the body of /json is encoded once".to_owned());
    let variant = VariantSetup { help: "its answers are prepared".to_owned(), less_work };
    SubjectSetup {
        summary: "the standard library's HTTP server".to_owned(),
        variants: [("encoder".to_owned(), variant)].into(),
        processes: vec![process(
            "server",
            &["{{ build }}/server", "-port", "{{ port }}"],
            &[("GOMAXPROCS", "{{ cpus }}")],
        )],
        ..SubjectSetup::default()
    }
}

fn fpm() -> SubjectSetup {
    let pool = ParameterSetup { default: "16".to_owned(), help: "PHP-FPM processes (pm.max_children)".to_owned() };
    SubjectSetup {
        summary: "PHP-FPM with a fixed pool, nginx in front over a Unix socket".to_owned(),
        parameters: [("pool".to_owned(), pool)].into(),
        processes: vec![
            process("php-fpm", &["{{ program.php_fpm.path }}", "--nodaemonize"], &[]),
            process("nginx", &["{{ program.nginx.path }}", "-p", "{{ run }}"], &[]),
        ],
        files: ["php.ini", "fpm.conf", "nginx.conf", "htdocs/index.php"].map(str::to_owned).into(),
        ..SubjectSetup::default()
    }
}

fn process(name: &str, command: &[&str], env: &[(&str, &str)]) -> ProcessSetup {
    ProcessSetup {
        name: name.to_owned(),
        command: command.iter().map(|part| (*part).to_owned()).collect(),
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    }
}

fn send(trial: &mut Measurement, body: u64, bytes: u64) {
    let answers = (trial.goodput_rps * trial.window_s).round() as u64;
    trial.body_bytes = answers * body;
    trial.subject.as_mut().expect("tolok started it").network =
        Some(NetworkBytes { received_bytes: answers * bytes, sent_bytes: answers * bytes });
}

/// Four workloads at nine numbers of users each, with five subjects; in one of them nothing can be compared.
pub fn many_scenarios() -> Findings {
    let mut run = InventedRun::new(5);
    let workloads =
        [("hello", "Hello"), ("json", "JSON"), ("quicksort", "Quicksort"), ("file-534k", "PNG file, 534 KB")];
    for (place, (workload, title)) in workloads.into_iter().enumerate() {
        for vus in [1_u32, 2, 4, 8, 16, 32, 64, 128, 256] {
            let slower = 1.0 + place as f64;
            let ahead = if vus < 16 { 1.15 } else { 0.9 };
            run.scenario(&format!("{workload}-c{vus}"), workload, title, vus);
            run.steady(GO, 40_000.0 / slower);
            if vus > 1 || place > 0 {
                run.steady(BUN, 40_000.0 * ahead / slower).steady(NODE, 17_000.0 / slower);
                run.steady(FPM, 5_000.0 / slower).steady(SWOOLE, 7_000.0 / slower);
            }
        }
    }
    run.findings()
}
