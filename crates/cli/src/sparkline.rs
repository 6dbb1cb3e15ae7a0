//! Seconds at a glance: one mark for each second, or for several where there are more seconds than columns.

/// A line of at most `columns` marks, from nothing to the largest value. A value of nothing is a dot, so that it is seen.
pub fn sparkline(values: &[f64], columns: usize) -> String {
    const MARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let each = values.len().div_ceil(columns.max(1)).max(1);
    let means: Vec<f64> = values.chunks(each).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64).collect();
    let most = means.iter().copied().fold(0.0, f64::max);
    let mark = |value: f64| match value {
        0.0 => '·',
        _ => MARKS[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    means.into_iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_height_is_the_share_of_the_largest() {
        assert_eq!(sparkline(&[0.0, 1.0, 4.0, 8.0], 10), "·▁▄█");
        assert_eq!(sparkline(&[5.0, 5.0, 4.99], 10), "███");
        assert_eq!(sparkline(&[0.0, 0.0], 10), "··");
        assert_eq!(sparkline(&[], 10), "");
    }

    #[test]
    fn many_seconds_share_a_mark() {
        assert_eq!(sparkline(&[8.0, 8.0, 4.0, 4.0, 2.0], 3), "█▄▂");
        assert_eq!(sparkline(&[1.0; 100], 30).chars().count(), 25);
    }
}
