//! A history: one row per figure of a run.

use tolok_analysis::RunHistory;

use super::{csv, number};

pub fn history(found: &RunHistory) -> String {
    let heading = [
        "run",
        "started_at",
        "scenario",
        "subject",
        "title",
        "ceiling",
        "metric",
        "unit",
        "value",
        "low",
        "high",
        "level",
        "new_level",
    ];
    let rows = found.series.iter().flat_map(|series| {
        series.points.iter().map(move |point| {
            let run = &found.runs[point.run];
            let level = 1 + series.changes.iter().filter(|change| change.run <= point.run).count();
            let new_level = series.changes.iter().any(|change| change.run == point.run);
            [
                run.id.clone(),
                run.started_at.clone(),
                series.scenario.clone(),
                series.subject.clone(),
                series.title.clone(),
                series.is_ceiling.to_string(),
                series.metric.word().to_owned(),
                series.unit.to_owned(),
                number(Some(point.value.value)),
                number(point.value.low),
                number(point.value.high),
                level.to_string(),
                new_level.to_string(),
            ]
        })
    });
    csv(std::iter::once(heading.map(str::to_owned)).chain(rows))
}
