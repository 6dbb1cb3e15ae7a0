//! A forecast: one row a subject and workload. A figure that does not exist is an empty field.

use tolok_analysis::forecast::{Forecast, Predicted, SubjectForecast};

use super::{csv, number};

const COLUMNS: [&str; 26] = [
    "run",
    "subject",
    "workload",
    "users",
    "instances",
    "rtt_s",
    "database_rtt_s",
    "pool",
    "think_s",
    "predicted_throughput_rps",
    "predicted_throughput_rps_low",
    "predicted_throughput_rps_high",
    "predicted_response_mean_s",
    "predicted_response_mean_s_low",
    "predicted_response_mean_s_high",
    "bottleneck",
    "most_rps",
    "users_at_knee",
    "instances_needed",
    "scenarios_held_out",
    "throughput_error_median",
    "throughput_error_worst",
    "response_error_median",
    "response_error_worst",
    "refused",
    "remarks",
];

/// The forecast as CSV.
pub fn forecast(forecast: &Forecast) -> String {
    let rows = forecast.subjects.iter().map(|subject| fields(&forecast.run, subject));
    csv(std::iter::once(COLUMNS.map(str::to_owned)).chain(rows))
}

fn fields(run: &str, subject: &SubjectForecast) -> [String; 26] {
    let (conditions, prediction, validation) = (&subject.conditions, &subject.prediction, &subject.validation);
    let throughput = |of: fn(&Predicted) -> f64| number(prediction.as_ref().map(|it| of(&it.throughput_rps)));
    let response = |of: fn(&Predicted) -> f64| number(prediction.as_ref().map(|it| of(&it.response_mean_s)));
    let needed = prediction.as_ref().and_then(|it| it.instances_needed.as_ref()?.instances);
    [
        run.to_owned(),
        subject.subject.clone(),
        subject.workload.clone(),
        conditions.users.to_string(),
        conditions.instances.to_string(),
        conditions.rtt_s.to_string(),
        number(conditions.database_rtt_s),
        number(conditions.pool.map(f64::from)),
        conditions.think_s.to_string(),
        throughput(|it| it.value),
        throughput(|it| it.low),
        throughput(|it| it.high),
        response(|it| it.value),
        response(|it| it.low),
        response(|it| it.high),
        prediction.as_ref().map(|it| it.bottleneck.clone()).unwrap_or_default(),
        number(prediction.as_ref().map(|it| it.most_rps)),
        number(prediction.as_ref().map(|it| it.users_at_knee)),
        number(needed.map(f64::from)),
        number(validation.as_ref().map(|it| it.held_out.len() as f64)),
        number(validation.as_ref().map(|it| it.throughput_error_median)),
        number(validation.as_ref().map(|it| it.throughput_error_worst)),
        number(validation.as_ref().and_then(|it| it.response_error_median)),
        number(validation.as_ref().and_then(|it| it.response_error_worst)),
        subject.refused.clone().unwrap_or_default(),
        subject.remarks.join(" "),
    ]
}
