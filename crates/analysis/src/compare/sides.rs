//! All runs of a comparison: the runs before, the runs after, and the view of every scenario in each.
//!
//! Every other run is matched with the first run before. A scenario or case that one of the runs lacks is not compared.

use super::ComparedRun;
use super::conditions::Both;
use super::findings::UnmatchedCase;
use super::matching::{Match, matches};
use super::views::{CaseView, ScenarioView};

/// A list for the runs before, and one for the runs after.
pub(super) type BeforeAfter<T> = [Vec<T>; 2];

pub(super) struct Sides<'a> {
    pub(super) runs: [&'a [ComparedRun<'a>]; 2],
    views: &'a BeforeAfter<Vec<ScenarioView<'a>>>,
    /// For every run but the first one: its side, its index there, and how its scenarios match those of the first run.
    matches: Vec<(usize, usize, Vec<Match>)>,
    /// Scenarios that every run has.
    pub(super) scenes: Vec<Scene<'a>>,
}

pub(super) struct Scene<'a> {
    pub(super) views: BeforeAfter<&'a ScenarioView<'a>>,
}

impl<'a> Sides<'a> {
    pub(super) fn new(runs: [&'a [ComparedRun<'a>]; 2], views: &'a BeforeAfter<Vec<ScenarioView<'a>>>) -> Self {
        let places = (0..2).flat_map(|side| (0..views[side].len()).map(move |place| (side, place)));
        let others = places.skip(1);
        let first = &views[0][0];
        let matches: Vec<(usize, usize, Vec<Match>)> =
            others.map(|(side, place)| (side, place, matches(first, &views[side][place]))).collect();
        let scene = |own: usize| {
            let mut found: BeforeAfter<&ScenarioView> = [vec![&first[own]], Vec::new()];
            for (side, place, known) in &matches {
                let (_, other) = known.iter().find(|(a, _)| *a == own)?;
                found[*side].push(&views[*side][*place][*other]);
            }
            Some(Scene { views: found })
        };
        let scenes = (0..first.len()).filter_map(scene).collect();
        Self { runs, views, matches, scenes }
    }

    /// Whether each side has one run. Their trials do not show how runs vary.
    pub(super) fn is_single_pair(&self) -> bool {
        self.runs.iter().all(|runs| runs.len() == 1)
    }

    /// The first run before, paired with each other run.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, Both<'_>)> {
        self.matches.iter().map(|(side, place, matches)| {
            let runs = [&self.runs[0][0], &self.runs[*side][*place]];
            let scenarios = [&self.views[0][0][..], &self.views[*side][*place][..]];
            (*side, Both { runs, scenarios, matches })
        })
    }

    /// The first run before, paired with the first one after.
    pub(super) fn first_pair(&self) -> Option<Both<'_>> {
        self.pairs().find(|(side, _)| *side == 1).map(|(_, both)| both)
    }

    /// Cases of the first run before, and of the first one after, that some run lacks. Each case appears once.
    pub(super) fn unmatched(&self) -> BeforeAfter<UnmatchedCase> {
        let of_side = |side: usize| {
            let shown = |view: &'a ScenarioView<'a>| {
                let scene = self.scenes.iter().find(|scene| std::ptr::eq(scene.views[side][0], view));
                let is_known = move |case: &&CaseView| scene.is_some_and(|scene| scene.case(case.subject).is_some());
                view.cases.iter().filter(move |case| !is_known(case)).map(|case| UnmatchedCase {
                    scenario: view.id.to_owned(),
                    subject: case.subject.to_owned(),
                    title: case.title.to_owned(),
                })
            };
            self.views[side][0].iter().flat_map(shown).collect::<Vec<UnmatchedCase>>()
        };
        let (before, mut after) = (of_side(0), of_side(1));
        let is_named = |case: &UnmatchedCase| {
            before.iter().any(|it| (&it.scenario, &it.subject) == (&case.scenario, &case.subject))
        };
        after.retain(|case| !is_named(case));
        [before, after]
    }

    /// The first run without any ranked case, if there is one.
    pub(super) fn unsound(&self) -> Option<&ComparedRun<'a>> {
        let has_ranked =
            |scenarios: &[ScenarioView]| scenarios.iter().flat_map(|scenario| &scenario.cases).any(|case| case.ranked);
        let places = (0..2).flat_map(|side| (0..self.views[side].len()).map(move |place| (side, place)));
        let mut lacking = places.filter(|(side, place)| !has_ranked(&self.views[*side][*place]));
        lacking.next().map(|(side, place)| &self.runs[side][place])
    }
}

impl<'a> Scene<'a> {
    /// The views of the first run before and of the first one after.
    pub(super) fn first(&self) -> (&'a ScenarioView<'a>, &'a ScenarioView<'a>) {
        (self.views[0][0], self.views[1][0])
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &'a ScenarioView<'a>> {
        self.views.iter().flatten().copied()
    }

    /// Cases that every run has, in the order of the first one's table.
    pub(super) fn cases(&self) -> Vec<BeforeAfter<CaseView<'a>>> {
        self.views[0][0].cases.iter().filter_map(|case| self.case(case.subject)).collect()
    }

    fn case(&self, subject: &str) -> Option<BeforeAfter<CaseView<'a>>> {
        let of = |view: &&'a ScenarioView<'a>| view.cases.iter().find(|case| case.subject == subject).copied();
        let side = |place: usize| self.views[place].iter().map(of).collect::<Option<Vec<CaseView>>>();
        Some([side(0)?, side(1)?])
    }
}
