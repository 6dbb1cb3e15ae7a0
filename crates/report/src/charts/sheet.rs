//! Reads the page's style sheet for self-contained drawings: rules become attributes, variables become colours.
//!
//! It supports only what drawings need: a rule for `svg text`, or for one or more classes of one element. It skips rules inside
//! `@media`, which are for dark screens and paper.

use std::collections::BTreeMap;

use crate::svg::palette::STYLE;

/// Style properties that are also SVG attributes.
const ATTRIBUTES: [&str; 15] = [
    "fill",
    "fill-opacity",
    "font-size",
    "font-style",
    "font-weight",
    "opacity",
    "paint-order",
    "stroke",
    "stroke-dasharray",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
    "visibility",
];

/// A name and a value.
type Declaration = (String, String);

/// A rule for some elements.
struct Rule {
    /// Empty: any element.
    element: String,
    /// Classes that an element must all have.
    classes: Vec<String>,
    declarations: Vec<Declaration>,
}

/// The page's style for drawings, in its light colours.
pub(super) struct Sheet {
    /// In order of increasing precedence.
    rules: Vec<Rule>,
    /// The variables of the whole page.
    variables: BTreeMap<String, String>,
}

impl Sheet {
    pub(super) fn of_the_page() -> Self {
        Self::read(&STYLE)
    }

    fn read(style: &str) -> Self {
        let (mut rules, mut variables) = (Vec::new(), BTreeMap::new());
        for (selectors, body) in outermost(&without_comments(style)) {
            let declarations = declarations(&body);
            if selectors == ":root" {
                variables.extend(declarations.iter().cloned());
            }
            for (element, classes) in selectors.split(',').filter_map(selector) {
                rules.push(Rule { element, classes, declarations: declarations.clone() });
            }
        }
        // As in CSS: more classes take precedence, then an element, then the order.
        rules.sort_by_key(|rule: &Rule| (rule.classes.len(), !rule.element.is_empty()));
        Self { rules, variables }
    }

    /// The attributes of an element with these classes; a rule for the element alone applies without any class.
    pub(super) fn attributes(&self, element: &str, classes: &[&str]) -> BTreeMap<String, String> {
        let applies = |rule: &&Rule| {
            let has = |class: &String| classes.contains(&class.as_str());
            (rule.element.is_empty() || rule.element == element) && rule.classes.iter().all(has)
        };
        let mut own = BTreeMap::new();
        self.rules.iter().filter(applies).for_each(|rule| own.extend(rule.declarations.iter().cloned()));
        let resolved = |(name, value): (&String, &String)| Some((name.clone(), self.resolved(value, &own)?));
        own.iter().filter(|(name, _)| ATTRIBUTES.contains(&name.as_str())).filter_map(resolved).collect()
    }

    /// A value with its variables resolved; `None` if one is unknown.
    fn resolved(&self, value: &str, own: &BTreeMap<String, String>) -> Option<String> {
        let mut value = value.to_owned();
        // A variable may refer to another one; the loop bounds the depth.
        for _ in 0..4 {
            let Some((before, rest)) = value.split_once("var(") else { break };
            let (name, after) = rest.split_once(')')?;
            let meant = own.get(name).or_else(|| self.variables.get(name))?;
            value = format!("{before}{meant}{after}");
        }
        (!value.contains("var(")).then_some(value)
    }
}

fn without_comments(style: &str) -> String {
    let mut parts = style.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once("*/").map_or("", |(_, after)| after))
}

/// Selector and body of each rule outside `@media`.
fn outermost(style: &str) -> Vec<(String, String)> {
    let (mut rules, mut depth, mut head, mut body) = (Vec::new(), 0, String::new(), String::new());
    for letter in style.chars() {
        match letter {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    let (head, body) = (std::mem::take(&mut head), std::mem::take(&mut body));
                    rules.push((head.trim().to_owned(), body));
                }
            }
            other if depth == 0 => head.push(other),
            other => body.push(other),
        }
    }
    rules.retain(|(head, _)| !head.starts_with('@'));
    rules
}

/// Names and values of a rule. `font` is split, because there is no such attribute.
fn declarations(body: &str) -> Vec<Declaration> {
    let entry = |entry: &str| {
        let (name, value) = entry.split_once(':')?;
        let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
        let is_font = name == "font";
        let size = value.split(' ').next().unwrap_or_default().to_owned();
        // Programs other than browsers support only multiples of a hundred.
        let weight = value.parse().ok().filter(|_| name == "font-weight").map(|weight: u32| weight.div_ceil(100) * 100);
        match (is_font, weight) {
            (true, _) => Some(("font-size".to_owned(), size)),
            (_, Some(weight)) => Some((name, weight.to_string())),
            _ => Some((name, value)),
        }
    };
    body.split(';').filter_map(entry).collect()
}

/// Element and classes of a selector that may apply to a drawing; `None` for any other.
fn selector(text: &str) -> Option<(String, Vec<String>)> {
    let text = text.trim();
    let text = text.strip_prefix("svg ").unwrap_or(text);
    if text.is_empty() || text.contains([' ', ':', '>', '+', '*', '[', '#']) {
        return None;
    }
    let mut parts = text.split('.');
    let element = parts.next()?.to_owned();
    let classes: Vec<String> = parts.map(str::to_owned).collect();
    (element == "text" || !classes.is_empty()).then_some((element, classes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_become_attributes_in_light_colours() {
        let sheet = Sheet::read(
            ":root { --fg: #111; --go: #150879; } /* a { b: c } */ svg text { font: 12.5px sans; fill: var(--fg); }\n\
             .r-go { --c: var(--go); } .bar { fill: var(--c); } .hollow { fill: none; stroke: var(--c); } svg .m { fill: #555; }\n\
             a:hover, .x > .bar { fill: red; } @media print { :root { --go: #000; } .bar { fill: green; } }",
        );
        let of = |element: &str, classes: &[&str]| {
            let attributes = sheet.attributes(element, classes);
            attributes.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("rect", &["r-go", "bar"]), "fill=#150879");
        assert_eq!(of("rect", &["r-go", "bar", "hollow"]), "fill=none stroke=#150879");
        assert_eq!(of("text", &["m"]), "fill=#555 font-size=12.5px");
        assert_eq!(of("text", &[]), "fill=#111 font-size=12.5px");
        assert_eq!(of("rect", &["bar"]), "", "no colour without a runtime");
    }
}
