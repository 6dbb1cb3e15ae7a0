//! Service demands: the amount of each resource that a correct response takes, and the rate that this allows. The utilisation law
//! gives D = U ÷ X, and X ≤ servers ÷ D for every resource.

use tolok_model::{LinkDirection, LinkWindow, Measurement};

use crate::case_inputs::CaseInputs;
use crate::estimate::{median, middle};
use crate::figure::database::cpu_s;
use crate::findings::ServiceDemand;
use crate::observations::answers;

/// Time that a resource was used in one trial, in seconds of one of its servers.
type Used<'a> = &'a dyn Fn(&Measurement) -> Option<f64>;

/// The demand on every known resource, the scarcest first. Empty if the database was killed: such a window has two halves.
pub(crate) fn demands(inputs: &CaseInputs) -> Vec<ServiceDemand> {
    if inputs.asked.is_some_and(|asked| asked.outage_at_s.is_some()) {
        return Vec::new();
    }
    // A generator that waits for planned starts may poll the clock all the time. That CPU time does not go into responses.
    let generators = if inputs.scenario.load.executor.is_open() { 0.0 } else { inputs.cpus.generator };
    let environment = &inputs.around.environment;
    let link_bps = environment.link.rate_bps;
    let database = environment.database.as_ref().filter(|_| inputs.asked.is_some());
    let database_bps = database.and_then(|database| database.link.rate_bps);
    let to_client =
        |trial: &Measurement| busier(trial.link.as_ref(), Some(trial.body_bytes).filter(|bytes| *bytes > 0));
    let rows = |trial: &Measurement| {
        let window = trial.database.as_ref()?;
        busier(window.link.as_ref(), window.sent_bytes)
    };
    let carried = |bytes: Option<f64>, rate_bps: Option<f64>| Some(8.0 * bytes? / rate_bps?);
    let found = [
        demand(inputs, "subject-cpu", inputs.cpus.subject, &|trial| Some(trial.subject.as_ref()?.cpu_s)),
        demand(inputs, "database-cpu", inputs.cpus.database, &cpu_s),
        demand(inputs, "generator-cpu", generators, &|trial| Some(trial.generator.cpu_s)),
        demand(inputs, "link", 1.0, &|trial| carried(to_client(trial), link_bps)),
        demand(inputs, "database-link", 1.0, &|trial| carried(rows(trial), database_bps)),
        demand(inputs, "pool", inputs.connections(), &|trial| inputs.connections_taken_s(trial)),
    ];
    let mut found: Vec<ServiceDemand> = found.into_iter().flatten().collect();
    found.sort_by(|left, right| left.most_rps.total_cmp(&right.most_rps));
    found
}

/// `None` if the resource does not exist, was not used, or is missing in a trial's report.
fn demand(inputs: &CaseInputs, resource: &str, servers: f64, used_s: Used) -> Option<ServiceDemand> {
    let each = |figure: Used| inputs.observations.every(figure);
    let demand_s = median(each(&|trial| Some(used_s(trial)? / answers(trial)?)))?;
    let utilisation = middle(&each(&|trial| Some(used_s(trial)? / (servers * trial.window_s))))?;
    let is_used = servers > 0.0 && demand_s.value > 0.0;
    is_used.then(|| ServiceDemand {
        resource: resource.to_owned(),
        servers,
        utilisation: utilisation.clamp(0.0, 1.0),
        most_rps: servers / demand_s.value,
        demand_s,
    })
}

/// Bytes of the busier direction of a link; without an emulator that counts, the bytes known to have arrived.
fn busier(link: Option<&LinkWindow>, arrived: Option<u64>) -> Option<f64> {
    let bytes = |direction: &LinkDirection| direction.bytes as f64;
    let carried = link.map(|link| bytes(&link.to_subject).max(bytes(&link.to_client)));
    carried.or(arrived.map(|arrived| arrived as f64))
}

impl CaseInputs<'_> {
    /// Connections that the subject may have to the database; 0 without a database.
    pub(crate) fn connections(&self) -> f64 {
        let told = self.database().and_then(|database| database.pool).map(|pool| pool.size);
        told.or(self.asked.map(|asked| asked.pool)).map_or(0.0, f64::from)
    }

    /// How long connections to the database were occupied in a trial, summed over them. This is a lower bound: the time
    /// statements ran, and the time they and their responses were under way.
    pub(crate) fn connections_taken_s(&self, trial: &Measurement) -> Option<f64> {
        let window = trial.database.as_ref()?;
        let on_the_way_s = window.queries.map(|queries| queries as f64 * self.asked.map_or(0.0, |asked| asked.rtt_s));
        let running_s = window.running_mean.map(|running| running * trial.window_s);
        match (running_s, on_the_way_s) {
            (None, None) => None,
            (running_s, on_the_way_s) => Some(running_s.unwrap_or_default() + on_the_way_s.unwrap_or_default()),
        }
    }
}
