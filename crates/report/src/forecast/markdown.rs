//! A forecast as tables that GitHub shows.

use tolok_analysis::figures::{NONE, small_share};
use tolok_analysis::forecast::{Forecast, SubjectForecast};

use super::lines::{READ_WITH, conditions, errors, instances, response, throughput, users, words};
use crate::markdown::{escaped, lines, list};

const HEADINGS: [&str; 8] = [
    "subject",
    "workload",
    "throughput, predicted",
    "mean response, predicted",
    "full first",
    "users at the knee",
    "wrong by, on held-out scenarios",
    "n",
];

/// The forecast for a pull request or a document.
pub fn markdown(forecast: &Forecast) -> String {
    let mut text = format!("# Forecast from run {}\n\n{}\n\n", escaped(&forecast.run), escaped(&forecast.machine));
    text += &format!("{READ_WITH}\n\n");
    let rows: Vec<Vec<String>> = forecast.subjects.iter().map(row).collect();
    text += &lines(&HEADINGS, &rows, 0);
    let each = |of: &dyn Fn(&SubjectForecast) -> Vec<String>| -> Vec<String> {
        let named = |subject: &SubjectForecast| {
            let name = format!("{}, {}", subject.title, subject.workload_title);
            of(subject).into_iter().map(move |said| escaped(&format!("{name}: {said}"))).collect::<Vec<_>>()
        };
        forecast.subjects.iter().flat_map(named).collect()
    };
    text += &list("For", &each(&|subject| vec![conditions(&subject.conditions)]));
    text += &list("Instances", &each(&|subject| subject.prediction.iter().filter_map(instances).collect()));
    text += &list("Not predicted", &each(&|subject| subject.refused.clone().into_iter().collect()));
    text += &list("Remarks", &each(&|subject| subject.remarks.clone()));
    text + &held_out(forecast)
}

fn row(subject: &SubjectForecast) -> Vec<String> {
    let of_prediction = subject.prediction.as_ref().map_or([NONE; 4].map(str::to_owned), |prediction| {
        let (full, knee) = (words(&prediction.bottleneck).to_owned(), users(prediction.users_at_knee));
        [throughput(prediction), response(prediction), full, knee]
    });
    let of_validation = subject.validation.as_ref().map_or([NONE; 2].map(str::to_owned), |validation| {
        let wrong = errors(validation.throughput_error_median, validation.throughput_error_worst);
        [wrong, validation.held_out.len().to_string()]
    });
    let names = [escaped(&subject.title), escaped(&subject.workload_title)];
    names.into_iter().chain(of_prediction).chain(of_validation).collect()
}

/// Every scenario that was predicted from the others.
fn held_out(forecast: &Forecast) -> String {
    use tolok_analysis::figures::{Quantity, amount};
    let rows: Vec<Vec<String>> = forecast
        .subjects
        .iter()
        .flat_map(|subject| {
            let held_out = subject.validation.iter().flat_map(|validation| &validation.held_out);
            held_out.map(|found| {
                let [measured, predicted] =
                    [found.measured_rps, found.predicted_rps].map(|rps| amount(Quantity::Number, rps));
                let names = [&subject.title, &found.scenario].map(|name| escaped(name));
                names.into_iter().chain([measured, predicted, small_share(found.throughput_error)]).collect()
            })
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = ["subject", "scenario", "measured, answers/s", "predicted from the others", "wrong by"];
    format!("\n## Held-out scenarios\n\n{}", lines(&headings, &rows, 0))
}
