//! The series of a source: the course of each, beside the measured one.

use tolok_analysis::figures::NONE;
use tolok_analysis::replication::{ReplicatedSeries, SeriesCourse};

use super::words::{SECONDS, course, series_name, without_seconds};
use crate::document::{Block, Chart, Column, Depth, Fact, Look, Row, Table, Text};
use crate::{sparkline, svg};

/// The measured series; those only published are folded away.
pub(super) fn series(all: &[ReplicatedSeries], depth: Depth) -> Vec<Block> {
    if all.is_empty() {
        return Vec::new();
    }
    let (measured, published): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.measured.is_some());
    let mut blocks = vec![Block::paragraph(SECONDS, Look::Muted)];
    match depth {
        Depth::Short => blocks.extend(measured.into_iter().flat_map(in_lines)),
        _ => blocks.extend(in_a_table("Series, published and measured", all, &measured, depth)),
    }
    blocks.extend(Block::list(without_seconds(all).into_iter().map(Text::from).collect()));
    if depth != Depth::Short && !published.is_empty() {
        let folded = in_a_table("Series as published", all, &published, depth);
        blocks.push(Block::Folded { summary: "These series as published".into(), blocks: folded });
    }
    blocks
}

fn in_lines(one: &ReplicatedSeries) -> [Block; 2] {
    let fact = |label: &str, course: &SeriesCourse| Fact::of(label, drawn(course, Depth::Short));
    let meanwhile = one.published_meanwhile.iter().map(|it| fact("published, those seconds", it));
    let measured = one.measured.iter().map(|it| fact("measured", it));
    let facts = std::iter::once(fact("published", &one.published)).chain(meanwhile).chain(measured).collect();
    [Block::heading(4, series_name(one)), Block::Facts(facts)]
}

/// A table of some series. A chart has all subjects of its group, so it comes with the first of them.
fn in_a_table(caption: &str, all: &[ReplicatedSeries], some: &[&ReplicatedSeries], depth: Depth) -> Vec<Block> {
    if some.is_empty() {
        return Vec::new();
    }
    let is_measured = some.iter().any(|one| one.measured.is_some());
    let groups = groups(all).into_iter().filter(|group| group.iter().any(|it| it.measured.is_some()) == is_measured);
    let charts = groups.map(|group| Chart::of(svg::courses(&group))).collect();
    let row = |one: &&ReplicatedSeries| {
        let measured = one.measured.as_ref().map_or(NONE.to_owned(), |it| drawn(it, depth));
        let meanwhile = one.published_meanwhile.as_ref().map(|it| format!("; in the seconds measured {}", course(it)));
        let published = format!("{}{}", drawn(&one.published, depth), meanwhile.unwrap_or_default());
        let cells = [series_name(one), published, measured].map(Into::into);
        Row::of(cells[..if is_measured { 3 } else { 2 }].to_vec())
    };
    let columns = ["series", "published", "measured"].map(Column::words);
    let table = Table::of(caption, columns[..if is_measured { 3 } else { 2 }].to_vec(), some.iter().map(row).collect());
    vec![Block::Charts(charts), Block::Table(table)]
}

/// A course in words, after a sparkline if there is no chart.
fn drawn(of: &SeriesCourse, depth: Depth) -> String {
    match depth {
        Depth::Page => course(of),
        _ => format!("{} {}", sparkline::line(&of.value), course(of)),
    }
}

/// The series of one figure under one setting, in order.
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
