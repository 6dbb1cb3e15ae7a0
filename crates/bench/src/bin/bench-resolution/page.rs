//! The results, as tables.

use std::fmt::Write as _;

use tolok_analysis::{ComparedMetric, DuelOutcome, Verdict};
use tolok_bench::machine::Machine;
use tolok_bench::rates::{middle, rate};
use tolok_bench::table::{Table, percent};

use crate::draws::{Question, Rates, draw, whole};
use crate::launches::{Launches, Overhead, Pair};
use crate::planted::SLOWER;

/// The default smallest effect of a duel.
const USUAL: f64 = 0.01;

/// The questions for the launches of every condition.
fn questions() -> Vec<Question> {
    let [three, one] = SLOWER.map(Pair::Slower);
    let of = |pair, by, smallest_effect| Question { pair, by, smallest_effect };
    let both = |pair| [ComparedMetric::Goodput, ComparedMetric::Cpu].map(|by| of(pair, by, USUAL));
    let mut all = [both(Pair::Equals), both(three), both(one)].concat();
    // A difference equal to the smallest effect appears smaller in half of all duels.
    all.push(of(one, ComparedMetric::Cpu, USUAL / 3.0));
    all
}

/// The table of a condition.
pub fn condition(launches: &Launches, draws: u32, seed: u64) -> Table {
    let size = launches.usual_duel();
    let row = |question: Question| {
        let drawn = draw(launches, question, size, draws, seed);
        let whole = whole(launches, question);
        let all: Vec<u32> = (1..=launches.number()).collect();
        let pooled = launches.judge(question.pair, &all, question.by, question.smallest_effect);
        vec![
            name(question.pair),
            if question.by == ComparedMetric::Cpu { "CPU time" } else { "goodput" }.to_owned(),
            format!("{:.2}%", question.smallest_effect * 100.0),
            format!("{:.4}", question.truth()),
            pooled.map_or_else(String::new, |it| format!("{:.4} ({:.4}–{:.4})", it.value, it.low, it.high)),
            format!("±{:.2}%", drawn.half_width() * 100.0),
            rate(drawn.told, drawn.duels),
            rate(drawn.covered, drawn.duels),
            format!("{} of {}", whole.told, whole.duels),
            format!("{} of {}", whole.covered, whole.duels),
        ]
    };
    Table {
        title: launches.condition.clone(),
        columns: vec![
            "servers",
            "judged by",
            "counts from",
            "truth",
            "all launches",
            "half width",
            "told apart, drawn",
            "truth in interval, drawn",
            "told apart, whole",
            "truth in interval, whole",
        ],
        rows: questions().into_iter().map(row).collect(),
        notes: notes(launches, size, draws),
    }
}

fn name(pair: Pair) -> String {
    match pair {
        Pair::Equals => "equal (A/A)".to_owned(),
        Pair::Slower(planted) => format!("{:.0}% more CPU time", planted.slowness * 100.0),
    }
}

fn notes(launches: &Launches, size: u32, draws: u32) -> Vec<String> {
    let Overhead { thaw_s, freeze_s, drain_s, load_s } = launches.overhead;
    let all_s = thaw_s + freeze_s + drain_s + load_s;
    let [thaw, freeze, drain] = [thaw_s, freeze_s, drain_s].map(|part_s| percent(Some(part_s / all_s)));
    let ended = |outcome| launches.duels.iter().filter(|duel| duel.outcome == outcome).count();
    let found = launches.duels.iter().filter(|duel| duel.pairs.first().is_some_and(|it| it.verdict == Verdict::Slower));
    vec![
        format!(
            "Whole duels: {}, run by `tolok duel` with two challengers, so a quarter fewer launches than a duel of two has. {} ended \
             with *worse*, {} with *cannot tell*, {} with *not worse*; the 3% came out slower in {}.",
            launches.duels.len(),
            ended(DuelOutcome::Worse),
            ended(DuelOutcome::CannotTell),
            ended(DuelOutcome::NotWorse),
            found.count()
        ),
        format!(
            "Drawn: {draws} duels of {size} of {} launches ({} more were void), without replacement. They share launches, so their rates \
             are indicative; the intervals (Wilson) are those of the drawing only.",
            launches.number(),
            launches.void
        ),
        format!(
            "A launch took {:.1} s in the median. Of the time of slices, {} went without load: thaw {thaw}, freeze {freeze}, drain {drain}.",
            middle(&launches.took_s),
            percent(Some(launches.overhead.share()))
        ),
        format!(
            "Other programs took {} of the machine's CPUs in the median, the hypervisor {}.",
            percent(Some(middle(&launches.foreign))),
            percent(Some(middle(&launches.stolen)))
        ),
    ]
}

impl Rates {
    fn half_width(&self) -> f64 {
        middle(&self.half_widths)
    }
}

pub fn document(machine: &Machine, tables: &[Table]) -> String {
    let mut text =
        String::from("# Resolution of duels\n\nMade by `script/bench-resolution --markdown`; not edited by hand.\n\n");
    let _ = writeln!(text, "Machine: {}.\n", machine.words("subject on the first, generator on the second"));
    tables.iter().for_each(|table| text.push_str(&(table.markdown() + "\n")));
    text
}
