//! Each mistake yields one problem, at its own place, whatever else is wrong with the text.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use serde::Deserialize;

use super::*;
use crate::reading::several::Several;
use crate::reading::table::Table;

/// One field of each kind that the project's files have.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "these tests check errors, not values")]
struct Recipe {
    title: Option<String>,
    serves: Option<u32>,
    vegan: Option<bool>,
    course: Option<Course>,
    oven: Option<Table<Oven>>,
    #[serde(default)]
    step: Vec<Table<Step>>,
    #[serde(default)]
    note: BTreeMap<String, Table<Step>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Course {
    Soup,
    MainDish,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "these tests check errors, not values")]
struct Oven {
    heat: Option<u32>,
    #[serde(default)]
    fan: Table<Fan>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "these tests check errors, not values")]
struct Fan {
    speed: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "these tests check errors, not values")]
struct Step {
    text: Option<String>,
    minutes: Option<Several<u32>>,
    #[serde(default)]
    tools: Vec<String>,
}

/// Reads a recipe and requires what every recipe needs. Each problem becomes `line:column «what it points at» message`.
fn check(text: &str) -> String {
    let (recipe, mut reading) = Reading::read::<Recipe>(text);
    reading.require(recipe.title, &ROOT, "title", "title = \"Soto ayam\"");
    for Table { span, entries } in recipe.step {
        reading.require(entries.text, &span, "text", "text = \"chop\"");
        reading.require(entries.minutes, &span, "minutes", "minutes = 5");
    }
    if let Some(Table { span, entries }) = recipe.oven {
        reading.require(entries.heat, &span, "heat", "heat = 180");
    }
    listed(text, &reading.into_problems())
}

fn listed(text: &str, problems: &[Problem]) -> String {
    let line = |problem: &Problem| {
        let (line, column) = problem.line_column(text);
        let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{line}:{column} «{}» {}{help}", &text[problem.span.clone()], problem.message)
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_sound_text_has_no_problem() {
    let text = "title = 'Soto'\noven = { heat = 180, fan.speed = 2 }\n[[step]]\ntext = 'chop'\nminutes = [1, 2]\n";
    assert_eq!(check(text), "");
}

#[test]
fn every_kind_of_mistake_in_one_text() {
    let text = r#"
titel = "Soto ayam"
serves = "four"
vegan = 1
course = "mian-dish"

[oven]
heat = -1
fan.speed = "fast"
fan.sped = 3

[[step]]
text = "chop"
minutes = "five"
tools = ["knife", 7, "board", true]

[[step]]
minute = 5

[note.salt]
text = 2026-11-07
"#;
    assert_snapshot!(check(text), @r#"
    2:1 «titel» unknown key `titel` (did you mean `title`? known here: title, serves, vegan, course, oven, step, note)
    3:10 «"four"» expected a whole number, found the string "four"
    4:9 «1» expected `true` or `false`, found the number 1
    5:10 «"mian-dish"» unknown value `mian-dish` (did you mean `main-dish`? known here: soup, main-dish)
    8:8 «-1» expected a whole number from 0 to 4,294,967,295, found the number -1
    9:13 «"fast"» expected a whole number, found the string "fast"
    10:5 «sped» unknown key `sped` (did you mean `speed`? known here: speed)
    14:11 «"five"» expected a whole number, found the string "five"
    15:19 «7» expected a string, found the number 7
    15:31 «true» expected a string, found `true`
    17:1 «[[step]]» missing key `text` (for example: text = "chop")
    18:1 «minute» unknown key `minute` (did you mean `minutes`? known here: text, minutes, tools)
    21:8 «2026-11-07» expected a string, found the date 2026-11-07
    "#);
}

#[test]
fn mistakes_in_inline_tables_and_lists_of_them() {
    let text = r#"title = "Soto"
oven = { heat = "hot", fan = { speed = 1.5, sped = 2 }, door = true }
step = [{ text = "chop", minutes = [5, "six", 7] }, { txt = "boil", minutes = 3 }, "eat"]
"#;
    assert_snapshot!(check(text), @r#"
    2:17 «"hot"» expected a whole number, found the string "hot"
    2:40 «1.5» expected a whole number, found the number 1.5
    2:45 «sped» unknown key `sped` (did you mean `speed`? known here: speed)
    2:57 «door» unknown key `door` (known here: heat, fan)
    3:40 «"six"» expected a whole number, found the string "six"
    3:55 «txt» unknown key `txt` (did you mean `text`? known here: text, minutes, tools)
    3:84 «"eat"» expected a table, found the string "eat"
    "#);
}

#[test]
fn a_table_where_a_value_belongs_and_the_other_way_round() {
    let text = "oven = [180]\nserves.people = 4\nnote = []\nvegan = []\n[title]\nshort = 'Soto'\n[[course]]\n[step]\n";
    assert_snapshot!(check(text), @r"
    1:8 «[180]» expected a table, found a list
    2:1 «serves» expected a whole number, found a table
    3:8 «[]» expected a table, found a list
    4:9 «[]» expected `true` or `false`, found a list
    5:1 «[title]» expected a string, found a table
    7:1 «[[course]]» expected a string, found a list
    8:1 «[step]» expected a list, found a table
    ");
}

#[test]
fn two_headers_with_the_same_keys_are_not_mixed_up() {
    // An error in the second step must neither be searched for in the first nor excuse what the first lacks.
    let text =
        "title = 'x'\n[[step]]\ntext = 'a'\n[[step]]\ntext = 'b'\nminutes = 'no'\n[[step]]\ntext = 3\nminutes = 1";
    assert_snapshot!(check(text), @r#"
    2:1 «[[step]]» missing key `minutes` (for example: minutes = 5)
    6:11 «'no'» expected a whole number, found the string "no"
    8:8 «3» expected a string, found the number 3
    "#);
}

#[test]
fn what_is_missing_is_said_at_its_table() {
    let text = "# a comment\n\nserves = 4\n\noven = {}\n[[step]]\nminutes = 5\n";
    assert_snapshot!(check(text), @r#"
    3:1 «serves = 4» missing key `title` (for example: title = "Soto ayam")
    5:8 «{}» missing key `heat` (for example: heat = 180)
    6:1 «[[step]]» missing key `text` (for example: text = "chop")
    "#);
}

#[test]
fn an_empty_text_lacks_what_is_required() {
    assert_snapshot!(check(""), @"1:1 «» missing key `title` (for example: title = \"Soto ayam\")");
    assert_snapshot!(check("# later\n"), @"1:1 «# later» missing key `title` (for example: title = \"Soto ayam\")");
}

#[test]
fn each_syntax_error_costs_one_statement_and_the_rest_is_read() {
    let text = r#"title = "Soto ayam
serves = 4 people
vegan =
course
oven: 180
[note.salt]
text = "so\qme"
text = "again"
minutes = 2026-13-45
tools = ["pan" "pot"]
tool = 3
[[step]]
minutes = tru # not a boolean
[note.salt]
text = 1
[note.salt.more]
text = 1
[note.pepper
text = 1
[[step]]
text = 9
"#;
    assert_snapshot!(check(text), @r#"
    1:19 «» invalid basic string, expected `"`
    2:10 «4 people» this is no number, and a string needs quotes (write `"4 people"`)
    3:8 «» a value is missing
    4:7 «» key with no value, expected `=`
    5:5 «:» invalid unquoted key, expected letters, numbers, `-`, `_`
    7:12 «» missing escaped value, expected `b`, `e`, `f`, `n`, `r`, `\`, `"`, `x`, `u`, `U`
    9:11 «2026-13-45» invalid date, expected month between 01 and 12
    10:16 «» missing comma between array elements, expected `,`
    13:11 «tru» invalid boolean, expected `true`
    14:7 «salt» `salt` appears twice
    18:13 «» unclosed table, expected `]`
    11:1 «tool» unknown key `tool` (did you mean `tools`? known here: text, minutes, tools)
    21:8 «9» expected a string, found the number 9
    "#);
}

#[test]
fn errors_of_syntax_come_first_because_others_may_follow_from_them() {
    assert_snapshot!(check("title = \"Soto\"\nserves = \"four\"\nvegan =\n"), @r#"
    3:8 «» a value is missing
    2:10 «"four"» expected a whole number, found the string "four"
    "#);
}

#[test]
fn a_bracket_that_is_never_closed_swallows_nothing() {
    let text = r#"title = "Soto"
oven = { heat = 180
serves = "x"
[[step]]
text = "chop"
tools = ["knife",
  "board"
minutes = 5
txt = 1
[[step]]
text = "boil"
minutes = [5
"#;
    assert_snapshot!(check(text), @r#"
    2:8 «{» this `{` is never closed (a `}` is missing)
    6:9 «[» this `[` is never closed (a `]` is missing)
    12:11 «[» this `[` is never closed (a `]` is missing)
    3:10 «"x"» expected a whole number, found the string "x"
    9:1 «txt» unknown key `txt` (did you mean `text`? known here: text, minutes, tools)
    "#);
}

#[test]
fn a_long_string_that_is_never_closed_takes_the_rest() {
    assert_snapshot!(check("serve = 1\ntitle = '''\nSoto\n[oven]\n"), @r"
    2:9 «'''» this `'''` is never closed (a `'''` is missing)
    1:1 «serve» unknown key `serve` (did you mean `serves`? known here: title, serves, vegan, course, oven, step, note)
    ");
}

#[test]
fn brackets_in_strings_and_comments_are_no_brackets() {
    let text = r#"title = "[ { \" # '" # [[
[[step]] # first
text = '''
[oven]
heat = 3
''''
minutes = [
  1, # one
  2,
]
tools = ['[', "]#", """
serves = 5
"""]
"#;
    assert_eq!(check(text), "");
}

#[test]
fn an_inline_table_over_several_lines_is_one_statement() {
    let sound = "title = 'x'\noven = {\n  heat = 180,\n  fan = { speed = 1 },\n}\n";
    assert_eq!(check(sound), "");
    let without_comma = "title = 'x'\noven = {\n  heat = 180\n  fan = { speed = 1 },\n}\nserves = 'x'\n";
    assert_snapshot!(check(without_comma), @r#"
    4:3 «» missing comma between key-value pairs, expected `,`
    6:10 «'x'» expected a whole number, found the string "x"
    "#);
}

#[test]
fn windows_line_ends_and_letters_of_several_bytes_keep_columns_right() {
    assert_snapshot!(check("title = 'ä'\r\nnote = { ü = 1 }\r\nvegan = 'ß', x\r\n"), @r"
    2:10 «ü» invalid unquoted key, expected letters, numbers, `-`, `_`
    3:12 «» unexpected key or value, expected newline, `#`
    ");
    assert_snapshot!(check("title = 'x'\n'é' = 1 # ü\nnote.'ü'.text = 'ä'\nnote.'ü'.txt = 'ö'\n"), @r"
    2:1 «'é'» unknown key `é` (known here: title, serves, vegan, course, oven, step, note)
    4:10 «txt» unknown key `txt` (did you mean `text`? known here: text, minutes, tools)
    ");
}

#[test]
fn a_list_of_mistakes_has_an_end() {
    let unknown_keys: String = (0..500).map(|number| format!("x{number} = 1\n")).collect();
    for text in ["x y\n".repeat(500), "x = [\n".repeat(500), unknown_keys] {
        let (_, reading) = Reading::read::<Recipe>(&text);
        assert_eq!(reading.into_problems().len(), MOST_PROBLEMS);
    }
}

#[test]
fn brackets_may_be_nested_to_any_depth() {
    assert_snapshot!(check(&format!("title = 'x'\nserves = {}\n", "[".repeat(20_000))), @"2:20009 «[» this `[` is never closed (a `]` is missing)");
    let closed = format!("title = 'x'\nserves = {}{}\n", "[".repeat(20_000), "]".repeat(20_000));
    let problems = check(&closed);
    assert_eq!(problems.lines().count(), 1, "{problems}");
    let dots = ".a".repeat(20_000);
    for text in [format!("a{dots} = 1\n"), format!("[a{dots}]\n"), format!("note = {{ a{dots} = 1 }}\n")] {
        let problems = check(&format!("title = 'x'\n{text}"));
        assert!(problems.starts_with("2:1 «"), "{problems}");
        assert!(problems.ends_with("» a key has more than 80 dots"), "{problems}");
    }
}

#[test]
fn quoted_dots_add_no_nesting() {
    let dots = ".".repeat(100);
    let quoted = [r#""{}\"{}""#, "'{}'", "''''{}'''''", "\"\"\"\n{}\\\"\"\\\"\n{}\"\"\"\"\""];
    for text in quoted.map(|text| text.replace("{}", &dots)) {
        assert_eq!(
            check(&format!("title = {text}\nserves = 2\n")).lines().filter(|line| line.contains("dots")).count(),
            0
        );
    }
    let keys = ".'a'".repeat(100);
    let unsure = format!("a = ''''''''{dots}'''\n");
    for text in [format!("a = '{dots}' # it's\n"), format!("\"a\"{keys} = 1\n"), format!("'''a'''{keys} = 1\n"), unsure]
    {
        assert!(check(&text).contains("a key has more than 80 dots"), "{text}");
    }
}

#[test]
fn a_line_separator_is_not_whitespace() {
    // Rust counts U+2028 as white space but TOML does not, so a line of nothing else is an error, not blank.
    assert_snapshot!(check("title = 'x'\n\u{2028}\n"), @"2:1 «\u{2028}» invalid unquoted key, expected letters, numbers, `-`, `_`");
}

#[test]
fn several_values_keep_their_places() {
    #[derive(Debug, Default, Deserialize)]
    struct Listed {
        one: Option<Several<String>>,
        many: Option<Several<String>>,
    }
    let text = "one = 'a'\nmany = ['b', 'c']\n";
    let (read, reading) = Reading::read::<Listed>(text);
    assert!(!reading.has_problems());
    let places = |several: Option<Several<String>>| -> Vec<String> {
        several.unwrap().0.into_iter().map(|value| text[value.span()].to_owned()).collect()
    };
    assert_eq!(places(read.one), ["'a'"]);
    assert_eq!(places(read.many), ["'b'", "'c'"]);
}
