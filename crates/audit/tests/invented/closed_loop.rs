//! A minimal closed loop: users who send requests to a server with some CPUs, and wait.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is simulated.
#[derive(Debug, Clone, Copy)]
pub struct Loop {
    /// Users.
    pub users: usize,
    /// CPUs of the server; each serves one request at a time.
    pub cpus: usize,
    /// Mean time of a request on a CPU, in seconds.
    pub service_s: f64,
    /// Pause of a user after an answer, in seconds; also the longest delay before its first request.
    pub think_s: f64,
    /// Length of the run, in seconds.
    pub duration_s: f64,
}

/// The result of one run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Response times of the answers that arrived during the run, in seconds, sorted.
    pub times_s: Vec<f64>,
    /// CPUs in use, on average.
    pub cpus: f64,
    /// Length of the run, in seconds.
    pub duration_s: f64,
}

/// Random numbers from a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// A number above 0 and at most 1.
    pub fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64 + f64::EPSILON
    }

    /// A time from the exponential distribution.
    pub fn time(&mut self, mean_s: f64) -> f64 {
        -self.share().ln() * mean_s
    }
}

/// Runs the loop: the first free CPU serves each request.
pub fn run(of: Loop, seed: u64) -> Outcome {
    let nanos = |seconds: f64| (seconds * 1e9) as u64;
    let mut random = Random(seed);
    let mut asking: BinaryHeap<Reverse<u64>> =
        (0..of.users).map(|_| Reverse(nanos(random.share() * of.think_s))).collect();
    let mut free: BinaryHeap<Reverse<u64>> = (0..of.cpus).map(|_| Reverse(0)).collect();
    let (mut times_s, mut busy, end) = (Vec::new(), 0, nanos(of.duration_s));
    while let (Some(Reverse(asked)), Some(Reverse(idle))) = (asking.pop(), free.pop()) {
        if asked >= end {
            break;
        }
        let begun = asked.max(idle);
        let answered = begun + nanos(random.time(of.service_s)).max(1);
        busy += answered.min(end).saturating_sub(begun.min(end));
        free.push(Reverse(answered));
        asking.push(Reverse(answered + nanos(of.think_s)));
        if answered <= end {
            times_s.push((answered - asked) as f64 / 1e9);
        }
    }
    times_s.sort_by(f64::total_cmp);
    Outcome { times_s, cpus: busy as f64 / end as f64, duration_s: of.duration_s }
}

impl Outcome {
    /// Mean response time.
    pub fn mean_s(&self) -> f64 {
        self.times_s.iter().sum::<f64>() / self.times_s.len() as f64
    }

    /// Standard deviation.
    pub fn sd_s(&self) -> f64 {
        let mean_s = self.mean_s();
        let squares: f64 = self.times_s.iter().map(|time_s| (time_s - mean_s).powi(2)).sum();
        (squares / (self.times_s.len() - 1) as f64).sqrt()
    }

    /// The smallest time that at least this share of all times does not exceed.
    pub fn quantile_s(&self, share: f64) -> f64 {
        let rank = (share * self.times_s.len() as f64).ceil() as usize;
        self.times_s[rank.clamp(1, self.times_s.len()) - 1]
    }

    /// Answers a second.
    pub fn throughput_rps(&self) -> f64 {
        self.times_s.len() as f64 / self.duration_s
    }
}
