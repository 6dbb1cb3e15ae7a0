//! Recommends the case with the best figure of a scenario, and all that do not differ from it.

use tolok_model::LoadTool;

use super::changes::{self, Contestants};
use super::strength::{CLEARLY_AHEAD, Marks, aa_caveat, caveats};
use super::{Said, Scene};
use crate::compare::ComparedMetric;
use crate::contest::{Contest, Pair};
use crate::estimate::least_trials;
use crate::figures::{Quantity, amount, counted, figure, listed};
use crate::findings::{Better, CaseFinding, Estimate, Strength, Verdict};
use crate::flag::FlagKind;
use crate::sentence::MOST_WITH_RATIOS;

/// `None` in the other kind of loop. Percentiles of other tools are not comparable.
pub(super) fn in_loop(scene: &Scene, metric: ComparedMetric, is_open: bool) -> Option<Said> {
    let is_own = metric == ComparedMetric::Goodput || scene.planned.tool.name == LoadTool::Tolok;
    if scene.planned.load.executor.is_open() != is_open || !is_own {
        return None;
    }
    by_figure(scene, metric)
}

/// Compares by one figure. `None` if fewer than two ranked cases have it, except for goodput, which then gives a reason.
pub(super) fn by_figure(scene: &Scene, metric: ComparedMetric) -> Option<Said> {
    // If some users never got served, the times of the others are not those of the requested number of users.
    let is_of_all = |case: &CaseFinding| !case.flags.iter().any(|flag| flag.kind == FlagKind::ConnectionsWaiting);
    let may = |case: &CaseFinding| metric != ComparedMetric::P99 || is_of_all(case);
    let contest = Contest::among(scene.records, scene.finding, metric, &may);
    if contest.cases.len() < 2 {
        return (metric == ComparedMetric::Goodput).then(|| nobody(scene, NOT_TWO.to_owned(), vec![FLAGS.to_owned()]));
    }
    Some(Answer::of(scene, &contest).said())
}

const NOT_TWO: &str = "fewer than two cases are ranked";
const FLAGS: &str = "trials without the faults that keep the others out of the ranking; their rows name them";

/// What makes any verdict more certain.
pub(super) const MORE: &str = "more rounds, longer windows, or a quieter machine";

/// Picks nothing, and names what would decide.
pub(super) fn nobody(scene: &Scene, because: String, changes: Vec<String>) -> Said {
    Said { changes, ..Said::of(scene, &[], because, Strength::None) }
}

struct Answer<'a> {
    scene: &'a Scene<'a>,
    contest: &'a Contest<'a>,
    /// Indexes of the cases that share enough blocks with the first to compare with it, including the first.
    judged: Vec<usize>,
    /// The leading cases up to the first one that another significantly beats. A case that scatters may be unbeaten, but is not
    /// better than those ahead of it.
    picks: Vec<usize>,
}

impl<'a> Answer<'a> {
    fn of(scene: &'a Scene<'a>, contest: &'a Contest<'a>) -> Self {
        let is_judged = |place: &usize| *place == 0 || contest.pair(0, *place).is_some_and(|it| it.ratio.low.is_some());
        let judged: Vec<usize> = (0..contest.cases.len()).filter(is_judged).collect();
        let unbeaten = contest.unbeaten();
        let picks = judged.iter().copied().take_while(|place| unbeaten.contains(place)).collect();
        Self { scene, contest, judged, picks }
    }

    fn said(&self) -> Said {
        if self.judged.len() < 2 {
            return self.too_few_blocks();
        }
        let is_everybody = self.picks.len() == self.judged.len();
        let is_level = is_everybody && self.are_level();
        if self.picks.is_empty() || (is_everybody && !is_level) {
            return self.undecided();
        }
        let caveats = self.caveats();
        let next = self.next();
        let lead = next.as_ref().map_or(0.0, |(_, pair)| pair.at_least());
        let marks = Marks {
            is_clear: self.picks.len() == 1 && self.judged.len() == self.contest.cases.len(),
            is_far: lead >= CLEARLY_AHEAD,
            is_sound: caveats.is_empty(),
        };
        let contestants = Contestants {
            metric: self.contest.metric,
            picks: self.picks.iter().map(|place| self.case(*place)).collect(),
            next: next.map(|(next, _)| self.case(next)),
        };
        let because = if is_level { self.level() } else { self.because() };
        let said = Said::of(self.scene, &contestants.picks, because, marks.strength());
        Said { changes: changes::changes(self.scene, &contestants), caveats, lead, ..said }
    }

    fn caveats(&self) -> Vec<String> {
        let needs_window = self.contest.metric != ComparedMetric::ColdStart;
        let mut caveats = caveats(self.scene, &self.contest.cases, self.contest.blocks(), needs_window);
        caveats.extend(aa_caveat(self.contest.aa_effect));
        caveats
    }

    fn case(&self, place: usize) -> &'a CaseFinding {
        self.contest.cases[place]
    }

    fn title(&self, place: usize) -> String {
        self.case(place).title.clone()
    }

    /// Whether no difference was found between any two.
    fn are_level(&self) -> bool {
        let others = |at: usize| self.judged.iter().skip(at + 1);
        let mut pairs = self.judged.iter().enumerate().flat_map(|(at, a)| others(at).map(move |b| (*a, *b)));
        pairs.all(|(a, b)| self.contest.pair(a, b).is_some_and(|pair| is_level(&pair)))
    }

    /// The first pick over each of the others.
    fn each_pick(&self) -> impl Iterator<Item = (usize, Pair)> {
        let first = self.picks.first().copied().unwrap_or(0);
        let of = move |place: &usize| Some((*place, self.contest.pair(first, *place)?));
        self.picks.iter().skip(1).filter_map(of)
    }

    /// The best case that is not a pick, with the first pick over it.
    fn next(&self) -> Option<(usize, Pair)> {
        let next = self.judged.iter().copied().find(|place| !self.picks.contains(place))?;
        Some((next, self.contest.pair(*self.picks.first()?, next)?))
    }

    fn because(&self) -> String {
        let value = value(self.contest.metric, self.contest.shown(self.picks[0]));
        let mut parts =
            vec![if self.picks.len() > 1 { format!("{} {value}", self.title(self.picks[0])) } else { value }];
        let named =
            |(place, pair): (usize, Pair)| format!("{} ({})", self.title(place), ratio(self.contest.metric, &pair));
        let level: Vec<String> = match self.picks.len() - 1 {
            few if few <= MOST_WITH_RATIOS => self.each_pick().map(named).collect(),
            _ => self.each_pick().map(|(place, _)| self.title(place)).collect(),
        };
        parts.extend((!level.is_empty()).then(|| format!("no clear difference from it: {}", listed(&level, "and"))));
        parts.extend(self.next().map(|(next, pair)| self.over_next(next, &pair)));
        parts.extend(self.unjudged());
        parts.join("; ")
    }

    fn over_next(&self, next: usize, pair: &Pair) -> String {
        let (title, words) = (self.title(next), figure(Quantity::Ratio, &shown(self.contest.metric, pair)).line());
        let lead = match self.contest.metric.better() {
            Better::Higher => format!("{words} the next, {title}"),
            Better::Lower => format!("the next, {title}, takes {words} as much"),
        };
        let blocks = counted(u64::from(pair.blocks), "round");
        let told = if pair.verdict == Verdict::Faster { "" } else { ", though without a clear difference" };
        format!("{lead}, ahead in {} of {blocks}{told}", pair.won)
    }

    fn level(&self) -> String {
        let widest = self
            .each_pick()
            .max_by(|left, right| left.1.ratio.value.ln().abs().total_cmp(&right.1.ratio.value.ln().abs()));
        let Some((place, pair)) = widest else { return String::new() };
        let words = ratio(self.contest.metric, &pair);
        let who = format!("{} and {}", self.title(self.picks[0]), self.title(place));
        match self.judged.len() {
            2 => format!("no difference was found between {who} ({words})"),
            all => format!("no difference was found among the {all}; {who} are furthest apart ({words})"),
        }
    }

    /// Cases with too few common blocks, which are neither picked nor rejected.
    fn unjudged(&self) -> Option<String> {
        let all = 0..self.contest.cases.len();
        let titles: Vec<String> =
            all.filter(|place| !self.judged.contains(place)).map(|place| self.title(place)).collect();
        let verb = if titles.len() == 1 { "has" } else { "have" };
        (!titles.is_empty()).then(|| format!("{} {verb} too few common rounds for a verdict", listed(&titles, "and")))
    }

    fn too_few_blocks(&self) -> Said {
        let (blocks, least) = (self.contest.blocks(), least_trials());
        let blocks = counted(u64::from(blocks), "common round");
        let because = format!("{blocks}, and an interval needs {least}");
        let more = format!("{least} rounds or more in which no trial fails or is disturbed");
        nobody(self.scene, because, vec![more])
    }

    fn undecided(&self) -> Said {
        let pair = self.contest.pair(0, self.judged[1]);
        let words = pair.map_or(String::new(), |pair| format!(": {}", ratio(self.contest.metric, &pair)));
        let who = format!("{} and {}", self.title(0), self.title(self.judged[1]));
        let because = match self.judged.len() {
            2 => format!("{who} show no clear difference{words}"),
            all => format!("none of the {all} show a clear difference; the first two are {who}{words}"),
        };
        nobody(self.scene, because, vec![self.what_would_tell()])
    }

    /// For goodput, the number of blocks that would be enough is known.
    fn what_would_tell(&self) -> String {
        let power = self.scene.finding.power.as_ref().filter(|_| self.contest.metric == ComparedMetric::Goodput);
        let needed = power.and_then(|power| Some((power.blocks_needed?, power.effect)));
        match needed.filter(|(blocks, _)| *blocks > self.contest.blocks()) {
            Some((blocks, effect)) => {
                let effect = amount(Quantity::Share, effect);
                format!("about {blocks} rounds, enough to detect a difference of {effect}")
            }
            None => MORE.to_owned(),
        }
    }
}

fn is_level(pair: &Pair) -> bool {
    matches!(pair.verdict, Verdict::Equivalent | Verdict::NoDifferenceFound)
}

/// The ratio as "times as good", whichever way the figure is better.
fn shown(metric: ComparedMetric, pair: &Pair) -> Estimate {
    match metric.better() {
        Better::Higher => pair.ratio.clone(),
        Better::Lower => pair.clone().turned().ratio,
    }
}

/// The same with its interval, for brackets: `1.24×, 1.19–1.29`.
fn ratio(metric: ComparedMetric, pair: &Pair) -> String {
    let words = figure(Quantity::Ratio, &shown(metric, pair));
    words.interval.map_or(words.value.clone(), |interval| format!("{}, {interval}", words.value))
}

/// The value of a case, with its unit.
fn value(metric: ComparedMetric, value: f64) -> String {
    let words = amount(metric.quantity(), value);
    if metric == ComparedMetric::Goodput { format!("{words}/s") } else { words }
}
