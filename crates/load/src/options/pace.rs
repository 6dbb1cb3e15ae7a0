//! Clients on slow links.

use serde::{Deserialize, Serialize};

use super::{Executor, Options, refuse};
use crate::error::LoadError;

/// Rate limits of connections, for clients on slow links.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Pace {
    /// Bytes of an answer read per second, or `None` for no limit.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes of a request written per second, or `None` for no limit.
    pub write_bytes_per_s: Option<u64>,
    /// The share of the virtual users that the limits apply to, or `None` for all.
    pub slow_share: Option<f64>,
}

/// Which virtual users are slow. They are spread evenly, so a ramp has the same share of them at every level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlowUsers {
    pub slow: u32,
    pub all: u32,
}

impl SlowUsers {
    pub fn include(self, user: u32) -> bool {
        let up_to = |users: u64| users * u64::from(self.slow) / u64::from(self.all.max(1));
        up_to(u64::from(user) + 1) > up_to(u64::from(user))
    }
}

impl Options {
    /// The slow users, if only a share of the users is slow.
    pub(crate) fn slow_users(&self) -> Option<SlowUsers> {
        let all = self.executor.vus();
        self.pace.slow_share.map(|share| SlowUsers { slow: (share * f64::from(all)).round() as u32, all })
    }

    /// Rejects limits that are impossible or contradict the executor.
    pub(super) fn check_pace(&self) -> Result<(), LoadError> {
        if self.pace.read_bytes_per_s == Some(0) || self.pace.write_bytes_per_s == Some(0) {
            return refuse("read-rate", "nothing is ever read or written at 0 bytes a second");
        }
        let Some(SlowUsers { slow, all }) = self.slow_users() else { return Ok(()) };
        // With a fixed number of requests, the fast users would finish long before the window ends.
        if !matches!(self.executor, Executor::ConstantVus { .. } | Executor::RampingVus { .. }) {
            return refuse("slow-share", "only virtual users, constant or ramping, divide into slow and fast ones");
        }
        if self.pace.read_bytes_per_s.is_none() && self.pace.write_bytes_per_s.is_none() {
            return refuse("slow-share", "the slow users need a read-rate or a write-rate");
        }
        if slow == 0 || slow >= all {
            let reason = format!("of {all} virtual users {slow} would be slow; there must be slow and fast ones");
            return refuse("slow-share", &reason);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_users_are_as_many_as_asked_for_and_spread_evenly() {
        let slow = |slow, all| {
            let users = SlowUsers { slow, all };
            (0..all).filter(|user| users.include(*user)).collect::<Vec<_>>()
        };
        assert_eq!(slow(2, 10), [4, 9]);
        assert_eq!(slow(3, 4), [1, 2, 3]);
        assert_eq!(slow(1, 7), [6]);
        for all in 2..60 {
            assert!((1..all).all(|number| slow(number, all).len() == number as usize), "of {all}");
        }
    }
}
