//! Invented runs in which several tools load the same server.

use tolok_analysis::{Estimate, ToolRow};
use tolok_model::{
    Arrivals, Executor, FailureKind, LatencyMark, LoadTool, Measurement, Outcome, Scenario, ToolChoice, ToolUsed,
    WireCount,
};

use super::{CEILING, GO, InventedRun};

impl InventedRun {
    /// Adds a scenario like the last one under another tool. Its records have only what such a tool reports, and the wire count.
    pub fn by_tool(&mut self, name: LoadTool) -> &mut Self {
        let last = self.plan.scenarios.last().expect("a scenario comes first").clone();
        let own = last.id.strip_suffix(&format!("-{}", last.tool.name.word())).unwrap_or(&last.id).to_owned();
        let id = if name == LoadTool::Tolok { own } else { format!("{own}-{}", name.word()) };
        self.plan.scenarios.push(Scenario { id, tool: ToolChoice { name, script: None }, ..last });
        self
    }
}

/// All estimates of a row.
pub(super) fn estimates(row: &mut ToolRow) -> impl Iterator<Item = &mut Estimate> {
    let estimates = [
        &mut row.goodput_rps,
        &mut row.wire_rps,
        &mut row.counted_of_wire,
        &mut row.goodput_of_own,
        &mut row.latency_mean_s,
        &mut row.latency_p50_s,
        &mut row.latency_p99_s,
        &mut row.latency_max_s,
        &mut row.little,
        &mut row.generator_cpu_s_per_good,
        &mut row.generator_cpu_of_own,
        &mut row.subject_cpu_s_per_good,
        &mut row.subject_cpu_s_per_wire,
    ];
    estimates.into_iter().flatten()
}

/// The wire count of a trial: every correct response, and some of those in flight at the end.
pub fn count_on_wire(trial: &mut Measurement) {
    let answers_2xx = trial.ledger.good + 16;
    let (window_s, last_answer_s) = (trial.window_s, Some(trial.window_s - 0.01));
    trial.wire = Some(WireCount { answers: answers_2xx, answers_2xx, window_s, last_answer_s });
}

/// Removes what another tool does not report from a measurement.
pub(super) fn tell_less(trial: &mut Measurement, tool: LoadTool) {
    let version = match tool {
        LoadTool::K6 => "1.8.1",
        LoadTool::Wrk => "4.1.0",
        LoadTool::Ab => "2.3",
        LoadTool::H2load => "1.52.0",
        LoadTool::Hey => "0.1.5",
        LoadTool::Oha => "1.16.0",
        LoadTool::Tolok => "0.1.0",
    };
    trial.tool = Some(ToolUsed { name: tool.word().to_owned(), version: version.to_owned() });
    let ledger = &mut trial.ledger;
    (ledger.sent, ledger.scheduled, ledger.in_flight_at_end) = (None, None, None);
    (ledger.connections, ledger.connections_unanswered) = (None, None);
    trial.latency.marks = match tool {
        LoadTool::Wrk => vec![LatencyMark::BackFilled],
        LoadTool::Ab => vec![LatencyMark::DerivedMean, LatencyMark::Coarse],
        _ => Vec::new(),
    };
    if trial.latency.model == "open" && tool != LoadTool::Oha {
        trial.latency.marks = vec![LatencyMark::FromSend];
    }
    if tool == LoadTool::H2load {
        trial.latency.percentiles.clear();
    }
    count_on_wire(trial);
}

/// A tool that used all of its CPU while the subject had some left.
pub fn at_its_limit(trial: &mut Measurement, subject_busy: f64) {
    trial.generator.cpu_s = 0.975 * trial.window_s;
    trial.subject.as_mut().expect("tolok started it").cpu_s = subject_busy * trial.window_s;
}

/// Seven tools on the same server: some agree, two are the limit themselves, one invents latencies, one fails.
pub fn seven_tools() -> InventedRun {
    let mut run = InventedRun::new(5);
    run.scenario("hello-c64", "hello", "Hello", 64).steady(CEILING, 61_200.0).change(|_, it| count_on_wire(it));
    run.steady(GO, 43_900.0).change(|_, it| count_on_wire(it));
    run.by_tool(LoadTool::K6).steady(CEILING, 8_700.0).change(|_, it| at_its_limit(it, 0.21));
    run.steady(GO, 8_600.0).change(|_, it| at_its_limit(it, 0.31));
    run.by_tool(LoadTool::Wrk).steady(CEILING, 60_900.0).steady(GO, 43_700.0);
    run.change(|block, it| {
        it.latency.mean_s = it.latency.mean_s.map(|mean_s| mean_s * if block == 2 { 11.5 } else { 1.0 })
    });
    run.by_tool(LoadTool::Ab).steady(CEILING, 52_000.0).steady(GO, 39_400.0).change(|_, it| it.latency.max_s = None);
    run.by_tool(LoadTool::H2load).steady(CEILING, 60_100.0).steady(GO, 44_100.0);
    run.by_tool(LoadTool::Hey).steady(CEILING, 15_300.0).change(|_, it| at_its_limit(it, 0.31));
    run.steady(GO, 15_100.0).change(|_, it| at_its_limit(it, 0.42));
    run.by_tool(LoadTool::Oha).steady(CEILING, 59_000.0).steady(GO, 43_800.0);
    for block in 1..=5 {
        run.fail(block, FailureKind::ToolFailed, "oha said nothing that its driver understands");
    }
    run
}

/// Tools at a fixed rate, two of which do not deliver it, without a wire count and without a ceiling.
pub fn tools_at_a_rate() -> InventedRun {
    let mut run = InventedRun::new(5);
    let at_2000 = Executor::ConstantArrivalRate { rate_rps: 2_000.0, arrivals: Arrivals::Uniform };
    run.scenario_with("hello-r2000", "hello", "Hello", at_2000, &[]).case(GO, &[2_000.0; 5]);
    run.change(|_, trial| slow_down(trial, 0.4485));
    run.by_tool(LoadTool::K6).case(GO, &[1_840.0; 5]).change(|_, trial| {
        slow_down(trial, 0.0143);
        trial.ledger.unsent = 320;
    });
    run.by_tool(LoadTool::Hey).case(GO, &[1_830.0; 5]).change(|_, trial| slow_down(trial, 0.0128));
    run.by_tool(LoadTool::Oha).case(GO, &[2_000.0; 5]).change(|_, trial| slow_down(trial, 0.4526));
    run.change(|_, trial| trial.latency.marks = vec![]);
    for trial in &mut run.trials {
        let Outcome::Completed(measurement) = &mut trial.outcome else { continue };
        measurement.wire = None;
    }
    run
}

/// Sets another p99.
fn slow_down(trial: &mut Measurement, p99_s: f64) {
    trial.subject.as_mut().expect("tolok started it").cpu_s = 0.12 * trial.window_s;
    for percentile in trial.latency.percentiles.iter_mut().filter(|percentile| percentile.quantile == 0.99) {
        percentile.latency_s = Some(p99_s);
    }
}
