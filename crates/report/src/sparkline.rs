//! How even a case was, in a few characters: its goodput by second or by block.

use tolok_analysis::{CaseFinding, ScenarioFinding};

/// Heights from an eighth to a whole.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// With fewer seconds than this, blocks are more informative.
const FEWEST_SECONDS: usize = 4;
/// Fewer blocks than this show nothing.
const FEWEST_BLOCKS: usize = 2;
/// Longer lines are condensed.
const MOST_LETTERS: usize = 12;

/// A column of a table: its heading, a cell for each case (the ceiling last), and its meaning.
pub(crate) struct Sparklines {
    pub(crate) heading: &'static str,
    pub(crate) cells: Vec<String>,
    pub(crate) meaning: &'static str,
}

impl Sparklines {
    /// The sparklines of a scenario; `None` if no case has anything to draw.
    pub(crate) fn of(scenario: &ScenarioFinding) -> Option<Self> {
        let cases = || scenario.cases.iter().chain(&scenario.ceiling);
        let measured = || cases().filter(|case| case.trials_scored > 0);
        let has_seconds = measured().all(|case| seconds(case).len() >= FEWEST_SECONDS);
        let (heading, meaning, values): (_, _, fn(&CaseFinding) -> Vec<f64>) = match has_seconds {
            true => (
                "by second",
                "by second: correct responses in each second of the window, from zero to its highest",
                seconds,
            ),
            false => ("by round", "by round: correct responses/s of each round, from zero to its highest", blocks),
        };
        let cells: Vec<String> = cases().map(|case| line(&values(case))).collect();
        cells.iter().any(|cell| !cell.is_empty()).then_some(Self { heading, cells, meaning })
    }
}

/// Correct responses in each second of the window, the median of the trials.
fn seconds(case: &CaseFinding) -> Vec<f64> {
    let all = case.seconds.iter().flat_map(|seconds| seconds.start_s.iter().zip(&seconds.good_rps));
    all.filter(|(start_s, _)| **start_s >= 0.0).filter_map(|(_, band)| band.value).collect()
}

/// Goodput of each scored trial.
fn blocks(case: &CaseFinding) -> Vec<f64> {
    case.goodput_rps.as_ref().map(|goodput| goodput.trials.clone()).unwrap_or_default()
}

/// The line of a case; empty if it has too few values.
pub(crate) fn line(values: &[f64]) -> String {
    let has_any = values.len() >= FEWEST_BLOCKS && values.iter().any(|value| *value > 0.0);
    if has_any { sparkline(values, MOST_LETTERS) } else { String::new() }
}

/// A line of at most `columns` characters, scaled from zero to the largest value. With more values than columns, a
/// character shows the mean of several. Zero is a visible dot.
pub fn sparkline(values: &[f64], columns: usize) -> String {
    let each = values.len().div_ceil(columns.max(1)).max(1);
    let means: Vec<f64> = values.chunks(each).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64).collect();
    let most = means.iter().copied().fold(0.0, f64::max);
    let letter = |value: f64| match value {
        0.0 => '·',
        _ => HEIGHTS[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    means.into_iter().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_begin_at_zero() {
        assert_eq!(line(&[8.0, 4.0, 1.0, 0.0, 7.9]), "█▄▁·█");
        assert_eq!(line(&[100.0, 99.0, 101.0]), "███", "small differences are not visible");
        assert_eq!((line(&[3.0]), line(&[0.0, 0.0]), line(&[])), (String::new(), String::new(), String::new()));
    }

    #[test]
    fn a_long_window_is_as_wide_as_a_short_one() {
        assert_eq!(line(&[1.0; 60]).chars().count(), 12);
        assert_eq!(line(&[1.0; 13]).chars().count(), 7);
    }

    #[test]
    fn the_height_is_the_share_of_the_largest() {
        assert_eq!(sparkline(&[0.0, 1.0, 4.0, 8.0], 10), "·▁▄█");
        assert_eq!(sparkline(&[5.0, 5.0, 4.99], 10), "███");
        assert_eq!(sparkline(&[0.0, 0.0], 10), "··");
        assert_eq!(sparkline(&[], 10), "");
    }

    #[test]
    fn many_seconds_share_a_mark() {
        assert_eq!(sparkline(&[8.0, 8.0, 4.0, 4.0, 2.0], 3), "█▄▂");
        assert_eq!(sparkline(&[1.0; 100], 30).chars().count(), 25);
    }
}
