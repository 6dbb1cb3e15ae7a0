//! Turns a page's drawing into a file of its own.
//!
//! On a page, drawings are styled by classes. Here every element gets attributes instead, because some programs that read SVG
//! do not support style sheets, and only browsers support variables.

use std::fmt::Write as _;

use super::sheet::Sheet;
use crate::svg::escaped;

/// Drawing units per millimetre: a chart of 352 units is 88 mm wide, the width of a paper's column.
pub(super) const UNITS_PER_MM: f64 = 4.0;
/// Common fonts of similar width, the best first.
pub(super) const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// The drawing with its own size, colours and fonts. `svg` is a drawing by [`crate::svg`].
pub(super) fn standalone(svg: &str, title: &str) -> String {
    let sheet = Sheet::of_the_page();
    let (head, body) = svg.split_once('>').unwrap_or((svg, ""));
    let [width, height] = size(head);
    let [width_mm, height_mm] = [width, height].map(|units| units / UNITS_PER_MM);
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width_mm}mm\" \
         height=\"{height_mm}mm\" viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONTS}\">\n<title>{}</title>\n",
        escaped(title)
    );
    text + &with_looks(body, &sheet)
}

/// Elements with attributes instead of classes.
pub(super) fn with_looks(body: &str, sheet: &Sheet) -> String {
    let mut text = String::new();
    let mut rest = body;
    while let Some((before, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').unwrap_or((after, ""));
        text += before;
        _ = write!(text, "<{}>", looked(tag, sheet));
        // One line per element, so that two versions of a file can be compared.
        text += if tag.ends_with('/') || tag.starts_with('/') && tag != "/title" { "\n" } else { "" };
        rest = after;
    }
    text
}

/// Width and height, from the drawing's view box.
pub(super) fn size(head: &str) -> [f64; 2] {
    let shown = head.split_once("viewBox=\"0 0 ").and_then(|(_, after)| after.split_once('"'));
    let mut numbers = shown.map_or("", |(numbers, _)| numbers).split(' ').filter_map(|number| number.parse().ok());
    [numbers.next().unwrap_or(0.0), numbers.next().unwrap_or(0.0)]
}

/// The inside of a tag, with attributes instead of its class.
fn looked(tag: &str, sheet: &Sheet) -> String {
    let element: &str = tag.split([' ', '/']).next().unwrap_or_default();
    let Some((before, after)) = tag.split_once("class=\"") else { return tag.to_owned() };
    let Some((classes, after)) = after.split_once('"') else { return tag.to_owned() };
    let classes: Vec<&str> = classes.split(' ').filter(|class| !class.is_empty()).collect();
    let attributes = sheet.attributes(element, &classes);
    let words = attributes.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    let words = words.collect::<Vec<String>>().join(" ");
    format!("{before}{words}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_stands_alone() {
        let svg = "<svg viewBox=\"0 0 352 85\" role=\"img\" aria-label=\"x\"><text class=\"m\" x=\"1\" y=\"2\">a &lt; b</text>\
                   <rect class=\"r-go bar\" x=\"0\"><title>Go</title></rect></svg>";
        let alone = standalone(svg, "A & B");
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"88mm\" \
             height=\"21.25mm\" viewBox=\"0 0 352 85\" role=\"img\" font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', \
             sans-serif\">\n<title>A &amp; B</title>\n<text fill=\"#596170\" font-size=\"11.5px\" x=\"1\" y=\"2\">a &lt; b</text>\n\
             <rect fill=\"#3a69c1\" x=\"0\"><title>Go</title></rect>\n</svg>\n";
        assert_eq!(alone, expected);
    }
}
