//! Judgements as JUnit XML for continuous integration servers: a test case for each.

use std::fmt::Write;

use tolok_analysis::figures::{counted, listed, of_objective};
use tolok_analysis::{CaseFinding, Findings, ObjectiveFinding, ObjectiveOutcome};

/// One judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The URL or scenario that it concerns.
    pub class: String,
    /// The requirement: `Fastify: p95 < 50ms`.
    pub name: String,
    /// Why it failed, or `None` if it holds.
    pub failure: Option<String>,
}

impl Judged {
    pub fn new(class: impl Into<String>, name: impl Into<String>, failure: Option<String>) -> Self {
        Self { class: class.into(), name: name.into(), failure }
    }
}

/// A suite of judgements. `time_s` is its duration, if known.
pub fn junit(suite: &str, time_s: Option<f64>, judged: &[Judged]) -> String {
    let (number, failures) = (judged.len(), judged.iter().filter(|one| one.failure.is_some()).count());
    let time = time_s.map(|time_s| format!(" time=\"{time_s:.3}\"")).unwrap_or_default();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let suite = escaped(suite);
    let _ = writeln!(text, "<testsuite name=\"{suite}\" tests=\"{number}\" failures=\"{failures}\"{time}>");
    for Judged { class, name, failure } in judged {
        let _ = write!(text, "  <testcase classname=\"{}\" name=\"{}\"", escaped(class), escaped(name));
        let _ = match failure {
            None => writeln!(text, "/>"),
            Some(why) => writeln!(text, ">\n    <failure message=\"{}\"/>\n  </testcase>", escaped(why)),
        };
    }
    text + "</testsuite>\n"
}

/// Judges whether a run is complete and sound, and each objective of each competing case.
pub(crate) fn run(findings: &Findings) -> String {
    let id = &findings.run.id;
    let unsound = (!findings.unsound.is_empty()).then(|| listed(&findings.unsound, "and"));
    let stopped = (findings.trials_missing > 0)
        .then(|| format!("stopped with {} left", counted(u64::from(findings.trials_missing), "trial")));
    let mut judged =
        vec![Judged::new(id, "the run is complete", stopped), Judged::new(id, "the run is sound", unsound)];
    for scenario in &findings.scenarios {
        for case in &scenario.cases {
            judged.extend(case.objectives.iter().map(|found| objective(&scenario.id, case, found)));
        }
    }
    junit(&format!("tolok run: {}", findings.run.title), None, &judged)
}

fn objective(scenario: &str, case: &CaseFinding, found: &ObjectiveFinding) -> Judged {
    let worst = found.worst.map(|worst| format!("; worst: {}", of_objective(&found.unit, worst))).unwrap_or_default();
    let failure = match found.outcome {
        ObjectiveOutcome::Kept => None,
        ObjectiveOutcome::Crossed => {
            let trials = counted(u64::from(case.trials_scored), "trial");
            Some(format!("crossed in {} of {trials}{worst}", found.trials_crossed))
        }
        ObjectiveOutcome::Unknown => Some(format!("not known{worst}")),
    };
    Judged::new(scenario, format!("{}: {}", case.title, found.objective), failure)
}

/// Text for an attribute. XML allows no control characters except tabs and newlines.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars().filter(|letter| !letter.is_control() || "\t\n".contains(*letter)) {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' => safe.push(' '),
            plain => safe.push(plain),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_judgement_is_a_test_case_whatever_is_in_its_name() {
        let judged = [
            Judged::new("json-c64", "Go: p95 < 50ms", None),
            Judged::new("json-c64", "\"Bun\" & co: p95 < 50ms", Some("crossed in 2 of 5 trials".to_owned())),
        ];
        let expect = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
            <testsuite name=\"tolok run a\" tests=\"2\" failures=\"1\" time=\"1.500\">\n  \
            <testcase classname=\"json-c64\" name=\"Go: p95 &lt; 50ms\"/>\n  \
            <testcase classname=\"json-c64\" name=\"&quot;Bun&quot; &amp; co: p95 &lt; 50ms\">\n    \
            <failure message=\"crossed in 2 of 5 trials\"/>\n  </testcase>\n</testsuite>\n";
        assert_eq!(junit("tolok run a", Some(1.5), &judged), expect);
    }
}
