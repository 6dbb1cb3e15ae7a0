//! The data in a user's own server: loaded once, kept for later runs, without touching other data there.
//!
//! The account needs rights only on its one database. The comment of a table shows that it is ours, and the version of its
//! data. A view has no comment; the table that it is named after decides.

use super::client::Client;
use super::error::DatabaseError;
use super::load::Script;

/// The tables, in the order of the script: if the last one has its row, all are complete.
const TABLES: [&str; 6] = ["rows40", "rows50", "fidelity", "fortune", "stock", "counter"];
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
        let database =
            client.rows(client.dialect.database())?.into_iter().flatten().flatten().next().unwrap_or_default();
        return Err(DatabaseError::Foreign { database, table: foreign.name.clone() });
    }
    let wanted = format!("{OURS}{}", data_sha256.get(..12).unwrap_or(data_sha256));
    let here = |name: &&str| found.iter().any(|one| one.name == **name && (one.is_view || one.comment == wanted));
    let is_all_here = TABLES.iter().chain(&VIEWS).all(here);
    if is_all_here && client.rows("SELECT COUNT(*) FROM counter")? == [[Some("1".to_owned())]] {
        return Ok(());
    }
    // PostgreSQL does not drop a table that a view uses.
    for one in found.iter().filter(|one| one.is_view).chain(found.iter().filter(|one| !one.is_view)) {
        let name = &one.name;
        let statement = if one.is_view { format!("DROP VIEW {name}") } else { client.dialect.drop_table(name) };
        client.rows(&statement)?;
    }
    client.load(load, is_wanted)
}

fn found(client: &mut Client) -> Result<Vec<Found>, DatabaseError> {
    let rows = client.rows(&client.dialect.tables(&[&TABLES[..], &VIEWS].concat()))?;
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
