//! Formats numbers, figures and names for sentences.

use tolok_model::figures;
pub(crate) use tolok_model::figures::significant;
use tolok_model::transcription::{Figure, Mark, Moment, Number, Quantity, Transcription, Unit};

/// A number with three significant digits; whole numbers keep all their digits: `2.02`, `11,705`.
pub(crate) fn number(value: f64) -> String {
    significant(value, 3)
}

/// Like [`number`], with four digits, for comparisons with a text: `5.027`.
pub(crate) fn precise(value: f64) -> String {
    significant(value, 4)
}

/// A number without decimals, rounded up, so that an upper bound stays one. Below 10, it keeps its decimals.
pub(crate) fn whole(value: f64) -> String {
    if value < 10.0 { number(value) } else { number(value.ceil()) }
}

/// The number of a percentile: `95`, `99.9`.
pub(crate) fn percentile(share: f64) -> String {
    format!("{}", (share * 1e6).round() / 1e4)
}

pub(crate) fn seconds(value: f64) -> String {
    scaled(value, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")])
}

/// The length of a run, to a hundredth of a second.
pub(crate) fn run_seconds(value: f64) -> String {
    if value.is_finite() { format!("{value:.2} s") } else { seconds(value) }
}

pub(crate) fn bytes(value: f64) -> String {
    scaled(value, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")])
}

/// Bits per second, from bytes per second.
pub(crate) fn bits_per_s(bytes_per_s: f64) -> String {
    scaled(8.0 * bytes_per_s, &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")])
}

/// A fraction as a percentage. Less than 100% is never rounded to 100%.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let text = if (99.95..100.0).contains(&percent) { precise(percent) } else { number(percent) };
    format!("{text}%")
}

pub(crate) fn per_second(value: f64) -> String {
    format!("{}/s", number(value))
}

/// A value in the largest unit in which it is at least 1, or else in the smallest.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    // A value that would print as 1,000 of a unit belongs to the next one.
    let fits = |(factor, _): &&(f64, &str)| value.abs() >= 0.9995 * factor;
    let chosen = units.iter().find(fits).or(units.last());
    chosen.map_or_else(|| number(value), |(factor, unit)| format!("{} {unit}", number(value / factor)))
}

/// A chance in words that also suit very small ones: `3 of 100 cases`, `1 of 10^53 cases`.
pub(crate) fn chance(log10: f64) -> String {
    if log10 >= -2.0 {
        format!("{} of 100 cases", significant(10f64.powf(log10 + 2.0), 2))
    } else {
        // Rounds so that the chance is never understated.
        format!("1 of 10^{} cases", (-log10).floor())
    }
}

/// Converts a value from base units to a unit: `429.2 MB`.
pub(crate) fn amount(value: f64, unit: Unit) -> String {
    format!("{}{}", precise(value / unit.factor()), unit.suffix())
}

/// A figure as printed, with its unit, or the mean of its repetitions.
pub(crate) fn quoted(figure: &Figure) -> String {
    let unit = figure.unit.suffix();
    match figure.numbers.as_slice() {
        [one] => format!("{}{unit}", printed(one)),
        [first, others @ ..] if others.iter().all(|other| other.value == first.value) => {
            format!("{}{unit} each time", printed(first))
        }
        several => format!("{} (mean of {})", amount(figure.value(), figure.unit), several.len()),
    }
}

/// A number as printed, with its marks in words: `7`, `about 2`, `at least 400`, `6000 to 7000`.
pub(crate) fn printed(number: &Number) -> String {
    let text = number.printed.trim();
    let signs = |sign: char| "~<>=≤≥+ ".contains(sign);
    let digits = text.trim_matches(signs);
    match number.mark {
        Mark::Plain => text.to_owned(),
        Mark::About => format!("about {digits}"),
        Mark::AtLeast if text.starts_with('>') && !text.starts_with(">=") => format!("more than {digits}"),
        Mark::AtLeast => format!("at least {digits}"),
        Mark::AtMost if text.starts_with('<') && !text.starts_with("<=") => format!("less than {digits}"),
        Mark::AtMost => format!("at most {digits}"),
        Mark::Between { .. } => text.replacen("..", " to ", 1),
    }
}

/// A quantity as a noun: `peak memory`.
pub(crate) fn noun(quantity: &Quantity) -> String {
    let (what, moment) = match quantity {
        Quantity::Throughput => ("throughput", Moment::Whole),
        Quantity::Goodput => ("goodput", Moment::Whole),
        Quantity::Requests => ("number of requests", Moment::Whole),
        Quantity::Failures => ("number of failures", Moment::Whole),
        Quantity::Offered => ("offered rate", Moment::Whole),
        Quantity::Successes => ("number of correct responses", Moment::Whole),
        Quantity::Timeouts => ("number of time-outs", Moment::Whole),
        Quantity::ErrorRate => ("error rate", Moment::Whole),
        Quantity::HttpFailRate => ("HTTP fail rate", Moment::Whole),
        Quantity::Latency(moment) => ("response time", *moment),
        Quantity::Time(moment) => ("time", *moment),
        Quantity::Runs => ("number of runs", Moment::Whole),
        Quantity::Bandwidth => ("bandwidth", Moment::Whole),
        Quantity::Transferred => ("bytes of the run", Moment::Whole),
        Quantity::Body => ("size of the body", Moment::Whole),
        Quantity::Memory(moment) => ("memory", *moment),
        Quantity::Cpu(moment) => ("CPU in use", *moment),
        Quantity::CpuPerRequest => ("CPU time per request", Moment::Whole),
        Quantity::Other(name) => return name.clone(),
    };
    match moment {
        Moment::Max if matches!(quantity, Quantity::Latency(_) | Quantity::Time(_)) => format!("longest {what}"),
        Moment::Min if matches!(quantity, Quantity::Latency(_) | Quantity::Time(_)) => format!("shortest {what}"),
        Moment::Max => format!("peak {what}"),
        Moment::Whole => what.to_owned(),
        Moment::Mean => format!("mean {what}"),
        Moment::Sd => format!("standard deviation of the {what}"),
        Moment::Min => format!("least {what}"),
        Moment::Percentile(hundredths) => format!("p{} of the {what}", f64::from(hundredths) / 100.0),
    }
}

/// The title of a setting, or its name if it has no title.
pub(crate) fn setting(transcription: &Transcription, scenario: Option<&str>) -> Option<String> {
    let name = scenario?;
    Some(transcription.setting(name).map_or_else(|| name.to_owned(), |setting| setting.title.clone()))
}

/// A place in words: `10,000 rows (Table 4)`; `the table` if nothing is named.
pub(crate) fn place(transcription: &Transcription, scenario: Option<&str>, table: Option<&str>) -> String {
    match (setting(transcription, scenario), table) {
        (Some(setting), Some(table)) => format!("{setting} ({table})"),
        (Some(setting), None) => setting,
        (None, Some(table)) => table.to_owned(),
        (None, None) => "the table".to_owned(),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listed(items: &[String]) -> String {
    figures::listed(items, "and")
}

/// `1 run`, `12 runs`, `2 series`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    figures::counted(count as u64, noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(number(11705.0), "11,705");
        assert_eq!(number(0.0), "0");
        assert_eq!(number(142.857), "143");
        assert_eq!(number(13.0), "13");
        assert_eq!(number(2.0166), "2.02");
        assert_eq!(seconds(0.01708), "17.1 ms");
        assert_eq!(seconds(90.909), "90.9 s");
        assert_eq!(seconds(0.99996), "1 s");
        assert_eq!(seconds(0.000074), "74 µs");
        assert_eq!(bytes(203.7), "204 B");
        assert_eq!(bits_per_s(193e6), "1.54 Gbit/s");
        assert_eq!([0.839, 0.9997, 1.0].map(percent), ["83.9%", "99.97%", "100%"]);
    }

    #[test]
    fn amounts_are_short_and_whole_ones_complete() {
        assert_eq!(amount(429_168_000.0, Unit::Megabyte), "429.2 MB");
        assert_eq!(amount(0.7038, Unit::Percent), "70.38%");
        assert_eq!([24_283.6, -1410.4, 5.0, 0.0, 0.000_129].map(precise), ["24,284", "−1,410", "5", "0", "0.000129"]);
        assert_eq!(amount(35_509.0, Unit::PerSecond), "35,509/s");
    }

    #[test]
    fn chances_read_well() {
        assert_eq!([-1.0, -25.04, -2.0].map(chance), ["10 of 100 cases", "1 of 10^25 cases", "1 of 100 cases"]);
    }
}
