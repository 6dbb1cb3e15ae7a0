//! The sentence about a factor.

use super::factor::Factor;
use crate::figures::{Quantity, amount, counted, figure};
use crate::findings::{Estimate, FactorCrossover, FactorLine, FactorPanel, VarianceFinding, VarianceShare};

/// The most crossings that are named; the table has all of them.
const MOST_NAMED: usize = 3;

/// `Going from 0 ms to 100 ms of round trip to the database cuts throughput to 44% (A) to 93% (B). A and B change places at about
/// 23 ms (15–40).`
pub(crate) fn panel_sentence(panel: &FactorPanel, factor: &Factor, smallest_effect: f64) -> String {
    let (Some(low), Some(high)) = (panel.levels.first(), panel.levels.last()) else { return String::new() };
    let span = factor.span(&low.label, &high.label);
    let change = change(panel, high.value, smallest_effect);
    let mut sentence = format!("Going {span} {change}.");
    if panel.lines.len() > 1 {
        sentence += &format!(" {}.", crossings(panel, factor));
    }
    sentence
}

/// The change of the subjects from the lowest value to the highest.
fn change(panel: &FactorPanel, highest: f64, smallest_effect: f64) -> String {
    let of_line = |line: &FactorLine| {
        let last = line.points.iter().find(|point| point.value == highest)?;
        Some((line.title.clone(), last.of_lowest.clone()?))
    };
    let mut changes: Vec<(String, Estimate)> = panel.lines.iter().filter_map(of_line).collect();
    changes.sort_by(|left, right| left.1.value.total_cmp(&right.1.value));
    let (Some(least), Some(most)) = (changes.first(), changes.last()) else {
        return "has no figures to compare: no subject has a figure at both ends".to_owned();
    };
    let every = |holds: &dyn Fn(&Estimate) -> bool| changes.iter().all(|(_, ratio)| holds(ratio));
    let is_little = |ratio: &Estimate| {
        let most = 1.0 + smallest_effect;
        ratio.low.is_some_and(|low| low > most.recip()) && ratio.high.is_some_and(|high| high < most)
    };
    let (is_little, is_less, is_more) = (
        every(&is_little),
        every(&|ratio| ratio.high.is_some_and(|high| high < 1.0)),
        every(&|ratio| ratio.low.is_some_and(|low| low > 1.0)),
    );
    let effect = amount(Quantity::Share, smallest_effect);
    if changes.len() == 1 {
        let (who, ratio) = least;
        return match () {
            () if is_little => format!("changes the throughput of {who} by less than {effect}"),
            () if is_less => format!("cuts the throughput of {who} to {}", figure(Quantity::Share, ratio).line()),
            () if is_more => format!("raises the throughput of {who} to {}", figure(Quantity::Ratio, ratio).line()),
            () => format!("changes the throughput of {who} to {}", figure(Quantity::Ratio, ratio).line()),
        };
    }
    let among = |quantity: Quantity| {
        let of = |(who, ratio): &(String, Estimate)| format!("{} ({who})", amount(quantity, ratio.value));
        format!("between {} and {}", of(least), of(most))
    };
    match () {
        () if is_little => format!("changes no throughput by as much as {effect}"),
        () if is_less => format!("cuts throughput to {}", among(Quantity::Share)),
        () if is_more => format!("raises throughput to {}", among(Quantity::Ratio)),
        () => format!("changes throughput to {}", among(Quantity::Ratio)),
    }
}

fn crossings(panel: &FactorPanel, factor: &Factor) -> String {
    let title = |subject: &str| {
        let line = panel.lines.iter().find(|line| line.subject == subject);
        line.map_or(subject, |line| line.title.as_str()).to_owned()
    };
    let words = |(number, crossing): (usize, &&FactorCrossover)| {
        let names = format!("{} and {}", title(&crossing.faster_below), title(&crossing.faster_above));
        let verb = if number == 0 { "change places at" } else { "at" };
        format!("{names} {verb} about {}", place(crossing, factor))
    };
    let (sure, unsure): (Vec<_>, Vec<_>) = panel.crossovers.iter().partition(|crossing| crossing.sure);
    let vague = match unsure.len() {
        0 => None,
        1 => Some("1 more rank change is possible".to_owned()),
        number => Some(format!("{number} more rank changes are possible")),
    };
    if sure.is_empty() {
        return match unsure.len() {
            0 => "No subjects change places".to_owned(),
            1 => "No rank change is certain; 1 is possible".to_owned(),
            number => format!("No rank change is certain; {number} are possible"),
        };
    }
    let mut parts: Vec<String> = sure.iter().take(MOST_NAMED).enumerate().map(words).collect();
    let rest = sure.len().saturating_sub(MOST_NAMED);
    parts.extend((rest > 0).then(|| format!("{} more do", counted(rest as u64, "pair"))));
    let sure = parts.join(", ");
    vague.map_or(sure.clone(), |vague| format!("{sure}; {vague}"))
}

/// `round-trip time to the database above about 23 ms (15–40): there B is ahead of A`, as seen from a lower value.
pub(crate) fn flip_words(panel: &FactorPanel, crossing: &FactorCrossover, from: f64) -> String {
    let title = |subject: &str| {
        let line = panel.lines.iter().find(|line| line.subject == subject);
        line.map_or(subject, |line| line.title.as_str()).to_owned()
    };
    let at = Factor::on_axis(&panel.factor).map_or(crossing.at.to_string(), |factor| place(crossing, &factor));
    let (below, above) = (title(&crossing.faster_below), title(&crossing.faster_above));
    let (side, ahead, behind) = if from < crossing.at { ("above", above, below) } else { ("below", below, above) };
    format!("{} {side} about {at}: there {ahead} is ahead of {behind}", panel.title)
}

/// `23 ms (15–40)`
fn place(crossing: &FactorCrossover, factor: &Factor) -> String {
    let words = |value| factor.about(value, crossing.at);
    // The interval omits the unit.
    let bare = |value| words(value).split(' ').next().unwrap_or_default().to_owned();
    let at = words(crossing.at);
    match (crossing.at_low, crossing.at_high) {
        (None, None) => at,
        (Some(low), Some(high)) => format!("{at} ({}–{})", bare(low), bare(high)),
        (Some(low), None) => format!("{at} ({} or more)", bare(low)),
        (None, Some(high)) => format!("{at} ({} or less)", bare(high)),
    }
}

/// `The round-trip time to the database makes up 71% (66–75%) of the differences, the subject 12% (9–15%): 5.9 times as much.`
pub(crate) fn variance_sentence(finding: &VarianceFinding) -> String {
    let is_factor = |share: &&VarianceShare| !matches!(share.factor.as_str(), "interactions" | "residual");
    let factors: Vec<&VarianceShare> = finding.shares.iter().filter(is_factor).collect();
    let [first, second, ..] = factors.as_slice() else { return String::new() };
    let words = |share: &VarianceShare| match share.share.value < 0.001 {
        true => format!("the {} less than 0.1%", share.title),
        false => format!("the {} {}", share.title, figure(Quantity::Share, &share.share).line()),
    };
    let [head, next] = [first, second].map(|share| words(share));
    let (title, figure) = (&first.title, head.strip_prefix(&format!("the {} ", first.title)).unwrap_or_default());
    let mut sentence = format!("The {title} makes up {figure} of the differences, {next}");
    sentence += &against(first, second);
    let largest = |word: &str| finding.shares.iter().find(|share| share.factor == word);
    let ahead = |word: &str| largest(word).filter(|share| share.share.value > second.share.value);
    if let Some(share) = ahead("interactions") {
        sentence += &format!("; factors together, beyond each alone, {}", amount(Quantity::Share, share.share.value));
    }
    if let Some(share) = ahead("residual") {
        sentence += &format!("; {} is scatter from round to round", amount(Quantity::Share, share.share.value));
    }
    if first.share.low.is_none() {
        sentence += "; there are too few rounds for intervals";
    }
    sentence + "."
}

/// The ratio of the two shares, if their order is certain.
fn against(first: &VarianceShare, second: &VarianceShare) -> String {
    match (first.share.low, second.share.high) {
        (Some(low), Some(high)) if low > high && second.share.value >= 0.001 => {
            format!(": {} times as much", times(first.share.value / second.share.value))
        }
        (Some(low), Some(high)) if low > high => ", which is next to nothing".to_owned(),
        (Some(_), Some(_)) => ": which of the two matters more is not clear".to_owned(),
        _ => String::new(),
    }
}

/// With two digits below 10, and without decimals above.
fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}") } else { crate::figures::count(ratio.round() as u64) }
}
