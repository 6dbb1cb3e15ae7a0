//! `--figures`: writes each chart of a report as files for a paper.

use std::path::Path;

use tolok_analysis::Findings;
use tolok_analysis::figures::counted;
use tolok_report::charts::{Chart, figures};
use tolok_report::documents::paper_figures;
use tolok_report::print::latex_figures;

use super::pdf::{ConvertError, Converter, Found, INSTALL};
use crate::exit::CliError;
use crate::output::{put_in, say};

/// Writes SVG, PDF if a converter is installed, and `figures.tex` into an existing folder.
pub fn write(findings: &Findings, folder: &Path) -> Result<(), CliError> {
    let charts = figures(findings);
    for chart in &charts {
        put_in(folder, &format!("{}.svg", chart.name), &chart.svg)?;
    }
    let converters = Converter::find(&std::env::var_os("PATH").unwrap_or_default());
    let made = convert(&converters, &charts, folder);
    let ending = made.as_ref().is_ok_and(Option::is_some).then_some("pdf");
    let text = latex_figures(&paper_figures(findings, &charts), ending);
    put_in(folder, "figures.tex", &text)?;
    let pdf = match &made {
        Ok(Some(found)) => format!(", as PDF by {}", found.name()),
        _ => String::new(),
    };
    say(format!(
        "figures {}: {} as SVG{pdf}, and figures.tex",
        folder.display(),
        counted(charts.len() as u64, "chart")
    ));
    if converters.is_empty() {
        say(format!("no PDF: there is no converter on PATH. Install one and run this again: {INSTALL}"));
    }
    if let Err(failures) = made {
        say(format!("warning: no PDF: every converter failed. Try another one: {INSTALL}"));
        failures.iter().for_each(|error| say(format!("  {error}")));
    }
    Ok(())
}

/// Makes all PDFs with the first converter that works, which keeps them alike. Returns `None` without charts or converters, and an
/// error for each converter if all of them failed.
fn convert<'a>(
    converters: &'a [Found],
    charts: &[Chart],
    folder: &Path,
) -> Result<Option<&'a Found>, Vec<ConvertError>> {
    let svg = |chart: &Chart| folder.join(format!("{}.svg", chart.name));
    let mut failures = Vec::new();
    for found in converters.iter().filter(|_| !charts.is_empty()) {
        let made = charts.iter().try_for_each(|chart| found.convert(&svg(chart), chart.size_mm()).map(drop));
        match made {
            Ok(()) => return Ok(Some(found)),
            Err(error) => failures.push(error),
        }
    }
    if failures.is_empty() { Ok(None) } else { Err(failures) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Makes a folder with a drawing and with these scripts as converters. Returns the converter that made its PDF.
    fn made_by(rsvg: &str, cairosvg: &str) -> Result<Option<String>, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        for (name, script) in [("rsvg-convert", rsvg), ("cairosvg", cairosvg)] {
            let program = folder.path().join(name);
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(folder.path().join("a.svg"), "<svg/>").unwrap();
        let (title, caption) = (String::new(), String::new());
        let svg = "<svg viewBox=\"0 0 352 88\"/>".to_owned();
        let charts = [Chart { name: "a".to_owned(), title, caption, svg }];
        let made =
            convert(&Converter::find(folder.path().as_os_str()), &charts, folder.path()).map(|it| it.map(Found::name));
        assert_eq!(folder.path().join("a.pdf").exists(), made.is_ok());
        made.map_err(|errors| errors.iter().map(ConvertError::to_string).collect())
    }

    #[test]
    fn where_a_converter_fails_the_next_one_is_tried() {
        let (fails, works) = ("echo 'no such font' >&2; exit 1", "echo %PDF > \"$4\"");
        assert_eq!(made_by(works, fails), Ok(Some("rsvg-convert".to_owned())));
        assert_eq!(made_by(fails, works), Ok(Some("cairosvg".to_owned())));
        let failures = made_by(fails, "exit 1").unwrap_err();
        assert!(
            failures[0].contains("rsvg-convert made no PDF") && failures[0].ends_with(": no such font"),
            "{failures:?}"
        );
        assert!(failures[1].contains("cairosvg made no PDF") && failures.len() == 2, "{failures:?}");
    }
}
