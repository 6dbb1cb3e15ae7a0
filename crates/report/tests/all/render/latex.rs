//! LaTeX tables and figures, checked as strictly as TeX would.

use tolok_report::charts::figures;
use tolok_report::documents::paper_figures;
use tolok_report::print::latex_figures;

use super::*;

/// Why TeX would fail on a text, or `None`.
fn wrong(text: &str) -> Option<String> {
    let (mut depth, mut open, mut columns) = (0, Vec::new(), 0);
    for (number, line) in text.lines().enumerate() {
        let fail = |what: &str| Some(format!("line {}: {what}: {line}", number + 1));
        if line.trim_start().starts_with('%') {
            continue;
        }
        let code = without_escapes(line);
        if let Some(letter) = code.chars().find(|letter| "%#<>|\"`".contains(*letter)) {
            return fail(&format!("{letter} is not escaped"));
        }
        if code.matches('$').count() % 2 == 1 {
            return fail("mathematics does not end");
        }
        let outside: String = code.split('$').step_by(2).collect();
        if outside.contains(['_', '^']) && !code.contains("\\label") && !code.contains("\\includegraphics") {
            return fail("_ or ^ outside of mathematics");
        }
        if let Some(letter) = code.chars().find(|letter| !letter.is_ascii() && !('À'..='ÿ').contains(letter)) {
            return fail(&format!("{letter} cannot be set"));
        }
        for letter in code.chars() {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            if depth < 0 {
                return fail("a brace too many");
            }
        }
        for (begin, name) in environments(line) {
            match begin {
                true => open.push(name),
                false if open.pop() == Some(name) => {}
                false => return fail("an environment ends that is not open"),
            }
        }
        if let Some((_, format)) = line.split_once("\\begin{tabular}{") {
            let format = format.replace("@{}", "").replace("p{3.2cm}", "l");
            columns = format.chars().filter(|letter| "lrc".contains(*letter)).count();
        }
        if line.ends_with("\\\\") && code.matches('&').count() + 1 != columns {
            return fail(&format!("not {columns} columns"));
        }
        if !line.ends_with("\\\\") && code.contains('&') {
            return fail("& outside of a table");
        }
    }
    match (depth, open.last()) {
        (0, None) => None,
        (0, Some(name)) => Some(format!("{name} is not closed")),
        _ => Some(format!("{depth} braces are not closed")),
    }
}

/// The line without escaped characters.
fn without_escapes(line: &str) -> String {
    let (mut code, mut letters) = (String::new(), line.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let next = letters.next();
                code.extend(
                    next.filter(|next| next.is_ascii_alphabetic()).map(|next| ['\\', next]).into_iter().flatten(),
                );
            }
            other => code.push(other),
        }
    }
    code
}

/// Whether each environment begins or ends, and its name.
fn environments(line: &str) -> Vec<(bool, &str)> {
    let of = |word: &'static str| line.match_indices(word).map(move |(at, _)| (at, &line[at + word.len()..]));
    let mut found: Vec<(usize, bool, &str)> = Vec::new();
    for (word, begins) in [("\\begin{", true), ("\\end{", false)] {
        found.extend(of(word).map(|(at, rest)| (at, begins, rest.split('}').next().unwrap_or_default())));
    }
    found.sort_unstable();
    found.into_iter().map(|(_, begins, name)| (begins, name)).collect()
}

#[test]
fn the_check_finds_what_tex_would() {
    let fine = "\\begin{tabular}{@{}lr@{}}\na\\_b & 5\\% \\\\\n\\end{tabular}";
    assert_eq!(wrong(fine), None);
    for broken in [
        fine.replace("\\_", "_"),
        fine.replace("\\%", "%"),
        fine.replace("5", "5 & 6"),
        fine.replace("\\end{tabular}", ""),
        fine.replace("a", "{a"),
        fine.replace("a", "a $x"),
        fine.replace("a", "µ"),
        fine.replace(" \\\\", ""),
    ] {
        assert!(wrong(&broken).is_some(), "{broken}");
    }
}

#[test]
fn every_report_is_sound_latex() {
    for (name, findings) in every_edge_case() {
        assert_eq!(wrong(&text(findings, Format::Latex)), None, "{name}");
        for ending in [Some("pdf"), None] {
            assert_eq!(wrong(&latex_figures(&paper_figures(findings, &figures(findings)), ending)), None, "{name}");
        }
    }
}

#[test]
fn a_table_of_servers() {
    insta::assert_snapshot!(text(&edge_case("one-scenario"), Format::Latex));
}

#[test]
fn a_table_of_programs_that_are_at_odds() {
    insta::assert_snapshot!(text(&edge_case("programs-at-odds"), Format::Latex));
}

#[test]
fn figures_of_a_scenario() {
    let findings = edge_case("one-scenario");
    insta::assert_snapshot!(latex_figures(&paper_figures(&findings, &figures(&findings)), Some("pdf")));
}
