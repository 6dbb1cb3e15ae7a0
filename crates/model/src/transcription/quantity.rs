//! What a published figure is of, and in which unit.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Answers per second, as the source calls it, good or not.
    Throughput,
    /// Good answers per second.
    Goodput,
    Requests,
    /// Requests of a run that failed.
    Failures,
    /// Requests of a run that were given up.
    Timeouts,
    /// Share of requests with an error, as the source calls it.
    ErrorRate,
    /// Share of requests that failed as HTTP.
    HttpFailRate,
    Latency(Moment),
    /// Time that a program took from its start to its end.
    Time(Moment),
    /// Runs of a program behind its times.
    Runs,
    /// Bytes per second.
    Bandwidth,
    /// Bytes of a body.
    Body,
    Memory(Moment),
    /// CPU in use: cores, or a share of a core or of the machine.
    Cpu(Moment),
    /// CPU time of one request.
    CpuPerRequest,
    Other(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// Not said, or the only one.
    Whole,
    Mean,
    Sd,
    Min,
    /// A percentile, in hundredths of a percent: 9990 is p99.9.
    Percentile(u16),
    Max,
}

/// The unit in which a figure is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A count, or a number without unit.
    One,
    Percent,
    /// Seconds, and parts of them.
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Minute,
    PerSecond,
    Byte,
    /// 1,000 bytes.
    Kilobyte,
    /// 1,000,000 bytes.
    Megabyte,
    /// 1,000,000,000 bytes.
    Gigabyte,
    /// 1,024 bytes.
    Kibibyte,
    /// 1,048,576 bytes.
    Mebibyte,
    /// 1,073,741,824 bytes.
    Gibibyte,
    /// 1,000,000 bytes a second.
    MegabytePerSecond,
    /// 1,048,576 bytes a second.
    MebibytePerSecond,
    /// 1,000,000 bits a second.
    MegabitPerSecond,
    Core,
}

impl Unit {
    /// What one of it is in base units (s, bytes, 1/s, share of 1, cores).
    pub fn factor(self) -> f64 {
        match self {
            Self::One | Self::Second | Self::PerSecond | Self::Byte | Self::Core => 1.0,
            Self::Percent => 0.01,
            Self::Millisecond => 1e-3,
            Self::Microsecond => 1e-6,
            Self::Nanosecond => 1e-9,
            Self::Minute => 60.0,
            Self::Kilobyte => 1e3,
            Self::Megabyte | Self::MegabytePerSecond => 1e6,
            Self::Gigabyte => 1e9,
            Self::Kibibyte => 1024.0,
            Self::Mebibyte | Self::MebibytePerSecond => 1_048_576.0,
            Self::Gibibyte => 1_073_741_824.0,
            Self::MegabitPerSecond => 125_000.0,
        }
    }

    /// What stands behind a number of it, with the space before it where one belongs: ` MB`.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::One => "",
            Self::Percent => "%",
            Self::Second => " s",
            Self::Millisecond => " ms",
            Self::Microsecond => " µs",
            Self::Nanosecond => " ns",
            Self::Minute => " min",
            Self::PerSecond => "/s",
            Self::Byte => " B",
            Self::Kilobyte => " kB",
            Self::Megabyte => " MB",
            Self::Gigabyte => " GB",
            Self::Kibibyte => " KiB",
            Self::Mebibyte => " MiB",
            Self::Gibibyte => " GiB",
            Self::MegabytePerSecond => " MB/s",
            Self::MebibytePerSecond => " MiB/s",
            Self::MegabitPerSecond => " Mbit/s",
            Self::Core => " cores",
        }
    }
}
