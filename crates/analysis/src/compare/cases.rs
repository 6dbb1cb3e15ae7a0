//! Derives the verdicts from the cases of all runs: which figures are judged, and against which floors.

use super::control::{Control, control, trials};
use super::findings::{CaseChange, Change, ChangeRatio, FigureChange, ScenarioChange};
use super::judging::{Beside, Compared, Floor, judge};
use super::measuring::{Measurable, Runs, geometric_mean, mean_logarithm, ratio};
use super::metric::{ComparedMetric, ScenarioKind};
use super::sides::{BeforeAfter, Scene, Sides};
use super::views::{CaseView, ScenarioView};
use crate::estimate::NEGLIGIBLE_STEP;
use crate::figures::{Quantity, amount};
use crate::findings::{Estimate, NoiseFloor, Verdict};

/// A figure before its verdict.
struct Draft<'a> {
    change: FigureChange,
    /// The values it is judged by, or `None` if it is only shown.
    pair: Option<Compared<'a>>,
}

/// Every scenario of all runs. All judged figures are judged together.
pub(super) fn scenarios(sides: &Sides, asked: &[ComparedMetric], threshold: f64) -> Vec<ScenarioChange> {
    let mut found = Vec::new();
    let mut drafts: Vec<Draft> = Vec::new();
    for scene in &sides.scenes {
        let metrics = ComparedMetric::of(scene.first().0.kind, asked);
        let names: Vec<ComparedMetric> = metrics.iter().map(|(metric, _)| *metric).collect();
        let control = control(sides, scene, &names, threshold);
        let mut cases = Vec::new();
        for case in scene.cases() {
            cases.push(shown(&case));
            let case = Candidate { sides, scene, case, control: control.as_ref().ok() };
            drafts.extend(metrics.iter().map(|(metric, is_main)| case.draft(*metric, *is_main)));
        }
        if !cases.is_empty() {
            found.push((scenario(scene, control, cases), metrics.len()));
        }
    }
    let judged = judged(drafts, threshold);
    with_figures(found, judged)
}

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
        change.between_runs = judgement.between_runs;
        change.p_adjusted = judgement.p_adjusted;
        change.p_equivalence_adjusted = judgement.p_equivalence_adjusted;
        change.beside_control = judgement.beside_control;
        change.p_beside_control_adjusted = judgement.p_beside_control_adjusted;
        (change.verdict, change.reason) = (Some(judgement.verdict), judgement.reason);
    }
    changes
}

/// Assigns the figures, which come in the order of scenarios and cases, to their cases.
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

fn scenario(scene: &Scene, control: Result<Control, String>, cases: Vec<CaseChange>) -> ScenarioChange {
    let (control, no_control) = match control {
        Ok(control) => (Some(control.finding), None),
        Err(reason) => (None, Some(reason)),
    };
    let (before, after) = scene.first();
    let [noise_floor_before, noise_floor_after] = scene.views.each_ref().map(|views| noise_floor(views).cloned());
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
        noise_floor_before,
        noise_floor_after,
        cases,
    }
}

/// The largest difference of an A/A pair. Pairs that were told apart take precedence.
fn noise_floor<'a>(views: &[&'a ScenarioView<'a>]) -> Option<&'a NoiseFloor> {
    let floors = views.iter().filter_map(|view| view.noise_floor);
    floors.max_by(|a, b| is_told(a).cmp(&is_told(b)).then(a.size.total_cmp(&b.size)))
}

fn is_told(floor: &NoiseFloor) -> bool {
    matches!(floor.verdict, Verdict::Faster | Verdict::Slower)
}

/// A case without its figures.
fn shown(runs: &BeforeAfter<CaseView>) -> CaseChange {
    let barred = |cases: &Vec<CaseView>| cases.iter().find_map(CaseView::barred_by);
    let is_ranked = |cases: &Vec<CaseView>| cases.iter().all(|case| case.ranked);
    let reasons: Vec<String> = ["before", "after"]
        .iter()
        .zip(runs)
        .filter_map(|(when, cases)| Some(format!("{when}: {}", barred(cases)?)))
        .collect();
    let first = &runs[0][0];
    CaseChange {
        subject: first.subject.to_owned(),
        title: first.title.to_owned(),
        runtime: first.runtime.to_owned(),
        not_judged: (!reasons.is_empty()).then(|| format!("not ranked {}", reasons.join("; "))),
        lost_rank: is_ranked(&runs[0]) && !is_ranked(&runs[1]),
        figures: Vec::new(),
    }
}

/// A case of all runs with its surroundings.
struct Candidate<'a, 'c> {
    sides: &'c Sides<'a>,
    scene: &'c Scene<'a>,
    case: BeforeAfter<CaseView<'a>>,
    control: Option<&'c Control<'a>>,
}

impl<'a> Candidate<'a, '_> {
    fn draft(&self, metric: ComparedMetric, is_main: bool) -> Draft<'a> {
        let runs = trials(metric, &self.case);
        let is_ranked = self.case.iter().flatten().all(|case| case.ranked);
        let has = |side: usize| self.case[side].iter().all(|case| case.figure(metric).is_some());
        let measured = runs.filter(|_| is_ranked);
        let refusal = match is_ranked {
            true => self.refusal(metric).or_else(|| measured.is_none().then(|| missing(has(0)))),
            false => None,
        };
        // A figure that disappeared must be reported.
        let is_gone = is_ranked && has(0) && !has(1);
        let [before, after] = [0, 1].map(|side| shown_value(&self.case[side], metric));
        let change = FigureChange {
            metric,
            unit: metric.unit(),
            better: metric.better(),
            is_main,
            before,
            after,
            // Readers would take a ratio of unranked figures for a result.
            ratio: measured.as_ref().and_then(ratio),
            between_runs: None,
            p_adjusted: None,
            p_equivalence_adjusted: None,
            beside_control: None,
            p_beside_control_adjusted: None,
            verdict: is_gone.then_some(Change::CannotTell),
            reason: refusal.clone(),
        };
        let judged = measured.filter(|_| refusal.is_none());
        Draft { change, pair: judged.map(|runs| self.compared(metric, runs)) }
    }

    fn compared(&self, metric: ComparedMetric, runs: Runs<'a>) -> Compared<'a> {
        let kind = (self.scene.first().0.kind, metric);
        Compared {
            own: Measurable { runs, kind, subject: self.case[0][0].subject },
            better: metric.better(),
            floors: self.floors(metric),
            control: self.beside(metric),
        }
    }

    /// Why a figure is not judged although both runs have it. The case itself says why a whole case is not judged.
    fn refusal(&self, metric: ComparedMetric) -> Option<String> {
        let (first, _) = self.scene.first();
        let is_server = first.kind != ScenarioKind::Program;
        let other = self.scene.all().find(|view| view.memory_source != first.memory_source);
        if let Some(other) = other.filter(|_| metric == ComparedMetric::Memory && is_server) {
            let words = |view: &ScenarioView| view.memory_source.map_or("nothing", |source| source.words());
            let is_pair = self.sides.is_single_pair();
            let (when, then) = if is_pair { (" before", " after") } else { (" in one run", " in another") };
            return Some(format!("{}{when} and {}{then}", words(first), words(other)));
        }
        let is_latency = matches!(metric, ComparedMetric::P50 | ComparedMetric::P99);
        let is_other = is_latency && self.scene.all().any(|view| view.latency_marks != first.latency_marks);
        is_other.then(|| "the tool took these times in another way".to_owned())
    }

    fn floors(&self, metric: ComparedMetric) -> Vec<Floor> {
        let shift = self.control.and_then(|control| control.shift(metric)).map(|shift| Floor {
            size: shift.size,
            words: format!("the machine’s own shift ({})", of_ratio(shift.ratio)),
        });
        let run = if self.sides.is_single_pair() { "the run" } else { "a run" };
        let of_side = |(when, views): (&str, &Vec<&ScenarioView>)| {
            let floor = noise_floor(views).filter(|floor| is_told(floor))?;
            let size = amount(Quantity::Share, floor.size);
            Some(Floor {
                size: floor.size,
                words: format!("what the noise check of {run} {when} differed by ({size})"),
            })
        };
        let pairs = ["before", "after"].into_iter().zip(&self.scene.views).filter_map(of_side);
        let pairs = pairs.filter(|_| metric == ComparedMetric::Goodput);
        let step = |side: usize| {
            let step_s = self.scene.views[side].iter().map(|view| view.step_s).fold(0.0, f64::max);
            let values = self.case[side].iter().filter_map(|case| Some(case.figure(metric)?.value));
            1.0 + step_s / values.fold(f64::INFINITY, f64::min)
        };
        let steps = step(0) * step(1) - 1.0;
        let steps = (metric == ComparedMetric::Wall && steps >= NEGLIGIBLE_STEP).then(|| Floor {
            size: steps,
            words: format!("the steps of the timer ({})", amount(Quantity::Share, steps)),
        });
        shift.into_iter().chain(pairs).chain(steps).collect()
    }

    /// The figure over that of the control, if there is one.
    fn beside(&self, metric: ComparedMetric) -> Option<Beside> {
        let control = self.control?;
        let shift = control.shift(metric)?;
        Some(Beside {
            runs: control.beside(self.sides, &self.case, metric),
            shift: of_ratio(shift.ratio),
            is_relevant: shift.is_relevant,
        })
    }
}

/// The value that tables show and that the ratio is made of: the geometric mean over the trials of one run, or over several runs.
/// A figure with a trial at 0 has no geometric mean and keeps the value of its run.
fn shown_value(cases: &[CaseView], metric: ComparedMetric) -> Option<Estimate> {
    let figures = cases.iter().map(|case| case.figure(metric)).collect::<Option<Vec<&Estimate>>>()?;
    if let [only] = figures.as_slice() {
        return Some(geometric_mean(&only.trials).unwrap_or_else(|| (*only).clone()));
    }
    let means: Vec<f64> = figures.iter().map(|figure| mean_logarithm(&figure.trials)).collect::<Option<_>>()?;
    let value = (means.iter().sum::<f64>() / means.len() as f64).exp();
    Some(Estimate { value, low: None, high: None, trials: means.into_iter().map(f64::exp).collect() })
}

fn of_ratio(ratio: ChangeRatio) -> String {
    amount(Quantity::Ratio, ratio.value)
}

/// Why a figure cannot be judged if one of the runs lacks it.
fn missing(is_before: bool) -> String {
    if is_before { "the run after has none".to_owned() } else { "the run before has no such figure".to_owned() }
}
