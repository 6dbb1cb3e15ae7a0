//! Every format of invented findings.

#![allow(clippy::unwrap_used, reason = "a test may, and so may what a test calls")]

#[path = "../../analysis/tests/invented/mod.rs"]
mod invented;

mod edge_cases;
mod hostile;
mod tools;

use std::sync::OnceLock;

use invented::{ordinary, with_six_digits};
use tolok_analysis::Findings;
use tolok_report::data::schema;
use tolok_report::document::Depth;
use tolok_report::{Format, Style, documents, render, verbose};

/// All that a format can say: of a terminal that is not what it says at once.
fn text(findings: &Findings, format: Format) -> String {
    match format {
        Format::Terminal => verbose(findings, &Style::default()),
        _ => render(findings, format, &Style::default()),
    }
}

/// All edge cases, made once.
fn every_edge_case() -> &'static [(&'static str, Findings)] {
    static ALL: OnceLock<Vec<(&str, Findings)>> = OnceLock::new();
    ALL.get_or_init(edge_cases::all)
}

fn edge_case(name: &str) -> Findings {
    let found = every_edge_case().iter().find(|(known, _)| *known == name);
    with_six_digits(found.unwrap_or_else(|| panic!("there is no edge case {name}")).1.clone())
}

#[test]
fn a_report_pins_the_raw_data_that_it_is_of() {
    let mut findings = ordinary().findings();
    let hash = "5d0c7f6b9f1e3a48266f0d8c1b7a9e5d3f2c4b6a8091e7d5c3b1a2f4e6d8c0b9";
    assert!(!text(&findings, Format::Markdown).contains("tolok verify"), "of older runs it is not known");
    findings.run.records_sha256 = Some(hash.to_owned());
    for format in [Format::Markdown, Format::Html, Format::Json] {
        assert!(text(&findings, format).contains(hash), "{format:?}");
    }
}

mod terminal {
    use super::*;

    fn at_width(findings: &Findings, width: u16) -> String {
        verbose(findings, &Style { colour: false, width })
    }

    fn glance(findings: &Findings, width: u16) -> String {
        render(findings, Format::Terminal, &Style { colour: false, width })
    }

    #[test]
    fn an_ordinary_run_at_a_glance() {
        let [narrow, wide] = [60, 100].map(|width| glance(&ordinary().findings(), width));
        insta::assert_snapshot!(format!("{narrow}\n----\n\n{wide}"));
    }

    #[test]
    fn a_glance_says_what_it_can_of_every_run() {
        let names = ["one-subject", "all-failed", "many-verdicts", "programs-at-odds", "database", "tools-at-a-rate"];
        let all = names.map(|name| format!("==== {name}\n\n{}", glance(&edge_case(name), 100)));
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn a_glance_fits_a_screen_and_its_width() {
        for (name, findings) in edge_cases::all() {
            for width in [60, 80, 100, 140] {
                let text = glance(&findings, width);
                let is_breakable = |line: &&str| line.trim().contains(' ');
                let widest = text.lines().filter(is_breakable).map(|line| line.chars().count()).max().unwrap_or(0);
                assert!(widest <= usize::from(width), "{name} at {width}: {text}");
            }
            let servers = findings.scenarios.iter().map(|scenario| scenario.cases.len()).max().unwrap_or(0);
            if findings.scenarios.len() <= 3
                && servers <= 8
                && findings.programs.is_empty()
                && findings.tools.is_empty()
                && findings.published.is_empty()
            {
                let lines = glance(&findings, 100).lines().count();
                assert!(lines <= 40, "{name}: {lines} lines");
            }
        }
    }

    #[test]
    fn an_ordinary_run_at_100_columns() {
        insta::assert_snapshot!(at_width(&ordinary().findings(), 100));
    }

    #[test]
    fn a_scenario_at_64_columns() {
        insta::assert_snapshot!(part(&at_width(&ordinary().findings(), 64), "Hello: closed", "\nJSON: closed"));
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        for (name, findings) in edge_cases::all() {
            for width in [60, 80, 100, 140] {
                // What cannot be broken (a command, a word) may stick out; nothing else.
                let is_breakable = |line: &&str| line.trim().contains(' ') && !line.contains("tolok run");
                let text = at_width(&findings, width);
                let widest = text.lines().filter(is_breakable).max_by_key(|line| line.chars().count()).unwrap_or("");
                assert!(widest.chars().count() <= usize::from(width), "{name} at {width}: {widest:?}");
            }
        }
    }

    #[test]
    fn colour_adds_codes_and_nothing_else() {
        let findings = ordinary().findings();
        let coloured = verbose(&findings, &Style { colour: true, width: 100 });
        assert!(coloured.contains("\u{1b}[1m"));
        let plain = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[33m"]
            .iter()
            .fold(coloured, |text, code| text.replace(code, ""));
        assert_eq!(plain, at_width(&findings, 100));
    }

    #[test]
    fn a_servers_words_cannot_control_the_terminal() {
        let text = at_width(&edge_case("all-failed"), 100);
        assert!(text.contains("last lines of its log: panic") && !text.contains('\u{1b}'));
    }

    #[test]
    fn edge_cases() {
        for name in [
            "one-subject",
            "all-failed",
            "huge-names",
            "open-loop",
            "database",
            "outage",
            "one-program",
            "tools-at-a-rate",
            "aa-pair",
            "checked",
            "published",
        ] {
            // The snapshot of the ordinary run has what all runs share.
            let text = at_width(&edge_case(name), 100);
            insta::assert_snapshot!(name, text.split("\nCautions").next().unwrap_or(&text));
        }
    }
}

/// A page in words: everything but its charts.
#[test]
fn page() {
    let page = documents::run(&edge_case("one-scenario"), Depth::Page);
    insta::assert_snapshot!(tolok_report::print::markdown(&page));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(text(&ordinary().findings(), Format::Markdown));
}

/// The part of a page that begins with `from` and ends before `to`.
fn part<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let start = page.find(from).expect("it begins there");
    let length = page[start..].find(to).expect("it ends there");
    &page[start..start + length]
}

/// The checks of a page that failed, by their rules.
fn failed_checks(page: &str) -> Vec<String> {
    let rules = page.split("<th scope=\"row\">").filter_map(|rest| rest.split_once("</th><td>"));
    let failed = rules.filter(|(_, held)| held.starts_with("<b class=\"warn\">! no"));
    failed.map(|(rule, _)| rule.to_owned()).collect()
}

/// What a page says was seen of a check.
fn seen<'a>(page: &'a str, rule: &str) -> &'a str {
    let cells = part(page, &format!("<th scope=\"row\">{rule}</th>"), "</tr>");
    cells.rsplit("<td").next().unwrap_or_default().split(['>', '<']).nth(1).unwrap_or_default()
}

/// A document of JSON with one element of each list.
fn in_short(mut document: serde_json::Value) -> String {
    fn shorten(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Array(items) => {
                items.truncate(1);
                items.iter_mut().for_each(shorten);
            }
            serde_json::Value::Object(fields) => fields.values_mut().for_each(shorten),
            _ => {}
        }
    }
    shorten(&mut document);
    serde_json::to_string_pretty(&document).expect("text")
}

/// Some columns of a CSV file, by name.
fn columns(csv: &str, names: &[&str]) -> String {
    let fields = |line: &str| {
        let (mut fields, mut is_quoted) = (vec![String::new()], false);
        for letter in line.chars() {
            match letter {
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => fields.push(String::new()),
                _ => fields.last_mut().expect("there is one from the start").push(letter),
            }
        }
        fields
    };
    let heading = fields(csv.lines().next().expect("a heading"));
    let place = |name: &&str| heading.iter().position(|known| known == name).unwrap_or_else(|| panic!("no {name}"));
    let places: Vec<usize> = names.iter().map(place).collect();
    let line = |line| {
        let fields = fields(line);
        assert_eq!(fields.len(), heading.len(), "{fields:?}");
        places.iter().map(|place| fields[*place].clone()).collect::<Vec<_>>().join(" | ")
    };
    csv.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[path = "render/brief.rs"]
mod brief;

#[path = "render/charts.rs"]
mod charts;

#[path = "render/checks.rs"]
mod checks;

#[path = "render/courses.rs"]
mod courses;
#[path = "render/frame.rs"]
mod frame;
#[path = "render/latex.rs"]
mod latex;

#[path = "render/judge.rs"]
mod judge;

#[path = "render/layout.rs"]
mod layout;

#[path = "render/schema.rs"]
mod schema_of_json;

#[path = "render/tidy.rs"]
mod tidy;

#[path = "render/judgement.rs"]
mod judgement;

mod environments {
    use super::*;

    #[test]
    fn in_markdown() {
        let text = text(&edge_case("boxed"), Format::Markdown);
        insta::assert_snapshot!(part(&text, "## Resources", "## Machine and versions"));
    }

    #[test]
    fn in_csv() {
        let text = text(&edge_case("boxed"), Format::Csv);
        let limits =
            ["scenario", "subject", "environment", "cpu_mode", "memory_limit_bytes", "memory_source", "cpu_source"];
        let trials =
            ["trials_planned", "trials_scored", "trials_disturbed", "reruns", "throttled_periods", "quota_periods"];
        let link = [
            "link_backend",
            "congestion",
            "link_packets_to_client",
            "link_lateness_s_max",
            "link_rate_offered_to_client",
        ];
        let unscored = ["unscored_of_scored", "unscored_instructions_per_good", "flags"];
        let found = [&limits[..], &trials, &link, &unscored].map(|names| columns(&text, names));
        insta::assert_snapshot!(found.join("\n\n"));
    }

    #[test]
    fn in_json() {
        let document: serde_json::Value = serde_json::from_str(&text(&edge_case("boxed"), Format::Json)).expect("JSON");
        let [first, second] = [&document["scenarios"][0], &document["scenarios"][1]];
        let parts = serde_json::json!({
            "environment": second["environment"],
            "link": second["link"],
            "case": { "link": second["cases"][0]["link"], "resources": second["cases"][0]["resources"] },
            "disturbed": first["cases"][0]["disturbed"],
            "unscored_diagnoses": first["unscored_diagnoses"],
            "isolation": document["isolation"],
        });
        insta::assert_snapshot!(in_short(parts));
    }

    #[test]
    fn what_was_counted_unscored_is_marked_so_in_every_format() {
        // Neither the observations nor the tables of a paper, a card or test cases have anything unscored.
        let has_none = |format: &Format| matches!(format, Format::Tidy | Format::Latex | Format::Card | Format::Junit);
        for format in Format::ALL.into_iter().filter(|format| !has_none(format)) {
            let [with, without] = ["boxed", "ordinary"].map(|name| text(&edge_case(name), format));
            // Its instructions for each answer, as each format writes them.
            let figure = if matches!(format, Format::Csv | Format::Json) { "52000" } else { "52.0k" };
            let before = with.find(figure).unwrap_or_else(|| panic!("{format:?} has no {figure}"));
            assert!(with[..before].to_lowercase().contains("unscored"), "{format:?}");
            assert!(matches!(format, Format::Csv | Format::Json) || !without.contains("nscored"), "{format:?}");
        }
    }

    #[test]
    fn a_column_of_throttled_periods_stands_only_where_there_is_a_quota() {
        let page = text(&edge_case("boxed"), Format::Html);
        let tables: Vec<&str> = page.split("aria-label=\"Figures of ").skip(1).collect();
        assert_eq!(tables.len(), 2);
        let has_column = |table: &str| table.split("</thead>").next().is_some_and(|head| head.contains("throttled"));
        assert_eq!(tables.iter().map(|table| has_column(table)).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn every_table_heads_its_memory_by_what_it_is() {
        for (name, words) in [("ordinary", "anonymous + kernel"), ("unprivileged", "PSS")] {
            let found = edge_case(name);
            let terminal = verbose(&found, &Style::default()).replace("\n  ", " ");
            assert!(terminal.contains(&format!("MiB {words}")), "{name}");
            assert!(text(&found, Format::Markdown).contains(&format!("| memory ({words}), MiB |")), "{name}");
            assert!(text(&found, Format::Html).contains(&format!("memory ({words}), MiB</th>")), "{name}");
        }
    }

    #[test]
    fn what_could_not_be_had_is_said_by_every_format_that_people_read() {
        for format in [Format::Terminal, Format::Markdown, Format::Html] {
            let text = text(&edge_case("unprivileged"), format).replace("\n    ", " ");
            assert!(
                text.to_lowercase().contains("no control groups, so resources are counted less exactly"),
                "{format:?}"
            );
        }
    }
}

mod objectives {
    use super::*;

    #[test]
    fn in_markdown() {
        let text = text(&edge_case("open-loop"), Format::Markdown);
        insta::assert_snapshot!(part(&text, "p50 and p99", "## "));
    }

    #[test]
    fn in_html() {
        let page = text(&edge_case("open-loop"), Format::Html);
        assert!(page.contains("! 2 objectives crossed") && page.contains("p50 and p99 from the planned instant"));
        assert_eq!(seen(&page, "The load generator passed its own checks"), "1 of 7 cases flagged");
    }

    #[test]
    fn in_csv() {
        let text = text(&edge_case("open-loop"), Format::Csv);
        insta::assert_snapshot!(columns(&text, &["executor", "offered_rps", "requests_unsent", "objectives"]));
    }

    #[test]
    fn without_objectives_nothing_is_said_of_them() {
        for format in [Format::Terminal, Format::Markdown, Format::Html] {
            assert!(!text(&ordinary().findings(), format).contains("bjectives ("), "{format:?}");
        }
    }
}

#[path = "render/programs.rs"]
mod programs;

mod databases {
    use super::*;

    #[test]
    fn in_a_narrow_terminal() {
        let style = Style { colour: false, width: 64 };
        let text = verbose(&edge_case("database"), &style);
        insta::assert_snapshot!(part(&text, "1,000 rows of 40", "20 queries"));
    }

    #[test]
    fn in_markdown() {
        insta::assert_snapshot!(part(&text(&edge_case("database"), Format::Markdown), "## 1,000 rows", "\n## "));
    }

    #[test]
    fn in_html() {
        let page = text(&edge_case("database"), Format::Html);
        assert!(
            page.contains("! windows at 10%") && page.contains("<p class=\"warn\">! Every window shortened to 10%")
        );
    }

    #[test]
    fn in_csv() {
        let csv = |name: &str, names: &[&str]| columns(&text(&edge_case(name), Format::Csv), names);
        let limits = ["scenario", "subject", "scale", "bottleneck", "bottleneck_sentence", "goodput_below_rps"];
        let asked = ["database", "database_version", "database_shares_cpus_with", "database_rtt_s", "rows_per_answer"];
        let rows = ["rows_per_s", "subject_cpu_s_per_row", "database_cpu_s_per_row", "database_busy", "flags"];
        let pool = ["pool_size", "pool_wait_s_mean", "database_refused_connections", "database_link_lateness_s_max"];
        let counter = ["counter_asked", "counter_grew", "counter_wrong_answers", "counter_worst"];
        let outage = ["outage_gone_at_s", "outage_back_at_s", "outage_statuses", "outage_never_answered_error"];
        let mut found: Vec<String> =
            [&limits[..], &asked, &rows, &pool, &counter].map(|names| csv("database", names)).to_vec();
        found.push(csv("outage", &outage));
        insta::assert_snapshot!(found.join("\n\n"));
    }

    #[test]
    fn in_json() {
        let document: serde_json::Value =
            serde_json::from_str(&text(&edge_case("database"), Format::Json)).expect("JSON");
        let [hello, rows] = [&document["scenarios"][0], &document["scenarios"][1]];
        assert_eq!(
            (&hello["database"], &hello["cases"][0]["database"]),
            (&serde_json::Value::Null, &serde_json::Value::Null)
        );
        let case = &rows["cases"][0];
        let parts = serde_json::json!({
            "scale": document["run"]["scale"],
            "asked": rows["database"],
            "case": { "bottleneck": case["bottleneck"], "database": case["database"] },
        });
        insta::assert_snapshot!(in_short(parts));
    }

    /// Columns of data stand only where a scenario has a database.
    #[test]
    fn a_scenario_that_asks_none_shows_nothing_of_it() {
        let found = edge_case("database");
        let page = text(&found, Format::Html);
        let hello = part(&page, "<h3>Hello <span", "<h3>1,000 rows");
        assert!(!hello.contains("database") && !hello.contains("rows/s"), "{hello}");
        let terminal = verbose(&found, &Style::default());
        let hello = part(&terminal, "Hello:", "1,000 rows");
        assert!(!hello.contains("database") && !hello.contains("rows/s"), "{hello}");
        let ordinary = text(&ordinary().findings(), Format::Markdown);
        assert!(!ordinary.contains("rows/s") && !ordinary.contains("The database meanwhile"));
    }

    #[test]
    fn every_format_for_people_names_the_bottleneck_and_that_one_cpu_was_shared() {
        for format in [Format::Terminal, Format::Markdown, Format::Html] {
            let text = text(&edge_case("database"), format).replace("\n    ", " ");
            for words in ["ottleneck", "ran on the same CPU 1 and used 92% together", "like the generator"] {
                assert!(text.replace("\n  ", " ").contains(words), "{format:?} lacks {words}");
            }
        }
    }

    #[test]
    fn whoever_answered_nothing_has_a_word_or_a_bound_and_never_zero() {
        let mut run = invented::InventedRun::new(5);
        run.scenario("json-c64", "json", "JSON", 64).steady(invented::GO, 30_000.0);
        run.change(|_, trial| (trial.goodput_rps, trial.ledger.good) = (0.0, 0));
        let found = run.findings();
        assert!(verbose(&found, &Style::default()).contains("<0.500"), "one answer in a window of 2 s");
        assert!(text(&found, Format::Markdown).contains("| \\<0.500 |"));
        assert!(text(&found, Format::Html).contains("&lt;0.500"));
        for format in [Format::Terminal, Format::Markdown, Format::Html] {
            assert!(text(&edge_case("database"), format).contains("hung"), "{format:?}");
        }
    }

    #[test]
    fn checks_look_at_counters_and_at_what_the_database_refused() {
        let page = text(&edge_case("database"), Format::Html);
        for rule in [
            "The database had CPUs of its own",
            "Every counter was exactly right",
            "The database refused no connection",
        ] {
            assert!(failed_checks(&page).contains(&rule.to_owned()), "{rule}");
            assert!(!text(&ordinary().findings(), Format::Html).contains(rule), "{rule}");
        }
    }

    #[test]
    fn a_ceiling_out_of_sight_does_not_squeeze_the_bars() {
        let page = text(&edge_case("database"), Format::Html);
        let chart = part(&page, "1,000 rows of 40 fields: correct responses per second", "</svg>");
        assert!(
            chart.contains("machine limit 2.37k, beyond the scale") && !chart.contains("class=\"ceil\""),
            "{chart}"
        );
    }
}

#[test]
fn markdown_tables_have_the_same_number_of_cells_in_every_row() {
    for (name, findings) in edge_cases::all() {
        let text = text(&findings, Format::Markdown);
        let cells = |row: &str| row.replace("\\|", "").matches('|').count();
        let tables = text.split("\n\n").filter(|block| block.trim_start().starts_with('|'));
        for table in tables {
            let number = cells(table.trim_start().lines().next().unwrap());
            for row in table.trim().lines() {
                assert_eq!(cells(row), number, "{name}: {row}");
            }
        }
    }
}

#[test]
fn csv() {
    insta::assert_snapshot!(text(&with_six_digits(ordinary().findings()), Format::Csv));
}

#[test]
fn json_has_what_the_schema_requires_and_nothing_else() {
    let schema = schema::<Findings>();
    for (name, findings) in edge_cases::all() {
        let document: serde_json::Value = serde_json::from_str(&text(&findings, Format::Json)).unwrap();
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<String>>();
        let mut expected = keys(&schema["properties"]);
        expected.retain(|key| key != "duel" || findings.duel.is_some());
        assert_eq!(keys(&document), expected, "{name}");
        assert_eq!(keys(&document["run"]), keys(&schema["$defs"]["RunFacts"]["properties"]), "{name}");
        for case in document["scenarios"].as_array().unwrap().iter().flat_map(|it| it["cases"].as_array().unwrap()) {
            assert_eq!(keys(case), keys(&schema["$defs"]["CaseFinding"]["properties"]), "{name}");
            assert_eq!(keys(&case["resources"]), keys(&schema["$defs"]["ResourcesFinding"]["properties"]), "{name}");
        }
        for scenario in document["scenarios"].as_array().unwrap() {
            let mut expected = keys(&schema["$defs"]["ScenarioFinding"]["properties"]);
            expected.retain(|key| key != "judged_by" || name == "by-cpu");
            assert_eq!(keys(scenario), expected, "{name}");
            let environment = &schema["$defs"]["EnvironmentFinding"]["properties"];
            assert_eq!(keys(&scenario["environment"]), keys(environment), "{name}");
        }
        for program in document["programs"].as_array().unwrap() {
            assert_eq!(keys(program), keys(&schema["$defs"]["ProgramFinding"]["properties"]), "{name}");
            for case in program["cases"].as_array().unwrap() {
                assert_eq!(keys(case), keys(&schema["$defs"]["ProgramCaseFinding"]["properties"]), "{name}");
            }
        }
        assert_eq!(keys(&document["isolation"]), keys(&schema["$defs"]["IsolationFinding"]["properties"]), "{name}");
    }
}

mod html {
    use super::*;

    #[test]
    fn every_check_that_failed_is_marked() {
        let failed = |name: &str| -> Vec<String> { failed_checks(&text(&edge_case(name), Format::Html)) };
        assert_eq!(failed("one-scenario"), Vec::<String>::new());
        assert_eq!(failed("shared-cpus")[0], "Subject and generator had CPUs of their own");
        assert_eq!(failed("above-ceiling"), ["No subject was above the machine’s limit"]);
        assert_eq!(failed("unprivileged"), ["All planned isolation was active"]);
        assert_eq!(
            failed("boxed"),
            [
                "Every planned trial was measured",
                "Every goodput has an interval",
                "All planned isolation was active",
                "No trial was discarded because the CPU was busy",
                "No subject ran out of memory",
                "The link’s emulator kept its times",
            ]
        );
        assert_eq!(
            failed("ordinary"),
            [
                "Every planned trial was measured",
                "Every goodput has an interval",
                "The generator was not the limit",
                "Every request got a correct response",
            ]
        );
    }

    #[test]
    fn nobody_is_set_in_bold_where_nothing_has_an_interval() {
        let bold = |name: &str| text(&edge_case(name), Format::Html).matches("class=\"l b\"").count();
        assert_eq!([bold("two-blocks"), bold("one-subject")], [0, 0]);
        assert_eq!(bold("one-scenario"), 3, "name, figure and tier of the first");
        assert_eq!(bold("ordinary"), 3 * 5, "two that tie, one alone, two that show no clear difference");
    }

    #[test]
    fn names_are_shown_and_not_obeyed() {
        let page = text(&edge_case("huge-names"), Format::Html);
        assert!(!page.contains("<script") && !page.contains("<b>markup") && !page.contains("<i>each"));
        assert!(page.contains("&lt;script&gt;"));
    }

    #[test]
    fn the_page_asks_for_nothing_but_itself() {
        for (name, findings) in edge_cases::all() {
            let page = text(&findings, Format::Html);
            // The icon is a drawing within the page.
            let (before, after) = page.split_once("<link rel=\"icon\" href=\"data:image/svg+xml,").unwrap();
            let page = format!("{before}{}", after.split_once('>').unwrap().1);
            for outside in ["http://", "https://", "src=", "url(", "@import", "<link", "<script", "<img", "<iframe"] {
                assert!(!page.contains(outside), "{name} has {outside}");
            }
            assert!(page.contains("default-src 'none'"), "{name}");
        }
    }

    #[test]
    fn every_element_that_is_opened_is_closed() {
        for (name, findings) in edge_cases::all() {
            let page = text(&findings, Format::Html);
            assert_eq!(unclosed(&page), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn no_figure_is_a_word_of_the_machine() {
        for (name, findings) in edge_cases::all() {
            for format in Format::ALL {
                let text = text(&findings, format);
                for word in ["NaN", "inf ", "None", "Some(", "undefined"] {
                    assert!(!text.contains(word), "{name} as {format:?} has {word}");
                }
            }
        }
    }

    /// Names of elements that are opened and not closed again, or closed in the wrong order.
    fn unclosed(page: &str) -> Vec<String> {
        let body = page.split_once("</style>").expect("the page has a style sheet").1;
        let mut open: Vec<String> = vec!["html".into(), "head".into()];
        let mut wrong = Vec::new();
        for tag in body.split('<').skip(1) {
            let tag = tag.split('>').next().unwrap_or(tag);
            let name: String = tag.trim_start_matches('/').chars().take_while(|it| it.is_alphanumeric()).collect();
            if tag.starts_with('/') {
                if open.pop().as_deref() != Some(name.as_str()) {
                    wrong.push(name);
                }
            } else if !tag.ends_with('/') && name != "br" {
                open.push(name);
            }
        }
        wrong.extend(open);
        wrong
    }
}

#[test]
fn a_percentile_that_is_a_lower_bound_has_its_sign_in_tables() {
    let mut findings = edge_case("open-loop");
    let case = &mut findings.scenarios[0].cases[1];
    (case.figures.latency_p99_s, case.figures.latency_p99_at_least_s) = (None, Some(0.4));
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let shown = text(&findings, format);
        assert!(shown.contains("≥ 400") && shown.contains("≥ lower bound"), "{shown}");
    }
}

#[path = "render/advice.rs"]
mod advice;

#[path = "render/card.rs"]
mod card;

#[path = "render/factors.rs"]
mod factors;
