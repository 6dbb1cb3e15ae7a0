//! Thresholds on the command line: parsed like a study's objectives, then converted to the engine's types.

use tolok_load::threshold::{Comparison, Metric, Part, Threshold};
use tolok_model::{Limit, Metric as Figure, Objective, Part as Time, Relation};

/// `p99 < 50ms`, `failed < 0.1%`, and k6's spellings.
pub fn threshold(text: &str) -> Result<Threshold, String> {
    let objective = Objective::parse(text).map_err(|error| format!("{error}; {}", error.help()))?;
    Ok(Threshold {
        text: text.trim().to_owned(),
        metric: metric(&objective),
        comparison: match objective.comparison {
            Relation::Below => Comparison::Below,
            Relation::AtMost => Comparison::AtMost,
            Relation::Above => Comparison::Above,
            Relation::AtLeast => Comparison::AtLeast,
        },
        limit: objective.value.number(),
    })
}

fn metric(objective: &Objective) -> Metric {
    let part = match objective.part {
        Some(Time::Response) | None => Part::Response,
        Some(Time::Service) => Part::Service,
        Some(Time::Lateness) => Part::Lateness,
        Some(Time::Queue) => Part::Queue,
        Some(Time::Connect) => Part::Connect,
        Some(Time::FirstByte) => Part::FirstByte,
        Some(Time::Failure) => Part::Failure,
    };
    match (objective.metric, objective.value) {
        (Figure::Quantile(quantile), _) => Metric::Quantile(part, quantile),
        (Figure::Mean, _) => Metric::Mean(part),
        (Figure::Max, _) => Metric::Max(part),
        (Figure::Min, _) => Metric::Min(part),
        (Figure::Goodput, Limit::Share(_)) => Metric::GoodputShare,
        (Figure::Goodput, _) => Metric::GoodputRate,
        (Figure::Rate, _) => Metric::Rate,
        (Figure::Failed, Limit::Share(_)) => Metric::FailedShare,
        (Figure::Failed, _) => Metric::FailedCount,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, metric: Metric, comparison: Comparison, limit: f64) {
        let expected = Threshold { text: text.to_owned(), metric, comparison, limit };
        assert_eq!(threshold(text), Ok(expected));
    }

    #[test]
    fn every_figure_has_its_place_in_the_engine() {
        check("p99 < 50ms", Metric::Quantile(Part::Response, 0.99), Comparison::Below, 0.05);
        check("service.p99.9 <= 1s", Metric::Quantile(Part::Service, 0.999), Comparison::AtMost, 1.0);
        check("first-byte.mean < 2ms", Metric::Mean(Part::FirstByte), Comparison::Below, 0.002);
        check("lateness.max < 1ms", Metric::Max(Part::Lateness), Comparison::Below, 0.001);
        check("failure.min > 1ms", Metric::Min(Part::Failure), Comparison::Above, 0.001);
        check("queue.p50 < 1ms", Metric::Quantile(Part::Queue, 0.5), Comparison::Below, 0.001);
        check("connect.max < 1s", Metric::Max(Part::Connect), Comparison::Below, 1.0);
        check("goodput >= 1000/s", Metric::GoodputRate, Comparison::AtLeast, 1000.0);
        check("goodput >= 99.9%", Metric::GoodputShare, Comparison::AtLeast, 0.999);
        check("rate > 6000/m", Metric::Rate, Comparison::Above, 100.0);
        check("failed < 0.1%", Metric::FailedShare, Comparison::Below, 0.001);
        check("failed <= 3", Metric::FailedCount, Comparison::AtMost, 3.0);
    }

    #[test]
    fn k6s_words_are_understood() {
        check("http_req_duration p(95)<200", Metric::Quantile(Part::Response, 0.95), Comparison::Below, 0.2);
        check("http_req_failed rate<0.01", Metric::FailedShare, Comparison::Below, 0.01);
    }

    #[test]
    fn what_is_no_threshold_is_refused_with_what_would_be_one() {
        let refused = threshold("p99 < 50").unwrap_err();
        assert_eq!(refused, "`50` is no value of `p99`; write a duration with its unit, such as 50ms or 1.5s");
    }
}
