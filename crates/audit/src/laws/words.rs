//! How sentences say quantities and amounts.

use tolok_model::transcription::{Figure, Mark, Moment, Number, Quantity, Transcription, Unit};

/// A quantity as a noun: `peak memory`.
pub(crate) fn noun(quantity: &Quantity) -> String {
    let (what, moment) = match quantity {
        Quantity::Throughput => ("throughput", Moment::Whole),
        Quantity::Goodput => ("goodput", Moment::Whole),
        Quantity::Requests => ("number of requests", Moment::Whole),
        Quantity::Failures => ("number of failures", Moment::Whole),
        Quantity::Timeouts => ("number of time-outs", Moment::Whole),
        Quantity::ErrorRate => ("error rate", Moment::Whole),
        Quantity::HttpFailRate => ("HTTP fail rate", Moment::Whole),
        Quantity::Latency(moment) => ("response time", *moment),
        Quantity::Time(moment) => ("time", *moment),
        Quantity::Runs => ("number of runs", Moment::Whole),
        Quantity::Bandwidth => ("bandwidth", Moment::Whole),
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

/// A value in base units, in a unit: `429.2 MB`.
pub(crate) fn amount(value: f64, unit: Unit) -> String {
    format!("{}{}", figure(value / unit.factor()), unit.suffix())
}

/// The value of a figure in its own unit, as printed where it is one number.
pub(crate) fn value_of(of: &Figure) -> String {
    match of.numbers.as_slice() {
        [one] => format!("{}{}", printed(one), of.unit.suffix()),
        [first, others @ ..] if others.iter().all(|other| other.value == first.value) => {
            format!("{}{} each time", printed(first), of.unit.suffix())
        }
        _ => format!("{} on average", amount(of.value(), of.unit)),
    }
}

/// A number as it is printed, with its marks in words: `7`, `about 2`, `at least 400`, `6000 to 7000`.
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

/// A number with four digits that count, whole ones with all theirs: `5.027`, `1,410`.
pub(crate) fn figure(value: f64) -> String {
    significant(value, 4)
}

/// A number with so many digits that count.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "undefined" } else { "∞" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs().log10().floor() as i32;
    let decimals = (digits - 1 - size).max(0) as usize;
    let text = format!("{:.decimals$}", value.abs());
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{}{}", if value < 0.0 { "−" } else { "" }, with_commas(text))
}

/// A share as percent: `1.7 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 2))
}

/// A chance in words that also fit very small ones: `3 of 100 cases`, `1 of 10^53 cases`.
pub(crate) fn chance(log10: f64) -> String {
    if log10 >= -2.0 {
        format!("{} of 100 cases", significant(10f64.powf(log10 + 2.0), 2))
    } else {
        format!("1 of 10^{} cases", significant(-log10, 2))
    }
}

/// The name of a setting: its title, else its name, else nothing.
pub(crate) fn setting(transcription: &Transcription, scenario: Option<&str>) -> Option<String> {
    let name = scenario?;
    Some(transcription.setting(name).map_or_else(|| name.to_owned(), |setting| setting.title.clone()))
}

/// `10,000 rows (Table 4)`; `the table` if nothing is named.
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
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [start @ .., last] => format!("{} and {last}", start.join(", ")),
    }
}

/// `1 run`, `12 runs`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", with_commas(&number.to_string()))
}

fn with_commas(digits: &str) -> String {
    let (whole, rest) = digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    rest.map_or(text.clone(), |rest| format!("{text}.{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short_and_whole_ones_complete() {
        assert_eq!(amount(429_168_000.0, Unit::Megabyte), "429.2 MB");
        assert_eq!(amount(0.7038, Unit::Percent), "70.38 %");
        assert_eq!([24_283.6, -1410.4, 5.0, 0.0, 0.000_129].map(figure), ["24,284", "−1,410", "5", "0", "0.000129"]);
        assert_eq!(amount(35_509.0, Unit::PerSecond), "35,509/s");
    }

    #[test]
    fn chances_read_well() {
        assert_eq!([-1.0, -25.04, -2.0].map(chance), ["10 of 100 cases", "1 of 10^25 cases", "1 of 100 cases"]);
    }
}
