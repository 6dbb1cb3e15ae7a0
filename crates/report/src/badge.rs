//! A badge for the page of an audited table. It states what was compared, and its colour is neutral: a table
//! without contradictions can still be wrong.

use tolok_audit::Audit;

const LABEL: &str = "audited";
/// The average width of a letter in the requested font.
const LETTER: usize = 7;
const PADDING: usize = 6;

/// Its text: `24 of 41 checks possible, none contradicted`.
fn words(audit: &Audit) -> String {
    let all = audit.verdicts.all();
    let checks = if all == 1 { "check" } else { "checks" };
    match (all, audit.verdicts.contradicted) {
        (0, _) => "no check possible".to_owned(),
        (all, contradicted) => {
            let possible = all - audit.verdicts.cannot_tell;
            let found = if contradicted == 0 { "none".to_owned() } else { contradicted.to_string() };
            format!("{possible} of {all} {checks} possible, {found} contradicted")
        }
    }
}

/// The badge as SVG.
pub fn badge(audit: &Audit) -> String {
    let words = words(audit);
    let width = |text: &str| LETTER * text.chars().count() + 2 * PADDING;
    let (left, right) = (width(LABEL), width(&words));
    let all = left + right;
    let text = |text: &str, x: usize, width: usize| {
        format!("<text x=\"{x}\" y=\"14\" textLength=\"{}\">{text}</text>\n", width - 2 * PADDING)
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" aria-label=\"{LABEL}: {words}\">\n\
         <title>tolok compared these figures with each other: {words}. Whether they are true was not measured.</title>\n\
         <rect width=\"{all}\" height=\"20\" rx=\"3\" fill=\"#555\"/>\n\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" rx=\"3\" fill=\"#777\"/>\n\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\n{}{}</g>\n</svg>\n",
        text(LABEL, PADDING, left),
        text(&words, left + PADDING, right),
    )
}

#[cfg(test)]
mod tests {
    use tolok_audit::audit;
    use tolok_model::transcription::Transcription;

    use super::*;

    #[test]
    fn a_badge_counts_and_never_praises() {
        let of = |rows: &str| {
            let text = format!("title = \"T\"\n[method]\ntool = \"ab\"\nconnections = 10\n{rows}");
            words(&audit(&Transcription::read(&text, "t").unwrap()))
        };
        assert_eq!(words(&Audit::of(&Transcription::default(), Vec::new())), "no check possible");
        let row = |mean: &str| format!("[[row]]\nsubject = \"a\"\nthroughput_rps = 1000\nlatency_mean_ms = {mean}\n");
        let sound = of(&row("9.8"));
        assert!(sound.ends_with(" checks possible, none contradicted"), "{sound}");
        let broken = of(&row("19.8"));
        assert!(broken.ends_with(" checks possible, 1 contradicted"), "{broken}");
    }
}
