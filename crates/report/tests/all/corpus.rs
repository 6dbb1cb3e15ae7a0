//! `docs/audits`: public benchmarks, each transcribed and audited. Checks that the page and the badges match the transcriptions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tolok_audit::{Audit, AuditVerdict, audit};
use tolok_model::transcription::Transcription;
use tolok_report::badge;

const HOW: &str = "TOLOK_WRITE_AUDITS=1 cargo test --workspace --test all corpus";

const HEAD: &str = "\
# Audits of public benchmarks

<!-- Generated, as CONTRIBUTING.md says -->

`tolok audit` read the figures of these tables and nothing else. The signs count its checks: `✓` hold, `?` are undecided, `!` show
fewer users than stated, `✗` are contradicted. A contradiction does not say which figure is wrong, or why, and a table without one can
still be wrong ([audit](../audit.md)). No author has been asked yet; the last column is what we would ask. A source links to the
version that was read. Its name links to the transcription: `./tolok audit docs/audits/fastify.toml` prints every check.

";

const TAIL: &str = "
HttpArena’s rows come from [a script](httparena.py) that reads a clone; the others were copied by script from files of the linked
version, and read again. Is a figure not what you published, or has it changed? Send a [correction](correction.md).

A badge for a page of yours: `./tolok audit FILE --format badge -o badge.svg`.

![audited: a badge](badge.svg)
";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audits")
}

/// All transcriptions, by name.
fn corpus() -> BTreeMap<String, Transcription> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let key = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let table = Transcription::read(&text, &key).unwrap_or_else(|problems| panic!("{path:?}: {problems:?}"));
        (key, table)
    };
    files.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).map(read).collect()
}

/// The laws of the contradictions, with counts.
fn contradicted(audit: &Audit) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for finding in audit.with(AuditVerdict::Contradicted) {
        match counts.iter_mut().find(|(law, _)| *law == finding.law.title()) {
            Some((_, count)) => *count += 1,
            None => counts.push((finding.law.title(), 1)),
        }
    }
    counts.iter().map(|(law, count)| format!("{law}: {count}")).collect::<Vec<_>>().join("; ")
}

fn row(table: &Transcription) -> String {
    let audit = audit(table);
    let (url, note) = (table.url.as_ref().expect("it has a URL"), table.note.as_ref().expect("it has a note"));
    let authors = table.authors.as_ref().expect("it has authors");
    let year = table.year.map(|year| format!(" {year}")).unwrap_or_default();
    let verdicts = audit.verdicts;
    format!(
        "|[{}]({url}), {authors}{year}|[{}]({}.toml)|{}|{}|{}|{}|{}|{}|{note}|\n",
        table.title,
        table.key,
        table.key,
        audit.read.numbers,
        verdicts.holds,
        verdicts.cannot_tell,
        verdicts.fewer_users,
        verdicts.contradicted,
        contradicted(&audit),
    )
}

fn page(corpus: &BTreeMap<String, Transcription>) -> String {
    let rows: String = corpus.values().map(row).collect();
    format!(
        "{HEAD}|source|name|figures|`✓`|`?`|`!`|`✗`|contradicted|to ask|\n|--|--|--:|--:|--:|--:|--:|--|--|\n{rows}{TAIL}"
    )
}

/// Compares a file with the generated text, or writes it if `TOLOK_WRITE_AUDITS` is set.
fn is_current(name: &str, generated: &str) {
    let path = folder().join(name);
    if std::env::var_os("TOLOK_WRITE_AUDITS").is_some() {
        fs::write(&path, generated).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == generated, "docs/audits/{name} is not what its transcriptions give; run {HOW}");
}

#[test]
fn the_page_of_the_corpus_is_what_its_transcriptions_give() {
    let corpus = corpus();
    assert!(corpus.len() >= 25, "{} sources", corpus.len());
    is_current("README.md", &page(&corpus));
    is_current("badge.svg", &badge(&audit(&corpus["fastify"])));
}
