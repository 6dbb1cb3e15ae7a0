//! The series of a source on a page: a chart for each figure and setting, and all of them in a table.

use serde::Serialize;
use tolok_analysis::replication::ReplicatedSeries;

use crate::documents::replication::words::{SECONDS, course, series_name, without_seconds};
use crate::svg;

/// What the template reads.
#[derive(Serialize)]
pub(super) struct Seconds {
    /// Charts in which something was measured.
    shown: Vec<String>,
    lines: Vec<Line>,
    /// Charts of what is published alone.
    folded: Vec<String>,
    folded_lines: Vec<Line>,
    /// Why nothing is measured of those.
    why: Vec<String>,
    rule: &'static str,
}

#[derive(Serialize)]
struct Line {
    name: String,
    published: String,
    measured: Option<String>,
}

impl Seconds {
    /// None where the source has no series.
    pub(super) fn of(all: &[ReplicatedSeries]) -> Option<Self> {
        let groups = groups(all);
        let is_measured = |group: &&Vec<&ReplicatedSeries>| group.iter().any(|one| one.measured.is_some());
        let (measured, published): (Vec<_>, Vec<_>) = groups.iter().partition(is_measured);
        let draw = |groups: Vec<&Vec<&ReplicatedSeries>>| groups.into_iter().map(|group| svg::courses(group)).collect();
        let lines = |is_shown: bool| all.iter().filter(move |one| one.measured.is_some() == is_shown).map(Line::of);
        (!all.is_empty()).then(|| Self {
            shown: draw(measured),
            lines: lines(true).collect(),
            folded: draw(published),
            folded_lines: lines(false).collect(),
            why: without_seconds(all),
            rule: SECONDS,
        })
    }
}

/// Those of one figure under one setting, in their order.
fn groups(all: &[ReplicatedSeries]) -> Vec<Vec<&ReplicatedSeries>> {
    let mut groups: Vec<Vec<&ReplicatedSeries>> = Vec::new();
    for one in all {
        let key = |one: &ReplicatedSeries| (one.key.clone(), one.setting.clone(), one.table.clone());
        match groups.iter_mut().find(|group| key(group[0]) == key(one)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

impl Line {
    fn of(one: &ReplicatedSeries) -> Self {
        Self { name: series_name(one), published: course(&one.published), measured: one.measured.as_ref().map(course) }
    }
}
