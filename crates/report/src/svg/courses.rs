//! A published figure second by second, and below it the measured one.
//!
//! Sizes depend on the machine, so each has its own vertical axis from 0; both share the time axis.

use tolok_analysis::figures::in_column;
use tolok_analysis::replication::{ReplicatedSeries, SeriesCourse};

use super::lines::{line_class, ways};
use super::seconds::nice;
use super::{Anchor, Drawing, HEAD, WIDTH, fitted, short, trace};
use crate::svg::palette::look;

const LEFT: f64 = 40.0;
const RIGHT: f64 = WIDTH - 6.0;
/// Height of a row: its title and axis.
const ROW: f64 = 92.0;
/// Height of the axis in a row.
const AXIS: f64 = 62.0;
/// Height of the time labels, and of a line of the legend.
const LINE: f64 = 19.0;

/// The series of one figure under one setting: a line for each subject.
pub(crate) fn courses(all: &[&ReplicatedSeries]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let both = || all.iter().flat_map(|one| std::iter::once(&one.published).chain(&one.measured));
    let last_s = both().flat_map(|course| &course.at_s).fold(1.0, |most: f64, at_s| most.max(*at_s));
    let top = HEAD - 12.0;
    let mut drawing = Drawing::new(WIDTH, top + 2.0 * ROW + LINE * (1 + all.len().div_ceil(2)) as f64);
    drawing.heading(&first.setting, &format!("{}, {}", first.words, first.unit));
    let subjects: Vec<(&str, &str)> = all.iter().map(|one| (look(&one.subject).class, one.subject.as_str())).collect();
    let classes = subjects.iter().zip(ways(&subjects));
    let classes: Vec<String> = classes.map(|((_, subject), way)| line_class(subject, way)).collect();
    let lines = |of: fn(&ReplicatedSeries) -> Option<&SeriesCourse>| -> Vec<(&SeriesCourse, &str)> {
        all.iter().zip(&classes).filter_map(|(one, class)| Some((of(one)?, class.as_str()))).collect()
    };
    row(&mut drawing, "published", &lines(|one| Some(&one.published)), (top, last_s));
    row(&mut drawing, "measured", &lines(|one| one.measured.as_ref()), (top + ROW, last_s));
    let y = top + 2.0 * ROW + 10.0;
    drawing.text("m", Anchor::Middle, LEFT, y, "0");
    drawing.text("m", Anchor::End, RIGHT, y, &format!("{last_s:.0} s"));
    for (place, (one, class)) in all.iter().zip(&classes).enumerate() {
        let [x, y] = [(place % 2) as f64 * WIDTH / 2.0, y + LINE * (1 + place / 2) as f64];
        drawing.path(class, &format!("M{} {}h24", short(x), short(y - 4.0)));
        drawing.text("p", Anchor::Start, x + 30.0, y, &fitted(&one.subject, (WIDTH / 2.0 - 34.0) / 6.8));
    }
    drawing.finish(&format!(
        "{} second by second, {}: as published and as measured; the table below says the same in numbers",
        first.words, first.setting
    ))
}

/// One axis with its lines, and bands for those with several trials.
fn row(drawing: &mut Drawing, words: &str, lines: &[(&SeriesCourse, &str)], (top, last_s): (f64, f64)) {
    drawing.text("m", Anchor::Start, LEFT, top + 14.0, words);
    let [ceiling, floor] = [top + 20.0, top + 20.0 + AXIS];
    drawing.path("axis", &format!("M{LEFT} {}H{RIGHT}", short(floor)));
    if lines.is_empty() {
        drawing.text(
            "m",
            Anchor::Middle,
            f64::midpoint(LEFT, RIGHT),
            f64::midpoint(ceiling, floor),
            "not by the second",
        );
        return;
    }
    let most =
        nice(lines.iter().flat_map(|(course, _)| course.value.iter().chain(&course.high)).fold(0.0, |a, b| b.max(a)));
    drawing.path("grid-line", &format!("M{LEFT} {}H{RIGHT}", short(ceiling)));
    drawing.text("m", Anchor::End, LEFT - 4.0, ceiling + 4.0, &in_column(most));
    drawing.text("m", Anchor::End, LEFT - 4.0, floor + 4.0, "0");
    let at = |at_s: &f64, value: &f64| {
        [LEFT + (RIGHT - LEFT) * at_s / last_s, (floor - AXIS * value / most).clamp(ceiling, floor)]
    };
    for (course, class) in lines {
        let side =
            |values: &[f64]| course.at_s.iter().zip(values).map(|(at_s, value)| at(at_s, value)).collect::<Vec<_>>();
        if !course.low.is_empty() {
            let colour = class.split(' ').next().unwrap_or_default();
            drawing.path(&format!("{colour} band"), &trace::area(&side(&course.high), &side(&course.low)));
        }
        drawing.path(class, &trace::line(&side(&course.value)));
    }
}
