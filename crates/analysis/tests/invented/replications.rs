//! Invented sources and their replications.

use tolok_analysis::replication::{MeasuredPart, MeasuredRun, ReplicationFindings, replicate};
use tolok_analysis::{Findings, Records};
use tolok_model::replication::Replication;
use tolok_model::transcription::Transcription;

use super::InventedRun;

/// An invented source and its replication, both as text without their heads.
#[derive(Clone, Default)]
pub struct InventedSource {
    pub published: String,
    pub replication: String,
}

impl InventedSource {
    /// A source that measured its subjects under these settings.
    pub fn new(settings: &[&str]) -> Self {
        let mut published = "title = \"An invented comparison\"\nauthors = \"Nobody\"\nyear = 2026\n".to_owned();
        for setting in settings {
            published += &format!("[[scenario]]\nname = \"{setting}\"\ntitle = \"setting {setting}\"\n");
        }
        Self { published, replication: "source = \"invented\"\n".to_owned() }
    }

    /// Adds a row. `figures` is in the format of a transcription.
    pub fn row(mut self, subject: &str, setting: &str, figures: &str) -> Self {
        self.published += &format!(
            "[[row]]\ntable = \"Table 1\"\nsubject = \"{subject}\"\nscenario = \"{setting}\"\nraw = \"a line\"\n{figures}\n"
        );
        self
    }

    /// Adds a claim. `asserts` is in the format of a transcription.
    pub fn claim(mut self, id: &str, asserts: &str) -> Self {
        self.published +=
            &format!("[[claim]]\nid = \"{id}\"\nsays = \"what {id} says\"\nraw = \"a line\"\n{asserts}\n");
        self
    }

    /// Adds a part. `subjects` and `scenarios` are table entries.
    pub fn part(mut self, name: &str, subjects: &str, scenarios: &str) -> Self {
        self.replication += &format!(
            "[[part]]\nname = \"{name}\"\nstudy = \"{name}.toml\"\nsays = \"What {name} is for.\"\nsubjects = {{ {subjects} }}\n\
             scenarios = {{ {scenarios} }}\n"
        );
        self
    }

    /// Adds a factor. Each level has a name, a part, a scenario and two subjects.
    pub fn factor(mut self, name: &str, claims: &str, levels: &[[&str; 5]]) -> Self {
        self.replication += &format!(
            "[[factor]]\nname = \"{name}\"\nmeaning = \"It is {name} that makes the ratio.\"\nfigure = \"throughput_rps\"\n\
             claims = [{claims}]\n"
        );
        for [name, part, scenario, a, b] in levels {
            self.replication += &format!(
                "[[factor.level]]\nname = \"{name}\"\npart = \"{part}\"\nscenario = \"{scenario}\"\na = \"{a}\"\nb = \"{b}\"\n"
            );
        }
        self
    }

    /// Adds a settlement of a claim. Each pair has a name and two cases, each with a part, a scenario and a subject.
    pub fn settle(mut self, claim: &str, ratio: &str, pairs: &[(&str, [&str; 3], [&str; 3])]) -> Self {
        self.replication +=
            &format!("[[settle]]\nclaim = \"{claim}\"\nfigure = \"throughput_rps\"\nratio = \"{ratio}\"\n");
        let case = |[part, scenario, subject]: &[&str; 3]| {
            format!("{{ part = \"{part}\", scenario = \"{scenario}\", subject = \"{subject}\" }}")
        };
        for (name, a, b) in pairs {
            self.replication += &format!("[[settle.pair]]\nname = \"{name}\"\na = {}\nb = {}\n", case(a), case(b));
        }
        self
    }

    /// The findings from these runs, given with the names of their parts.
    pub fn held_against(&self, runs: &[(&str, &InventedRun)]) -> ReplicationFindings {
        let findings: Vec<Findings> = runs.iter().map(|(_, run)| run.findings()).collect();
        let records: Vec<Records> = runs.iter().map(|(_, run)| run.records()).collect();
        let both = records.iter().zip(&findings);
        let parts = runs
            .iter()
            .zip(both)
            .map(|((name, _), (records, findings))| MeasuredPart { name, run: Ok(MeasuredRun { records, findings }) });
        self.replicated(&parts.collect::<Vec<_>>())
    }

    pub fn replicated(&self, parts: &[MeasuredPart]) -> ReplicationFindings {
        let transcription = Transcription::read(&self.published, "invented");
        let transcription = transcription.unwrap_or_else(|problems| panic!("{problems:#?}\n{}", self.published));
        let replication = Replication::read(&self.of_known_subjects(), &transcription);
        let replication = replication.unwrap_or_else(|problems| panic!("{problems:#?}\n{}", self.replication));
        replicate(&transcription, &replication, parts)
    }

    /// The replication without the subjects that this source lacks, because tests name subjects of several sources in a part.
    fn of_known_subjects(&self) -> String {
        let is_known = |entry: &&str| {
            let name = entry.split(" = ").next().unwrap_or_default();
            self.published.contains(&format!("subject = \"{name}\"\n"))
        };
        let line = |line: &str| match line.strip_prefix("subjects = { ").and_then(|it| it.strip_suffix(" }")) {
            Some(entries) => {
                let known: Vec<&str> = entries.split(", ").filter(is_known).collect();
                format!("subjects = {{ {} }}\n", known.join(", "))
            }
            None => format!("{line}\n"),
        };
        self.replication.lines().map(line).collect()
    }
}
