//! Figures as people read them: three digits that mean something, and a unit.

use std::time::Duration;

pub use tolok_model::figures::count;

/// `52,341`, `523.4`, `0.52`: a number that need not be whole.
pub fn number(value: f64) -> String {
    match value {
        1000.0.. => count(value.round() as u64),
        10.0.. => trimmed(format!("{value:.1}")),
        _ => trimmed(format!("{value:.2}")),
    }
}

fn trimmed(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `340 ns`, `4.2 µs`, `104 µs`, `1.21 ms`, `12.3 s`.
pub fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        0.9995.. => (seconds, "s"),
        0.000_999_5.. => (seconds * 1e3, "ms"),
        0.000_000_999_5.. => (seconds * 1e6, "µs"),
        _ => (seconds * 1e9, "ns"),
    };
    match value {
        _ if unit == "ns" => format!("{value:.0} {unit}"),
        99.95.. => format!("{value:.0} {unit}"),
        9.995.. => format!("{value:.1} {unit}"),
        _ => format!("{value:.2} {unit}"),
    }
}

/// `10 s`, `0.5 s`, `3.21 s`, `1h`: a length that was planned, or that is close to it.
pub fn seconds(value: f64) -> String {
    if value > 0.0 && value < 0.1 {
        return time(value);
    }
    if value >= 120.0 {
        return humantime::format_duration(Duration::from_secs_f64(value.round())).to_string();
    }
    format!("{} s", trimmed(format!("{value:.2}")))
}

/// `6.23 MB`.
pub fn bytes(value: f64) -> String {
    let (value, unit) = match value {
        1e9.. => (value / 1e9, "GB"),
        1e6.. => (value / 1e6, "MB"),
        1e3.. => (value / 1e3, "kB"),
        _ => return format!("{value:.0} B"),
    };
    if value < 100.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// `34 %`, `4.1 %`, `0.012 %`, `99.95 %`: nothing is rounded to a whole that it is not.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        99.0..100.0 => format!("{} %", trimmed(format!("{:.3}", (value * 1e3).floor() / 1e3))),
        9.95.. => format!("{value:.0} %"),
        0.1.. => format!("{value:.1} %"),
        0.0 => "0 %".to_owned(),
        _ => format!("{value:.3} %"),
    }
}

/// `1 thread`, `2 threads`.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([52_341.4, 523.44, 64.0, 0.5].map(number), ["52,341", "523.4", "64", "0.5"]);
    }

    #[test]
    fn times_have_three_digits_and_the_unit_that_fits() {
        let times = [0.0, 3.4e-7, 4.2e-6, 1.04e-4, 9.999e-4, 1.214e-3, 0.05, 0.123_4, 1.5, 12.34].map(time);
        let expected =
            ["0 ns", "340 ns", "4.20 µs", "104 µs", "1.00 ms", "1.21 ms", "50.0 ms", "123 ms", "1.50 s", "12.3 s"];
        assert_eq!(times, expected);
        assert_eq!(
            [10.0, 0.5, 3.214, 0.0036, 0.0, 5400.2].map(seconds),
            ["10 s", "0.5 s", "3.21 s", "3.60 ms", "0 s", "1h 30m"]
        );
    }

    #[test]
    fn bytes_and_shares() {
        assert_eq!([12.0, 6_230.0, 6_230_000.0, 623e9].map(bytes), ["12 B", "6.2 kB", "6.2 MB", "623 GB"]);
        assert_eq!([0.0, 0.341, 0.041, 0.00012, 1.0].map(percent), ["0 %", "34 %", "4.1 %", "0.012 %", "100 %"]);
        assert_eq!([0.9985, 0.999_999_9].map(percent), ["99.85 %", "99.999 %"]);
        assert_eq!(
            (plural(1, "thread", "threads"), plural(2, "thread", "threads")),
            ("1 thread".into(), "2 threads".into())
        );
    }
}
