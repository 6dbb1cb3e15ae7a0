//! A forecast: one row per subject and workload. A missing figure is an empty field.

use tolok_analysis::forecast::{Forecast, Prediction, SubjectForecast, Validation};

use super::{csv, number};

/// A column after that of the run: its name, and its field in a row.
type Column = (&'static str, fn(&SubjectForecast) -> String);

const COLUMNS: [Column; 27] = [
    ("subject", |of| of.subject.clone()),
    ("workload", |of| of.workload.clone()),
    ("users", |of| of.conditions.users.to_string()),
    ("instances", |of| of.conditions.instances.to_string()),
    ("rtt_s", |of| of.conditions.rtt_s.to_string()),
    ("database_rtt_s", |of| number(of.conditions.database_rtt_s)),
    ("pool", |of| number(of.conditions.pool.map(f64::from))),
    ("think_s", |of| of.conditions.think_s.to_string()),
    ("predicted_throughput_rps", |of| predicted(of, |it| Some(it.throughput_rps.value))),
    ("predicted_throughput_rps_low", |of| predicted(of, |it| Some(it.throughput_rps.low))),
    ("predicted_throughput_rps_high", |of| predicted(of, |it| Some(it.throughput_rps.high))),
    ("predicted_response_mean_s", |of| predicted(of, |it| Some(it.response_mean_s.value))),
    ("predicted_response_mean_s_low", |of| predicted(of, |it| Some(it.response_mean_s.low))),
    ("predicted_response_mean_s_high", |of| predicted(of, |it| Some(it.response_mean_s.high))),
    ("bottleneck", |of| of.prediction.as_ref().map(|it| it.bottleneck.clone()).unwrap_or_default()),
    ("most_rps", |of| predicted(of, |it| Some(it.most_rps))),
    ("users_at_knee", |of| predicted(of, |it| Some(it.users_at_knee))),
    ("instances_needed", |of| predicted(of, |it| Some(f64::from(it.instances_needed.as_ref()?.instances?)))),
    ("generator_cpus", |of| predicted(of, |it| Some(it.to_measure.generator_cpus))),
    ("body_bytes_per_s", |of| predicted(of, |it| Some(it.to_measure.body_bytes_per_s))),
    ("scenarios_held_out", |of| validated(of, |it| Some(it.held_out.len() as f64))),
    ("throughput_error_median", |of| validated(of, |it| Some(it.throughput_error_median))),
    ("throughput_error_worst", |of| validated(of, |it| Some(it.throughput_error_worst))),
    ("response_error_median", |of| validated(of, |it| it.response_error_median)),
    ("response_error_worst", |of| validated(of, |it| it.response_error_worst)),
    ("refused", |of| of.refused.clone().unwrap_or_default()),
    ("remarks", |of| of.remarks.join(" ")),
];

pub fn forecast(forecast: &Forecast) -> String {
    let row = |run: &str, fields: [String; 27]| std::iter::once(run.to_owned()).chain(fields).collect::<Vec<_>>();
    let heading = row("run", COLUMNS.map(|(name, _)| name.to_owned()));
    let subjects = forecast.subjects.iter().map(|of| row(&forecast.run, COLUMNS.map(|(_, field)| field(of))));
    csv(std::iter::once(heading).chain(subjects))
}

fn predicted(of: &SubjectForecast, figure: fn(&Prediction) -> Option<f64>) -> String {
    number(of.prediction.as_ref().and_then(figure))
}

fn validated(of: &SubjectForecast, figure: fn(&Validation) -> Option<f64>) -> String {
    number(of.validation.as_ref().and_then(figure))
}
