//! Virtual users: whether and when a free user starts its next iteration.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::arrivals::Share;
use super::random::Random;
use super::stages::Line;
use super::{Phase, Span, Turn};
use crate::clock::MonotonicNs;
use crate::options::{Executor, ThinkTime};

/// The turns of one thread's users.
#[derive(Debug)]
pub(crate) struct Users {
    span: Span,
    rule: Rule,
    share: Share,
    think_time: ThinkTime,
    random: Random,
}

/// The condition for a user to start an iteration.
#[derive(Debug)]
enum Rule {
    /// The window is open.
    Always,
    /// The line of users exceeds the user's number.
    Ramp(Line),
    /// The user has iterations of its own left; one counter for each user of the thread.
    Own(Vec<u64>),
    /// Iterations shared by all threads are left.
    Shared(Arc<AtomicU64>),
}

impl Users {
    /// The users of a thread. `shared` holds the iterations that all threads share.
    pub fn new(
        executor: &Executor,
        think_time: ThinkTime,
        share: Share,
        span: Span,
        shared: Arc<AtomicU64>,
        seed: u64,
    ) -> Users {
        let rule = match executor {
            Executor::RampingVus { start_vus, stages } => Rule::Ramp(Line::new(f64::from(*start_vus), stages)),
            Executor::PerVuIterations { iterations, .. } => {
                Rule::Own(vec![*iterations; share.of(executor.vus()) as usize])
            }
            Executor::SharedIterations { .. } => Rule::Shared(shared),
            _ => Rule::Always,
        };
        Users { span, rule, share, think_time, random: Random::new(seed, 3, u64::from(share.thread)) }
    }

    /// The next turn of a user (its number in this thread) that becomes free at `free_at`.
    pub fn turn(&mut self, user: u32, free_at: MonotonicNs) -> Turn {
        let planned = free_at.max(self.span.start);
        let measured = self.span.phase_of(planned) == Phase::Measure;
        let planned = match &mut self.rule {
            Rule::Always => Some(planned),
            Rule::Ramp(line) => active_from(line, self.share.number(user), planned, &self.span),
            // Iterations of the warm-up do not count.
            Rule::Own(left) if measured => take(&mut left[user as usize]).then_some(planned),
            Rule::Shared(left) if measured => take_shared(left).then_some(planned),
            Rule::Own(_) | Rule::Shared(_) => Some(planned),
        };
        planned.filter(|planned| *planned < self.span.window_end).map_or(Turn::Done, Turn::SendAt)
    }

    /// How long a user pauses after an iteration.
    pub fn think(&mut self) -> Duration {
        let ThinkTime { least, most } = self.think_time;
        let spread_ns = most.saturating_sub(least).as_nanos() as u64;
        if spread_ns == 0 { least } else { least + Duration::from_nanos(self.random.below(spread_ns + 1)) }
    }

    /// Whether the run ends when its iterations are used up, not by the clock alone.
    pub fn end_with_iterations(&self) -> bool {
        matches!(self.rule, Rule::Own(_) | Rule::Shared(_))
    }

    /// Ends the run at `at`.
    pub fn stop(&mut self, at: MonotonicNs) {
        self.span = self.span.cut_at(at);
    }
}

/// The first instant from `from` on at which the line has room for user `number`. During the warm-up the line keeps its starting value.
fn active_from(line: &Line, number: u32, from: MonotonicNs, span: &Span) -> Option<MonotonicNs> {
    let level = f64::from(number) + 1.0;
    if from < span.window_start && line.start() >= level {
        return Some(from);
    }
    let at_s = line.first_at_least(level, from.since(span.window_start).as_secs_f64())?;
    Some(from.max(span.window_start + Duration::from_secs_f64(at_s)))
}

fn take(left: &mut u64) -> bool {
    let any = *left > 0;
    *left -= u64::from(any);
    any
}

fn take_shared(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::options::Stage;

    const SECOND: Duration = Duration::from_secs(1);
    const START: MonotonicNs = MonotonicNs(1_000);

    fn users(executor: &Executor, share: Share) -> Users {
        let span = Span::new(START, SECOND * 2, executor.window());
        Users::new(executor, ThinkTime::NONE, share, span, Arc::new(AtomicU64::new(5)), 1)
    }

    fn window(offset: Duration) -> MonotonicNs {
        START + SECOND * 2 + offset
    }

    #[test]
    fn in_the_closed_loop_a_request_is_meant_for_the_moment_its_user_is_free() {
        let mut users = users(&Executor::ConstantVus { vus: 2, duration: SECOND * 10 }, Share::ALL);
        for free_at in [START, START + SECOND, window(SECOND * 10).min(window(SECOND * 9))] {
            assert_eq!(users.turn(0, free_at), Turn::SendAt(free_at));
        }
        assert_eq!(
            users.turn(0, MonotonicNs(window(SECOND * 10).0 - 1)),
            Turn::SendAt(MonotonicNs(window(SECOND * 10).0 - 1))
        );
        assert_eq!(users.turn(0, window(SECOND * 10)), Turn::Done);
        assert!(!users.end_with_iterations());
    }

    #[test]
    fn a_ramp_lets_its_users_in_one_by_one_and_out_again() {
        let stages =
            [(10, 10.0), (10, 10.0), (10, 0.0)].map(|(seconds, target)| Stage { duration: SECOND * seconds, target });
        let ramp = Executor::RampingVus { start_vus: 1, stages: stages.to_vec() };
        let mut users = users(&ramp, Share::ALL);
        // 1 + 0.9 t reaches 10 after 10 s. The first user is active from the start, and is the only one in the warm-up.
        assert_eq!(users.turn(0, START), Turn::SendAt(START));
        assert_eq!(users.turn(9, START), Turn::SendAt(window(SECOND * 10)));
        assert_eq!(users.turn(0, window(SECOND * 15)), Turn::SendAt(window(SECOND * 15)));
        // On the way down the tenth user leaves at once, the first only at the end.
        assert_eq!(users.turn(9, window(SECOND * 21)), Turn::Done);
        assert_eq!(users.turn(0, window(SECOND * 28)), Turn::SendAt(window(SECOND * 28)));
        assert_eq!(users.turn(0, window(Duration::from_millis(29_500))), Turn::Done);
    }

    #[test]
    fn threads_have_every_so_manyth_user_of_a_ramp() {
        let stages = vec![Stage { duration: SECOND * 4, target: 4.0 }];
        let ramp = Executor::RampingVus { start_vus: 0, stages };
        let second = Share { thread: 1, threads: 2 };
        let mut users = users(&ramp, second);
        assert_eq!(users.turn(0, START), Turn::SendAt(window(SECOND * 2)));
        // The line reaches the fourth user only when the window ends.
        assert_eq!(users.turn(1, START), Turn::Done);
    }

    #[test]
    fn own_iterations_are_counted_from_the_window_on() {
        let executor = Executor::PerVuIterations { vus: 2, iterations: 2, max_duration: SECOND * 10 };
        let mut users = users(&executor, Share::ALL);
        assert!(users.end_with_iterations());
        for _ in 0..3 {
            assert_eq!(users.turn(0, START), Turn::SendAt(START));
        }
        let now = window(SECOND);
        assert_eq!([(); 3].map(|()| users.turn(0, now)), [Turn::SendAt(now), Turn::SendAt(now), Turn::Done]);
        assert_eq!(users.turn(1, now), Turn::SendAt(now));
        assert_eq!(users.turn(1, window(SECOND * 10)), Turn::Done);
    }

    #[test]
    fn shared_iterations_go_to_the_next_free_user() {
        let executor = Executor::SharedIterations { vus: 2, iterations: 5, max_duration: SECOND * 10 };
        let mut users = users(&executor, Share::ALL);
        let now = window(SECOND);
        let taken = (0..8).filter(|turn| users.turn(turn % 2, now) != Turn::Done).count();
        assert_eq!(taken, 5);
    }

    #[test]
    fn a_stop_shortens_the_window_and_never_lengthens_it() {
        let mut users = users(&Executor::ConstantVus { vus: 1, duration: SECOND * 10 }, Share::ALL);
        users.stop(window(SECOND * 3));
        users.stop(window(SECOND * 4));
        assert_eq!(users.turn(0, window(SECOND * 3)), Turn::Done);
        assert_eq!(users.turn(0, window(SECOND * 2)), Turn::SendAt(window(SECOND * 2)));
    }

    #[test]
    fn thinking_takes_between_the_least_and_the_most() {
        let mut users = users(&Executor::ConstantVus { vus: 1, duration: SECOND }, Share::ALL);
        assert_eq!(users.think(), Duration::ZERO);
        users.think_time = ThinkTime { least: SECOND, most: SECOND * 3 };
        let pauses: Vec<Duration> = (0..1_000).map(|_| users.think()).collect();
        let mean = pauses.iter().sum::<Duration>().as_secs_f64() / 1_000.0;
        assert!(pauses.iter().all(|pause| (SECOND..=SECOND * 3).contains(pause)));
        assert!((mean - 2.0).abs() < 0.1, "{mean}");
    }
    /// Simulates the users of one or several threads, with each request taking the next of these times. Returns every iteration: its user's
    /// number in the whole run, its start and its end.
    fn live(
        executor: &Executor,
        think_time: ThinkTime,
        threads: u32,
        took_ms: &[u64],
        seed: u64,
    ) -> Vec<(u32, MonotonicNs, MonotonicNs)> {
        let span = Span::new(START, SECOND * 2, executor.window());
        let iterations = match executor {
            Executor::SharedIterations { iterations, .. } => *iterations,
            _ => 0,
        };
        let shared = Arc::new(AtomicU64::new(iterations));
        let shares: Vec<Share> = (0..threads).map(|thread| Share { thread, threads }).collect();
        let new = |share: &Share| Users::new(executor, think_time, *share, span, Arc::clone(&shared), seed);
        let mut of_threads: Vec<Users> = shares.iter().map(new).collect();
        // When each user is free. As in a run, the first free user has the next turn.
        let everybody = shares.iter().flat_map(|share| (0..share.of(executor.vus())).map(|user| (START, *share, user)));
        let mut free: Vec<(MonotonicNs, Share, u32)> = everybody.collect();
        let (mut lived, mut took_ms) = (Vec::new(), took_ms.iter().cycle());
        while let Some(first) = (0..free.len()).min_by_key(|place| free[*place].0) {
            let (free_at, share, user) = free[first];
            let users = &mut of_threads[share.thread as usize];
            let Turn::SendAt(planned) = users.turn(user, free_at) else {
                free.swap_remove(first);
                continue;
            };
            assert!(planned >= free_at, "no user starts before it is free");
            let ended = planned + Duration::from_millis(*took_ms.next().unwrap());
            lived.push((share.number(user), planned, ended));
            free[first].0 = ended + users.think();
        }
        lived
    }

    /// How many iterations each user began in the window.
    fn counts(lived: &[(u32, MonotonicNs, MonotonicNs)], vus: u32) -> Vec<u64> {
        let mut counts = vec![0; vus as usize];
        for (user, planned, _) in lived {
            counts[*user as usize] += u64::from(*planned >= window(Duration::ZERO));
        }
        counts
    }

    fn think_times() -> impl Strategy<Value = ThinkTime> {
        (0u64..300, 0u64..500).prop_map(|(least_ms, more_ms)| ThinkTime {
            least: Duration::from_millis(least_ms),
            most: Duration::from_millis(least_ms + more_ms),
        })
    }

    proptest! {
        #[test]
        fn every_user_does_its_own_iterations_and_no_more(
            vus in 1u32..9, threads in 1u32..4, iterations in 0u64..12, think_time in think_times(),
            took_ms in prop::collection::vec(1u64..400, 1..20), seed: u64,
        ) {
            let executor = Executor::PerVuIterations { vus, iterations, max_duration: SECOND * 60 };
            let lived = live(&executor, think_time, threads, &took_ms, seed);
            prop_assert_eq!(counts(&lived, vus), vec![iterations; vus as usize]);
        }

        #[test]
        fn users_that_share_iterations_do_all_of_them_and_no_more(
            vus in 1u32..9, threads in 1u32..4, iterations in 0u64..60, think_time in think_times(),
            took_ms in prop::collection::vec(1u64..400, 1..20), seed: u64,
        ) {
            let executor = Executor::SharedIterations { vus, iterations, max_duration: SECOND * 120 };
            let lived = live(&executor, think_time, threads, &took_ms, seed);
            prop_assert_eq!(counts(&lived, vus).iter().sum::<u64>(), iterations);
        }

        #[test]
        fn think_times_stay_within_their_limits(
            vus in 1u32..5, threads in 1u32..4, think_time in think_times(),
            took_ms in prop::collection::vec(1u64..400, 1..20), seed: u64,
        ) {
            let executor = Executor::ConstantVus { vus, duration: SECOND * 4 };
            let lived = live(&executor, think_time, threads, &took_ms, seed);
            for user in 0..vus {
                let own: Vec<_> = lived.iter().filter(|(number, ..)| *number == user).collect();
                prop_assert_eq!(own[0].1, START);
                for pair in own.windows(2) {
                    let thought = pair[1].1.since(pair[0].2);
                    prop_assert!((think_time.least..=think_time.most).contains(&thought), "{:?}", thought);
                }
                let last = own[own.len() - 1].2;
                prop_assert!(last + think_time.most >= window(SECOND * 4), "nobody ends before the window does");
            }
        }

        #[test]
        fn a_ramp_starts_nothing_for_users_above_its_line(
            start_vus in 0u32..6, targets in prop::collection::vec((0u64..4_000, 0u32..8), 1..5), threads in 1u32..4,
            took_ms in prop::collection::vec(1u64..400, 1..20),
        ) {
            let stages: Vec<Stage> = targets
                .iter()
                .map(|(ms, target)| Stage { duration: Duration::from_millis(*ms), target: f64::from(*target) })
                .collect();
            let ramp = Executor::RampingVus { start_vus, stages: stages.clone() };
            let lived = live(&ramp, ThinkTime::NONE, threads, &took_ms, 1);
            let mut pieces = Vec::new();
            let (mut from_s, mut from) = (0.0, f64::from(start_vus));
            for Stage { duration, target } in &stages {
                pieces.push((from_s, duration.as_secs_f64(), from, *target));
                (from_s, from) = (from_s + duration.as_secs_f64(), *target);
            }
            // At a jump both values count.
            let level = |at_s: f64| {
                let here = pieces.iter().filter(|(from_s, length_s, ..)| (*from_s - 1e-6..=from_s + length_s + 1e-6).contains(&at_s));
                let value = |(from_s, length_s, from, to): &(f64, f64, f64, f64)| match *length_s > 0.0 {
                    true => from + (to - from) * ((at_s - from_s) / length_s).clamp(0.0, 1.0),
                    false => from.max(*to),
                };
                here.map(value).fold(0.0, f64::max)
            };
            for (user, planned, _) in lived {
                let at_s = planned.since(window(Duration::ZERO)).as_secs_f64();
                let most = if planned < window(Duration::ZERO) { f64::from(start_vus) } else { level(at_s) };
                prop_assert!(f64::from(user) + 1.0 <= most + 1e-3, "user {} at {} s, where the line is at {}", user, at_s, most);
            }
        }
    }
}
