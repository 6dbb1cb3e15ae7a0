//! Escapes text for LaTeX, whatever a server or a study file contains.

use crate::printable::printable;

/// `text` for pdfTeX and LuaTeX, in any common font encoding. Characters that these lack are named by number.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in printable(text).chars() {
        match letter {
            '\\' => safe += "\\textbackslash{}",
            '{' | '}' | '#' | '$' | '%' | '&' | '_' => {
                safe.push('\\');
                safe.push(letter);
            }
            '~' => safe += "\\textasciitilde{}",
            '^' => safe += "\\textasciicircum{}",
            '<' => safe += "\\textless{}",
            '>' => safe += "\\textgreater{}",
            '|' => safe += "\\textbar{}",
            '`' => safe += "\\textasciigrave{}",
            '"' => safe += "''",
            // Two hyphens would become a dash.
            '-' if safe.ends_with('-') => safe += "{}-",
            plain if plain.is_ascii() => safe.push(plain),
            other => safe += &beyond_ascii(other),
        }
    }
    safe
}

fn beyond_ascii(letter: char) -> String {
    let known = match letter {
        '\u{a0}' => "~",
        'µ' | 'μ' => "$\\mu$",
        '×' => "$\\times$",
        '÷' => "$\\div$",
        '±' => "$\\pm$",
        '−' => "$-$",
        '–' => "--",
        '—' => "---",
        '≥' => "$\\geq$",
        '≤' => "$\\leq$",
        '≈' => "$\\approx$",
        '≠' => "$\\neq$",
        '→' => "$\\rightarrow$",
        '·' => "$\\cdot$",
        '°' => "$^{\\circ}$",
        '†' => "$^{\\dagger}$",
        '…' => "\\ldots{}",
        '‘' => "\\textquoteleft{}",
        '’' => "'",
        '“' => "\\textquotedblleft{}",
        '”' => "''",
        _ => "",
    };
    match known {
        // The letters of Western Europe except those that the oldest font encoding lacks.
        "" if ('À'..='ÿ').contains(&letter) && !"ÐðÞþ".contains(letter) => letter.to_string(),
        "" => format!("[U+{:04X}]", u32::from(letter)),
        known => known.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_tex_would_obey_is_set() {
        let check = |text: &str, set: &str| assert_eq!(escaped(text), set);
        check("100% of a_b & #1 for $2 {x}", "100\\% of a\\_b \\& \\#1 for \\$2 \\{x\\}");
        check("~^\\", "\\textasciitilde{}\\textasciicircum{}\\textbackslash{}");
        check("842\u{a0}µs, 1.9×, 3–4, ≥ 5", "842~$\\mu$s, 1.9$\\times$, 3--4, $\\geq$ 5");
        check(
            "--flag <b>|`x`\"",
            "-{}-flag \\textless{}b\\textgreater{}\\textbar{}\\textasciigrave{}x\\textasciigrave{}''",
        );
        check("\u{1b}[31mpanic\u{1b}[0m\nnext", "panic next");
        check("größer, 漢", "größer, [U+6F22]");
    }
}
