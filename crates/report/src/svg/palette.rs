//! How a runtime looks: a colour and a marker that stay the same through a whole page.
//!
//! The folders of the subjects say both, and `build.rs` builds them in. A test holds the colours apart for people with
//! and without deficient colour vision. The marker and the written name say the same without colour.

use super::Drawing;

/// The style sheet of every page, with the colours of all runtimes.
pub(crate) const STYLE: &str =
    concat!(include_str!("../../templates/report.css"), include_str!(concat!(env!("OUT_DIR"), "/looks.css")));

/// Runtime, class and marker.
const LOOKS: &[(&str, &str, &str)] = &include!(concat!(env!("OUT_DIR"), "/looks.rs"));

/// The look of a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// The class that gives the colour: `r-go`.
    pub(crate) class: &'static str,
    marker: Marker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Circle,
    Square,
    Triangle,
    TriangleDown,
    Diamond,
    Cross,
    Plus,
    Bar,
    Star,
    Hexagon,
    Ring,
}

/// The look of a runtime. All runtimes without a colour share one.
pub(crate) fn look(runtime: &str) -> Look {
    let known = LOOKS.iter().find(|(name, ..)| *name == runtime);
    known.map_or(Look { class: "r-other", marker: Marker::Ring }, |&(_, class, marker)| Look {
        class,
        marker: Marker::named(marker),
    })
}

impl Marker {
    fn named(name: &str) -> Self {
        match name {
            "circle" => Self::Circle,
            "square" => Self::Square,
            "triangle" => Self::Triangle,
            "triangle-down" => Self::TriangleDown,
            "diamond" => Self::Diamond,
            "cross" => Self::Cross,
            "plus" => Self::Plus,
            "bar" => Self::Bar,
            "star" => Self::Star,
            "hexagon" => Self::Hexagon,
            _ => Self::Ring,
        }
    }
}

impl Look {
    /// Draws the marker around a point, about 9 units wide.
    pub(crate) fn draw(self, drawing: &mut Drawing, x: f64, y: f64) {
        drawing.path_at(&self.class_of_marker(false), x, y, self.path());
    }

    /// The same with a text for a pointer; hollow for another variant of the same runtime.
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
