//! Audits of published tables.
//!
//! Contradictions come first, with everything needed to check them by hand. Undecided checks follow, grouped by what is missing, then
//! those that hold, and what an audit can and cannot show.

mod words;

use tolok_analysis::figures::counted;
use tolok_audit::{Audit, AuditFinding, AuditVerdict, Law, LeftOut, sentence_of_several};

use crate::document::{Block, Chip, Column, Depth, Document, Fact, List, Look, Row, Table, Text};
use words::{ByLaw, Lack, MEANINGS, Sorted, VERDICTS, by_line, counts, many, subtitle, tallies};

/// A terminal shows this many findings that lack the same figure, and counts the others.
const MOST_LACKING: usize = 6;
/// A terminal names the subjects of this many checks of a law, and counts the others.
const MOST_HELD: usize = 6;

/// The audits. The brief form has only contradictions.
pub fn audit(audits: &[Audit], is_brief: bool, depth: Depth) -> Document {
    let mut blocks = Vec::new();
    let title = match audits {
        [only] => {
            let own = OneAudit { audit: only, id: String::new(), rank: 1, is_brief, depth };
            blocks.extend(own.head());
            blocks.extend(own.body());
            only.title.clone()
        }
        all => {
            let title = format!("{} published tables", all.len());
            blocks.extend(question(&title, depth));
            let verdict = vec![Block::Verdict(sentence_of_several(all).into()), Block::Table(overview(all))];
            blocks.push(Block::Section { id: "verdict".to_owned(), blocks: verdict });
            for (place, audit) in all.iter().enumerate() {
                let id = format!("table-{}", place + 1);
                let own = OneAudit { audit, id: id.clone(), rank: 2, is_brief, depth };
                blocks.push(Block::Section { id, blocks: [own.head(), own.body()].concat() });
            }
            title
        }
    };
    if !is_brief {
        blocks.push(meanings());
    }
    Document { title: format!("Audit: {title}"), blocks }
}

fn question(title: &str, depth: Depth) -> Vec<Block> {
    let question = "Do the published figures agree with each other and with the text?";
    let question = (depth == Depth::Page).then(|| Block::Paragraph(question.into()));
    [Block::heading(1, title)].into_iter().chain(question).collect()
}

/// A row for each of several tables.
fn overview(audits: &[Audit]) -> Table {
    let row = |audit: &Audit| {
        let counts = tallies(audit).map(|(verdict, count, _)| format!("{} {count}", verdict.sign()).into());
        let look = if audit.is_contradicted() { Look::Warning } else { Look::Plain };
        Row { look, cells: [audit.key.as_str().into()].into_iter().chain(counts).collect(), runtime: None }
    };
    let verdicts = VERDICTS.map(|verdict| Column::numbers(many(verdict, 2)));
    Table::of(
        "How each table came out",
        [Column::words("table")].into_iter().chain(verdicts).collect(),
        audits.iter().map(row).collect(),
    )
}

fn meanings() -> Block {
    let facts = MEANINGS.map(|(word, meaning)| Fact::of(word, meaning));
    let blocks = vec![Block::heading(2, "What an audit can say, and what it cannot"), Block::Facts(facts.to_vec())];
    Block::Section { id: "meaning".to_owned(), blocks }
}

/// One audit of a document.
struct OneAudit<'a> {
    audit: &'a Audit,
    /// Prefix of its section ids; empty if the document has no other audit.
    id: String,
    /// Rank of its title.
    rank: u8,
    is_brief: bool,
    depth: Depth,
}

impl OneAudit<'_> {
    fn head(&self) -> Vec<Block> {
        let audit = self.audit;
        let mut blocks = if self.rank == 1 {
            question(&audit.title, self.depth)
        } else {
            vec![Block::heading(self.rank, audit.title.as_str())]
        };
        blocks.push(Block::paragraph(subtitle(audit), Look::Muted));
        let look = if audit.is_contradicted() { Look::Warning } else { Look::Strong };
        let verdict = Block::Verdict(Text::of(&audit.sentence, look));
        let chips =
            Block::Chips(tallies(audit).map(|(verdict, count, words)| self.chip(verdict, count, words)).to_vec());
        if self.rank == 1 {
            blocks.push(Block::Section { id: "verdict".to_owned(), blocks: vec![verdict, chips] });
        } else {
            blocks.extend([verdict, chips]);
        }
        blocks
    }

    fn chip(&self, verdict: AuditVerdict, count: usize, words: String) -> Chip {
        let (look, part) = match verdict {
            AuditVerdict::Contradicted if count > 0 => (Look::Warning, "contradicted"),
            AuditVerdict::Contradicted => (Look::Plain, "contradicted"),
            AuditVerdict::FewerUsers if count > 0 => (Look::Warning, "fewer-users"),
            AuditVerdict::FewerUsers => (Look::Plain, "fewer-users"),
            AuditVerdict::CannotTell => (Look::Plain, "cannot-tell"),
            AuditVerdict::Holds => (Look::Good, "holds"),
        };
        let is_wrong = matches!(verdict, AuditVerdict::Contradicted | AuditVerdict::FewerUsers);
        let is_shown = count > 0 && (is_wrong || !self.is_brief);
        Chip { words, look, section: if is_shown { self.place(part) } else { String::new() } }
    }

    fn place(&self, part: &str) -> String {
        if self.id.is_empty() { part.to_owned() } else { format!("{}-{part}", self.id) }
    }

    fn body(&self) -> Vec<Block> {
        let Sorted { contradicted, fewer_users, lacking, held } = Sorted::of(self.audit);
        let mut blocks: Vec<Block> = Vec::new();
        if !contradicted.is_empty() {
            let own = contradicted.iter().flat_map(|own| self.told(own)).collect();
            blocks.push(self.part("contradicted", "What is contradicted", own));
        }
        if !fewer_users.is_empty() {
            let own = fewer_users.iter().flat_map(|own| self.told(own)).collect();
            blocks.push(self.part("fewer-users", "Fewer users than stated", own));
        }
        if self.is_brief {
            return blocks;
        }
        let counted = |words: &str, count: usize| format!("{words} ({})", counted(count as u64, "check"));
        if !lacking.is_empty() {
            let heading = counted("What is undecided", self.audit.verdicts.cannot_tell);
            blocks.push(self.part("cannot-tell", &heading, lacking.iter().flat_map(|it| self.lacking(it)).collect()));
        }
        if !held.is_empty() {
            let heading = counted("What holds", self.audit.verdicts.holds);
            blocks.push(self.part("holds", &heading, vec![self.held(&held)]));
        }
        blocks.extend(self.left_out());
        if self.depth == Depth::Page {
            let note = Block::paragraph("A dash: the law found nothing to judge in the table.", Look::Muted);
            blocks.push(self.part("laws", "Law by law", vec![note, Block::Table(self.laws())]));
        }
        blocks
    }

    /// Laws without a single check, each with the columns that it needs.
    fn left_out(&self) -> Option<Block> {
        let left_out = &self.audit.left_out;
        let line = |it: &LeftOut| format!("{}: needs {}", it.law.title(), it.needs).into();
        let heading = format!("What was left out ({})", counted(left_out.len() as u64, "law"));
        let list = List { sign: "-", items: left_out.iter().map(line).collect() };
        (!left_out.is_empty()).then(|| self.part("left-out", &heading, vec![Block::List(list)]))
    }

    /// A section of the audit, one rank below its title.
    fn part(&self, id: &str, heading: &str, mut blocks: Vec<Block>) -> Block {
        blocks.insert(0, Block::heading(self.rank + 1, heading));
        Block::Section { id: self.place(id), blocks }
    }

    /// Findings of a law, each with its proof.
    fn told(&self, own: &ByLaw<'_>) -> Vec<Block> {
        let mut blocks =
            vec![Block::heading(self.rank + 2, own.law.title()), Block::paragraph(own.law.says(), Look::Muted)];
        for finding in &own.findings {
            let head = format!("{} {}: {}", finding.verdict.sign(), finding.verdict.words(), finding.about);
            blocks.push(Block::heading(self.rank + 3, Text::of(head, Look::Warning)));
            blocks.push(Block::paragraph(finding.sentence.as_str(), Look::Strong));
            blocks.push(Block::Facts(proof(finding)));
        }
        blocks
    }

    fn lacking(&self, lack: &Lack<'_>) -> Vec<Block> {
        let mut blocks = vec![Block::heading(self.rank + 2, lack.what.as_str())];
        let most = if self.depth == Depth::Short { MOST_LACKING } else { usize::MAX };
        for part in &lack.parts {
            let line = |finding: &&AuditFinding| {
                format!("{}, {}: {}", finding.law.title(), finding.about, finding.sentence).into()
            };
            let items = part.findings.iter().take(most).map(line).collect();
            blocks.push(Block::List(List { sign: "?", items }));
            let more = part.findings.len().saturating_sub(most);
            if more > 0 {
                let more = format!("and {more} more that lack the same (--format md lists them)");
                blocks.push(Block::paragraph(more, Look::Muted));
            }
            let inference = |words| Text::of(part.label(), Look::Emphasis).and(format!(" {words}"), Look::Plain);
            blocks.extend(part.inference.map(|words| Block::Paragraph(inference(words))));
        }
        blocks
    }

    /// The checks that hold: by law on a terminal, elsewhere each with its arithmetic.
    fn held(&self, held: &[ByLaw<'_>]) -> Block {
        if self.depth == Depth::Short {
            return Block::List(List { sign: "✓", items: held.iter().map(of_law).collect() });
        }
        let row = |finding: &&AuditFinding| {
            let arithmetic = if finding.arithmetic.is_empty() { &finding.sentence } else { &finding.arithmetic };
            Row::of([finding.law.title(), &finding.about, arithmetic].map(Into::into).to_vec())
        };
        let table = Table::of(
            format!("Checks that hold in {}", self.audit.key),
            ["law", "about", "arithmetic"].map(Column::words).to_vec(),
            held.iter().flat_map(|own| own.findings.iter().map(row)).collect(),
        );
        Block::Folded {
            summary: "Every check that holds, with the arithmetic".into(),
            blocks: vec![Block::Table(table)],
        }
    }

    fn laws(&self) -> Table {
        let row = |law: Law| {
            let is_contradicted = self.audit.with(AuditVerdict::Contradicted).any(|finding| finding.law == law);
            let name = Text::of(law.title(), if is_contradicted { Look::Strong } else { Look::Plain })
                .and(format!(" {}", law.says()), Look::Muted);
            Row::of([name.into()].into_iter().chain(counts(self.audit, law).map(Into::into)).collect())
        };
        let verdicts = ["✗ contradicted", "! fewer users", "? cannot tell", "✓ holds"].map(Column::numbers);
        Table::of(
            format!("How each law came out in {}", self.audit.key),
            [Column::words("law")].into_iter().chain(verdicts).collect(),
            Law::ALL.into_iter().map(row).collect(),
        )
    }
}

/// Everything needed to check a finding by hand.
fn proof(finding: &AuditFinding) -> Vec<Fact> {
    let fact = |label: &str, words: String| Fact::of(label, words);
    let mut facts = vec![fact("tested", finding.statement.clone()), fact("arithmetic", finding.arithmetic.clone())];
    facts.extend(by_line(&finding.inputs).into_iter().map(|line| {
        let words: Vec<String> =
            line.inputs.iter().map(|input| format!("{} = {}", input.name, input.printed)).collect();
        fact(if line.place.is_empty() { "figures" } else { &line.place }, words.join(", "))
    }));
    facts.extend(finding.inference.clone().map(|words| fact("Inference", words)));
    facts.retain(|fact| !fact.words.is_empty());
    facts
}

/// The checks of a law that hold, in a line. What several of them concern is named once.
fn of_law(own: &ByLaw<'_>) -> Text {
    let mut named: Vec<&str> = Vec::new();
    for finding in &own.findings {
        if !named.contains(&finding.about.as_str()) {
            named.push(&finding.about);
        }
    }
    let more = named.len().saturating_sub(MOST_HELD);
    named.truncate(MOST_HELD);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    let count = if own.findings.len() == 1 { String::new() } else { format!(" ({})", own.findings.len()) };
    Text::of(format!("{}{count}: {}{more}", own.law.title(), named.join("; ")), Look::Good)
}
