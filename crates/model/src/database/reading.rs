//! Turns a written `database` into the databases of a study's environments, one for each combination of listed values.

use crate::database::address::DatabaseAddress;
use crate::database::file::{DatabaseFile, OutageFile};
use crate::database::{Database, Engine, Outage};
use crate::environment::Link;
use crate::environment::file::LinkFile;
use crate::environment::reading::{Choice, choices, crossed, read_links, times};
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Reading, Span};
use crate::units::{Bytes, Seconds, bytes_words};

/// MariaDB raises smaller values to this one, and reports that only in its log.
const FEWEST_CONNECTIONS: u32 = 10;
/// The most that MariaDB and MySQL accept.
const MOST_CONNECTIONS: u32 = 100_000;
/// The least that InnoDB needs with its default page size.
const SMALLEST_BUFFER_POOL: u64 = 5 << 20;

/// A study's database.
#[derive(Debug)]
pub(crate) struct WrittenDatabase {
    pub span: Span,
    /// Whether it names an existing server.
    pub is_external: bool,
    /// Where in the text an outage is defined, and the outage.
    pub outage: Option<(Span, Outage)>,
    /// Every combination of its listed values.
    pub choices: Vec<Choice<Database>>,
}

/// Reads every key, even after an error in one.
pub(crate) fn read_database(file: Table<DatabaseFile>, reading: &mut Reading) -> WrittenDatabase {
    let Table { span, entries: file } = file;
    if file.dsn.is_some() {
        refuse_what_is_not_ours(&file, reading);
    }
    let DatabaseFile { engine, dsn, pool, rtt, link, cpus, memory, max_connections, buffer_pool, outage } = file;
    let usual = Database::default();
    let is_external = dsn.is_some();
    let dsn = dsn.map(|dsn| read_dsn(dsn, reading));
    let cpus = cpus.map(|cpus| reading.at_least_one(&cpus, "cpus"));
    let max_connections = max_connections.map_or(usual.max_connections, |most| read_most(&most, reading));
    let buffer_pool_bytes = buffer_pool.map_or(usual.buffer_pool_bytes, |bytes| read_buffer_pool(&bytes, reading));
    let accepted = if is_external { MOST_CONNECTIONS } else { max_connections };
    let pools = choices(
        pool,
        usual.pool,
        |pool, reading| read_pool(&pool, accepted, reading),
        |pool| format!("pool{pool}"),
        reading,
    );
    let links = read_database_links(rtt, link, reading).into_iter();
    let named = |link: Choice<Link>| Choice { word: link.word.map(|word| format!("db-{word}")), ..link };
    let links: Vec<Choice<Link>> = links.map(named).collect();
    let outage = outage.and_then(|outage| read_outage(outage, reading));
    let usual_engine = if is_external { Engine::External } else { usual.engine };
    let engine = engine.filter(|_| !is_external).map(Spanned::into_inner);
    let engines = choices(
        engine,
        usual_engine,
        |word, _| Some(word.into_inner().into()),
        |engine: &Engine| engine.program().unwrap_or_default().to_owned(),
        reading,
    );
    let base = Database {
        dsn,
        cpus,
        memory_bytes: memory.map(|memory| memory.get_ref().0),
        max_connections,
        buffer_pool_bytes,
        outage: outage.as_ref().map(|(_, outage)| *outage),
        ..usual
    };
    let ways = crossed(&pools, &links, |pool, link| (pool, link));
    let choices = crossed(&engines, &ways, |engine, (pool, link)| Database { engine, pool, link, ..base.clone() });
    WrittenDatabase { span, is_external, outage, choices }
}

/// Refuses settings of an external server: the lab must not limit, move or kill what it did not start.
fn refuse_what_is_not_ours(file: &DatabaseFile, reading: &mut Reading) {
    let keys = [
        ("engine", Spanned::place(&file.engine)),
        ("rtt", Spanned::place(&file.rtt)),
        ("link", Spanned::place(&file.link)),
        ("cpus", Spanned::place(&file.cpus)),
        ("memory", Spanned::place(&file.memory)),
        ("max-connections", Spanned::place(&file.max_connections)),
        ("buffer-pool", Spanned::place(&file.buffer_pool)),
        ("outage", file.outage.as_ref().map(|outage| outage.span.clone())),
    ];
    for (key, span) in keys {
        let Some(span) = span else { continue };
        let message =
            format!("`{key}` is for a database that the lab starts itself, and `dsn` names one that is there");
        reading.note(span, message, format!("leave out `{key}` or `dsn`"));
    }
}

/// Messages omit the DSN's text, because it may hold a password.
fn read_dsn(dsn: Spanned<String>, reading: &mut Reading) -> String {
    let help = "for example: dsn = \"mysql://user:password@host:3306/name\" or the same with postgres://, or dsn = \"env:NAME\" for a variable that holds it";
    let wrong = match dsn.get_ref().strip_prefix("env:") {
        Some(name) if is_variable(name) => None,
        Some(_) => Some("there is no variable of that name".to_owned()),
        None => DatabaseAddress::parse(dsn.get_ref()).err().map(|error| error.to_string()),
    };
    if let Some(wrong) = wrong {
        reading.note(dsn.span(), format!("this is not the address of a database: {wrong}"), help.to_owned());
    }
    dsn.into_inner()
}

fn is_variable(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_letter) && name.starts_with(|letter: char| !letter.is_ascii_digit())
}

fn read_most(most: &Spanned<u32>, reading: &mut Reading) -> u32 {
    if !(FEWEST_CONNECTIONS..=MOST_CONNECTIONS).contains(most.get_ref()) {
        reading.note(most.span(), "`max-connections` must be from 10 to 100,000", None);
    }
    *most.get_ref()
}

fn read_buffer_pool(bytes: &Spanned<Bytes>, reading: &mut Reading) -> u64 {
    let Bytes(size) = *bytes.get_ref();
    if size < SMALLEST_BUFFER_POOL {
        let message = format!("`buffer-pool` must be at least {}", bytes_words(SMALLEST_BUFFER_POOL));
        reading.note(bytes.span(), message, None);
    }
    size
}

fn read_pool(pool: &Spanned<u32>, accepted: u32, reading: &mut Reading) -> Option<u32> {
    let connections = *pool.get_ref();
    if connections == 0 {
        reading.note(pool.span(), "a pool needs at least one connection", None);
        return None;
    }
    if connections > MOST_CONNECTIONS {
        reading.note(pool.span(), "at most 100,000 connections are possible", None);
    } else if connections > accepted {
        let message = format!("the database accepts {accepted} connections, fewer than this pool may open");
        reading.note(pool.span(), message, format!("for example: max-connections = {connections}"));
    }
    Some(connections)
}

/// Most studies need only a round-trip time, so it has its own key.
fn read_database_links(
    rtt: Option<Spanned<Several<Seconds>>>,
    link: Option<Spanned<Several<LinkFile>>>,
    reading: &mut Reading,
) -> Vec<Choice<Link>> {
    if let Some(rtt) = rtt.as_ref().filter(|_| link.is_some()) {
        let help = "write it as a part of `link`: link = { rtt = \"20ms\", rate = \"1Gbit/s\" }";
        reading.note(rtt.span(), "`rtt` and `link` both describe the way to the database", help);
    }
    let has_rtt = rtt.is_some();
    let rtts = times("rtt", rtt.map(Spanned::into_inner), 0.0, reading);
    if has_rtt && link.is_none() {
        let of = |rtt: Choice<f64>| Choice { value: Link { rtt_s: rtt.value, ..Link::default() }, word: rtt.word };
        return rtts.into_iter().map(of).collect();
    }
    read_links(link, reading)
}

fn read_outage(outage: Table<OutageFile>, reading: &mut Reading) -> Option<(Span, Outage)> {
    let Table { span, entries: outage } = outage;
    let at = reading.require(outage.at, &span, "at", "at = \"2s\"");
    let duration = reading.require(outage.duration, &span, "for", "for = \"1s\"");
    let (at_s, for_s) = (at.map(|at| reading.positive(&at, "at")), duration.map(|time| reading.positive(&time, "for")));
    Some((span, Outage { at_s: at_s?, for_s: for_s? }))
}
