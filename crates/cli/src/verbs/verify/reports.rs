//! Compares the reports in a run's folder with those that its records yield now.

use serde_json::Value;
use tolok_analysis::{FINDINGS_SCHEMA, Findings};
use tolok_model::{Check, CheckOutcome, Difference, ValueDifference, compare};
use tolok_report::{CARD, CARD_PICTURE, Format, LAYOUT, Style, card_picture, layout_of, render};
use tolok_store::RunFolder;
use tolok_store::verify::of_values;

use crate::reports::{KEPT, findings};

/// Advice for a report that does not follow from the records.
const ADVICE: &str = "it was edited, or another version of tolok wrote it, or the records changed later; `tolok report` rewrites it from the records";

pub fn checks(folder: &RunFolder) -> Vec<Check> {
    let made = findings(folder);
    // JSON first: it determines whether the other reports can be compared.
    let mut kept = KEPT;
    kept.sort_by_key(|(_, format)| *format != Format::Json);
    let mut is_of_this_version = true;
    let texts = kept.into_iter().map(|(name, format)| {
            let Ok(stored) = folder.folder().text(name) else {
                return Check::not_made(name, "it is not there");
            };
            let Ok(made) = &made else {
                return Check::not_made(name, "the records behind it cannot be read");
            };
            match format {
                Format::Json => {
                    let (check, same) = of_json(name, &stored, made);
                    is_of_this_version = same;
                    check
                }
                _ if !is_of_this_version => {
                    Check::not_made(name, "the report.json beside it shows another version of tolok")
                }
                Format::Markdown | Format::Html | Format::Card if layout_of(&stored) != LAYOUT => Check::not_made(
                    name,
                    format!(
                        "its layout is number {}, and this tolok writes number {LAYOUT}; `tolok report` rewrites it from the records",
                        layout_of(&stored)
                    ),
                ),
                Format::Csv => of_csv(name, &stored, &render(made, format, &Style::default())),
                _ => of_text(name, &stored, &render(made, format, &Style::default())),
            }
    });
    let mut checks: Vec<Check> = texts.collect();
    checks.push(of_picture(folder, made.as_ref().ok(), &checks));
    checks
}

/// Checks the picture, which is drawn from the card; the card states the layout of both.
fn of_picture(folder: &RunFolder, made: Option<&Findings>, checks: &[Check]) -> Check {
    let Ok(stored) = folder.folder().read(CARD_PICTURE) else {
        return Check::not_made(CARD_PICTURE, "it is not there");
    };
    let is_comparable = checks.iter().any(|check| check.name == CARD && check.outcome != CheckOutcome::NotChecked);
    let Some(made) = made.filter(|_| is_comparable) else {
        return Check::not_made(CARD_PICTURE, format!("it shows {CARD}, which could not be compared"));
    };
    let mut check = Check::new(CARD_PICTURE);
    check.compared = stored.len() as u64;
    if stored != card_picture(made) {
        check.differs(difference(CARD_PICTURE, "it is not the picture that the records give".to_owned()));
    }
    check.saying(format!("{} bytes, as the records give them", stored.len()))
}

/// Compares value by value. The flag is false if another version of tolok wrote the report, so that it cannot be compared.
fn of_json(name: &str, stored: &str, made: &Findings) -> (Check, bool) {
    let mut check = Check::new(name);
    let stored: Value = match serde_json::from_str(stored) {
        Ok(stored) => stored,
        Err(error) => {
            check.differs(difference(name, format!("it is no JSON: {error}")));
            return (check, true);
        }
    };
    let version = &stored["schema_version"];
    if version != FINDINGS_SCHEMA && version.is_u64() {
        let why = format!(
            "its schema_version is {version}, and this tolok makes {FINDINGS_SCHEMA}; verify it with the version that wrote it"
        );
        return (Check::not_made(name, why), false);
    }
    // Compared as parsed from JSON, like the stored report.
    let text = render(made, Format::Json, &Style::default());
    let made: Value = serde_json::from_str(&text).unwrap_or_default();
    let (values, differences) = compare(&stored, &made, 0.0);
    // Later versions of tolok report more figures.
    let differences = differences.into_iter().filter(|one| one.stored.is_some());
    check.compared = values;
    differences.for_each(|one| check.differs(of_values(name, "the records", one, ADVICE)));
    (check.saying(format!("{values} values, each as the records give it")), true)
}

/// Compares the columns of the stored file. Later versions of tolok report more figures, in columns at the end.
fn of_csv(name: &str, stored: &str, made: &str) -> Check {
    let columns = stored.lines().next().map_or(0, |heading| heading.split(',').count());
    let kept = |text: &str| -> Option<String> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
        for record in reader.records() {
            writer.write_record(record.ok()?.iter().take(columns)).ok()?;
        }
        String::from_utf8(writer.into_inner().ok()?).ok()
    };
    // A stored file that is not CSV is compared as it is, and differs.
    of_text(name, stored, &kept(made).unwrap_or_default())
}

fn of_text(name: &str, stored: &str, made: &str) -> Check {
    let mut check = Check::new(name);
    let (stored_lines, made_lines): (Vec<&str>, Vec<&str>) = (stored.lines().collect(), made.lines().collect());
    let lines = stored_lines.len().max(made_lines.len());
    check.compared = lines as u64;
    for place in (0..lines).filter(|place| stored_lines.get(*place) != made_lines.get(*place)) {
        let value = |lines: &[&str]| lines.get(place).map(|line| Value::from(*line));
        let (at, stored, made) = (format!("line {}", place + 1), value(&stored_lines), value(&made_lines));
        check.differs(of_values(name, "the records", ValueDifference { at, stored, made }, ADVICE));
    }
    if check.differences.is_empty() && stored != made {
        check.differs(difference(name, "its line ends are others".to_owned()));
    }
    check.saying(format!("{lines} lines, byte for byte as the records give them"))
}

fn difference(name: &str, said: String) -> Difference {
    let (at, stored, recomputed) = (None, None, None);
    Difference { file: name.to_owned(), at, stored, recomputed, said, advice: ADVICE.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_later_versions_are_not_compared() {
        let stored = "run,title\r\na,\"x, y\"\r\n";
        assert!(of_csv("report.csv", stored, "run,title,new\r\na,\"x, y\",1\r\n").differences.is_empty());
        assert_eq!(of_csv("report.csv", stored, "run,title,new\r\nb,\"x, y\",1\r\n").differences_total, 1);
    }

    #[test]
    fn a_text_that_is_another_is_named_by_its_first_line() {
        assert!(of_text("report.md", "a\nb\n", "a\nb\n").differences.is_empty());
        let check = of_text("report.md", "a\nb\nc\n", "a\nB\n");
        assert_eq!((check.compared, check.differences_total), (3, 2));
        assert_eq!(check.differences[0].said, "line 2 is \"b\" there, and \"B\" by the records");
        assert_eq!(check.differences[1].said, "line 3 is \"c\" there, and absent by the records");
        assert_eq!(of_text("report.md", "a\r\n", "a\n").differences[0].said, "its line ends are others");
    }
}
