//! How long before a planned instant the hybrid timer wakes up.
//!
//! A sleeping thread wakes late, by the time its CPU needs to leave its idle state: a few microseconds after a short sleep, over a hundred
//! on a virtual CPU after a long one. A thread that wakes too late sends late. One that wakes too early loses the CPU to the scheduler. So
//! the lead follows the measured wake-up times.

use std::time::Duration;

/// The initial and smallest lead.
const LEAST: Duration = Duration::from_micros(30);
/// The largest lead: what an idle virtual CPU needs, with a margin.
const MOST: Duration = Duration::from_micros(250);
/// A late wake-up raises the lead by this fraction (1/2) of the excess.
const UP: u32 = 2;
/// A timely wake-up lowers the lead by this fraction (1/64). About 5% of the wake-ups may be later than the lead: the steps balance at one
/// late wake-up per about twenty timely ones.
const DOWN: u32 = 64;

/// The lead and its upper limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waking {
    lead: Duration,
    most: Duration,
}

impl Waking {
    /// For `rate_rps` planned instants a second on one thread. The scheduler takes a thread that never sleeps off its CPU for milliseconds.
    /// So the thread sleeps for most of the time between two instants if they are several wake-ups apart. Between denser instants it stays
    /// awake, because every sleep would make it late.
    pub fn at_rate(rate_rps: f64) -> Self {
        let third = if rate_rps > 0.0 { Duration::from_secs_f64(1.0 / 3.0 / rate_rps) } else { MOST };
        Self { lead: LEAST, most: third.clamp(LEAST, MOST) }
    }

    /// The current lead.
    pub fn lead(&self) -> Duration {
        self.lead
    }

    /// Adjusts the lead after a sleep that ended `late` too late.
    pub fn overslept(&mut self, late: Duration) {
        let lead = match late.checked_sub(self.lead) {
            Some(short) => self.lead + short / UP,
            None => self.lead - self.lead / DOWN,
        };
        self.lead = lead.clamp(LEAST, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    #[test]
    fn the_lead_grows_with_late_wakings_and_shrinks_with_those_in_time() {
        let mut waking = Waking::at_rate(300.0);
        assert_eq!(waking.lead(), us(30));
        (0..8).for_each(|_| waking.overslept(us(110)));
        assert!(waking.lead() > us(105) && waking.lead() <= us(110), "{:?}", waking.lead());
        (0..500).for_each(|_| waking.overslept(us(2)));
        assert_eq!(waking.lead(), us(30));
    }

    #[test]
    fn one_long_interruption_does_not_keep_the_thread_awake() {
        let mut waking = Waking::at_rate(1.0);
        waking.overslept(Duration::from_millis(40));
        assert_eq!(waking.lead(), us(250));
        (0..140).for_each(|_| waking.overslept(us(5)));
        assert_eq!(waking.lead(), us(30));
    }

    #[test]
    fn most_of_the_time_is_slept_where_there_is_time_to_sleep() {
        for (rate_rps, most) in [(100_000.0, us(30)), (10_000.0, us(34)), (2_000.0, us(167)), (100.0, us(250))] {
            let mut waking = Waking::at_rate(rate_rps);
            (0..100).for_each(|_| waking.overslept(us(900)));
            assert!((us(30)..=most).contains(&waking.lead()), "{rate_rps}/s: {:?}", waking.lead());
            assert_eq!(Waking::at_rate(rate_rps).lead(), us(30));
        }
        assert_eq!(Waking::at_rate(0.0).lead(), us(30));
    }
}
