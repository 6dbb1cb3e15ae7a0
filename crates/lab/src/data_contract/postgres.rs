//! The same tables for psql. The table of `fidelity` has PostgreSQL's own types.

use std::fmt::Write as _;
use std::io::{self, Write};

use tolok_model::Wire;

use super::columns::{Column, Rows};
use super::content::{Content, Value, row};
use super::fidelity::{self, Expected, ROW_COUNT};
use super::fidelity_postgres::{ENUM_NAME, ENUM_VALUES};
use super::fortunes::MESSAGES;
use super::script::{DATABASE, Purpose, USER};
use super::stock;

/// Access rules of a private server: the lab logs in at the socket, which nobody else can reach, and the account of the subjects on
/// the network. That account has no password until a trial sets one.
pub fn access_rules() -> String {
    format!("local all postgres trust\nhost {DATABASE} {USER} all scram-sha-256\n")
}

pub(super) fn write_script(out: &mut dyn Write, purpose: Purpose, comment: &str) -> io::Result<()> {
    if purpose == Purpose::Private {
        writeln!(out, "CREATE ROLE {USER} LOGIN;\nCREATE DATABASE {DATABASE} OWNER {USER};")?;
        writeln!(out, "\\connect {DATABASE}\nSET ROLE {USER};")?;
    }
    for table in Rows::ALL {
        write_table(out, table, comment)?;
    }
    write_fidelity(out, comment)?;
    writeln!(out, "CREATE TABLE fortune (id integer PRIMARY KEY, message varchar(2048) NOT NULL);")?;
    writeln!(out, "COMMENT ON TABLE fortune IS '{comment}';")?;
    for (id, message) in (1..).zip(MESSAGES) {
        writeln!(out, "INSERT INTO fortune VALUES ({id}, '{message}');")?;
    }
    writeln!(out, "CREATE TABLE stock (amount integer NOT NULL, id integer PRIMARY KEY);")?;
    writeln!(out, "COMMENT ON TABLE stock IS '{comment}';")?;
    for statement in stock::inserts() {
        writeln!(out, "{statement}")?;
    }
    writeln!(out, "CREATE TABLE counter (id integer PRIMARY KEY, value bigint NOT NULL);")?;
    writeln!(out, "COMMENT ON TABLE counter IS '{comment}';\nINSERT INTO counter VALUES (1, 0);")?;
    if purpose == Purpose::Private {
        // Otherwise autovacuum would gather statistics in the background, possibly during a measurement.
        writeln!(out, "RESET ROLE;\nVACUUM (FREEZE, ANALYZE);")?;
    }
    Ok(())
}

/// The table, its rows, and the view with dates as text.
fn write_table(out: &mut dyn Write, table: Rows, comment: &str) -> io::Result<()> {
    let name = table.name();
    writeln!(out, "CREATE TABLE {name} (")?;
    for column in table.columns() {
        let null = if column.nullable { "NULL" } else { "NOT NULL" };
        writeln!(out, "  {} {} {null},", column.name, sql_type(column))?;
    }
    writeln!(out, "  PRIMARY KEY (id)\n);\nCOMMENT ON TABLE {name} IS '{comment}';\nCOPY {name} FROM stdin;")?;
    for key in 1..=table.count() {
        out.write_all(line(table, key).as_bytes())?;
    }
    let selected: Vec<String> = table.columns().map(as_text).collect();
    writeln!(out, "\\.\nCREATE VIEW {name}_text AS SELECT\n  {}\nFROM {name};", selected.join(",\n  "))
}

/// One transaction, so that the type never exists without the table.
fn write_fidelity(out: &mut dyn Write, comment: &str) -> io::Result<()> {
    let columns = fidelity::columns(Wire::Postgres);
    let values = ENUM_VALUES.join("', '");
    writeln!(out, "BEGIN;\nCREATE TYPE {ENUM_NAME} AS ENUM ('{values}');\nCREATE TABLE fidelity (")?;
    for column in &columns {
        writeln!(out, "  {} {},", column.name, column.sql_type)?;
    }
    writeln!(out, "  PRIMARY KEY (id)\n);\nCOMMENT ON TABLE fidelity IS '{comment}';")?;
    for row in 0..ROW_COUNT {
        let literals: Vec<String> = columns.iter().map(|column| literal(&column.values[row])).collect();
        writeln!(out, "INSERT INTO fidelity VALUES ({});", literals.join(", "))?;
    }
    writeln!(out, "COMMIT;")
}

/// A quoted text, which PostgreSQL converts to any type.
fn literal(expected: &Expected) -> String {
    let text = match expected {
        Expected::Null => return "NULL".to_owned(),
        Expected::Truth(truth) => truth.to_string(),
        Expected::Double(number) => format!("{number:e}"),
        Expected::Float(number) => format!("{number:e}"),
        Expected::Bytes(bytes) => bytes.iter().fold("\\x".to_owned(), |hex, byte| hex + &format!("{byte:02x}")),
        Expected::Instant(text) if text.ends_with("infinity") => (*text).to_owned(),
        Expected::Instant(text) => format!("{text}+00"),
        Expected::Whole(text) | Expected::Decimal(text) | Expected::Text(text) | Expected::Json(text) => {
            (*text).to_owned()
        }
        Expected::Day(text) | Expected::Moment(text) | Expected::Time(text) => (*text).to_owned(),
        Expected::Interval(text) | Expected::Array(text, _) => (*text).to_owned(),
        Expected::Flag(_) => unreachable!("PostgreSQL's table has no {expected:?}"),
    };
    format!("'{}'", text.replace('\'', "''"))
}

/// PostgreSQL's own booleans would appear as `true` and `false` in every answer.
fn sql_type(column: &Column) -> &'static str {
    match column.sql_type {
        "BOOLEAN" => "smallint",
        "DATETIME" => "timestamp",
        other => other,
    }
}

fn as_text(column: &Column) -> String {
    let name = column.name;
    match column.content {
        Content::Day { .. } => format!("to_char({name}, 'YYYY-MM-DD') AS {name}"),
        Content::Moment { .. } => format!("to_char({name}, 'YYYY-MM-DD HH24:MI:SS') AS {name}"),
        _ => name.to_owned(),
    }
}

/// A row in the format of `COPY`.
fn line(table: Rows, key: u32) -> String {
    let mut line = String::new();
    for (index, (_, value)) in row(table, key).enumerate() {
        line.push_str(if index == 0 { "" } else { "\t" });
        match value {
            Value::Null => line.push_str("\\N"),
            Value::Whole(number) => write!(line, "{number}").expect("writing to a string cannot fail"),
            Value::Text(text) => push_escaped(&mut line, &text),
        }
    }
    line + "\n"
}

fn push_escaped(line: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\t' => line.push_str("\\t"),
            '\r' => line.push_str("\\r"),
            other => line.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_copy_makes_it_again() {
        let mut line = String::new();
        push_escaped(&mut line, "a\\b\tc\nd\re'\"/");
        assert_eq!(line, "a\\\\b\\tc\\nd\\re'\"/");
    }

    #[test]
    fn a_script_for_somebody_elses_server_makes_tables_and_nothing_beside() {
        let mut script = Vec::new();
        write_script(&mut script, Purpose::External, "tolok data x").unwrap();
        let script = String::from_utf8(script).unwrap();
        assert!(!script.contains("ROLE") && !script.contains("DATABASE") && !script.contains("DROP"));
        assert!(script.contains("created_at timestamp NOT NULL") && script.contains("active smallint NOT NULL"));
        let copied = script.split("COPY ").skip(1).filter_map(|table| table.split("\n\\.\n").next());
        assert_eq!(copied.map(|rows| rows.lines().count() - 1).sum::<usize>(), 11_000);
        assert_eq!(script.matches("IS 'tolok data x'").count(), 6);
    }
}
