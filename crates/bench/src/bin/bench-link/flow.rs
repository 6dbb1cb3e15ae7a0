//! A clock, numbered datagrams, and statistics over many values.

use std::net::UdpSocket;

use rustix::time::{ClockId, clock_gettime};

/// The current time in seconds on the monotonic clock.
pub fn now_s() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// The smallest datagram that carries a number.
pub const STAMP_BYTES: usize = 8;

/// Sends a numbered datagram of `bytes` bytes. Returns whether the kernel took it.
pub fn send(socket: &UdpSocket, number: u64, bytes: usize) -> bool {
    let mut datagram = [0u8; 1_472];
    datagram[..STAMP_BYTES].copy_from_slice(&number.to_le_bytes());
    socket.send(&datagram[..bytes]).is_ok()
}

/// The number of the next datagram, if one has arrived.
pub fn receive(socket: &UdpSocket) -> Option<u64> {
    let mut datagram = [0u8; 1_472];
    let length = socket.recv(&mut datagram).ok()?;
    let number = datagram[..length].first_chunk()?;
    Some(u64::from_le_bytes(*number))
}

/// Sorted values.
#[derive(Debug)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    pub fn of(mut values: Vec<f64>) -> Sorted {
        values.sort_by(f64::total_cmp);
        Sorted(values)
    }

    /// The value below which this share of the values is; NaN without values.
    pub fn quantile(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((share * last as f64).round() as usize).copied().unwrap_or(f64::NAN)
    }

    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    pub fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (self.0.len().max(2) - 1) as f64).sqrt()
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_values() {
        let sorted = Sorted::of(vec![4.0, 1.0, 3.0, 2.0, 5.0]);
        assert_eq!([0.0, 0.5, 1.0].map(|share| sorted.quantile(share)), [1.0, 3.0, 5.0]);
        assert_eq!((sorted.mean(), sorted.count()), (3.0, 5));
        assert!((sorted.deviation() - 2.5f64.sqrt()).abs() < 1e-12);
        assert!(Sorted::of(vec![]).quantile(0.5).is_nan());
    }
}
