//! Finds where the runs measured what the source did: the part and case for each of its subjects and settings.

use tolok_model::replication::{Replication, means_subject};
use tolok_model::transcription::{CpuScope, Quantity, Transcription, Unit};
use tolok_model::{Case, LedgerCounts, Measurement};
use tolok_stats::{Interval, share_interval};

use super::contrast::SMALLEST_SHARE;
use super::findings::{MeasuredPart, MeasuredRun};
use super::gauge::{failed_of, of_program, of_server, takes_time};
use crate::estimate::{LEVEL, median, middle, wider};
use crate::figures::{Quantity as Kind, amount};
use crate::findings::{CaseFinding, Estimate, ProgramCaseFinding, ScenarioFinding};
use crate::flag::{Flag, FlagKind};
use crate::noise::second_halves;
use crate::observations::{Found, Observations, Trials};
use crate::programs::timings::{self, Timings};

/// Tolerance for windows that end slightly early.
const ALMOST: f64 = 0.98;

/// A window can show time-outs if it is at least this many times as long.
const WINDOW_OF_TIMEOUTS: f64 = 2.0;

/// The source, its replication, and the runs.
#[derive(Clone, Copy)]
pub(super) struct Sites<'a> {
    pub(super) transcription: &'a Transcription,
    pub(super) replication: &'a Replication,
    pub(super) parts: &'a [MeasuredPart<'a>],
}

/// The counterpart of a subject of the source under one of its settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) part: &'a str,
    pub(super) run: MeasuredRun<'a>,
    pub(super) case: &'a Case,
    pub(super) of: SiteFinding<'a>,
    /// Shorter windows judge nothing.
    least_window_s: Option<f64>,
}

/// The findings of the run on the case.
#[derive(Debug, Clone, Copy)]
pub(super) enum SiteFinding<'a> {
    Server(&'a ScenarioFinding, &'a CaseFinding),
    Program(&'a ProgramCaseFinding),
}

impl<'a> Sites<'a> {
    /// Every counterpart of the subject under the setting, in the order of the parts, or why there is none.
    pub(super) fn of(&self, subject: &str, setting: &str) -> Result<Vec<Site<'a>>, String> {
        let mut found = Vec::new();
        let mut why = None;
        for part in &self.replication.parts {
            let (Some(label), Some(scenario)) = (part.subjects.get(subject), part.scenarios.get(setting)) else {
                continue;
            };
            match self.site(&part.name, scenario, label) {
                Ok(site) => found.push(site),
                Err(reason) => why = why.or(Some(reason)),
            }
        }
        match why {
            _ if !found.is_empty() => Ok(found),
            Some(why) => Err(why),
            None => Err(format!("no part has {subject} under {}", self.setting(setting))),
        }
    }

    /// Two cases: from one part if a part has both, and from one that measured the quantity if there are several.
    pub(super) fn pair(
        &self,
        a: (&str, &str),
        b: (&str, &str),
        measured: Option<&Quantity>,
    ) -> Result<(Site<'a>, Site<'a>), String> {
        let (a, b) = (self.of(a.0, a.1)?, self.of(b.0, b.1)?);
        let beside = |a: &Site<'a>| Some((*a, *b.iter().find(|b| b.part == a.part)?));
        let together: Vec<(Site, Site)> = a.iter().filter_map(beside).collect();
        let has_both = |(a, b): &&(Site, Site)| measured.is_none_or(|quantity| a.has(quantity) && b.has(quantity));
        let chosen = together.iter().find(has_both).or(together.first()).copied();
        Ok(chosen.unwrap_or((with(&a, measured), with(&b, measured))))
    }

    /// The case in a part, or why there is none.
    pub(super) fn site(&self, part: &str, scenario: &str, name: &str) -> Result<Site<'a>, String> {
        let given = self.parts.iter().find(|given| given.name == part);
        let given = given.ok_or_else(|| format!("part {part} was not run"))?;
        let run = given.run.as_ref().map_err(|why| format!("part {part} was not run: {why}"))?;
        let is_meant = |case: &&Case| {
            let known = run.records.names.subjects.get(&case.subject.subject);
            let default = known.map_or("default", |known| known.default_variant.as_str());
            case.scenario == scenario && case.twin_of.is_none() && means_subject(name, &case.subject.label, default)
        };
        let case = run.records.plan.cases.iter().find(is_meant).ok_or_else(|| left_out(run, part, scenario, name))?;
        let of = finding(run, case).ok_or_else(|| format!("part {part} has nothing on {name} in {scenario}"))?;
        let own = self.replication.parts.iter().find(|own| own.name == part);
        let least_window_s = own.and_then(|own| own.least_window_s);
        Ok(Site { part: given.name, run: *run, case, of, least_window_s })
    }

    /// Why a rate of the source is not judged: the subject used more CPUs there than it had here.
    pub(super) fn short_of_cpus(
        &self,
        (subject, setting): &(String, String),
        site: &Site,
        measured: &Quantity,
    ) -> Option<String> {
        let depends = matches!(
            measured,
            Quantity::Goodput | Quantity::Latency(_) | Quantity::Time(_) | Quantity::Bandwidth | Quantity::Cpu(_)
        );
        let rows = self.transcription.rows.iter();
        let own = rows.filter(|row| depends && row.subject == *subject && row.scenario.as_ref() == Some(setting));
        let (mut conditions, here) = (own.map(|row| &row.conditions), site.cpus()?);
        let of = conditions.find(|conditions| conditions.subject_workers != Some(1))?;
        let there = of.subject_cpus.filter(|there| *there > here)?;
        let workers = of.subject_workers.map(|workers| (workers as f64).min(there));
        // The number of CPUs that it used, or all of the source's CPUs if that is unknown.
        let used = workers.or_else(|| self.cpus_used(subject, setting, there)).unwrap_or(there);
        if used <= here {
            return None;
        }
        let [used, there, here] = [used, there, here].map(|cpus| (cpus * 10.0).round() / 10.0);
        Some(format!("{subject} may have used {used} of the source's {there} CPUs, and had {here} here"))
    }

    /// The most CPUs that the source saw a subject use. A share counts as one of all CPUs unless the source says otherwise.
    fn cpus_used(&self, subject: &str, setting: &str, there: f64) -> Option<f64> {
        let rows =
            self.transcription.rows.iter().map(|row| (&row.subject, &row.scenario, &row.conditions, &row.figures));
        let series = self.transcription.series.iter();
        let all = rows.chain(series.map(|it| (&it.subject, &it.scenario, &it.conditions, &it.figures)));
        let own = all.filter(|(of, at, ..)| *of == subject && at.as_ref().is_none_or(|at| at == setting));
        let used = own.flat_map(|(.., conditions, figures)| {
            let of_cpu = figures.iter().filter(|figure| matches!(figure.quantity, Quantity::Cpu(_)));
            let scope = conditions.cpu_scope;
            of_cpu.flat_map(move |figure| {
                let is_of_all = figure.unit == Unit::Percent && scope != Some(CpuScope::Core);
                figure.numbers.iter().map(move |number| if is_of_all { number.value * there } else { number.value })
            })
        });
        used.reduce(f64::max)
    }

    /// All proper names, which a sentence must not capitalise.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        let rows = self.transcription.rows.iter().map(|row| row.subject.as_str());
        let runs = self.parts.iter().filter_map(|part| part.run.as_ref().ok());
        let servers = runs.clone().flat_map(|run| &run.findings.scenarios).flat_map(|scenario| &scenario.cases);
        let programs = runs.flat_map(|run| &run.findings.programs).flat_map(|program| &program.cases);
        rows.chain(servers.map(|case| case.title.as_str())).chain(programs.map(|case| case.title.as_str()))
    }

    pub(super) fn setting(&self, name: &str) -> String {
        self.transcription.setting(name).map_or_else(|| name.to_owned(), |setting| setting.title.clone())
    }
}

/// The first that measured the quantity, or the first of all.
pub(super) fn with<'a>(sites: &[Site<'a>], measured: Option<&Quantity>) -> Site<'a> {
    let has = |site: &&Site| measured.is_none_or(|quantity| site.has(quantity));
    *sites.iter().find(has).unwrap_or(&sites[0])
}

fn finding<'a>(run: &MeasuredRun<'a>, case: &Case) -> Option<SiteFinding<'a>> {
    let of_servers = run
        .findings
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.cases.iter().chain(&scenario.ceiling).map(move |found| (scenario, found)));
    let mut of_servers = of_servers.filter(|(_, found)| found.case == case.id);
    let mut of_programs = run.findings.programs.iter().flat_map(|program| &program.cases);
    let server = of_servers.next().map(|(scenario, found)| SiteFinding::Server(scenario, found));
    server.or_else(|| of_programs.find(|found| found.case == case.id).map(SiteFinding::Program))
}

fn left_out(run: &MeasuredRun, part: &str, scenario: &str, name: &str) -> String {
    let plan = run.records.plan;
    // If the whole scenario is missing, that is the reason, whatever else is missing.
    if let Some(skipped) = plan.skipped.iter().find(|skipped| skipped.scenarios.iter().any(|it| it == scenario)) {
        return format!("{scenario} was left out of part {part}: {}", without_advice(&skipped.reason));
    }
    let id = |text: &str| text.split([':', '?']).next().unwrap_or_default().to_owned();
    let skipped = plan.skipped.iter().find(|skipped| id(&skipped.subject) == id(name));
    match skipped {
        Some(skipped) => format!("{name} was left out of part {part}: {}", skipped.reason.trim_end_matches('.')),
        None if plan.scenario(scenario).is_none() && plan.program(scenario).is_none() => {
            format!("the run of part {part} has no scenario {scenario}")
        }
        None => format!("{name} has no case in {scenario} of part {part}"),
    }
}

/// The reason without the advice to take a bigger machine. The runs show that advice, and here every row would repeat it.
fn without_advice(reason: &str) -> &str {
    reason.split(": take a bigger machine").next().unwrap_or(reason).trim_end_matches('.')
}

impl<'a> Site<'a> {
    /// `wan · node/http:single · hello-c100`
    pub(super) fn words(&self) -> String {
        format!("{} · {} · {}", self.part, self.case.subject.label, self.case.scenario)
    }

    pub(super) fn title(&self) -> &'a str {
        match self.of {
            SiteFinding::Server(_, case) => &case.title,
            SiteFinding::Program(case) => &case.title,
        }
    }

    pub(super) fn flags(&self) -> &'a [Flag] {
        match self.of {
            SiteFinding::Server(_, case) => &case.flags,
            SiteFinding::Program(case) => &case.flags,
        }
    }

    /// Why it must not be compared, or `None` if it is ranked.
    pub(super) fn unranked(&self) -> Option<String> {
        let is_ranked = match self.of {
            SiteFinding::Server(_, case) => case.ranked,
            SiteFinding::Program(case) => case.ranked,
        };
        let flag = self.flags().iter().find(|flag| flag.voids_rank);
        let why = flag.map_or("it has no correct response in a clean trial", |flag| flag.message.trim_end_matches('.'));
        (!is_ranked).then(|| format!("{} is not ranked in {}: {why}", self.title(), self.case.scenario))
    }

    /// The same for one quantity: a flag only withholds the quantities that it affects. A coarse timer does not affect memory. A
    /// saturated generator limits rates and times, but not memory or CPU.
    pub(super) fn unranked_by(&self, measured: &Quantity) -> Option<String> {
        let spares = |flag: &Flag| {
            let is_resource = matches!(measured, Quantity::Cpu(_) | Quantity::CpuPerRequest | Quantity::Body);
            match flag.kind {
                FlagKind::CoarseTimer => matches!(measured, Quantity::Memory(_)),
                FlagKind::GeneratorBound => is_resource || matches!(measured, Quantity::Memory(_)),
                _ => false,
            }
        };
        let mut voiding = self.flags().iter().filter(|flag| flag.voids_rank).peekable();
        let is_about_others = voiding.peek().is_some() && voiding.all(spares);
        self.unranked().filter(|_| !is_about_others)
    }

    fn cpus(&self) -> Option<f64> {
        let plan = self.run.records.plan;
        let of_server = plan.scenario(&self.case.scenario).and_then(|scenario| plan.environment(scenario));
        let of_program = || plan.program(&self.case.scenario).and_then(|program| plan.program_environment(program));
        of_server.or_else(of_program).map(|environment| environment.subject.cpus)
    }

    /// The length of its windows; `None` for a program.
    pub(super) fn window_s(&self) -> Option<f64> {
        match self.of {
            SiteFinding::Server(..) => middle(&self.observations().each(|trial| Some(trial.window_s))),
            SiteFinding::Program(_) => None,
        }
    }

    /// Why its windows cannot show the quantity. If a window is barely longer than the time-out, only requests from its very
    /// beginning can time out.
    pub(super) fn blind_to(&self, measured: &Quantity) -> Option<String> {
        let load = &self.run.records.plan.scenario(&self.case.scenario)?.load;
        let window_s = middle(&self.observations().each(|trial| Some(trial.window_s)))?;
        let is_blind = *measured == Quantity::Timeouts && window_s < WINDOW_OF_TIMEOUTS * load.timeout_s;
        let timeout = amount(Kind::Seconds, load.timeout_s);
        is_blind.then(|| format!("its windows are too short for many requests to reach the time-out of {timeout}"))
    }

    /// Why the quantity is shown but not judged, or `None` if it is judged.
    ///
    /// Only windows of the study's full length judge effects that take time to build up. Also, a connection that never got a
    /// response is in no share of requests.
    pub(super) fn unjudged(&self, measured: &Quantity) -> Option<String> {
        if let Some(why) = self.blind_to(measured) {
            return Some(why);
        }
        let window_s = self.window_s()?;
        if let Some(least_s) = self.least_window_s.filter(|least_s| window_s < least_s * ALMOST) {
            let [window, least] = [window_s, least_s].map(|seconds| amount(Kind::Seconds, seconds));
            return Some(format!("part {} needs windows of {least}, and they were {window} long", self.part));
        }
        let scale = self.run.records.plan.scale;
        if takes_time(measured) && scale < 1.0 {
            let share = amount(Kind::Share, scale);
            return Some(format!("it builds up with time, and part {} measured {share} of the length", self.part));
        }
        let observations = self.observations();
        failed_of(measured, observations.trials().next()?)?;
        let connections = |of: fn(&LedgerCounts) -> Option<u64>| {
            observations.trials().filter_map(|trial| of(&trial.ledger)).sum::<u64>()
        };
        let (all, unanswered) = (connections(|it| it.connections), connections(|it| it.connections_unanswered));
        let is_large = unanswered > 0 && unanswered as f64 >= SMALLEST_SHARE * all as f64;
        is_large.then(|| {
            format!(
                "{unanswered} of {all} connections of {} never got a response, and no share includes them",
                self.title()
            )
        })
    }

    /// A share of requests over all scored trials, with its interval by the number of requests alone. `None` for a quantity that
    /// is not such a share.
    pub(super) fn binomial(&self, measured: &Quantity) -> Option<(f64, Interval)> {
        if matches!(self.of, SiteFinding::Program(_)) {
            return None;
        }
        let observations = self.observations();
        let counts: Vec<(u64, u64)> =
            observations.trials().map(|trial| failed_of(measured, trial)).collect::<Option<_>>()?;
        let (failed, finished) = counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Some((failed as f64 / finished as f64, share_interval(failed, finished, LEVEL)?))
    }

    /// Whether it has the quantity in every scored trial.
    pub(super) fn has(&self, measured: &Quantity) -> bool {
        self.estimate(measured).is_some()
    }

    /// The median of a measured quantity over the scored trials, or `None` if one of them lacks it.
    pub(super) fn estimate(&self, measured: &Quantity) -> Option<Estimate> {
        if self.blind_to(measured).is_some() {
            return None;
        }
        match self.of {
            SiteFinding::Server(scenario, _) => {
                let of = |trial: &Measurement| of_server(measured, scenario.memory_source, trial);
                let mut found = median(self.observations().every(of))?;
                // Trials without any failure do not differ, which does not prove that failures cannot happen.
                if let Some((_, by_number)) = self.binomial(measured) {
                    found.low = found.low.map(|low| low.min(by_number.low));
                    found.high = found.high.map(|high| high.max(by_number.high));
                }
                Some(found)
            }
            SiteFinding::Program(_) => {
                let found = median(self.timings().every(|timing| of_program(measured, timing)))?;
                Some(if matches!(measured, Quantity::Time(_)) { wider(found, self.step(measured)) } else { found })
            }
        }
    }

    /// The quantity block by block; empty if a scored trial lacks it.
    pub(super) fn by_block(&self, measured: &Quantity) -> Vec<Option<f64>> {
        self.by_block_of(&self.case.id, measured)
    }

    /// The second halves of the scenario's A/A pairs by block, with their first halves.
    pub(super) fn twins_by_block(&self, measured: &Quantity) -> [Vec<Option<f64>>; 2] {
        let mut both: [Vec<Option<f64>>; 2] = [Vec::new(), Vec::new()];
        for (twin, first) in second_halves(self.run.records.plan, &self.case.scenario) {
            let [again, first] = [twin, first].map(|case| self.by_block_of(case, measured));
            for (block, pair) in again.into_iter().zip(first).enumerate().filter(|(_, pair)| pair.0.is_some()) {
                both.iter_mut().for_each(|half| half.resize(half.len().max(block + 1), None));
                (both[0][block], both[1][block]) = pair;
            }
        }
        both
    }

    fn by_block_of(&self, case: &str, measured: &Quantity) -> Vec<Option<f64>> {
        fn of<T: Found>(run: &MeasuredRun, case: &str, figure: impl Fn(&T) -> Option<f64>) -> Vec<Option<f64>> {
            let trials = Trials::<T>::of(case, run.records.plan, run.records.trials);
            if trials.every(&figure).is_empty() { Vec::new() } else { trials.by_block(figure) }
        }
        match self.of {
            SiteFinding::Server(scenario, _) => {
                of(&self.run, case, |trial| of_server(measured, scenario.memory_source, trial))
            }
            SiteFinding::Program(_) => of(&self.run, case, |timing| of_program(measured, timing)),
        }
    }

    /// The step of its timer as a share of its times; 0 for counted quantities.
    pub(super) fn step(&self, measured: &Quantity) -> f64 {
        match (self.of, measured) {
            (SiteFinding::Program(_), Quantity::Time(_)) => {
                self.timings().trials().filter_map(timings::step).fold(0.0, f64::max)
            }
            _ => 0.0,
        }
    }

    pub(super) fn observations(&self) -> Observations<'a> {
        Trials::of(&self.case.id, self.run.records.plan, self.run.records.trials)
    }

    fn timings(&self) -> Timings<'a> {
        Trials::of(&self.case.id, self.run.records.plan, self.run.records.trials)
    }
}
