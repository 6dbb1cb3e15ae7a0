//! A forecast. It labels every prediction, and shows the errors of such predictions.

mod words;

use tolok_analysis::figures::{NONE, Quantity, amount, listed, small_share};
use tolok_analysis::forecast::{Forecast, SubjectForecast};

use crate::document::{Block, Cell, Column, Depth, Document, Fact, List, Look, Row, Table, Text};
use words::{READ_WITH, errors, facts, response, throughput, users, words};

/// The forecast. The full form also has a table of all subjects, and every scenario that was predicted from the others.
pub fn forecast(forecast: &Forecast, depth: Depth) -> Document {
    let title = format!("Forecast from run {}", forecast.run);
    let mut blocks = vec![
        Block::heading(1, title.as_str()),
        Block::paragraph(forecast.machine.as_str(), Look::Muted),
        Block::paragraph(READ_WITH, Look::Muted),
    ];
    if depth != Depth::Short {
        blocks.push(Block::Table(overview(forecast)));
    }
    match refused_alike(forecast) {
        Some(reason) => blocks.extend(all_refused(forecast, reason)),
        None => blocks.extend(forecast.subjects.iter().flat_map(of_subject)),
    }
    let held_out = held_out(forecast);
    if depth != Depth::Short && !held_out.rows.is_empty() {
        blocks.extend([Block::heading(2, "Held-out scenarios"), Block::Table(held_out)]);
    }
    Document { title, blocks }
}

fn of_subject(subject: &SubjectForecast) -> [Block; 3] {
    let heading = format!("{} · {}", subject.title, subject.workload_title);
    let fact = |(label, words): (&str, String)| Fact::of(label, words);
    let remarks = subject.remarks.iter().map(Text::from).collect();
    [
        Block::heading(2, heading),
        Block::Facts(facts(subject).into_iter().map(fact).collect()),
        Block::List(List { sign: "!", items: remarks }),
    ]
}

/// Why none of several subjects can be predicted, if the reason is the same for all.
fn refused_alike(forecast: &Forecast) -> Option<&str> {
    let [first, rest @ ..] = forecast.subjects.as_slice() else { return None };
    let reason = first.refused.as_deref()?;
    (!rest.is_empty() && rest.iter().all(|it| it.refused.as_deref() == Some(reason))).then_some(reason)
}

fn all_refused(forecast: &Forecast, reason: &str) -> [Block; 2] {
    let names: Vec<String> =
        forecast.subjects.iter().map(|it| format!("{} · {}", it.title, it.workload_title)).collect();
    let mut remarks: Vec<&String> = forecast.subjects.iter().flat_map(|it| &it.remarks).collect();
    remarks.sort();
    remarks.dedup();
    let facts = vec![Fact::of("not predicted", listed(&names, "and")), Fact::of("because", format!("{reason}."))];
    [Block::Facts(facts), Block::List(List { sign: "!", items: remarks.into_iter().map(Text::from).collect() })]
}

fn overview(forecast: &Forecast) -> Table {
    let headings = [
        "subject",
        "workload",
        "throughput, predicted",
        "mean response, predicted",
        "full first",
        "users at the knee",
        "wrong by, on held-out scenarios",
        "n",
    ];
    Table::of("Predictions", headings.map(Column::words).to_vec(), forecast.subjects.iter().map(row).collect())
}

fn row(subject: &SubjectForecast) -> Row {
    let of_prediction = subject.prediction.as_ref().map_or([NONE; 4].map(str::to_owned), |prediction| {
        let (full, knee) = (words(&prediction.bottleneck).to_owned(), users(prediction.users_at_knee));
        [throughput(prediction), response(prediction), full, knee]
    });
    let of_validation = subject.validation.as_ref().map_or([NONE; 2].map(str::to_owned), |validation| {
        let wrong = errors(validation.throughput_error_median, validation.throughput_error_worst);
        [wrong, validation.held_out.len().to_string()]
    });
    let names = [subject.title.clone(), subject.workload_title.clone()];
    Row::of(names.into_iter().chain(of_prediction).chain(of_validation).map(Cell::from).collect())
}

/// Every scenario that was predicted from the others.
fn held_out(forecast: &Forecast) -> Table {
    let rows = forecast.subjects.iter().flat_map(|subject| {
        let held_out = subject.validation.iter().flat_map(|validation| &validation.held_out);
        held_out.map(|found| {
            let [measured, predicted] =
                [found.measured_rps, found.predicted_rps].map(|rps| amount(Quantity::Number, rps));
            let wrong = small_share(found.throughput_error);
            let cells = [subject.title.clone(), found.scenario.clone(), measured, predicted, wrong];
            Row::of(cells.map(Cell::from).to_vec())
        })
    });
    Table::of(
        "Held-out scenarios",
        ["subject", "scenario", "measured, answers/s", "predicted from the others", "wrong by"]
            .map(Column::words)
            .to_vec(),
        rows.collect(),
    )
}
