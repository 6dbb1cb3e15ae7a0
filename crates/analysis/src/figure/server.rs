//! The figures of a server under a scenario.

use std::collections::BTreeMap;

use serde::Serialize;
use tolok_model::{LedgerCounts, Measurement};

use super::database::DatabaseUse;
use super::resources::ResourcesFinding;
use super::table::{Around, Column, Figure, HasValue, Readings, Rows, TrialFigure, Unit, figures, row};
use crate::JsonSchema;
use crate::findings::bottleneck::Bottleneck;
use crate::findings::curve::{LatencyCurve, SlowAnswers};
use crate::findings::estimate::{Better, Estimate};
use crate::findings::judgement::{GateFinding, ObjectiveFinding, ServiceDemand, SteadyFinding};
use crate::findings::link::LinkUse;
use crate::findings::parts::MixedPartFinding;
use crate::findings::seconds::SecondsFinding;
use crate::findings::trials::DisturbedTrial;
use crate::link::link_use;
use crate::observations::{answers, goodput, per_answer};
use crate::usage::{foreign_share, share, stolen_share};

figures! {
    /// The figures of a server under a scenario, and the conclusions from them.
    pub struct ServerFigures as "CaseFinding" of Measurement, SERVER, SERVER_TRIALS;

    /// Measured trials that no figure uses, because every attempt was disturbed.
    disturbed: Vec<DisturbedTrial> = whole(|it| it.trials.disturbed_trials());
    /// Correct responses per second; to the fast clients only, if there are slow ones as well.
    goodput_rps: Option<Estimate> = median(|it, _| goodput(it)) [PerSecond Higher] interval "goodput_rps" tidy "goodput_rps";
    /// An upper bound for a case without a correct response in any scored trial: one response in its window. Such a case has no
    /// `goodput_rps`: its goodput is unknown, not 0.
    goodput_below_rps: Option<f64> = whole(|it| it.trials.goodput_below_rps()) [PerSecond] csv "goodput_below_rps";
    /// Bytes of correct bodies per second.
    body_bytes_per_s: Option<Estimate> = median(|it, _| Some(it.body_bytes as f64 / it.window_s))
        [BytesPerSecond Higher] csv "body_bytes_per_s" tidy "body_bytes_per_s";
    /// Mean bytes of a correct response's body in a trial.
    body_bytes_per_good: Option<Estimate> = median(|it, _| Some(it.body_bytes as f64 / answers(it)?))
        [Bytes] last "body_bytes_per_good" tidy "body_bytes_per_good";
    /// Correct responses per second as tables show them: the geometric mean over the scenario's rounds. Two ranked cases have the
    /// ratio of these values.
    goodput_typical_rps: Option<Estimate> = later(()) [PerSecond Higher] last "goodput_typical_rps";
    /// What limited it; absent without a scored trial.
    bottleneck: Option<Bottleneck> = later(());
    /// Scheduled requests per second; absent in a closed loop.
    offered_rps: Option<Estimate> = median(|it, _| it.offered_rps) [PerSecond] csv "offered_rps" tidy "offered_rps";
    /// Goodput as a share of the ceiling's in the same round.
    of_ceiling: Option<Estimate> = later(()) [Share Higher] interval "of_ceiling";
    /// Goodput relative to the first case of the scenario in the same round (1 for the first).
    of_first: Option<Estimate> = later(()) [Ratio Higher] interval "of_first";
    /// Checks that apply to its load and environment, in a fixed order; empty if no trial was
    /// measured.
    gates: Vec<GateFinding> = later(());
    /// Whether its windows were steady; absent if the load has several levels, or no trial could be judged.
    steady: Option<SteadyFinding> = later(());
    /// What each correct response takes of each resource, the scarcest first.
    demands: Vec<ServiceDemand> = later(());
    /// CPU time of the subject per correct response.
    cpu_s_per_good: Option<Estimate> = median(|it, _| per_answer(it)) [Seconds Lower] interval "cpu_s_per_good" tidy "cpu_s_per_good";
    /// Memory of the subject. The scenario's `memory_source` gives its kind.
    memory_bytes: Option<Estimate> = median(|it, around| around.memory.and_then(|source| source.bytes(it)))
        [Bytes Lower] interval "memory_bytes" tidy "memory_bytes";
    /// Median of the trials' p50, in seconds, in the scenario's loop.
    latency_p50_s: Option<Estimate> = median(|it, _| it.compared_latency().at(0.5)) [Seconds Lower] interval "latency_p50_s" tidy "latency_p50_s";
    /// Median of the trials' p99, in seconds; absent if any trial has too few samples beyond it.
    latency_p99_s: Option<Estimate> = median(|it, _| it.compared_latency().at(0.99)) [Seconds Lower] interval "latency_p99_s" tidy "latency_p99_s";
    /// A lower bound of `latency_p99_s`, in seconds, if requests without a response hide it in some trials; absent otherwise.
    latency_p99_at_least_s: Option<f64> = whole(|it| it.trials.latency_at_least_s(0.99)) [Seconds];
    /// Response times by percentile, in the scenario's loop; absent without a histogram or at least 3 percentiles.
    latency_curve: Option<LatencyCurve> = later(());
    /// The parts of a mixed workload, in its order; empty for any other.
    parts: Vec<MixedPartFinding> = later(());
    /// Late correct responses; absent without a histogram.
    slow: Option<SlowAnswers> = later(());
    /// Second by second; absent if no window has two whole seconds.
    seconds: Option<SecondsFinding> = later(());
    /// From the start to the first correct response.
    cold_start_s: Option<Estimate> = median(|it, _| it.cold_start_s) [Seconds Lower] interval "cold_start_s" tidy "cold_start_s";
    /// Share of its CPUs or quota that the subject used.
    subject_busy: Option<f64> = middle_of_known(subject_busy) [Share] csv "subject_busy";
    /// Share of its CPUs that the generator used.
    generator_busy: Option<f64> = middle_of_known(generator_busy) [Share] csv "generator_busy";
    /// Share of the machine's CPUs that other programs used.
    foreign_busy: Option<f64> = middle_of_known(|it, around| foreign_share(it, &around.cpus)) [Share Lower] csv "foreign_busy";
    /// Share of the machine's CPUs that the hypervisor took.
    stolen: Option<f64> = middle_of_known(|it, around| stolen_share(it, &around.cpus)) [Share Lower] csv "stolen";
    /// Most processes at once in any scored trial.
    processes_max: u32 = whole(|it| it.trials.used().map(|used| used.processes_max).max().unwrap_or(0))
        [Count] csv "processes_max";
    /// The subject's use of resources per correct response.
    resources: ResourcesFinding = whole(|it| ResourcesFinding::of(it));
    /// The emulated link; absent if tolok emulated none.
    link: Option<LinkUse> = whole(|it| link_use(it.trials, |trial| trial.link.as_ref(), it.around.link_rate_bps));
    + "link_packets_to_subject" [Count] "Packets that came to the link from the client." = |it| Some(it.link.as_ref()?.to_subject.packets);
    + "link_bytes_to_subject" [Bytes] "Their bytes." = |it| Some(it.link.as_ref()?.to_subject.bytes);
    + "link_rate_offered_to_subject" [Share Lower] "Their bits over what the link's rate lets through." = |it| it.link.as_ref()?.to_subject.rate_offered;
    + "link_packets_to_client" [Count] "Packets that came to the link from the subject." = |it| Some(it.link.as_ref()?.to_client.packets);
    + "link_bytes_to_client" [Bytes] "Their bytes." = |it| Some(it.link.as_ref()?.to_client.bytes);
    + "link_rate_offered_to_client" [Share Lower] "Their bits over what the link's rate lets through." = |it| it.link.as_ref()?.to_client.rate_offered;
    + "link_dropped_queue" [Count Lower] "Packets dropped because the link's queue was full." = |it| Some(it.link.as_ref()?.total(|way| way.dropped_queue));
    + "link_dropped_loss" [Count] "Packets dropped because the study asks for loss." = |it| Some(it.link.as_ref()?.total(|way| way.dropped_loss));
    + "link_lateness_s_mean" [Seconds Lower] "How late packets left the link's emulator, on average, in the worse direction." = |it| it.link.as_ref()?.worse(|way| way.lateness_s_mean);
    + "link_lateness_s_max" [Seconds Lower] "The latest packet." = |it| it.link.as_ref()?.worse(|way| way.lateness_s_max);
    + "link_emulator_busy" [Share Lower] "Share of a CPU that the link's emulator used." = |it| it.link.as_ref()?.emulator_busy;
    /// The figures with its database; absent if the scenario has none.
    database: Option<DatabaseUse> = later(());
    /// Requests that failed in all scored trials, by class.
    errors: Vec<(String, u64)> = whole(errors);
    + "requests_failed" [Requests Lower] "Requests that failed in all scored trials." = |it| it.errors.iter().map(|(_, number)| number).sum::<u64>();
    /// Requests sent in all scored trials; finished requests if the tool does not report sent ones.
    requests_sent: u64 = sum(|it| it.ledger.sent.unwrap_or(it.ledger.finished())) [Requests] csv "requests_sent";
    /// Unaccounted requests in all scored trials; absent if the tool reports too little.
    requests_unaccounted: Option<u64> = whole(|it| it.trials.trials().map(|trial| trial.ledger.unaccounted()).sum()) [Requests Lower];
    /// Requests in all scored trials that waited for a free connection when the window ended.
    requests_unsent: u64 = sum(|it| it.ledger.unsent) [Requests Lower] csv "requests_unsent";
    /// Correct responses per second to slow clients, if there are fast ones as well.
    slow_goodput_rps: Option<Estimate> = median(|it, _| Some(it.clients.as_ref()?.slow.goodput_rps))
        [PerSecond Higher] last "slow_goodput_rps" tidy "slow_goodput_rps";
    /// Median of the trials' p50 of slow clients.
    slow_latency_p50_s: Option<Estimate> = median(|it, _| it.clients.as_ref()?.slow.latency.at(0.5))
        [Seconds Lower] last "slow_latency_p50_s" tidy "slow_latency_p50_s";
    /// Median of the trials' p99 of slow clients.
    slow_latency_p99_s: Option<Estimate> = median(|it, _| it.clients.as_ref()?.slow.latency.at(0.99))
        [Seconds Lower] last "slow_latency_p99_s" tidy "slow_latency_p99_s";
    /// CPU time of the subject per correct response as tables show it: the geometric mean over the scenario's rounds. The ratio of two
    /// ranked cases is that of these values.
    cpu_typical_s_per_good: Option<Estimate> = later(()) [Seconds Lower] last "cpu_typical_s_per_good";
    /// Memory of the subject as tables show it, in the same way.
    memory_typical_bytes: Option<Estimate> = later(()) [Bytes Lower] last "memory_typical_bytes";
    /// Outcomes of the scenario's objectives, in their order.
    objectives: Vec<ObjectiveFinding> = later(());

    tidy {
        "window_s" [Seconds] "Length of the measured window." = |it, _| Some(it.window_s);
        "sent_requests" [Requests] "Requests sent in the window." = |it, _| it.ledger.sent.map(|sent| sent as f64);
        "good_requests" [Requests] "Requests of the window that were answered correctly." = |it, _| Some(it.ledger.good as f64);
        "failed_requests" [Requests] "Requests of the window that failed." = |it, _| Some(failed(&it.ledger) as f64);
        "latency_mean_s" [Seconds] "Mean response time." = |it, _| it.compared_latency().mean_s;
        "latency_p90_s" [Seconds] "The 90th percentile of response times." = |it, _| it.compared_latency().at(0.9);
        "latency_p999_s" [Seconds] "The 99.9th percentile of response times." = |it, _| it.compared_latency().at(0.999);
    }
}

impl ServerFigures {
    /// What tables and charts show, and what tables sort by.
    pub fn shown_goodput_rps(&self) -> Option<&Estimate> {
        self.goodput_typical_rps.as_ref().or(self.goodput_rps.as_ref())
    }

    /// CPU time per correct response as tables and charts show it.
    pub fn shown_cpu_s_per_good(&self) -> Option<&Estimate> {
        self.cpu_typical_s_per_good.as_ref().or(self.cpu_s_per_good.as_ref())
    }

    /// Memory as tables and charts show it.
    pub fn shown_memory_bytes(&self) -> Option<&Estimate> {
        self.memory_typical_bytes.as_ref().or(self.memory_bytes.as_ref())
    }
}

/// Share of its CPU time that the subject used.
pub(crate) fn subject_busy(trial: &Measurement, around: &Around) -> Option<f64> {
    share(trial.subject.as_ref()?.cpu_s, around.cpus.subject * trial.window_s)
}

/// Share of its CPU time that the generator used.
pub(crate) fn generator_busy(trial: &Measurement, around: &Around) -> Option<f64> {
    share(trial.generator.cpu_s, around.cpus.generator * trial.window_s)
}

fn failed(ledger: &LedgerCounts) -> u64 {
    ledger.failed.values().sum()
}

/// Failed requests by class, the most frequent first.
fn errors(readings: &Readings) -> Vec<(String, u64)> {
    let mut errors: BTreeMap<&str, u64> = BTreeMap::new();
    for (class, number) in readings.trials.trials().flat_map(|trial| &trial.ledger.failed) {
        *errors.entry(class).or_default() += number;
    }
    let errors = errors.into_iter().filter(|(_, number)| *number > 0);
    let mut errors: Vec<(String, u64)> = errors.map(|(class, number)| (class.to_owned(), number)).collect();
    errors.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    errors
}
