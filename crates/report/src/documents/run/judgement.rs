//! How sure a scenario's comparisons are: its A/A pair, how many blocks they would need, and pairs in words.

use serde::Serialize;
use tolok_analysis::figures::{NONE, Quantity, count, figure, small_share};
use tolok_analysis::{Estimate, Findings, NoiseFloor, PowerNote, ProgramFinding, ScenarioFinding, Verdict};

use crate::documents::run::surroundings::heading;
use crate::programs;

/// What the letters of a column are.
pub(crate) const TIER: &str = "tier: those that share a letter could not be told apart";

/// A line beneath a scenario's table.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    /// What it is about.
    pub(crate) word: &'static str,
    pub(crate) text: String,
    /// Whether it speaks against the whole table.
    pub(crate) is_warning: bool,
}

/// The A/A pair of a scenario, and what its blocks can show; nothing where it has neither.
pub(crate) fn lines(floor: Option<&NoiseFloor>, power: Option<&PowerNote>) -> Vec<Line> {
    let of_floor = floor.map(|floor| {
        let is_warning = is_told_apart(floor);
        Line { word: "A/A pair", text: floor.sentence.clone(), is_warning }
    });
    let of_power = power.map(|power| Line { word: "Blocks", text: power.sentence.clone(), is_warning: false });
    of_floor.into_iter().chain(of_power).collect()
}

/// The same where every scenario has them: a line each, whose words [`Sureness::note`] or [`MEANING`] explain once.
pub(crate) fn short_lines(floor: Option<&NoiseFloor>, power: Option<&PowerNote>) -> Vec<Line> {
    let of_floor = floor.map(|floor| {
        let is_warning = is_told_apart(floor);
        let text = format!("{}: {}", figure(Quantity::Ratio, &floor.ratio).line(), came_out(floor));
        Line { word: "A/A pair", text, is_warning }
    });
    let of_power = power.map(|power| {
        let effect = small_share(power.effect);
        let [needed, worst] = [power.blocks_needed, power.blocks_needed_worst].map(blocks);
        let worst = if worst == needed { String::new() } else { format!(" (worst pair {worst})") };
        let text = format!("shows {}; {effect} takes {needed} blocks{worst}", small_share(power.smallest_found));
        Line { word: "Power", text, is_warning: false }
    });
    of_floor.into_iter().chain(of_power).collect()
}

/// What the words of [`short_lines`] mean, each by itself.
pub(crate) const MEANING: [(&str, &str); 2] = [
    ("A/A pair", "A/A pair: one subject entered twice"),
    (
        "Power",
        "shows: the smallest difference found with a chance of 80% in the median pair · takes: blocks to find the smallest that \
         matters",
    ),
];

fn is_told_apart(floor: &NoiseFloor) -> bool {
    matches!(floor.verdict, Verdict::Faster | Verdict::Slower)
}

/// What became of a pair of which the truth is known.
fn came_out(floor: &NoiseFloor) -> String {
    match floor.verdict {
        Verdict::Faster | Verdict::Slower => {
            format!("told apart: nothing up to {} is believed", small_share(floor.size))
        }
        Verdict::Equivalent | Verdict::NoDifferenceFound => "not told apart".to_owned(),
        Verdict::CannotTell if floor.ratio.low.is_none() => "too few blocks to say".to_owned(),
        Verdict::CannotTell => "too unsure to say".to_owned(),
    }
}

fn blocks(needed: Option<u32>) -> String {
    needed.map_or("over 10,000".to_owned(), |blocks| count(u64::from(blocks)))
}

/// How sure several scenarios are, side by side.
#[derive(Debug, Serialize)]
pub(crate) struct Sureness {
    /// Those of the cells.
    pub(crate) headings: Vec<String>,
    pub(crate) rows: Vec<SureRow>,
    /// What the headings mean.
    pub(crate) note: String,
}

/// One scenario.
#[derive(Debug, Serialize)]
pub(crate) struct SureRow {
    pub(crate) title: String,
    pub(crate) id: String,
    pub(crate) cells: Vec<String>,
    /// Whether something speaks against its whole table.
    pub(crate) is_warning: bool,
}

/// A scenario of servers or of programs: its title, its id, and what is known of it.
type Known<'a> = (String, &'a str, Option<&'a NoiseFloor>, Option<&'a PowerNote>);

impl Sureness {
    /// None where no two cases were compared.
    pub(crate) fn of_servers(scenarios: &[&ScenarioFinding]) -> Option<Self> {
        let known = |it| -> Known { (heading(it), &it.id, it.noise_floor.as_ref(), it.power.as_ref()) };
        Self::of(scenarios.iter().copied().map(known))
    }

    /// The same of programs.
    pub(crate) fn of_programs(programs: &[ProgramFinding]) -> Option<Self> {
        let known = |it| -> Known { (programs::heading(it), &it.id, it.noise_floor.as_ref(), it.power.as_ref()) };
        Self::of(programs.iter().map(known))
    }

    fn of<'a>(all: impl Iterator<Item = Known<'a>>) -> Option<Self> {
        let all: Vec<Known> = all.filter(|(_, _, floor, power)| floor.is_some() || power.is_some()).collect();
        let power = all.iter().find_map(|(.., power)| *power);
        let has_floor = all.iter().any(|(_, _, floor, _)| floor.is_some());
        let (mut headings, mut notes): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        if has_floor {
            headings.extend(["A/A pair", "which was"].map(str::to_owned));
            notes.push(
                "A/A pair: one subject is entered twice, and what its halves differ by is this run’s own noise."
                    .to_owned(),
            );
        }
        if let Some(power) = power {
            let (effect, chance) = (small_share(power.effect), small_share(power.power));
            headings.extend([
                "shows differences from".to_owned(),
                format!("blocks to show {effect}"),
                "in the worst pair".to_owned(),
            ]);
            notes.push(format!(
                "Shows differences from: the smallest that the blocks of this run find with a chance of {chance}, for the median \
                 pair. Blocks to show {effect}: how many it would take to find the smallest difference that matters."
            ));
        }
        let rows = all.iter().map(|known| SureRow::of(known, has_floor, power.is_some())).collect();
        (!all.is_empty()).then(|| Self { headings, rows, note: notes.join(" ") })
    }
}

impl SureRow {
    fn of((title, id, floor, power): &Known, has_floor: bool, has_power: bool) -> Self {
        let mut cells = Vec::new();
        if has_floor {
            cells.extend(floor.map_or([NONE; 2].map(str::to_owned), |floor| {
                [figure(Quantity::Ratio, &floor.ratio).line(), came_out(floor)]
            }));
        }
        if has_power {
            cells.extend(power.map_or([NONE; 3].map(str::to_owned), |power| {
                [small_share(power.smallest_found), blocks(power.blocks_needed), blocks(power.blocks_needed_worst)]
            }));
        }
        Self { title: title.clone(), id: (*id).to_owned(), cells, is_warning: floor.is_some_and(is_told_apart) }
    }
}

/// The rule by which the run might end before its last block, and what came of it; nothing without one.
pub(crate) fn stopping(findings: &Findings) -> String {
    findings.run.stopping.clone().unwrap_or_default()
}

/// The interval that holds for all pairs together, beside a ratio; a dash where there is none.
pub(crate) fn simultaneous(ratio: &Estimate, low: Option<f64>, high: Option<f64>) -> String {
    let of_all = Estimate { value: ratio.value, low, high, trials: Vec::new() };
    figure(Quantity::Ratio, &of_all).interval.unwrap_or_else(|| "–".to_owned())
}

/// An adjusted p in words; a dash where there is none.
pub(crate) fn p_words(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(tiny) if tiny < 0.001 => "<0.001".to_owned(),
        Some(small) if small < 0.1 => format!("{small:.3}"),
        Some(large) => format!("{large:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p_is_never_rounded_to_nothing() {
        let check = |p: Option<f64>, words: &str| assert_eq!(p_words(p), words);
        check(None, "–");
        check(Some(0.0), "<0.001");
        check(Some(0.0123), "0.012");
        check(Some(0.049_9), "0.050");
        check(Some(0.3), "0.30");
        check(Some(1.0), "1.00");
    }
}
