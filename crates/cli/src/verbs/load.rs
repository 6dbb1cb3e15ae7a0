//! `tolok load`: the load engine alone.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tolok_lab::tools::ToolEvent;
use tolok_load::clock::{Clock, SystemClock};
use tolok_load::event::Event;
use tolok_load::options::{ConnectionPolicy, Executor, ExpectBody, ExpectStatus, Method as LoadMethod, Options};
use tolok_load::record::{Distribution, Record, SecondRow};

use crate::args::{LoadArgs, Method, PlanFormat};
use crate::exit::{Complaint, Exit};
use crate::output::{json, put, say};

/// Puts load on a URL and says what became of it.
pub fn load(args: &LoadArgs) -> Result<Exit, Complaint> {
    let options = options(args)?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let failed = |error| Complaint::new(Exit::Internal, format!("cannot listen for Ctrl-C: {error}"));
        signal_hook::flag::register(signal, stop.clone()).map_err(failed)?;
    }
    let shown = std::io::stderr().is_terminal() && !args.events;
    let mut tell = |event: Event| match args.events {
        true => tell_laboratory(&event, args.duration),
        false if shown => tell_person(&event),
        false => {}
    };
    let record = tolok_load::run(&options, &stop, &mut tell)?;
    let text = match args.format {
        PlanFormat::Json => json(&record)?,
        PlanFormat::Text => describe(&record),
    };
    put(&text, None)?;
    Ok(match &record.ledger {
        _ if record.interrupted => Exit::Interrupted,
        // The laboratory judges for itself; a record with failures is what it asked for.
        _ if args.events => Exit::Done,
        ledger if ledger.good == 0 || ledger.failed > 0 || !ledger.closes() => Exit::GateFailed,
        _ => Exit::Done,
    })
}

fn options(args: &LoadArgs) -> Result<Options, Complaint> {
    let mut options = Options::new(&args.url)?;
    options.executor = Executor::ConstantVus { vus: args.vus, duration: args.duration };
    options.warm_up = args.warmup;
    options.timeout = args.timeout;
    options.connect_timeout = options.connect_timeout.min(args.timeout);
    options.grace = args.grace;
    options.headers = args.headers.clone();
    options.method = match args.method {
        Method::Get => LoadMethod::Get,
        Method::Head => LoadMethod::Head,
    };
    if args.no_keepalive {
        options.connection = ConnectionPolicy::PerRequest;
    }
    if let Some(status) = args.expect_status {
        options.expect.status = ExpectStatus::Exactly(status);
    }
    if let Some(path) = &args.expect_body {
        let read = std::fs::read(path);
        let body = read.map_err(|error| {
            Complaint::new(Exit::Usage, format!("cannot read the expected body {}: {error}", path.display()))
        })?;
        options.expect.body = ExpectBody::Exactly(body);
    }
    Ok(options)
}

/// One JSON line for each moment that the laboratory acts on.
fn tell_laboratory(event: &Event, window: Duration) {
    let told = match event {
        Event::WarmupStarted => return,
        // When it is told and not when it was planned: an engine that had no CPU at the border put on no load meanwhile.
        Event::WindowStarted { .. } => ToolEvent::WindowStarted { monotonic_ns: SystemClock.now().0 },
        // The laboratory reads every process at each line. A second that ends where the window begins or ends would make
        // it do so twice in a row, and late for the border.
        Event::Second(row) if ends_at_border(row, window) => return,
        Event::Second(_) => ToolEvent::Second,
        Event::WindowEnded { monotonic_ns } => ToolEvent::WindowEnded { monotonic_ns: *monotonic_ns },
    };
    if let Ok(line) = serde_json::to_string(&told) {
        say(line);
    }
}

fn ends_at_border(row: &SecondRow, window: Duration) -> bool {
    let end_s = row.start_s + row.duration_s;
    [0.0, window.as_secs_f64()].iter().any(|border_s| (end_s - border_s).abs() < 1e-6)
}

fn tell_person(event: &Event) {
    match event {
        Event::WarmupStarted => say("warming up"),
        Event::WindowStarted { .. } => say("measuring"),
        Event::Second(row) => {
            let p99 = row.p99_s.map(|p99| format!(", p99 {}", time(p99))).unwrap_or_default();
            let failed = if row.failed > 0 { format!(", {} failed", row.failed) } else { String::new() };
            say(format!("  {:>4} s  {:>8} good{failed}{p99}", row.start_s.round(), row.good));
        }
        Event::WindowEnded { .. } => {}
    }
}

/// The record in words.
fn describe(record: &Record) -> String {
    let plan = &record.plan;
    let mut text = format!(
        "{} · {} {} virtual users ({} loop) · {:.1} s\n\n",
        plan.url,
        plan.vus,
        plan.executor,
        match plan.loop_model {
            tolok_load::record::LoopModel::Closed => "closed",
            tolok_load::record::LoopModel::Open => "open",
        },
        record.window_s,
    );
    let rate = record.goodput_rps.unwrap_or_default();
    let _ = writeln!(text, "  good answers  {:>10.0} /s   {} in all", rate, record.ledger.good);
    let received = record.received_bytes as f64 / record.window_s.max(f64::MIN_POSITIVE) / 1e6;
    let _ = writeln!(text, "  received      {received:>10.1} MB/s");
    let busy = record.generator_busy.unwrap_or_default() * 100.0;
    let _ = writeln!(text, "  generator     {busy:>10.0} % of one CPU\n");
    describe_distribution(&mut text, "response time", &record.response_time);
    describe_distribution(&mut text, "time to connect", &record.connect_time);
    if record.ledger.failed > 0 {
        describe_distribution(&mut text, "time to failure", &record.failure_time);
    }
    describe_ledger(&mut text, record);
    if busy > 85.0 {
        let _ =
            writeln!(text, "! the generator was {busy:.0} % busy: these figures are its limit as much as the server's");
    }
    if plan.loop_model == tolok_load::record::LoopModel::Closed {
        let _ = writeln!(
            text,
            "! closed loop: a slow answer delays the next request, so these percentiles hold for {} users only",
            plan.vus
        );
    }
    text
}

fn describe_distribution(text: &mut String, name: &str, distribution: &Distribution) {
    let wanted = [0.5, 0.9, 0.99, 0.999];
    let figures: Vec<String> = wanted
        .iter()
        .map(|quantile| {
            let found = distribution.percentiles.iter().find(|one| (one.quantile - quantile).abs() < 1e-9);
            let value = found.and_then(|one| one.latency_s).map_or_else(|| "–".to_owned(), time);
            format!("p{} {value}", quantile * 100.0)
        })
        .collect();
    let max = distribution.max_s.map_or_else(|| "–".to_owned(), time);
    let _ = writeln!(text, "  {name:<16} {}  max {max}", figures.join("  "));
}

fn describe_ledger(text: &mut String, record: &Record) {
    let ledger = &record.ledger;
    let _ = writeln!(
        text,
        "\n  sent {} = good {} + failed {} + in flight at the end {}",
        ledger.sent, ledger.good, ledger.failed, ledger.in_flight_at_end
    );
    for (class, count) in &ledger.failed_by_class {
        let example = record.error_examples.iter().find(|example| example.class == *class);
        let words = example.map(|example| example.text.as_str()).unwrap_or_default();
        let _ = writeln!(text, "    {count:>8} {:<16} {words}", class.name());
    }
    let connections = &record.connections;
    let _ = writeln!(
        text,
        "  connections {} opened, {} failed, {} never answered",
        connections.opened, connections.failed, connections.never_answered
    );
}

fn time(seconds: f64) -> String {
    match Duration::from_secs_f64(seconds.max(0.0)).as_micros() {
        0..1_000 => format!("{:.0} µs", seconds * 1e6),
        1_000..1_000_000 => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}
