//! The words of a forecast.

use tolok_analysis::Estimate;
use tolok_analysis::figures::{Quantity, amount, count, counted, figure, small_share};
use tolok_analysis::forecast::{Conditions, ForecastResource, Predicted, Prediction, SubjectForecast, Validation};
use tolok_model::duration_words;

/// The caveat of every forecast.
pub(super) const READ_WITH: &str = "Predicted, not measured: means from a queueing model of this machine. It knows no limits of memory, sockets or bandwidth. Intervals cover the scatter between rounds, and at least the errors on this run’s scenarios with similar numbers of users.";

/// Labelled facts about a subject, without its remarks.
pub(super) fn facts(subject: &SubjectForecast) -> Vec<(&'static str, String)> {
    let mut facts = vec![("for", conditions(&subject.conditions))];
    if let Some(prediction) = &subject.prediction {
        facts.push(("throughput", format!("{} predicted", throughput(prediction))));
        facts.push(("mean response", format!("{} predicted", response(prediction))));
        facts.push(("full first", full_first(prediction)));
        facts.push(("uses", uses(prediction)));
        facts.extend(instances(prediction).map(|needed| ("to keep it", needed)));
        facts.push(("to measure", to_measure(prediction)));
    }
    facts.extend(subject.refused.iter().map(|refused| ("not predicted", format!("{refused}."))));
    facts.extend(subject.validation.iter().map(|validation| ("checked", checked(validation))));
    facts
}

/// `1,000,000 users who pause for 1 s, rtt 20 ms · 4 instances with 1 CPU each`
fn conditions(conditions: &Conditions) -> String {
    let mut users = counted(conditions.users, "user");
    if conditions.think_s > 0.0 {
        let pause = if conditions.users == 1 { "pauses" } else { "pause" };
        users += &format!(" who {pause} for {}", duration_words(conditions.think_s));
    }
    let instances = counted(u64::from(conditions.instances), "instance");
    let cpus =
        if conditions.subject_cpus == 1.0 { "1 CPU".to_owned() } else { format!("{} CPUs", conditions.subject_cpus) };
    let each = if conditions.instances == 1 { "" } else { " each" };
    // If nothing was observed, the number of CPUs is unknown too.
    let with_cpus = if conditions.subject_cpus > 0.0 { format!("{instances} with {cpus}{each}") } else { instances };
    let mut parts = vec![users, format!("rtt {}", duration_words(conditions.rtt_s)), with_cpus];
    if let Some((pool, rtt_s)) = conditions.pool.zip(conditions.database_rtt_s) {
        let connections = counted(u64::from(pool), "connection");
        let cpus = conditions.database_cpus.map(|cpus| format!(" of {}", counted(u64::from(cpus), "CPU")));
        parts.push(format!(
            "{connections}{each} to a database{} at rtt {}",
            cpus.unwrap_or_default(),
            duration_words(rtt_s)
        ));
    }
    parts.join(" · ")
}

pub(super) fn throughput(prediction: &Prediction) -> String {
    with_interval(Quantity::Number, &prediction.throughput_rps) + " answers/s"
}

pub(super) fn response(prediction: &Prediction) -> String {
    with_interval(Quantity::Seconds, &prediction.response_mean_s)
}

fn with_interval(quantity: Quantity, predicted: &Predicted) -> String {
    let Predicted { value, low, high } = *predicted;
    figure(quantity, &Estimate { value, low: Some(low), high: Some(high), trials: Vec::new() }).line()
}

/// `subject CPU, at 43.2k answers/s; beyond 8.64k users more of them only wait longer`
fn full_first(prediction: &Prediction) -> String {
    let most = amount(Quantity::Number, prediction.most_rps);
    let knee = users(prediction.users_at_knee);
    let knee = if knee == "1" { "1 user".to_owned() } else { format!("{knee} users") };
    format!("{}, at {most} answers/s; beyond {knee}, more users only wait longer", words(&prediction.bottleneck))
}

/// Users at the knee: a whole number, and three digits of large ones.
pub(super) fn users(users: f64) -> String {
    if users < 1_000.0 { count(users.round().max(1.0) as u64) } else { amount(Quantity::Number, users) }
}

/// `subject CPU 23.1 µs, 100% · pool 1.2 ms, 40% of 16`
fn uses(prediction: &Prediction) -> String {
    let one = |resource: &ForecastResource| {
        let demand = format!("{} {}", words(&resource.resource), amount(Quantity::Seconds, resource.demand_s));
        match resource.utilisation.zip(resource.servers) {
            Some((utilisation, 1.0)) => format!("{demand}, {} used", small_share(utilisation)),
            Some((utilisation, servers)) => {
                format!("{demand}, {} of {} used", small_share(utilisation), number(servers))
            }
            None => demand,
        }
    };
    let all: Vec<String> = prediction.resources.iter().map(one).collect();
    format!("for each response: {}", all.join(" · "))
}

/// A number of servers, which may be fractional.
fn number(servers: f64) -> String {
    if servers.fract() == 0.0 { count(servers as u64) } else { servers.to_string() }
}

/// What is needed to keep the requested mean.
fn instances(prediction: &Prediction) -> Option<String> {
    let needed = prediction.instances_needed.as_ref()?;
    let (below, full) = (duration_words(needed.mean_below_s), words(&needed.bottleneck));
    Some(match needed.instances {
        Some(instances) => {
            format!("below {below} takes {}; bottleneck then: {full}", counted(u64::from(instances), "instance"))
        }
        None => format!("no number of instances keeps it below {below}; bottleneck then: {full}"),
    })
}

/// `4 CPUs of load generators, and links for 2.20 MiB/s of bodies`
fn to_measure(prediction: &Prediction) -> String {
    let cpus = counted(prediction.to_measure.generator_cpus.ceil().max(1.0) as u64, "CPU");
    let bytes = amount(Quantity::Bytes, prediction.to_measure.body_bytes_per_s);
    format!("{cpus} of load generators, and links for {bytes}/s of bodies")
}

/// `4 scenarios of this run, each predicted from the others: throughput wrong by 2.1% in the median, 6% at worst; …`
fn checked(validation: &Validation) -> String {
    let cases = counted(validation.held_out.len() as u64, "scenario");
    let throughput = errors(validation.throughput_error_median, validation.throughput_error_worst);
    let response = validation.response_error_median.zip(validation.response_error_worst);
    let response = match response {
        Some((median, worst)) => format!("mean response by {}", errors(median, worst)),
        None => "mean response unknown".to_owned(),
    };
    format!("{cases} of this run, each predicted from the others: throughput wrong by {throughput}; {response}")
}

pub(super) fn errors(median: f64, worst: f64) -> String {
    format!("{} in the median, {} at worst", small_share(median), small_share(worst))
}

/// The readable name of a resource.
pub(super) fn words(resource: &str) -> &str {
    match resource {
        "subject-cpu" => "subject CPU",
        "database-cpu" => "database CPU",
        "database-link" => "way to the database",
        "link" => "way to the users",
        "other" => "other time",
        other => other,
    }
}
