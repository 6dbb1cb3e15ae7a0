//! The look of a runtime: a colour and a marker that are the same throughout a page.
//!
//! The subjects' folders define both, and `build.rs` builds them in. A test checks that the colours are distinguishable with and
//! without deficient colour vision. Without colour, the marker and the written name identify a runtime.

use std::sync::LazyLock;

use tolok_model::{Colour, Marker, Subject};

use super::Drawing;

/// The style sheet of every page, with the colours of all runtimes.
pub(crate) static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", include_str!("../../templates/report.css"), style(&RUNTIMES)));

/// The subjects that define their runtime's look.
const SUBJECTS: &[&str] = &include!(concat!(env!("OUT_DIR"), "/subjects.rs"));

static RUNTIMES: LazyLock<Vec<Runtime>> = LazyLock::new(|| {
    let read = |text: &&str| {
        let subject = Subject::read("", text).expect("tests read every subject");
        let class = format!("r-{}", subject.runtime);
        Some(Runtime { class, colour: subject.colour?, marker: subject.marker, name: subject.runtime })
    };
    let mut runtimes: Vec<Runtime> = SUBJECTS.iter().filter_map(read).collect();
    runtimes.sort_by(|one, other| one.name.cmp(&other.name));
    runtimes
});

struct Runtime {
    name: String,
    /// The class that sets the colour: `r-go`.
    class: String,
    colour: Colour,
    marker: Marker,
}

/// The variables and classes of all runtimes.
fn style(runtimes: &[Runtime]) -> String {
    let variables = |of: fn(&Colour) -> &String| {
        let each = runtimes.iter().map(|it| format!(" --{}: {};", it.name, of(&it.colour)));
        format!(":root {{{} }}", each.collect::<String>())
    };
    let (light, dark) = (variables(|it| &it.light), variables(|it| &it.dark));
    let classes = runtimes.iter().map(|it| format!(".{} {{ --c: var(--{}); }}\n", it.class, it.name));
    format!(
        "\n/* Colours of the runtimes, from the subjects' folders. */\n{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n@media print {{ {light} }}\n{}",
        classes.collect::<String>()
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// The class that sets the colour: `r-go`.
    pub(crate) class: &'static str,
    marker: Marker,
}

/// The look of a runtime. All runtimes without a colour share one.
pub(crate) fn look(runtime: &str) -> Look {
    let known = RUNTIMES.iter().find(|known| known.name == runtime);
    known.map_or(Look { class: "r-other", marker: Marker::Ring }, |it| Look { class: &it.class, marker: it.marker })
}

impl Look {
    /// Draws the marker around a point, about 9 units wide.
    pub(crate) fn draw(self, drawing: &mut Drawing, x: f64, y: f64) {
        drawing.path_at(&self.class_of_marker(false), x, y, self.path());
    }

    /// The same with a tooltip; hollow for another variant of the same runtime.
    pub(crate) fn draw_point(self, drawing: &mut Drawing, at: [f64; 2], is_hollow: bool, title: &str) {
        drawing.point(&self.class_of_marker(is_hollow), at, self.path(), title);
    }

    fn class_of_marker(self, is_hollow: bool) -> String {
        let has_no_inside = matches!(self.marker, Marker::Cross | Marker::Plus | Marker::Ring);
        let kind = match (has_no_inside, is_hollow) {
            (_, true) => "hollow-mark",
            (true, false) => "stroke",
            (false, false) => "fill",
        };
        format!("{} {kind}", self.class)
    }

    fn path(self) -> &'static str {
        match self.marker {
            Marker::Circle => "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
            Marker::Square => "M-3.6 -3.6h7.2v7.2h-7.2z",
            Marker::Triangle => "M0 -4.4l4.4 7.8h-8.8z",
            Marker::TriangleDown => "M0 4.4l4.4 -7.8h-8.8z",
            Marker::Diamond => "M0 -4.8l4.8 4.8l-4.8 4.8l-4.8 -4.8z",
            Marker::Cross => "M-3.5 -3.5l7 7M3.5 -3.5l-7 7",
            Marker::Plus => "M0 -4.4v8.8M-4.4 0h8.8",
            Marker::Bar => "M-4.4 -1.6h8.8v3.2h-8.8z",
            Marker::Star => "M0 -5.2l1.2 3.5l3.7 0.1l-2.9 2.2l1.1 3.6l-3.1 -2.1l-3.1 2.1l1.1 -3.6l-2.9 -2.2l3.7 -0.1z",
            Marker::Hexagon => "M4.6 0l-2.3 4l-4.6 0l-2.3 -4l2.3 -4l4.6 0z",
            Marker::BowTie => "M-4.4 -3.6l8.8 7.2v-7.2l-8.8 7.2z",
            Marker::Hourglass => "M-3.6 -4.4h7.2l-7.2 8.8h7.2z",
            Marker::HalfDisc => "M-4.6 2.3a4.6 4.6 0 0 1 9.2 0z",
            Marker::Ring => "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0z",
        }
    }
}

/// A marker alone, for a table.
pub fn marker(runtime: &str) -> String {
    let mut drawing = Drawing::new(12.0, 12.0);
    look(runtime).draw(&mut drawing, 6.0, 6.0);
    drawing.finish_hidden()
}
