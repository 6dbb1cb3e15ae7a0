//! The environment of a scenario's trials: what the parts could use, and the links between them.

use tolok_model::{CpuMap, Database, Environment, Limits, LinkBackend, Plan, ProgramScenario, RunRecord, Scenario};

use crate::findings::environment::{EnvironmentFinding, LinkFinding, PartFinding};

/// The environment of a scenario with the CPUs that it got in this run.
pub(crate) struct Surroundings {
    pub(crate) environment: Environment,
    pub(crate) cpus: CpuMap,
    /// Number of other machines that generated load, each on one thread, if this one did not.
    pub(crate) generators: Option<u32>,
}

impl Surroundings {
    pub(crate) fn of(scenario: &Scenario, plan: &Plan, run: &RunRecord) -> Self {
        Self::known(plan.environment(scenario), &scenario.environment, run)
    }

    pub(crate) fn of_program(scenario: &ProgramScenario, plan: &Plan, run: &RunRecord) -> Self {
        Self::known(plan.program_environment(scenario), &scenario.environment, run)
    }

    /// Uses the default environment if the plan or the run does not have it.
    fn known(environment: Option<&Environment>, id: &str, run: &RunRecord) -> Self {
        Self {
            environment: environment.cloned().unwrap_or_default(),
            cpus: run.cpus.get(id).cloned().unwrap_or_default(),
            generators: run.pool.as_ref().map(|pool| pool.generators).filter(|generators| *generators > 0),
        }
    }

    /// The database, if the scenario's workload uses one. An environment may have one that no scenario uses.
    pub(crate) fn database(&self, scenario: &Scenario) -> Option<&Database> {
        self.environment.database.as_ref().filter(|_| scenario.database)
    }

    pub(crate) fn finding(&self, scenario: &Scenario) -> EnvironmentFinding {
        let database = self.database(scenario).map(|database| format!(" · {}", database.describe()));
        self.in_words(self.environment.describe() + &database.unwrap_or_default())
    }

    /// Only the program's own limits matter, because it gets no requests.
    pub(crate) fn of_program_finding(&self) -> EnvironmentFinding {
        self.in_words(self.environment.subject.describe())
    }

    fn in_words(&self, words: String) -> EnvironmentFinding {
        let Environment { id, subject, generator, link, network, database: _ } = &self.environment;
        EnvironmentFinding {
            id: id.clone(),
            words,
            mode: subject.mode,
            subject: part(subject, &self.cpus.subject),
            generator: part(generator, &self.cpus.generator),
            generator_nodes: self.generators,
            link: if link.is_local() { "loopback".to_owned() } else { link.describe() },
            link_cpus: self.cpus.link.clone(),
            congestion: network.congestion.clone(),
            sysctls: network.sysctls.clone(),
        }
    }

    /// The environment if tolok started none of the subjects: what they were given is unknown.
    pub(crate) fn of_external_finding(&self, scenario: &Scenario) -> EnvironmentFinding {
        let mut found = self.finding(scenario);
        found.words = "subjects not started by tolok".to_owned();
        found.subject.words = "not started by tolok".to_owned();
        found.subject.on_cpus.clear();
        found.link = "the machine’s network".to_owned();
        found
    }

    /// The link, if there is one. Its implementation comes from the trials, as the environment may leave it open.
    pub(crate) fn link(&self, networks: &[&str]) -> Option<LinkFinding> {
        let link = &self.environment.link;
        let asked = match link.backend {
            LinkBackend::Auto | LinkBackend::Emulator => "emulator",
            LinkBackend::Netem => "netem",
            LinkBackend::Veth => "veth",
        };
        (!link.is_local()).then(|| LinkFinding {
            words: link.describe(),
            preset: link.preset.clone(),
            backend: networks.first().unwrap_or(&asked).to_string(),
            emulates: link.emulates(),
            rtt_s: link.rtt_s,
            jitter_s: link.jitter_s,
            rate_bps: link.rate_bps,
            loss: link.loss,
            queue_bytes: link.queue_bytes,
            congestion: self.environment.network.congestion.clone(),
        })
    }
}

fn part(limits: &Limits, on_cpus: &[u32]) -> PartFinding {
    PartFinding {
        words: limits.describe(),
        mode: limits.mode,
        cpus: limits.cpus,
        on_cpus: on_cpus.to_vec(),
        memory_bytes: limits.memory_bytes,
        pids: limits.pids,
    }
}
