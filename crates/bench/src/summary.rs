//! From measurements to figures: medians, and ratios paired by round. No judgement beyond that.

use tolok_stats::{Level, RatioOutcome, Sample, paired_ratio};

use crate::bench::{CellOutcome, Entry};
use crate::cell::Contender;
use crate::measure::Measurement;

/// The figures of a contender in a cell. A figure that does not exist is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub contender: Contender,
    /// Answers per second by the server's count, median over rounds.
    pub rate_rps: Option<f64>,
    /// CPU time for an answer.
    pub cpu_us: Option<Spread>,
    /// CPU time as a multiple of wrk's.
    pub cpu_to_wrk: Option<Ratio>,
    /// CPU time as a multiple of tolok's.
    pub cpu_to_tolok: Option<Ratio>,
    /// Instructions outside the kernel for an answer, median over rounds.
    pub instructions_user: Option<f64>,
    /// Instructions in the kernel for an answer, median over rounds.
    pub instructions_kernel: Option<f64>,
    /// All instructions as a multiple of those of the floor that treats bodies in the same way.
    pub instructions_to_floor: Option<Ratio>,
    /// Cycles for an answer, inside the kernel and outside, median over rounds.
    pub cycles: Option<f64>,
    /// Most memory that it had at once, in the median round.
    pub peak_bytes: Option<f64>,
    /// CPU time as a share of the time that it ran: near 1, the generator was the limit of the rate.
    pub busy: Option<f64>,
    /// CPU time of the server as a share of the time: near 1, the server was the limit of the rate.
    pub server_busy: Option<f64>,
    /// Rounds in which it was measured.
    pub rounds: usize,
    /// Who counted how much.
    pub account: Account,
    /// What went wrong, with the number of its round.
    pub problems: Vec<(usize, String)>,
}

/// Median and extremes over rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub median: f64,
    /// Least.
    pub min: f64,
    pub max: f64,
}

/// The typical ratio within a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    pub ratio: f64,
    /// 95 % interval; none with too few rounds.
    pub interval: Option<(f64, f64)>,
    /// Rounds in which both were measured.
    pub pairs: usize,
}

/// The generator's count beside the server's, over all rounds in which the generator told one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// What the generator says it had answered; none if it never said.
    pub claimed: Option<u64>,
    /// What the server answered in those rounds.
    pub answered: u64,
    /// In every round the server answered as much, or more by no more than one request a connection: those that were in
    /// flight when the generator stopped counting.
    pub agrees: bool,
    pub failed: u64,
}

/// The figures of a cell, the cheapest first.
pub fn rows(outcome: &CellOutcome) -> Vec<Row> {
    let mut rows: Vec<Row> = outcome.entries.iter().map(|entry| row(outcome, entry)).collect();
    let cost = |row: &Row| row.cpu_us.map_or(f64::INFINITY, |cpu| cpu.median);
    rows.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    rows
}

fn row(outcome: &CellOutcome, entry: &Entry) -> Row {
    let of = |contender: Contender| outcome.entries.iter().find(|one| one.contender == contender);
    let ratio = |to: Contender, quantity: Quantity| {
        ratio(entry, of(to).filter(|one| one.contender != entry.contender)?, quantity)
    };
    let floor = Contender { discards: entry.contender.discards, ..Contender::FLOOR };
    Row {
        contender: entry.contender,
        rate_rps: median(entry, |one| one.rate_rps.filter(|_| one.problem.is_none())),
        cpu_us: spread(entry, Measurement::cpu_us),
        cpu_to_wrk: ratio(Contender::WRK, Measurement::cpu_us),
        cpu_to_tolok: ratio(Contender::TOLOK, Measurement::cpu_us),
        instructions_user: median(entry, |one| one.per_answer(one.counted?.instructions_user as f64)),
        instructions_kernel: median(entry, |one| one.per_answer(one.counted?.instructions_kernel as f64)),
        instructions_to_floor: ratio(floor, instructions),
        cycles: median(entry, |one| {
            let counted = one.counted?;
            one.per_answer((counted.cycles_user + counted.cycles_kernel) as f64)
        }),
        peak_bytes: median(entry, |one| one.peak_bytes.filter(|_| one.problem.is_none()).map(|bytes| bytes as f64)),
        busy: median(entry, |one| share(one, one.cpu_s(), one.wall_s)),
        server_busy: median(entry, |one| share(one, one.server_cpu_s, one.told_s)),
        rounds: entry.rounds.iter().flatten().count(),
        account: account(outcome, entry),
        problems: problems(entry),
    }
}

/// A part of a time. None if the measurement is no good.
fn share(one: &Measurement, part_s: f64, time_s: f64) -> Option<f64> {
    one.problem.is_none().then(|| part_s / time_s)
}

type Quantity = fn(&Measurement) -> Option<f64>;

fn instructions(one: &Measurement) -> Option<f64> {
    let counted = one.counted?;
    one.per_answer((counted.instructions_user + counted.instructions_kernel) as f64)
}

fn values(entry: &Entry, quantity: impl Fn(&Measurement) -> Option<f64>) -> Vec<Option<f64>> {
    entry.rounds.iter().map(|round| round.as_ref().and_then(&quantity)).collect()
}

fn spread(entry: &Entry, quantity: impl Fn(&Measurement) -> Option<f64>) -> Option<Spread> {
    let values: Vec<f64> = values(entry, quantity).into_iter().flatten().collect();
    let sample = Sample::new(&values).ok()?;
    Some(Spread { median: sample.median(), min: sample.min(), max: sample.max() })
}

fn median(entry: &Entry, quantity: impl Fn(&Measurement) -> Option<f64>) -> Option<f64> {
    spread(entry, quantity).map(|spread| spread.median)
}

/// How many times as much it took as the other, round by round.
fn ratio(entry: &Entry, other: &Entry, quantity: Quantity) -> Option<Ratio> {
    let (these, those) = (values(entry, quantity), values(other, quantity));
    let pairs = these.iter().zip(&those).filter(|(this, that)| this.is_some() && that.is_some()).count();
    match paired_ratio(&these, &those, Level::P95).ok()?.outcome {
        RatioOutcome::Estimated { ratio, interval, .. } => {
            Some(Ratio { ratio, interval: interval.map(|one| (one.low, one.high)), pairs })
        }
        RatioOutcome::Censored { .. } | RatioOutcome::NoPairs => None,
    }
}

fn account(outcome: &CellOutcome, entry: &Entry) -> Account {
    let mut account = Account { claimed: None, answered: 0, agrees: true, failed: 0 };
    for one in entry.rounds.iter().flatten() {
        let Some(claim) = one.claim else { continue };
        account.claimed = Some(account.claimed.unwrap_or(0) + claim.requests);
        account.answered += one.server.answers;
        account.failed += claim.failed;
        let missed = one.server.answers.checked_sub(claim.requests);
        account.agrees &= missed.is_some_and(|missed| missed <= u64::from(outcome.cell.connections));
    }
    account
}

fn problems(entry: &Entry) -> Vec<(usize, String)> {
    let rounds = entry.rounds.iter().enumerate();
    rounds.filter_map(|(round, one)| Some((round + 1, one.as_ref()?.problem.clone()?))).collect()
}

#[cfg(test)]
pub mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::Outcome;
    use crate::cell::CELLS;
    use crate::claim::Claim;
    use crate::counters::Counted;
    use crate::machine::Machine;
    use crate::peers::Peer;
    use crate::regime::Transfer;
    use crate::server::Counts;
    use crate::tool::Tool;

    /// An invented measurement: 1000 answers, which took so many microseconds of CPU time each.
    pub fn measurement(cpu_us: f64) -> Measurement {
        Measurement {
            told_s: 1.0,
            wall_s: 0.1,
            server: Counts { answers: 1000, refusals: 0, connections: 64 },
            rate_rps: Some(1e6 / cpu_us),
            cpu_user_s: cpu_us * 0.25e-3,
            cpu_system_s: cpu_us * 0.75e-3,
            server_cpu_s: 0.5,
            peak_bytes: Some(5 << 20),
            counted: Some(Counted {
                instructions_user: (cpu_us * 1e6) as u64,
                instructions_kernel: (cpu_us * 3e6) as u64,
                cycles_user: (cpu_us * 1e6) as u64,
                cycles_kernel: (cpu_us * 2e6) as u64,
            }),
            claim: Some(Claim { requests: 990, failed: 0 }),
            transfer: Some(Transfer { before_ns: 100.0, after_ns: 100.0 }),
            problem: None,
            raised: true,
        }
    }

    pub fn peers(tools: &[Tool]) -> Vec<Peer> {
        let peer = |tool: &Tool| Peer {
            tool: *tool,
            path: "/x".into(),
            version: "1.2".to_owned(),
            environment: Vec::new(),
            discards: true,
        };
        tools.iter().map(peer).collect()
    }

    /// Name of a cell, and the CPU time for an answer of everybody in every round.
    type Invented<'a> = (&'a str, &'a [(Contender, &'a [f64])]);

    pub fn outcome(cells: &[Invented]) -> Outcome {
        let mut machine = Machine::look(0, 1);
        (machine.raised, machine.counters) = (Some(true), true);
        let mut tools: Vec<Tool> =
            cells.iter().flat_map(|(_, entries)| entries.iter().map(|(one, _)| one.tool)).collect();
        tools.dedup();
        let peers = peers(&tools);
        let cells = cells.iter().map(|(name, entries)| CellOutcome {
            cell: CELLS.iter().find(|cell| cell.name == *name).unwrap(),
            entries: entries
                .iter()
                .map(|(contender, costs)| Entry {
                    contender: *contender,
                    rounds: costs.iter().map(|cost| Some(measurement(*cost))).collect(),
                })
                .collect(),
            left_out: Vec::new(),
        });
        let cells = cells.collect();
        Outcome {
            machine,
            peers,
            absent: Vec::new(),
            duration: Duration::from_secs(1),
            rounds: 5,
            seed: 1,
            cells,
            lateness: Vec::new(),
            honesty: None,
        }
    }

    fn close(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 1e-9
    }

    #[test]
    fn ratios_are_formed_within_rounds_though_the_rounds_differ() {
        // The machine was three times as slow in two of the rounds; tolok always took 0.8 times what wrk took.
        let (wrk, tolok) = ([10.0, 30.0, 11.0, 33.0, 10.5], [8.0, 24.0, 8.8, 26.4, 8.4]);
        let outcome = outcome(&[("hello-64", &[(Contender::WRK, &wrk), (Contender::TOLOK, &tolok)])]);
        let rows = rows(&outcome.cells[0]);
        assert_eq!([rows[0].contender, rows[1].contender], [Contender::TOLOK, Contender::WRK], "the cheapest is first");
        let ratio = rows[0].cpu_to_wrk.unwrap();
        let (low, high) = ratio.interval.unwrap();
        assert!(close(ratio.ratio, 0.8) && close(low, 0.8) && close(high, 0.8), "{ratio:?}");
        assert_eq!((rows[0].cpu_to_tolok, rows[1].cpu_to_wrk), (None, None), "nobody is compared with himself");
        assert!(close(rows[1].cpu_to_tolok.unwrap().ratio, 1.25));
        let cpu = rows[1].cpu_us.unwrap();
        assert!(close(cpu.median, 11.0) && close(cpu.min, 10.0) && close(cpu.max, 33.0), "{cpu:?}");
        assert!(
            close(rows[1].instructions_user.unwrap(), 11_000.0)
                && close(rows[1].instructions_kernel.unwrap(), 33_000.0)
        );
    }

    #[test]
    fn a_floor_is_compared_with_the_floor_of_its_kind() {
        let discarding = |one: Contender| Contender { discards: true, ..one };
        let entries: [(Contender, &[f64]); 4] = [
            (Contender::FLOOR, &[10.0]),
            (discarding(Contender::FLOOR), &[5.0]),
            (Contender::TOLOK, &[11.0]),
            (discarding(Contender::TOLOK), &[6.0]),
        ];
        let outcome = outcome(&[("big", &entries)]);
        let found: Vec<Option<f64>> =
            rows(&outcome.cells[0]).iter().map(|row| row.instructions_to_floor.map(|one| one.ratio)).collect();
        assert!(close(found[1].unwrap(), 1.2) && close(found[3].unwrap(), 1.1), "{found:?}");
        assert_eq!((found[0], found[2]), (None, None));
    }

    #[test]
    fn few_rounds_give_a_ratio_without_an_interval_and_bad_ones_none() {
        let mut outcome = outcome(&[("hello-64", &[(Contender::WRK, &[10.0, 10.0]), (Contender::TOLOK, &[8.0, 1.0])])]);
        outcome.cells[0].entries[1].rounds[1].as_mut().unwrap().problem = Some("it did not end, and was killed".into());
        let rows = rows(&outcome.cells[0]);
        let ratio = rows[0].cpu_to_wrk.unwrap();
        assert!(close(ratio.ratio, 0.8) && ratio.interval.is_none(), "{ratio:?}");
        assert_eq!(rows[0].problems, [(2, "it did not end, and was killed".to_owned())]);
        assert!(close(rows[0].cpu_us.unwrap().min, 8.0));
    }

    #[test]
    fn a_count_agrees_if_the_server_answered_no_less_and_hardly_more() {
        let check = |claimed: u64, agrees: bool| {
            let mut outcome = outcome(&[("hello-64", &[(Contender::WRK, &[10.0])])]);
            let one = outcome.cells[0].entries[0].rounds[0].as_mut().unwrap();
            one.claim = Some(Claim { requests: claimed, failed: 3 });
            let expected = Account { claimed: Some(claimed), answered: 1000, agrees, failed: 3 };
            assert_eq!(rows(&outcome.cells[0])[0].account, expected);
        };
        check(1000, true);
        check(936, true);
        check(935, false);
        check(1001, false);
    }
}
