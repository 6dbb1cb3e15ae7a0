//! How certain a scenario's comparisons are: its A/A pair, how many blocks it would need, and pairs in words.

use tolok_analysis::figures::{NONE, Quantity, count, figure, small_share};
use tolok_analysis::{Estimate, Findings, NoiseFloor, PowerNote, ScenarioFinding, Verdict, difference};

use super::limits::labelled;
use super::{programs, section};
use crate::document::{Block, Cell, Column, Depth, Look, Row, Table, Text};
use crate::wording::heading;

/// The meaning of the letters in a column.
pub(crate) const TIER: &str = "tier: same letter, no clear difference";

/// The A/A pair of a scenario and what its blocks can show, a line each.
pub(crate) fn short(what: &str, floor: Option<&NoiseFloor>, power: Option<&PowerNote>) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(floor) = floor {
        let ratio = figure(Quantity::Ratio, &floor.ratio).line();
        blocks.push(line(
            "Noise check",
            &format!("{}, entered twice, had a ratio of {ratio}: {}", entered(what, floor), came_out(floor)),
            is_failed(floor),
        ));
    }
    if let Some(power) = power {
        let effect = small_share(power.effect);
        let [needed, worst] = [power.blocks_needed, power.blocks_needed_worst].map(words_of_blocks);
        let worst = if worst == needed { String::new() } else { format!(" (worst pair {worst})") };
        let found = difference(power.smallest_found);
        let text = format!(
            "differences of about {found} or more can be detected; {effect} would take about {needed} rounds{worst}"
        );
        blocks.push(line("Resolution", &text, false));
    }
    blocks
}

fn line(word: &str, text: &str, is_warning: bool) -> Block {
    match is_warning {
        true => Block::paragraph(format!("{word}: {text}"), Look::Warning),
        false => Block::Paragraph(format!("{word}: {text}").into()),
    }
}

/// How certain the comparisons are: sentences for a single scenario on a page, tables otherwise.
pub(crate) fn blocks(findings: &Findings, scenarios: &[&ScenarioFinding], depth: Depth) -> Vec<Block> {
    let blocks = match (scenarios, findings.programs.as_slice(), depth) {
        ([only], [], Depth::Page) => sentences(only.noise_floor.as_ref(), only.power.as_ref()).into_iter().collect(),
        _ => {
            let server = |it| -> Known { (heading(it), &it.id, it.noise_floor.as_ref(), it.power.as_ref()) };
            let program = |it| -> Known { (programs::heading(it), &it.id, it.noise_floor.as_ref(), it.power.as_ref()) };
            let servers = table("Noise and resolution", scenarios.iter().copied().map(server));
            let programs = findings.programs.iter().map(program);
            [servers, table("Noise and resolution, programs", programs)].concat()
        }
    };
    let speeds = findings.machine_speeds.iter().map(|speeds| Block::Paragraph(speeds.sentence.clone().into()));
    let speeds = speeds.filter(|_| !blocks.is_empty()).collect();
    section("sureness", "Noise and resolution", [blocks, speeds].concat())
}

fn sentences(floor: Option<&NoiseFloor>, power: Option<&PowerNote>) -> Option<Block> {
    let of_floor = floor.map(|floor| match is_failed(floor) {
        true => Text::of(format!("Noise check: {}", floor.sentence), Look::Warning),
        false => labelled("Noise check", &floor.sentence),
    });
    let of_power = power.map(|power| labelled("Resolution", &power.sentence));
    Block::list(of_floor.into_iter().chain(of_power).collect())
}

fn is_failed(floor: &NoiseFloor) -> bool {
    matches!(floor.verdict, Verdict::Faster | Verdict::Slower) || floor.widening > 1.0
}

/// Who was entered twice: `one server`, or `each of 6 servers in turn`.
pub(crate) fn entered(what: &str, floor: &NoiseFloor) -> String {
    match floor.pairs.len() {
        0 | 1 => format!("one {what}"),
        several => format!("each of {several} {what}s in turn"),
    }
}

/// The result of the A/A pair, for which the truth is known.
fn came_out(floor: &NoiseFloor) -> String {
    match floor.verdict {
        Verdict::Faster | Verdict::Slower => {
            format!("found a difference where there is none; trust no difference up to {}", small_share(floor.size))
        }
        _ if floor.widening > 1.0 && floor.ratio.low.is_some() => {
            format!("more scatter than expected: intervals are {:.1} times as wide", floor.widening)
        }
        Verdict::Equivalent | Verdict::NoDifferenceFound => "no difference found".to_owned(),
        Verdict::CannotTell if floor.ratio.low.is_none() => "too few rounds".to_owned(),
        Verdict::CannotTell => "inconclusive".to_owned(),
    }
}

fn words_of_blocks(needed: Option<u32>) -> String {
    needed.map_or("over 10,000".to_owned(), |blocks| count(u64::from(blocks)))
}

/// A scenario of servers or programs: its title, its id, and its noise and power.
type Known<'a> = (String, &'a str, Option<&'a NoiseFloor>, Option<&'a PowerNote>);

/// How certain several scenarios are, side by side, and what the headings mean. Empty if no cases were compared.
fn table<'a>(caption: &str, all: impl Iterator<Item = Known<'a>>) -> Vec<Block> {
    let all: Vec<Known> = all.filter(|(_, _, floor, power)| floor.is_some() || power.is_some()).collect();
    let power = all.iter().find_map(|(.., power)| *power);
    let has_floor = all.iter().any(|(_, _, floor, _)| floor.is_some());
    let (mut headings, mut notes): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    if has_floor {
        headings.extend(["noise check", "result"].map(str::to_owned));
        notes.push(
            "Noise check: each round enters one server twice; the difference between the two is this run’s own noise."
                .to_owned(),
        );
    }
    if let Some(power) = power {
        let (effect, chance) = (small_share(power.effect), small_share(power.power));
        let worst = "in the worst pair".to_owned();
        headings.extend(["detects differences of".to_owned(), format!("rounds to detect {effect}"), worst]);
        notes.push(format!(
            "Detects differences of: the smallest that this run finds with a probability of {chance}, for the median pair."
        ));
    }
    if all.is_empty() {
        return Vec::new();
    }
    let columns = std::iter::once(Column::words("scenario")).chain(headings.into_iter().map(Column::numbers));
    let table =
        Table::of(caption, columns.collect(), all.iter().map(|known| row(known, has_floor, power.is_some())).collect());
    vec![Block::Table(table), Block::Paragraph(notes.join(" ").into())]
}

fn row((title, id, floor, power): &Known, has_floor: bool, has_power: bool) -> Row {
    let look = if floor.is_some_and(is_failed) { Look::Warning } else { Look::Plain };
    let mut cells = vec![Cell::from(Text::from(format!("{title} ")).and(*id, Look::Code))];
    if has_floor {
        let known = floor.map(|floor| [figure(Quantity::Ratio, &floor.ratio).line(), came_out(floor)]);
        cells.extend(known.unwrap_or([NONE; 2].map(str::to_owned)).map(Cell::from));
    }
    if has_power {
        let known = power.map(|power| {
            let [needed, worst] = [power.blocks_needed, power.blocks_needed_worst].map(words_of_blocks);
            [difference(power.smallest_found), needed, worst]
        });
        cells.extend(known.unwrap_or([NONE; 3].map(str::to_owned)).map(Cell::from));
    }
    Row { look, cells, ..Row::default() }
}

/// The simultaneous interval over all pairs, beside a ratio; a dash if there is none.
pub(crate) fn simultaneous(ratio: &Estimate, low: Option<f64>, high: Option<f64>) -> String {
    let of_all = Estimate { value: ratio.value, low, high, trials: Vec::new() };
    figure(Quantity::Ratio, &of_all).interval.unwrap_or_else(|| "–".to_owned())
}

/// An adjusted p in words; a dash if there is none.
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
