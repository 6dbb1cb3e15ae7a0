//! How a runtime looks: a colour and a marker that stay the same through a whole page.
//!
//! The colours stand in the style sheet, once for light and once for dark, and a test holds them apart for people with
//! and without deficient colour vision. The marker and the written name say the same without colour.

use super::Drawing;

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
    Ring,
}

/// The look of a runtime; all that are not known share one.
pub(crate) fn look(runtime: &str) -> Look {
    let (class, marker) = match runtime {
        "go" => ("r-go", Marker::Circle),
        "bun" => ("r-bun", Marker::Square),
        "node" => ("r-node", Marker::Triangle),
        "php-fpm" => ("r-php-fpm", Marker::TriangleDown),
        "swoole" => ("r-swoole", Marker::Diamond),
        "apache" => ("r-apache", Marker::Cross),
        "nginx" => ("r-nginx", Marker::Plus),
        "rust" => ("r-rust", Marker::Bar),
        _ => ("r-other", Marker::Ring),
    };
    Look { class, marker }
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
            Marker::Ring => "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0z",
        }
    }
}

/// A marker alone, for a table.
pub(crate) fn marker(runtime: &str) -> String {
    let mut drawing = Drawing::new(12.0, 12.0);
    look(runtime).draw(&mut drawing, 6.0, 6.0);
    drawing.finish_hidden()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: &str = include_str!("../../templates/report.css");

    #[test]
    fn every_runtime_has_its_own_colour_and_its_own_marker() {
        let runtimes = ["go", "bun", "node", "php-fpm", "swoole", "apache", "nginx", "rust"];
        for (place, runtime) in runtimes.iter().enumerate() {
            let own = look(runtime);
            assert_eq!(own.class, format!("r-{runtime}"));
            assert!(STYLE.contains(&format!(".{} {{ --c: var(--{runtime}); }}", own.class)));
            for other in runtimes[place + 1..].iter().copied().chain(["unheard-of"]) {
                assert!(own.marker != look(other).marker && own.class != look(other).class, "{runtime} and {other}");
            }
        }
    }
}
