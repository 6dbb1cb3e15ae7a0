//! Every block of a document in every format for people.

use tolok_report::document::{
    Block, Cell, Chart, Chip, Column, Document, Fact, Heading, Key, List, Look, Row, Table, Text,
};
use tolok_report::print::{Style, html, markdown, style, terminal};

/// A small document that has every block.
pub fn everything() -> Document {
    let blocks = vec![
        Block::heading(1, "Which serves small answers best?"),
        Block::paragraph("run 7 · 5 rounds", Look::Muted),
        Block::paragraph("Shortened to 2 of 5 rounds", Look::Warning),
        Block::Chips(vec![
            Chip { words: "! 1 check failed".into(), look: Look::Warning, section: "trust".into() },
            Chip { words: "✓ 2 cases ranked".into(), look: Look::Good, section: "json".into() },
        ]),
        Block::Section {
            id: "verdict".into(),
            blocks: vec![Block::Verdict("Bun.serve is faster: 1.15× (1.11–1.19).".into())],
        },
        Block::Section { id: "json".into(), blocks: scenario() },
        Block::Section { id: "trust".into(), blocks: trust() },
        Block::Paragraph(Text::from("Seed 42, plan ").and("c0ffee", Look::Code).and(".", Look::Plain)),
    ];
    Document { title: "Small answers".into(), blocks }
}

fn scenario() -> Vec<Block> {
    let heading = Heading { rank: 2, text: "JSON <json>".into(), beside: "closed loop, 64 virtual users".into() };
    vec![
        Block::Heading(heading),
        Block::Charts(vec![
            Chart { svg: "<svg viewBox=\"0 0 9 9\"></svg>".into(), caption: "Correct responses per second.".into() },
            Chart { svg: "<svg viewBox=\"0 0 9 9\"></svg>".into(), caption: String::new() },
        ]),
        Block::Key(vec![Key {
            svg: "<svg viewBox=\"0 0 9 9\" aria-hidden=\"true\"></svg>".into(),
            words: "faster".into(),
        }]),
        Block::Table(table()),
        Block::Legend(vec!["≈ no difference found".into()]),
        Block::Notes(vec![(1, "Apache + mod_php: 9 requests failed, 0.013% of those sent.".into())]),
        Block::heading(3, Text::of("Bottlenecks", Look::Muted)),
        Block::List(List {
            sign: "-",
            items: vec![
                Text::of("subject CPU", Look::Strong).and(": Bun.serve, Apache + mod_php", Look::Plain),
                Text::of("generator: all the others", Look::Warning),
            ],
        }),
    ]
}

fn table() -> Table {
    let figure = |value: &str, interval: &str, mark| Cell { interval: Some(interval.into()), mark, ..value.into() };
    let name = |name: &str, id: &str, notes| Cell { below: id.into(), notes, ..name.into() };
    let row = |runtime: &str, cells| Row { runtime: Some(runtime.into()), cells, ..Row::default() };
    let ceiling = Cell::from(Text::of("ceiling:", Look::Emphasis).and(" Minimal server", Look::Plain));
    Table {
        caption: "Figures of json".into(),
        title: "Figures".into(),
        columns: vec![
            Column::words("subject"),
            Column::numbers("correct responses/s").short("resp/s"),
            Column::numbers("vs first"),
            Column::numbers("CPU µs").priority(1),
            Column::numbers("p99 ms").meaning("p99 in a closed loop"),
            Column::words("course").priority(Column::OPTIONAL).meaning("course correct responses of each second"),
        ],
        rows: vec![
            row(
                "bun",
                vec![
                    name("Bun.serve", "bun/serve", vec![]),
                    figure("39.5k", "38.7–40.6k", ""),
                    "first".into(),
                    "21.4".into(),
                    "4.21".into(),
                    "▁▇▇▇▇▇▇▇".into(),
                ],
            ),
            row(
                "apache",
                vec![
                    name("Apache + mod_php", "php/apache", vec![1]),
                    figure("39.1k", "36.9–40.2k", ""),
                    figure("0.99×", "0.97–1.02", "≈"),
                    "110".into(),
                    "23.3".into(),
                    "▁▆▆▆▆▆▆▆".into(),
                ],
            ),
            Row {
                look: Look::Muted,
                cells: vec![
                    ceiling,
                    figure("61.1k", "60.3–62.0k", ""),
                    "–".into(),
                    "–".into(),
                    "2.72".into(),
                    "".into(),
                ],
                ..row("rust", vec![])
            },
        ],
    }
}

fn trust() -> Vec<Block> {
    let fact = |label: &str, words: &str| Fact { label: label.into(), words: words.into() };
    vec![
        Block::heading(2, "Checks"),
        Block::Facts(vec![
            fact("tested", "throughput × latency = connections"),
            fact("arithmetic", "5,000 × 0.01 = 50"),
        ]),
        Block::Folded {
            summary: "What else was checked".into(),
            blocks: vec![
                Block::Table(Table {
                    caption: "Checks".into(),
                    columns: vec![Column::words("check"), Column::words("seen")],
                    rows: vec![
                        Row { look: Look::Warning, cells: vec!["errors".into(), "0.013%".into()], ..Row::default() },
                        Row { cells: vec!["".into(), "in 1 of 5 trials".into()], ..Row::default() },
                    ],
                    ..Table::default()
                }),
                Block::heading(4, "Again"),
                Block::Code(vec!["tolok run studies/quick.toml --seed 42".into()]),
            ],
        },
    ]
}

#[test]
fn every_block_in_markdown() {
    insta::assert_snapshot!(markdown(&everything()));
}

#[test]
fn every_block_on_a_page() {
    insta::assert_snapshot!(html(&everything()).replacen(style(), "…", 1));
}

#[test]
fn every_block_in_a_terminal() {
    insta::assert_snapshot!(terminal(&everything(), &Style::default()));
}

#[test]
fn a_narrower_terminal_has_intervals_below_and_then_leaves_columns_out() {
    let of_table = |width, further: u8| {
        let mut table = table();
        for number in 0..further {
            table.columns.push(Column::numbers(format!("cost {number}")).priority(2 + number));
            table.rows.iter_mut().for_each(|row| row.cells.push("1,234".into()));
        }
        let document = Document { blocks: vec![Block::Table(table)], ..Document::default() };
        let text = terminal(&document, &Style { colour: false, width });
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
        text
    };
    let (wide, narrow) = (of_table(100, 0), of_table(66, 0));
    assert!(wide.contains("39.1k 36.9–40.2k  0.99× 0.97–1.02 ≈") && wide.contains("▁▇▇"), "{wide}");
    assert!(narrow.contains("resp/s") && narrow.contains("CPU µs") && !narrow.contains("39.1k 36.9"), "{narrow}");
    let crowded = of_table(66, 3);
    assert!(crowded.contains("CPU µs and cost 0 are left out: they need a wider terminal"), "{crowded}");
    assert!(crowded.contains("cost 1  cost 2"), "{crowded}");
}

#[test]
fn colours_repeat_what_words_say() {
    let strip = |text: &str| {
        let parts = text.split('\u{1b}').enumerate();
        parts
            .map(|(place, part)| if place == 0 { part } else { part.split_once('m').map_or("", |(_, rest)| rest) })
            .collect::<String>()
    };
    let plain = terminal(&everything(), &Style::default());
    let colours = terminal(&everything(), &Style { colour: true, ..Style::default() });
    assert!(colours.contains("\u{1b}[33m! Shortened"));
    assert_eq!(strip(&colours), plain);
}
