//! The script that creates and fills the tables, for the standard client of MariaDB, MySQL or PostgreSQL.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};
use tolok_model::Wire;

use super::columns::Rows;
use super::content::{Value, row};
use super::fidelity::{self, Column, Expected, ROW_COUNT};
use super::fortunes::MESSAGES;
use super::{postgres, stock};

/// Which kind of server the script is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A server that the lab started: the script also creates the database and the account of the subjects.
    Private,
    /// A user's own server: the script fills the database that the client has chosen, and touches nothing else.
    /// It never drops anything: if a table exists already, it stops.
    External,
}

/// The database on a private server.
pub const DATABASE: &str = "tolok";
/// The account of the subjects on a private server.
pub const USER: &str = "tolok";
/// Its password until a trial sets another.
const PASSWORD: &str = "tolok";

/// Rows in one statement: few enough for every server's packet limit.
const ROWS_A_STATEMENT: u32 = 500;
/// Options that all tables share.
const ENGINE: &str = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin";
/// Otherwise a date of zeros would be refused, text read as Latin 1, and moments converted to the server's time zone.
const HEAD: &str = "SET NAMES utf8mb4;\nSET SESSION sql_mode='';\nSET SESSION time_zone='+00:00';\n";

/// The statement that sets another password, of letters and digits, for the account of the subjects.
pub fn new_password(password: &str, wire: Wire) -> String {
    match wire {
        Wire::Mysql => format!("ALTER USER '{USER}'@'%' IDENTIFIED BY '{password}';\n"),
        Wire::Postgres => format!("ALTER ROLE {USER} PASSWORD '{password}'"),
    }
}

pub fn load_script(out: &mut dyn Write, purpose: Purpose, wire: Wire) -> io::Result<()> {
    write_script(out, purpose, wire, &table_comment(wire))
}

/// The SHA-256 of the script for a private server without its table comments, since they contain a part of this hash.
pub fn data_sha256(wire: Wire) -> String {
    static SHA256: [OnceLock<String>; 2] = [const { OnceLock::new() }; 2];
    let compute = || {
        let mut hashed = Hashed(Sha256::new());
        write_script(&mut hashed, Purpose::Private, wire, "").expect("writing to a hash cannot fail");
        hashed.0.finalize().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    };
    SHA256[usize::from(wire == Wire::Postgres)].get_or_init(compute).clone()
}

/// Hashes everything that is written to it.
struct Hashed(Sha256);

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The comment of every table, which shows whether a server holds these data.
pub fn table_comment(wire: Wire) -> String {
    format!("tolok data {}", &data_sha256(wire)[..12])
}

fn write_script(out: &mut dyn Write, purpose: Purpose, wire: Wire, comment: &str) -> io::Result<()> {
    match wire {
        Wire::Mysql => write_mysql_script(out, purpose, comment),
        Wire::Postgres => postgres::write_script(out, purpose, comment),
    }
}

fn write_mysql_script(out: &mut dyn Write, purpose: Purpose, comment: &str) -> io::Result<()> {
    out.write_all(HEAD.as_bytes())?;
    if purpose == Purpose::Private {
        writeln!(out, "CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;\nUSE {DATABASE};")?;
    }
    for table in Rows::ALL {
        write_table(out, table, comment)?;
        for first in (1..=table.count()).step_by(ROWS_A_STATEMENT as usize) {
            let last = table.count().min(first + ROWS_A_STATEMENT - 1);
            out.write_all(insert_rows(table, first, last).as_bytes())?;
        }
        out.write_all(b"COMMIT;\n")?;
    }
    write_fidelity(out, comment)?;
    writeln!(out, "CREATE TABLE fortune (\n  id INT PRIMARY KEY,\n  message VARCHAR(2048) NOT NULL")?;
    writeln!(out, ") {ENGINE} COMMENT='{comment}';")?;
    for (id, message) in (1..).zip(MESSAGES) {
        writeln!(out, "INSERT INTO fortune VALUES ({id},'{message}');")?;
    }
    writeln!(out, "CREATE TABLE stock (\n  amount INT NOT NULL,\n  id INT PRIMARY KEY")?;
    writeln!(out, ") {ENGINE} COMMENT='{comment}';")?;
    for statement in stock::inserts() {
        writeln!(out, "{statement}")?;
    }
    writeln!(out, "CREATE TABLE counter (\n  id INT PRIMARY KEY,\n  value BIGINT NOT NULL")?;
    writeln!(out, ") {ENGINE} COMMENT='{comment}';\nINSERT INTO counter VALUES (1,0);")?;
    if purpose == Purpose::Private {
        writeln!(out, "CREATE USER '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';")?;
        writeln!(out, "GRANT ALL PRIVILEGES ON {DATABASE}.* TO '{USER}'@'%';")?;
    }
    Ok(())
}

/// Creates the table and the view with dates as text, and begins the transaction that fills it.
fn write_table(out: &mut dyn Write, table: Rows, comment: &str) -> io::Result<()> {
    let name = table.name();
    writeln!(out, "CREATE TABLE {name} (")?;
    for column in table.columns() {
        let null = if column.nullable { "NULL" } else { "NOT NULL" };
        writeln!(out, "  {} {} {null},", column.name, column.sql_type)?;
    }
    writeln!(out, "  PRIMARY KEY (id)\n) {ENGINE} COMMENT='{comment}';")?;
    let selected: Vec<String> = table.columns().map(|column| format!("  {}", column.as_text())).collect();
    writeln!(out, "CREATE ALGORITHM=MERGE VIEW {name}_text AS SELECT\n{}\nFROM {name};", selected.join(",\n"))?;
    out.write_all(b"START TRANSACTION;\n")
}

fn insert_rows(table: Rows, first: u32, last: u32) -> String {
    let mut statement = format!("INSERT INTO {} VALUES", table.name());
    for key in first..=last {
        statement.push_str(if key == first { "\n" } else { ",\n" });
        for (index, (_, value)) in row(table, key).enumerate() {
            statement.push(if index == 0 { '(' } else { ',' });
            match value {
                Value::Null => statement.push_str("NULL"),
                Value::Whole(number) => write!(statement, "{number}").expect("writing to a string cannot fail"),
                Value::Text(text) => push_quoted(&mut statement, &text),
            }
        }
        statement.push(')');
    }
    statement + ";\n"
}

fn write_fidelity(out: &mut dyn Write, comment: &str) -> io::Result<()> {
    let columns = fidelity::columns(Wire::Mysql);
    writeln!(out, "CREATE TABLE fidelity (")?;
    for Column { name, sql_type, .. } in &columns {
        let null = if *name == "id" { "NOT NULL" } else { "NULL" };
        writeln!(out, "  {name} {sql_type} {null},")?;
    }
    writeln!(out, "  PRIMARY KEY (id)\n) {ENGINE} COMMENT='{comment}';\nSTART TRANSACTION;")?;
    for row in 0..ROW_COUNT {
        let literals: Vec<String> = columns.iter().map(|column| literal(&column.values[row])).collect();
        writeln!(out, "INSERT INTO fidelity VALUES ({});", literals.join(","))?;
    }
    out.write_all(b"COMMIT;\n")
}

fn literal(expected: &Expected) -> String {
    let mut literal = String::new();
    match expected {
        Expected::Null => literal.push_str("NULL"),
        Expected::Whole(digits) | Expected::Decimal(digits) => literal.push_str(digits),
        Expected::Flag(flag) => literal.push(if *flag { '1' } else { '0' }),
        Expected::Double(number) => literal = format!("{number:e}"),
        Expected::Float(number) => literal = format!("{number:e}"),
        Expected::Bytes([]) => literal.push_str("''"),
        Expected::Bytes(bytes) => {
            literal = bytes.iter().fold("0x".to_owned(), |hex, byte| hex + &format!("{byte:02X}"))
        }
        Expected::Day(text) | Expected::Moment(text) | Expected::Time(text) => push_quoted(&mut literal, text),
        Expected::Text(text) | Expected::Json(text) => push_quoted(&mut literal, text),
        Expected::Truth(_) | Expected::Instant(_) | Expected::Interval(_) | Expected::Array(..) => {
            unreachable!("only PostgreSQL's table has {expected:?}")
        }
    }
    literal
}

/// Appends a string for SQL: what would end it or act as an escape is escaped.
fn push_quoted(statement: &mut String, text: &str) {
    statement.push('\'');
    for character in text.chars() {
        match character {
            '\'' => statement.push_str("''"),
            '\\' => statement.push_str("\\\\"),
            '\0' => statement.push_str("\\0"),
            '\n' => statement.push_str("\\n"),
            other => statement.push(other),
        }
    }
    statement.push('\'');
}
