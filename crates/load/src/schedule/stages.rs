//! A piecewise linear quantity: users, or arrivals a second, over the time since the window began.

use crate::options::Stage;

/// One linear piece.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    start_s: f64,
    length_s: f64,
    from: f64,
    to: f64,
    /// Area under all pieces before this one.
    area_before: f64,
}

impl Piece {
    fn end_s(&self) -> f64 {
        self.start_s + self.length_s
    }

    fn area(&self) -> f64 {
        (self.from + self.to) / 2.0 * self.length_s
    }

    fn value(&self, at_s: f64) -> f64 {
        self.from + (self.to - self.from) * ((at_s - self.start_s) / self.length_s).clamp(0.0, 1.0)
    }

    /// The time at which the area from the start of the piece reaches `area`.
    ///
    /// The root of `from t + slope/2 t^2 = area`, in a form without cancellation for small slopes.
    fn reaches(&self, area: f64) -> f64 {
        let slope = (self.to - self.from) / self.length_s;
        let root = (self.from * self.from + 2.0 * slope * area).max(0.0).sqrt();
        let denominator = self.from + root;
        let into_s = if denominator > 0.0 { 2.0 * area / denominator } else { 0.0 };
        self.start_s + into_s.clamp(0.0, self.length_s)
    }
}

/// Linear pieces, one after another, from 0 s on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    start: f64,
    pieces: Vec<Piece>,
}

impl Line {
    /// Goes from `start` through the stages. A stage of zero length is a jump.
    pub fn new(start: f64, stages: &[Stage]) -> Line {
        let mut pieces: Vec<Piece> = Vec::with_capacity(stages.len());
        let (mut from, mut start_s, mut area_before) = (start, 0.0, 0.0);
        for stage in stages {
            let length_s = stage.duration.as_secs_f64();
            if length_s > 0.0 {
                let piece = Piece { start_s, length_s, from, to: stage.target, area_before };
                (start_s, area_before) = (piece.end_s(), area_before + piece.area());
                pieces.push(piece);
            }
            from = stage.target;
        }
        Line { start, pieces }
    }

    /// A constant value for `length_s`.
    pub fn constant(value: f64, length_s: f64) -> Line {
        let pieces = vec![Piece { start_s: 0.0, length_s, from: value, to: value, area_before: 0.0 }];
        Line { start: value, pieces }
    }

    /// Value at the very beginning, before any jump.
    pub fn start(&self) -> f64 {
        self.start
    }

    /// Area under the whole line.
    pub fn area(&self) -> f64 {
        self.pieces.last().map_or(0.0, |piece| piece.area_before + piece.area())
    }

    /// The time at which the area under the line reaches `area`, or `None` if it never does. `hint` is the piece to start from, and is
    /// updated. Callers with rising areas never search.
    pub fn reaches(&self, area: f64, hint: &mut usize) -> Option<f64> {
        while let Some(piece) = self.pieces.get(*hint) {
            if area < piece.area_before + piece.area() {
                return Some(piece.reaches((area - piece.area_before).max(0.0)));
            }
            *hint += 1;
        }
        None
    }

    /// The first time from `from_s` on at which the value is at least `level`.
    pub fn first_at_least(&self, level: f64, from_s: f64) -> Option<f64> {
        self.pieces.iter().filter(|piece| piece.end_s() > from_s).find_map(|piece| {
            let begin_s = from_s.max(piece.start_s);
            if piece.value(begin_s) >= level {
                return Some(begin_s);
            }
            if piece.to < level {
                return None;
            }
            // The line rises through the level inside this piece.
            let share = (level - piece.from) / (piece.to - piece.from);
            Some((piece.start_s + share * piece.length_s).max(begin_s)).filter(|at_s| *at_s < piece.end_s())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn stage(seconds: u64, target: f64) -> Stage {
        Stage { duration: Duration::from_secs(seconds), target }
    }

    fn reaches(line: &Line, area: f64) -> Option<f64> {
        line.reaches(area, &mut 0)
    }

    #[test]
    fn the_area_under_a_ramp_is_that_of_the_triangle() {
        let line = Line::new(0.0, &[stage(10, 100.0), stage(5, 100.0), stage(10, 0.0)]);
        assert_eq!(line.area(), 500.0 + 500.0 + 500.0);
        assert_eq!(reaches(&line, 0.0), Some(0.0));
        assert_eq!(reaches(&line, 500.0), Some(10.0));
        assert_eq!(reaches(&line, 750.0), Some(12.5));
        // A quarter of the first triangle's area is in the first half of its time.
        assert_eq!(reaches(&line, 125.0), Some(5.0));
        assert_eq!(reaches(&line, 1500.0), None);
    }

    #[test]
    fn nothing_arrives_while_the_rate_is_nothing() {
        let line = Line::new(0.0, &[stage(4, 0.0), stage(0, 10.0), stage(1, 10.0)]);
        assert_eq!(reaches(&line, 0.0), Some(4.0));
        assert_eq!(reaches(&line, 9.0), Some(4.9));
        assert_eq!(reaches(&line, 10.0), None);
    }

    #[test]
    fn a_level_is_reached_on_the_way_up_and_given_up_on_the_way_down() {
        let line = Line::new(0.0, &[stage(10, 10.0), stage(10, 0.0), stage(10, 4.0)]);
        assert_eq!(line.first_at_least(3.0, 0.0), Some(3.0));
        assert_eq!(line.first_at_least(3.0, 12.0), Some(12.0));
        assert_eq!(line.first_at_least(3.0, 18.0), Some(27.5));
        assert_eq!(line.first_at_least(5.0, 18.0), None);
        assert_eq!(line.first_at_least(1.0, 30.0), None);
    }

    #[test]
    fn a_jump_takes_no_time() {
        let line = Line::new(1.0, &[stage(0, 5.0), stage(10, 5.0)]);
        assert_eq!((line.start(), line.first_at_least(5.0, 0.0), line.area()), (1.0, Some(0.0), 50.0));
    }

    proptest! {
        #[test]
        fn areas_are_reached_in_their_order_and_none_is_left_out(
            start in 0.0f64..1e5,
            stages in prop::collection::vec((0u64..20, 0.0f64..1e5), 1..6),
        ) {
            let stages: Vec<Stage> = stages.into_iter().map(|(seconds, target)| stage(seconds, target)).collect();
            let line = Line::new(start, &stages);
            let (mut hint, mut last) = (0, 0.0);
            for step in 0..100 {
                let area = line.area() * f64::from(step) / 100.0;
                let Some(at_s) = line.reaches(area, &mut hint) else {
                    prop_assert!(line.area() == 0.0);
                    break;
                };
                prop_assert!(at_s >= last, "{at_s} after {last}");
                last = at_s;
                // Integrating the line up to this time must give the area again.
                let back: f64 = line.pieces.iter().filter(|piece| piece.start_s < at_s).map(|piece| {
                    let until = at_s.min(piece.end_s());
                    (piece.from + piece.value(until)) / 2.0 * (until - piece.start_s)
                }).sum();
                prop_assert!((back - area).abs() <= 1e-6 * line.area().max(1.0), "{back} for {area}");
            }
        }
    }
}
