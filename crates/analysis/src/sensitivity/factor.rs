//! The factors in which scenarios can differ, and their words.

use tolok_model::{bit_rate_words, bytes_words};

use crate::figures::{Quantity, amount, small_share};

/// Something that a study can set, and that scenarios can differ in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Factor {
    DatabaseRtt,
    Pool,
    LinkRtt,
    LinkRate,
    LinkLoss,
    Connections,
    OfferedRate,
    SubjectCpus,
    SubjectMemory,
    /// A parameter of the workload.
    Parameter(String),
    /// Whatever else a link to the client does: it has no place on an axis.
    Link,
    /// Whatever else the link to the database does.
    DatabaseLink,
    /// The database but for its pool and its link.
    Database,
    /// Settings of the network.
    Network,
    /// Who competes.
    Subject,
    /// What is never put beside each other: loads of another kind, CPU modes, tools.
    Apart(&'static str),
}

impl Factor {
    /// A stable word for programs.
    pub(crate) fn word(&self) -> String {
        let word = match self {
            Self::DatabaseRtt => "database-rtt",
            Self::Pool => "pool",
            Self::LinkRtt => "link-rtt",
            Self::LinkRate => "link-rate",
            Self::LinkLoss => "link-loss",
            Self::Connections => "connections",
            Self::OfferedRate => "offered-rate",
            Self::SubjectCpus => "subject-cpus",
            Self::SubjectMemory => "subject-memory",
            Self::Parameter(name) => return format!("parameter:{name}"),
            Self::Link => "link",
            Self::DatabaseLink => "database-link",
            Self::Database => "database",
            Self::Network => "network",
            Self::Subject => "subject",
            Self::Apart(word) => word,
        };
        word.to_owned()
    }

    /// The factor of a panel, which has a place on an axis.
    pub(crate) fn on_axis(word: &str) -> Option<Self> {
        let known = [
            Self::DatabaseRtt,
            Self::Pool,
            Self::LinkRtt,
            Self::LinkRate,
            Self::LinkLoss,
            Self::Connections,
            Self::OfferedRate,
            Self::SubjectCpus,
            Self::SubjectMemory,
        ];
        let parameter = || Some(Self::Parameter(word.strip_prefix("parameter:")?.to_owned()));
        known.into_iter().find(|factor| factor.word() == word).or_else(parameter)
    }

    /// In words, as they stand behind "the".
    pub(crate) fn title(&self) -> String {
        let title = match self {
            Self::DatabaseRtt => "round-trip time to the database",
            Self::Pool => "size of the pool",
            Self::LinkRtt => "round-trip time of the link",
            Self::LinkRate => "rate of the link",
            Self::LinkLoss => "loss on the link",
            Self::Connections => "number of users",
            Self::OfferedRate => "offered rate",
            Self::SubjectCpus => "number of CPUs",
            Self::SubjectMemory => "memory limit",
            Self::Parameter(name) => return format!("parameter {name}"),
            Self::Link => "link",
            Self::DatabaseLink => "link to the database",
            Self::Database => "database",
            Self::Network => "network settings",
            Self::Subject => "subject",
            Self::Apart(word) => word,
        };
        title.to_owned()
    }

    /// The unit of its values.
    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Self::DatabaseRtt | Self::LinkRtt => "s",
            Self::LinkRate => "bit_per_s",
            Self::LinkLoss => "share",
            Self::OfferedRate => "per_s",
            Self::SubjectMemory => "bytes",
            _ => "",
        }
    }

    /// A value that a study has set, as a person writes it: `20 ms`, `512MiB`.
    pub(crate) fn label(&self, value: f64) -> String {
        match self.unit() {
            "s" if value >= 1.0 => format!("{} s", trimmed(value)),
            "s" => format!("{} ms", trimmed(value * 1e3)),
            "bit_per_s" => bit_rate_words(value),
            "share" => format!("{}%", trimmed(value * 100.0)),
            "bytes" => bytes_words(value as u64),
            "per_s" => format!("{}/s", thousands(value)),
            _ => thousands(value),
        }
    }

    /// A value that was computed, with two digits, in the unit in which `like` is written: `23 ms`.
    pub(crate) fn about(&self, value: f64, like: f64) -> String {
        let rounded = two_digits(value);
        match self.unit() {
            "s" if like >= 1.0 => format!("{} s", trimmed(rounded)),
            "s" => format!("{} ms", trimmed(rounded * 1e3)),
            "bytes" => amount(Quantity::Bytes, value).replace('\u{a0}', ""),
            "share" => small_share(value),
            _ => self.label(rounded),
        }
    }

    /// One of its values beside others that stay the same: `pool of 16`.
    pub(crate) fn phrase(&self, label: &str) -> String {
        match self {
            Self::DatabaseRtt => format!("{label} to the database"),
            Self::Pool => format!("pool of {label}"),
            Self::LinkRtt => format!("{label} on the link"),
            Self::LinkRate => format!("link of {label}"),
            Self::LinkLoss => format!("{label} lost on the link"),
            Self::Connections => format!("{label} {}", if label == "1" { "user" } else { "users" }),
            Self::OfferedRate => format!("{label} offered"),
            Self::SubjectCpus => format!("{label} {}", if label == "1" { "CPU" } else { "CPUs" }),
            Self::SubjectMemory => format!("{label} of memory"),
            Self::Parameter(name) => format!("{name} = {label}"),
            _ => label.to_owned(),
        }
    }

    /// From its lowest to its highest value: `From 0 ms to 100 ms to the database`.
    pub(crate) fn span(&self, low: &str, high: &str) -> String {
        match self {
            Self::DatabaseRtt => format!("From {low} to {high} of round trip to the database"),
            Self::Pool => format!("From {low} to {high} connections to the database"),
            Self::LinkRtt => format!("From {low} to {high} of round trip on the link"),
            Self::LinkRate => format!("From {low} to {high} on the link"),
            Self::LinkLoss => format!("From {low} to {high} lost on the link"),
            Self::Connections => format!("From {low} to {high} users"),
            Self::OfferedRate => format!("From {low} to {high} offered"),
            Self::SubjectCpus => format!("From {low} to {high} CPUs"),
            Self::SubjectMemory => format!("From {low} to {high} of memory"),
            Self::Parameter(name) => format!("From {name} = {low} to {name} = {high}"),
            _ => format!("From {low} to {high}"),
        }
    }
}

/// With three decimals at most, and none that are 0.
fn trimmed(value: f64) -> String {
    ((value * 1e3).round() / 1e3).to_string()
}

/// A number with separators if it is a whole one.
fn thousands(value: f64) -> String {
    if value.fract() == 0.0 && value >= 0.0 { crate::figures::count(value as u64) } else { trimmed(value) }
}

fn two_digits(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10f64.powi(value.log10().floor() as i32 - 1);
    (value / step).round() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_as_in_a_study() {
        let check = |factor: Factor, value, text: &str| assert_eq!(factor.label(value), text);
        check(Factor::DatabaseRtt, 0.0, "0 ms");
        check(Factor::DatabaseRtt, 0.02, "20 ms");
        check(Factor::LinkRtt, 0.0005, "0.5 ms");
        check(Factor::LinkRtt, 1.5, "1.5 s");
        check(Factor::LinkRate, 54e6, "54Mbit/s");
        check(Factor::LinkLoss, 0.001, "0.1%");
        check(Factor::SubjectMemory, 536_870_912.0, "512MiB");
        check(Factor::OfferedRate, 5_000.0, "5,000/s");
        check(Factor::SubjectCpus, 0.5, "0.5");
    }

    #[test]
    fn a_computed_value_has_two_digits() {
        let check = |factor: Factor, value, text: &str| assert_eq!(factor.about(value, value), text);
        check(Factor::DatabaseRtt, 0.023_41, "23 ms");
        check(Factor::DatabaseRtt, 0.000_451_2, "0.45 ms");
        check(Factor::Connections, 1_243.0, "1,200");
        check(Factor::Connections, 9.96, "10");
        check(Factor::Parameter("limit".to_owned()), 34.6, "35");
    }
}
