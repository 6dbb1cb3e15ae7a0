//! The data in a user's own server: loaded once, kept for later runs, without touching other data there.
//!
//! The account needs rights only on its one database. The comment of a table shows that it is ours, and the version of its
//! data. A view has no comment; the table that it is named after decides.

use super::client::Client;
use super::error::DatabaseError;
use super::load::Script;

/// The tables, in the order of the script: if the last one has its row, all are complete. PostgreSQL has no `fidelity`.
const TABLES: [&str; 6] = ["rows40", "rows50", "fidelity", "fortune", "stock", "counter"];
const POSTGRES_TABLES: [&str; 5] = ["rows40", "rows50", "fortune", "stock", "counter"];
/// Each belongs to the table named before the mark.
const VIEWS: [&str; 2] = ["rows40_text", "rows50_text"];
const VIEW_MARK: &str = "_text";
/// The prefix of our tables' comments.
const OURS: &str = "tolok data ";

/// An object in the database with one of our names.
struct Found {
    name: String,
    is_view: bool,
    comment: String,
}

/// Ensures that the database that `client` is logged in to has the data. Our tables are kept if their data are these, and
/// replaced otherwise. A table with one of our names that is not ours is an error.
///
/// `load` writes the statements that create and fill the tables. The comment of each table must be `tolok data ` and the first
/// 12 characters of `data_sha256`.
pub fn prepare_external(
    client: &mut Client,
    load: Script<'_>,
    data_sha256: &str,
    is_wanted: &dyn Fn() -> bool,
) -> Result<(), DatabaseError> {
    let found = found(client)?;
    if let Some(foreign) = found.iter().find(|one| !is_ours(one, &found)) {
        let question = if client.is_postgres() { "SELECT current_database()" } else { "SELECT DATABASE()" };
        let database = client.rows(question)?.into_iter().flatten().flatten().next().unwrap_or_default();
        return Err(DatabaseError::Foreign { database, table: foreign.name.clone() });
    }
    let wanted = format!("{OURS}{}", data_sha256.get(..12).unwrap_or(data_sha256));
    let here = |name: &&str| found.iter().any(|one| one.name == **name && (one.is_view || one.comment == wanted));
    let is_all_here = tables(client).iter().chain(&VIEWS).all(here);
    if is_all_here && client.rows("SELECT COUNT(*) FROM counter")? == [[Some("1".to_owned())]] {
        return Ok(());
    }
    // PostgreSQL does not drop a table that a view uses.
    for one in found.iter().filter(|one| one.is_view).chain(found.iter().filter(|one| !one.is_view)) {
        client.rows(&format!("DROP {} {}", if one.is_view { "VIEW" } else { "TABLE" }, one.name))?;
    }
    client.load(load, is_wanted)
}

fn tables(client: &Client) -> &'static [&'static str] {
    if client.is_postgres() { &POSTGRES_TABLES } else { &TABLES }
}

fn found(client: &mut Client) -> Result<Vec<Found>, DatabaseError> {
    let names: Vec<String> = tables(client).iter().chain(&VIEWS).map(|name| format!("'{name}'")).collect();
    let all = match client.is_postgres() {
        true => {
            "SELECT relname, CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, obj_description(oid, 'pg_class') FROM pg_class \
             WHERE relnamespace = current_schema()::regnamespace AND relname IN"
        }
        false => {
            "SELECT table_name, table_type, table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND \
             table_name IN"
        }
    };
    let rows = client.rows(&format!("{all} ({})", names.join(", ")))?;
    let read = |row: Vec<Option<String>>| {
        let mut fields = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || fields.next().unwrap_or_default();
        Found { name: next(), is_view: next() == "VIEW", comment: next() }
    };
    Ok(rows.into_iter().map(read).collect())
}

fn is_ours(one: &Found, found: &[Found]) -> bool {
    if !one.is_view {
        return one.comment.starts_with(OURS);
    }
    let table = one.name.strip_suffix(VIEW_MARK).unwrap_or_default();
    // A view is created right after its table. Without the table, nobody uses the view.
    found.iter().any(|other| other.name == table && !other.is_view && other.comment.starts_with(OURS))
}
