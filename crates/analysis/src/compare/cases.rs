//! From the cases of two runs to their verdicts: which figures are judged, and against which floors.

use super::conditions::{Both, common};
use super::control::{Control, control};
use super::findings::{CaseChange, Change, ChangeRatio, FigureChange, ScenarioChange};
use super::judging::{Beside, Floor, Pair, judge, ratio};
use super::metric::{ComparedMetric, ScenarioKind};
use super::views::{CaseView, ScenarioView};
use crate::figures::{Quantity, amount};
use crate::findings::{Estimate, NoiseFloor, Verdict};

/// Steps of a timer below this share of a time are not spoken of.
const NEGLIGIBLE_STEP: f64 = 0.001;

/// A figure on its way to its verdict.
struct Draft<'a> {
    change: FigureChange,
    /// What it is judged by, or `None` where it is only shown.
    pair: Option<Pair<'a>>,
}

/// Every scenario of both runs. All figures that are judged are judged together.
pub(super) fn scenarios(both: &Both, asked: &[ComparedMetric], threshold: f64) -> Vec<ScenarioChange> {
    let mut found = Vec::new();
    let mut drafts: Vec<Draft> = Vec::new();
    for (before, after) in both.pairs() {
        let metrics = ComparedMetric::of(before.kind, asked);
        let names: Vec<ComparedMetric> = metrics.iter().map(|(metric, _)| *metric).collect();
        let control = control(both, (before, after), &names, threshold);
        let mut cases = Vec::new();
        for (a, b) in common(before, after) {
            let case = Compared { both, scenario: (before, after), case: (a, b), control: control.as_ref().ok() };
            drafts.extend(metrics.iter().map(|(metric, is_main)| case.draft(*metric, *is_main)));
            cases.push(shown(&a, &b));
        }
        if !cases.is_empty() {
            found.push((scenario(before, after, control, cases), metrics.len()));
        }
    }
    let judged = judged(drafts, threshold);
    with_figures(found, judged)
}

/// The verdicts of all that is judged.
fn judged(drafts: Vec<Draft>, threshold: f64) -> Vec<FigureChange> {
    let (mut changes, mut pairs, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (place, Draft { change, pair }) in drafts.into_iter().enumerate() {
        changes.push(change);
        if let Some(pair) = pair {
            pairs.push(pair);
            places.push(place);
        }
    }
    for (place, judgement) in places.into_iter().zip(judge(&pairs, threshold)) {
        let change = &mut changes[place];
        change.ratio = judgement.ratio;
        change.p_adjusted = judgement.p_adjusted;
        change.p_equivalence_adjusted = judgement.p_equivalence_adjusted;
        change.beside_control = judgement.beside_control;
        change.p_beside_control_adjusted = judgement.p_beside_control_adjusted;
        (change.verdict, change.reason) = (Some(judgement.verdict), judgement.reason);
    }
    changes
}

/// Puts the figures, which come in the order of scenarios and cases, where they belong.
fn with_figures(found: Vec<(ScenarioChange, usize)>, figures: Vec<FigureChange>) -> Vec<ScenarioChange> {
    let mut figures = figures.into_iter();
    let fill = |(mut scenario, of_each): (ScenarioChange, usize)| {
        for case in &mut scenario.cases {
            case.figures = figures.by_ref().take(of_each).collect();
        }
        scenario
    };
    found.into_iter().map(fill).collect()
}

fn scenario(
    before: &ScenarioView,
    after: &ScenarioView,
    control: Result<Control, String>,
    cases: Vec<CaseChange>,
) -> ScenarioChange {
    let (control, no_control) = match control {
        Ok(control) => (Some(control.finding), None),
        Err(reason) => (None, Some(reason)),
    };
    ScenarioChange {
        id: before.id.to_owned(),
        id_after: after.id.to_owned(),
        title: before.title.to_owned(),
        load: before.load.to_owned(),
        tool: before.tool.clone(),
        environment: before.environment.to_owned(),
        kind: before.kind,
        control,
        no_control,
        noise_floor_before: before.noise_floor.cloned(),
        noise_floor_after: after.noise_floor.cloned(),
        cases,
    }
}

/// A case without its figures.
fn shown(before: &CaseView, after: &CaseView) -> CaseChange {
    let barred = [("before", before.barred_by()), ("after", after.barred_by())];
    let reasons = barred.iter().filter_map(|(when, reason)| Some(format!("{when}: {}", reason.as_ref()?)));
    let reasons: Vec<String> = reasons.collect();
    CaseChange {
        subject: before.subject.to_owned(),
        title: before.title.to_owned(),
        runtime: before.runtime.to_owned(),
        not_judged: (!reasons.is_empty()).then(|| format!("not ranked {}", reasons.join("; "))),
        lost_rank: before.ranked && !after.ranked,
        figures: Vec::new(),
    }
}

/// A case of both runs with what surrounds it.
struct Compared<'a, 'c> {
    both: &'c Both<'a>,
    scenario: (&'a ScenarioView<'a>, &'a ScenarioView<'a>),
    case: (CaseView<'a>, CaseView<'a>),
    control: Option<&'c Control<'a>>,
}

impl<'a> Compared<'a, '_> {
    fn draft(&self, metric: ComparedMetric, is_main: bool) -> Draft<'a> {
        let (a, b) = (self.case.0.figure(metric), self.case.1.figure(metric));
        let is_ranked = self.case.0.ranked && self.case.1.ranked;
        let both = a.zip(b).filter(|_| is_ranked);
        let refusal =
            if is_ranked { self.refusal(metric).or_else(|| both.is_none().then(|| missing(a))) } else { None };
        // What was there and is gone is not nothing.
        let is_gone = is_ranked && a.is_some() && b.is_none();
        let change = FigureChange {
            metric,
            unit: metric.unit(),
            better: metric.better(),
            is_main,
            before: a.cloned(),
            after: b.cloned(),
            // A ratio of figures that may not be ranked would be read as a result.
            ratio: both.and_then(|(a, b)| ratio(&a.trials, &b.trials)),
            p_adjusted: None,
            p_equivalence_adjusted: None,
            beside_control: None,
            p_beside_control_adjusted: None,
            verdict: is_gone.then_some(Change::CannotTell),
            reason: refusal.clone(),
        };
        let judged = both.filter(|_| refusal.is_none());
        Draft { change, pair: judged.map(|(before, after)| self.pair(metric, before, after)) }
    }

    fn pair(&self, metric: ComparedMetric, before: &'a Estimate, after: &'a Estimate) -> Pair<'a> {
        Pair {
            before: &before.trials,
            after: &after.trials,
            better: metric.better(),
            floors: self.floors(metric, before, after),
            control: self.beside(metric),
        }
    }

    /// Why a figure is not judged although both runs have it. Why a whole case is not judged stands with the case.
    fn refusal(&self, metric: ComparedMetric) -> Option<String> {
        let (before, after) = self.scenario;
        let is_server = before.kind != ScenarioKind::Program;
        if metric == ComparedMetric::Memory && is_server && before.memory_source != after.memory_source {
            let words = |view: &ScenarioView| view.memory_source.map_or("nothing", |source| source.words());
            return Some(format!("{} before and {} after", words(before), words(after)));
        }
        let is_latency = matches!(metric, ComparedMetric::P50 | ComparedMetric::P99);
        let is_other = is_latency && before.latency_marks != after.latency_marks;
        is_other.then(|| "the tool took these times in another way".to_owned())
    }

    /// What a difference must be larger than.
    fn floors(&self, metric: ComparedMetric, before: &Estimate, after: &Estimate) -> Vec<Floor> {
        let (a, b) = self.scenario;
        let shift = self.control.and_then(|control| control.shift(metric)).map(|shift| Floor {
            size: shift.size,
            words: format!("the machine’s own shift ({})", of_ratio(shift.ratio)),
        });
        let of_pair = |(when, floor): (&str, Option<&NoiseFloor>)| {
            let is_told = |floor: &&NoiseFloor| matches!(floor.verdict, Verdict::Faster | Verdict::Slower);
            let floor = floor.filter(is_told)?;
            let size = amount(Quantity::Share, floor.size);
            Some(Floor {
                size: floor.size,
                words: format!("what the noise check of the run {when} differed by ({size})"),
            })
        };
        let pairs = [("before", a.noise_floor), ("after", b.noise_floor)].into_iter().filter_map(of_pair);
        let pairs = pairs.filter(|_| metric == ComparedMetric::Goodput);
        let steps = (1.0 + a.step_s / before.value) * (1.0 + b.step_s / after.value) - 1.0;
        let steps = (metric == ComparedMetric::Wall && steps >= NEGLIGIBLE_STEP).then(|| Floor {
            size: steps,
            words: format!("the steps of the timer ({})", amount(Quantity::Share, steps)),
        });
        shift.into_iter().chain(pairs).chain(steps).collect()
    }

    /// The figure over that of the control, where there is one.
    fn beside(&self, metric: ComparedMetric) -> Option<Beside> {
        let control = self.control?;
        let shift = control.shift(metric)?;
        Some(Beside {
            before: control.beside(self.both, 0, &self.case.0, metric),
            after: control.beside(self.both, 1, &self.case.1, metric),
            shift: of_ratio(shift.ratio),
            is_relevant: shift.is_relevant,
        })
    }
}

fn of_ratio(ratio: ChangeRatio) -> String {
    amount(Quantity::Ratio, ratio.value)
}

/// Why a figure cannot be judged that one of the runs lacks.
fn missing(before: Option<&Estimate>) -> String {
    if before.is_none() { "the run before has no such figure".to_owned() } else { "the run after has none".to_owned() }
}
