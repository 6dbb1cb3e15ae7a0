//! The quantity and unit of a published figure.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// What the source calls answers per second, correct or not.
    Throughput,
    /// Correct responses per second.
    Goodput,
    /// Scheduled requests per second of an open loop.
    Offered,
    Requests,
    /// Correct responses of a run.
    Successes,
    /// Requests of a run that failed.
    Failures,
    /// Requests of a run that were given up.
    Timeouts,
    /// What the source calls the share of requests with an error.
    ErrorRate,
    /// Share of requests that failed at the HTTP level.
    HttpFailRate,
    Latency(Moment),
    /// Time of a program from its start to its end.
    Time(Moment),
    /// Runs of a program behind its times.
    Runs,
    /// Bytes per second.
    Bandwidth,
    /// Bytes of a run.
    Transferred,
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
    /// Unspecified, or the only one.
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
    /// Seconds, and fractions of them.
    Second,
    Millisecond,
    Microsecond,
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
    BytePerSecond,
    /// 1,000 bytes a second.
    KilobytePerSecond,
    /// 1,024 bytes a second.
    KibibytePerSecond,
    /// 1,000,000 bytes a second.
    MegabytePerSecond,
    /// 1,048,576 bytes a second.
    MebibytePerSecond,
    /// 1,000,000,000 bytes a second.
    GigabytePerSecond,
    /// 1,073,741,824 bytes a second.
    GibibytePerSecond,
    /// 1,000,000 bits a second.
    MegabitPerSecond,
    /// 1,000,000,000 bits a second.
    GigabitPerSecond,
    Core,
}

impl Unit {
    /// The value of one unit in base units (s, bytes, 1/s, share of 1, cores).
    pub fn factor(self) -> f64 {
        self.factor_and_suffix().0
    }

    /// The suffix of a number in this unit, with a leading space if customary: ` MB`.
    pub fn suffix(self) -> &'static str {
        self.factor_and_suffix().1
    }

    fn factor_and_suffix(self) -> (f64, &'static str) {
        match self {
            Self::One => (1.0, ""),
            Self::Percent => (0.01, "%"),
            Self::Second => (1.0, " s"),
            Self::Millisecond => (1e-3, " ms"),
            Self::Microsecond => (1e-6, " µs"),
            Self::PerSecond => (1.0, "/s"),
            Self::Byte => (1.0, " B"),
            Self::Kilobyte => (1e3, " kB"),
            Self::Megabyte => (1e6, " MB"),
            Self::Gigabyte => (1e9, " GB"),
            Self::Kibibyte => (1024.0, " KiB"),
            Self::Mebibyte => (1_048_576.0, " MiB"),
            Self::Gibibyte => (1_073_741_824.0, " GiB"),
            Self::BytePerSecond => (1.0, " B/s"),
            Self::KilobytePerSecond => (1e3, " kB/s"),
            Self::KibibytePerSecond => (1024.0, " KiB/s"),
            Self::MegabytePerSecond => (1e6, " MB/s"),
            Self::MebibytePerSecond => (1_048_576.0, " MiB/s"),
            Self::GigabytePerSecond => (1e9, " GB/s"),
            Self::GibibytePerSecond => (1_073_741_824.0, " GiB/s"),
            Self::GigabitPerSecond => (125_000_000.0, " Gbit/s"),
            Self::MegabitPerSecond => (125_000.0, " Mbit/s"),
            Self::Core => (1.0, " cores"),
        }
    }
}
