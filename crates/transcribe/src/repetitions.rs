//! Merges several runs of one subject under the same settings into one row.

use crate::row::{Figure, Row};

/// Merges rows with the same subject and settings: their figures become lists. The measured length of a run may differ;
/// the first one is kept. A figure that some of the rows lack is dropped, because a list would not show which. Rows
/// without a common figure stay separate.
pub fn merge_repetitions(rows: Vec<Row>) -> Vec<Row> {
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| is_repetition(&group[0], &row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.into_iter().flat_map(|group| merged(&group).map_or(group, |row| vec![row])).collect()
}

fn is_repetition(one: &Row, other: &Row) -> bool {
    let settings = |row: &Row| {
        let fixed = row.settings.iter().filter(|setting| setting.key != "duration");
        fixed.map(|setting| (setting.key, setting.value.clone())).collect::<Vec<_>>()
    };
    one.subject == other.subject && settings(one) == settings(other)
}

fn merged(group: &[Row]) -> Option<Row> {
    let (first, others) = group.split_first()?;
    let mut row = first.clone();
    for other in others {
        for Figure { key, numbers, .. } in &other.figures {
            if let Some(known) = row.figures.iter_mut().find(|figure| figure.key == *key) {
                known.numbers.extend_from_slice(numbers);
            }
        }
        row.raw.extend_from_slice(&other.raw);
    }
    row.figures.retain(|figure| figure.numbers.len() == group.len());
    row.table = None;
    row.setting("repetitions", group.len().to_string(), None);
    (!others.is_empty() && !row.figures.is_empty()).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(subject: &str, connections: &str, figures: &[(&str, &str)]) -> Row {
        let mut row = Row { subject: subject.to_owned(), raw: vec![format!("{figures:?}")], ..Row::default() };
        row.count("connections", connections);
        figures.iter().for_each(|(key, digits)| assert!(row.figure(key, digits)));
        row
    }

    #[test]
    fn runs_alike_become_one_row_with_what_all_of_them_have() {
        let rows = vec![
            run("a", "8", &[("throughput_rps", "10.0"), ("timeouts", "1")]),
            run("a", "9", &[("throughput_rps", "30")]),
            run("a", "8", &[("throughput_rps", "11.5")]),
            run("b", "8", &[("throughput_rps", "12")]),
        ];
        let merged = merge_repetitions(rows);
        let told: Vec<_> = merged.iter().map(|row| (row.subject.as_str(), row.figures.len(), row.raw.len())).collect();
        assert_eq!(told, [("a", 1, 2), ("a", 1, 1), ("b", 1, 1)]);
        assert_eq!(merged[0].figures[0].numbers, ["10.0", "11.5"]);
        assert!(merged[0].settings.iter().any(|it| it.key == "repetitions" && it.value == "2"));
    }

    #[test]
    fn runs_without_a_figure_in_common_stay_apart() {
        let rows = [run("a", "8", &[("p75_ms", "0.491")]), run("a", "8", &[("throughput_rps", "10")])];
        let merged = merge_repetitions(rows.to_vec());
        assert_eq!(
            merged.iter().map(|row| row.figures[0].key.as_str()).collect::<Vec<_>>(),
            ["p75_ms", "throughput_rps"]
        );
    }
}
