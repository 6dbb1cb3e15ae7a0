//! Every workload of every subject and variant responds as the contract requires, and refuses what it should.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use tolok_host::machine::Machine;
use tolok_lab::data_contract::{Purpose, load_script};
use tolok_lab::database::DatabaseStore;
use tolok_lab::home::{Home, user_folder};
use tolok_lab::run::{
    Capabilities, Conformance, Laboratory, Prepared, ServeError, Session, check_conformance, prepare_database,
};
use tolok_lab::subject::Builds;
use tolok_lab::toolbox::Toolbox;
use tolok_model::{CpuMap, Database, Engine, Protocol, Role, Subject, SubjectChoice, Wire};
use tolok_testkit::require;

use crate::place::{Place, TOLOK, repository, shared_turn};

/// A database, and its data.
pub type Asked = (Database, Prepared);

pub fn laboratory() -> Laboratory {
    let home = Home::at(repository());
    let catalogue = home.catalogue().unwrap();
    let states = Toolbox::open_default().unwrap().detect_all();
    let programs: BTreeMap<_, _> =
        states.into_iter().filter_map(|(name, state)| Some((name, state.ready()?.clone()))).collect();
    let builds = Builds::new(user_folder("XDG_CACHE_HOME", ".cache").unwrap().join("builds"));
    let databases = DatabaseStore::of_the_user().unwrap();
    Laboratory { home, catalogue, programs, builds, databases, tolok: PathBuf::from(TOLOK) }
}

/// The databases that are available here. A subject's responses must not depend on which one it is.
pub fn databases(laboratory: &Laboratory) -> Vec<Asked> {
    let mut found = Vec::new();
    for engine in [Engine::Mariadb, Engine::Mysql, Engine::Postgres] {
        let name = engine.program().unwrap();
        if laboratory.programs.contains_key(name) {
            let database = Database { engine, ..Database::default() };
            let prepared = prepare_database(laboratory, &database, &mut || {}, &|| true).unwrap();
            found.push((database, prepared));
        }
    }
    found
}

/// Checks a variant over a protocol; with a database, also the workloads that use one.
pub fn check_variant(
    session: &Session<'_>,
    choice: &SubjectChoice,
    protocol: Protocol,
    database: Option<&Asked>,
) -> Result<Conformance, ServeError> {
    check_conformance(session, choice, protocol, database.map(|(database, prepared)| (database, prepared)))
}

/// Checks what needs no database, and the rest with each database in turn.
fn check_choice(session: &Session<'_>, choice: &SubjectChoice, databases: &[Asked]) {
    let subject = session.laboratory.catalogue.subject(&choice.subject).unwrap();
    let served = subject.workloads(&choice.variant);
    let asks_a_database = |name: &&String| session.laboratory.catalogue.workload(name).unwrap().database;
    let (with, without): (Vec<&String>, Vec<&String>) = served.iter().partition(asks_a_database);
    let check = |protocol: Protocol, database: Option<&Asked>| {
        let found = check_variant(session, choice, protocol, database);
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", choice.label));
        let wrong: Vec<String> = found.differences.into_iter().chain(found.advice).collect();
        assert_eq!(wrong, Vec::<String>::new(), "{} over {}", choice.label, protocol.word());
        found.workloads
    };
    if !without.is_empty() {
        for protocol in subject.protocols(&choice.variant) {
            let checked = check(*protocol, None);
            assert_eq!(checked.iter().collect::<Vec<_>>(), without, "{}: every workload was checked", choice.label);
        }
    }
    let lacks: Vec<&str> = subject
        .needs_for_any(&choice.variant)
        .filter(|name| !session.laboratory.programs.contains_key(*name))
        .collect();
    if with.is_empty() || databases.is_empty() || !lacks.is_empty() {
        require!(with.is_empty(), "{} with a database: {} is missing", choice.label, lacks.join(", "));
        return;
    }
    for database in databases {
        let wire = database.0.engine.wire().unwrap();
        if !subject.asks(&choice.variant, wire) {
            continue;
        }
        let checked = check(Protocol::Http1, Some(database));
        assert!(checked.iter().eq(served), "{}: every workload was checked: {checked:?}", choice.label);
    }
}

/// One CPU for the subject, a different one each time, because two of these tests run at once.
fn deal(cpus: &[u32]) -> CpuMap {
    static TESTS: AtomicUsize = AtomicUsize::new(0);
    let own = cpus[TESTS.fetch_add(1, Ordering::Relaxed) % cpus.len()];
    let others: Vec<u32> = cpus.iter().copied().filter(|cpu| *cpu != own).collect();
    let shared = others.is_empty();
    CpuMap { subject: vec![own], generator: if shared { vec![own] } else { others }, shared, ..CpuMap::default() }
}

/// Folders with their own test, because they have many variants or use a database.
const OWN_TESTS: [&str; 7] = ["apache", "bun", "go", "nginx", "node", "php", "rust"];

fn check(runtime_folder: &str) {
    assert!(OWN_TESTS.contains(&runtime_folder), "`others` would check it a second time");
    check_all(|folder| folder == runtime_folder);
}

/// Checks every variant of the subjects in the selected folders.
fn check_all(is_meant: impl Fn(&str) -> bool) {
    // Other work does not affect whether responses are right, and these tests use different subjects, so they may run side by side.
    let _turn = shared_turn();
    let laboratory = laboratory();
    let databases = databases(&laboratory);
    in_session(&laboratory, |session| check_each(session, &is_meant, &databases));
}

/// Does something in a session that can start subjects.
pub fn in_session<T>(laboratory: &Laboratory, work: impl FnOnce(&Session<'_>) -> T) -> T {
    let cpus = deal(&Machine::read().allowed_cpus);
    let capabilities = Capabilities::prepare();
    let all = laboratory.catalogue.workloads.iter();
    let workloads: Vec<_> = all.map(|it| laboratory.catalogue.choose_workload(&it.name).unwrap()).collect();
    work(&Session::begin(laboratory, &capabilities, [(String::new(), cpus)].into(), &workloads).unwrap())
}

fn check_each(session: &Session<'_>, is_meant: &dyn Fn(&str) -> bool, databases: &[Asked]) {
    let laboratory = session.laboratory;
    // Frameworks have their own page and test.
    let is_server = |it: &&Subject| it.program.is_none() && it.role != Role::Framework;
    let servers = laboratory.catalogue.subjects.iter().filter(is_server);
    for subject in servers.filter(|it| is_meant(it.id.split('/').next().unwrap())) {
        for variant in subject.variants.keys() {
            let missing: Vec<&str> =
                subject.needs(variant).filter(|name| !laboratory.programs.contains_key(*name)).collect();
            if !missing.is_empty() {
                let test = format!("conformance of {}:{variant}", subject.id);
                tolok_testkit::skip(&test, &format!("{} is not on this machine", missing.join(", ")));
                continue;
            }
            let choice = subject.choose(Some(variant), &BTreeMap::new()).unwrap();
            check_choice(session, &choice, databases);
        }
    }
}

#[test]
fn apache() {
    check("apache");
}

#[test]
fn bun() {
    check("bun");
}

#[test]
fn go() {
    check("go");
}

#[test]
fn nginx() {
    check("nginx");
}

#[test]
fn node() {
    check("node");
}

#[test]
fn php() {
    check("php");
}

#[test]
fn ceiling() {
    check("rust");
}

/// A new subject needs no entry here.
#[test]
fn others() {
    check_all(|folder| !OWN_TESTS.contains(&folder));
}

/// The Python subject, which cheats in the way that its last argument names.
const CHEATS: &str = "import gzip, html, json, sys, urllib.parse, honest
host, port, rows, how = sys.argv[1:]
kept, digest, rows = {}, honest.upload, json.load(open(rows))
values = lambda query: dict(urllib.parse.parse_qsl(query))
class Handler(honest.Handler):
    def do_GET(self):
        path, _, query = self.path.partition('?')
        if path == '/crud': return crud(self)
        if path != '/compressed' or 'gzip' not in self.headers.get('Accept-Encoding', ''): return super().do_GET()
        if how == 'plain': return self.answer(*honest.items(query))
        key = query.partition('&')[0] if how == 'kept' else query
        if key not in kept: kept[key] = gzip.compress(honest.items(query)[2], 0 if how == 'stored' else 6)
        self.answer(200, 'application/json', kept[key], [('Content-Encoding', 'gzip')])
    def do_PUT(self): crud(self)
    def do_POST(self):
        path, _, query = self.path.partition('?')
        if path != '/updates': return super().do_POST()
        self.answer(*updates(values(query)))
def items(query):
    key = query.partition('&')[0]
    if key not in kept: kept[key] = honest.items(query)
    return kept[key]
def react(query):
    entries = ''.join('<li>' + item['name'] + '</li>' for item in json.loads(honest.items(query)[2]))
    return 200, 'text/html', f'<!DOCTYPE html><html><body><ul>{entries}</ul></body></html>'.encode()
def crud(self):
    path, _, query = self.path.partition('?')
    id = int(values(query)['id'])
    if self.command == 'PUT':
        sent = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        if how == 'kept': kept[id] = sent['amount']
        return self.answer(*honest.as_json({'amount': sent['amount'], 'id': id}))
    self.answer(*honest.as_json({'amount': kept.get(id, 100000000 + id * 7919), 'id': id}))
def fortunes(query):
    escape = html.escape if how == 'kept' else lambda text: text
    found = sorted([*rows, [0, values(query).get('add', '')]], key=lambda row: row[1])
    cells = ''.join(f'<tr><td>{id}</td><td>{escape(message)}</td></tr>' for id, message in found)
    page = f'<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>{cells}</table></body></html>'
    return 200, 'text/html', page.encode()
def updates(query):
    count, x, keys = int(query['n']), int(query['seed']), set()
    for _ in range(count):
        x = x * 16807 % 2147483647
        keys.add(1 + x % 10000)
    for id in keys: kept[id] = kept.get(id, 100000000 + id * 7919) + 1
    return honest.as_json([{'amount': kept[id], 'id': id} for id in sorted(keys)])
honest.READS.update({'/items': items, '/fortunes': fortunes, '/react-ssr': react})
honest.WRITES['/upload'] = lambda sent: digest(b'')
honest.Server((host, int(port)), Handler).serve_forever()
";

/// The findings of `tolok check` about such a server: a line for each wrong response.
fn caught(workload: &str, how: &str) -> Vec<String> {
    let text = format!(
        "title = 'Cheats'\nruntime = 'python'\nneeds = ['python']\nworkloads = ['hello', '{workload}']\n[[process]]\nname = 'server'\n\
         command = ['{{{{ program.python.path }}}}', '{{{{ subject }}}}/server.py', '{{{{ host }}}}', '{{{{ port }}}}', \
         '{{{{ subject }}}}/rows.json', '{how}']\n"
    );
    let place = Place::new().with_subject("cheats", &text);
    let folder = place.path().join("subjects/test/cheats");
    fs::write(folder.join("server.py"), CHEATS).unwrap();
    fs::write(folder.join("rows.json"), serde_json::to_string(&fortunes()).unwrap()).unwrap();
    fs::copy(repository().join("subjects/python/http/server.py"), folder.join("honest.py")).unwrap();
    let checked = place.tolok(&["check", "test/cheats"]);
    assert_eq!(checked.code, Some(5), "{}{}", checked.output, checked.progress);
    checked.output.lines().skip(1).map(str::to_owned).collect()
}

/// The rows of the table, as a cheater could copy them.
fn fortunes() -> Vec<(u32, String)> {
    let mut script = Vec::new();
    load_script(&mut script, Purpose::Private, Wire::Mysql).unwrap();
    let row = |line: &str| {
        let (id, message) = line.strip_prefix("INSERT INTO fortune VALUES (")?.strip_suffix("');")?.split_once(",'")?;
        Some((id.parse().unwrap(), message.to_owned()))
    };
    String::from_utf8(script).unwrap().lines().filter_map(row).collect()
}

#[test]
fn servers_that_keep_answers_or_ignore_parameters_are_caught() {
    let is_here = |program: &str| Toolbox::open_default().unwrap().detect(program).unwrap().ready().is_some();
    require!(is_here("python"), "servers that cheat: no Python");
    let _turn = shared_turn();
    let check = |workload: &str, how: &str, begins: &str, has: &str| {
        let told = caught(workload, how);
        assert!(told.iter().any(|line| line.starts_with(begins) && line.contains(has)), "{told:#?}");
    };
    check("items", "kept", "  GET /items?n=", ", so it comes from a cache");
    check("compressed", "plain", "  GET /compressed?n=", ": content encoding none instead of gzip");
    check("compressed", "stored", "  GET /compressed?n=", ", more than half of the ");
    check("compressed", "kept", "  GET /compressed?n=", ", so it comes from a cache");
    check("react-ssr", "template", "  GET /react-ssr?n=", ", different from byte 22 on: ");
    check("upload", "kept", "  POST /upload with ", "so it does not follow from the body");
    require!(is_here("mariadb"), "servers that cheat with a database: no MariaDB");
    check("fortunes", "bare", "  GET /fortunes?add=", ": \"lt; was escaped once");
    check("fortunes", "kept", "  after `UPDATE fortune SET message = ", "`, GET /fortunes?add=");
    check("crud", "kept", "  GET /crud?id=", ": field `amount`: ");
    check("updates", "kept", "  POST /updates?n=", " of the table `stock` holds ");
}
