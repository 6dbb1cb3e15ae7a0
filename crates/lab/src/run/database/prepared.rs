//! The databases of a run, prepared once, before its first trial.

use std::io::Write;

use serde::{Deserialize, Serialize};
use tolok_model::{Case, Database, DatabaseAddress, Engine, Failure, FailureKind, Plan, Wire};

use crate::data_contract::{self as data, Purpose};
use crate::database::{Client, DatabaseError, Target, Template, prepare_external};
use crate::run::database::login::LOGIN_LIMIT;
use crate::run::session::Laboratory;
use crate::subject::DatabaseNames;
use crate::toolbox::Program;

/// A database that trials can use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Prepared {
    pub(in crate::run) kind: Kind,
    /// The program whose client the lab logs in with.
    pub(in crate::run) program: Program,
}

/// Who runs the server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::run) enum Kind {
    /// Our own for each trial, from data that are already loaded.
    Private(Template),
    /// A user's, which contains our tables.
    External(DatabaseAddress),
}

/// Whether one preparation serves both.
pub(in crate::run) fn same(one: &Database, other: &Database) -> bool {
    (one.engine, &one.dsn) == (other.engine, &other.dsn)
}

/// The database of a case's trials, if they have one.
pub(in crate::run) fn database_of<'a>(plan: &'a Plan, case: &Case) -> Option<&'a Database> {
    let scenario = plan.scenario(&case.scenario).filter(|scenario| scenario.database)?;
    plan.environment(scenario)?.database.as_ref()
}

/// Loads the data of a private server, or ensures that a user's server has the tables. Calls `begins` if that will take a while.
pub fn prepare_database(
    laboratory: &Laboratory,
    database: &Database,
    begins: &mut dyn FnMut(),
    is_wanted: &dyn Fn() -> bool,
) -> Result<Prepared, Failure> {
    let wire = database.wire(&|name| std::env::var(name).ok());
    let program = client_program(laboratory, database.engine, wire)?.clone();
    let prepared = match database.engine {
        Engine::External => {
            let written = database.dsn.as_deref().unwrap_or_default();
            let address = DatabaseAddress::read(written, &|name| std::env::var(name).ok());
            let address = address.map_err(|error| failure(&format!("the database's address: {error}")))?;
            external(&program, address, is_wanted)
        }
        engine => {
            let load = |out: &mut dyn Write| data::load_script(out, Purpose::Private, wire);
            let sha256 = data::data_sha256(wire);
            let template = laboratory.databases.template(engine, &program, &load, &sha256, begins, is_wanted);
            template.map(Kind::Private)
        }
    };
    let failed = |error: DatabaseError| Failure { log_tail: error.tail().to_vec(), ..failure(&error.to_string()) };
    prepared.map(|kind| Prepared { kind, program }).map_err(failed)
}

fn external(program: &Program, address: DatabaseAddress, is_wanted: &dyn Fn() -> bool) -> Result<Kind, DatabaseError> {
    let mut client = Client::login(program, &Target::Network(address.clone()), LOGIN_LIMIT, is_wanted)?;
    let load = |out: &mut dyn Write| data::load_script(out, Purpose::External, address.wire);
    prepare_external(&mut client, &load, &data::data_sha256(address.wire), is_wanted)?;
    Ok(Kind::External(address))
}

/// The server's own program; for a user's server, any client that is installed.
fn client_program(laboratory: &Laboratory, engine: Engine, wire: Wire) -> Result<&Program, Failure> {
    let names: &[&str] = match engine {
        Engine::Mariadb => &["mariadb"],
        Engine::Mysql => &["mysql"],
        Engine::Postgres => &["postgres"],
        Engine::External if wire == Wire::Postgres => &["postgres"],
        Engine::External => &["mariadb", "mysql"],
    };
    let found = names.iter().find_map(|name| laboratory.programs.get(*name));
    found.ok_or_else(|| failure(&format!("{0} is missing; to fetch it: tolok setup {0}", names[0])))
}

fn failure(message: &str) -> Failure {
    Failure { reason: FailureKind::DatabaseFailed, message: message.to_owned(), log_tail: Vec::new() }
}

impl Prepared {
    /// Its wire protocol.
    pub(in crate::run) fn wire(&self) -> Wire {
        match &self.kind {
            Kind::External(address) => address.wire,
            Kind::Private(_) if self.program.name == "postgres" => Wire::Postgres,
            Kind::Private(_) => Wire::Mysql,
        }
    }

    /// The login for subjects. A user's server has its own password; a private server has its trial's.
    pub(in crate::run) fn names(&self, pool: u32, (host, port): (String, u16), password: String) -> DatabaseNames {
        let engine = self.wire().word().to_owned();
        match &self.kind {
            Kind::Private(_) => {
                let [name, user] = [data::DATABASE, data::USER].map(str::to_owned);
                DatabaseNames { engine, host, port, name, user, password, pool }
            }
            Kind::External(DatabaseAddress { host, port, name, user, password, .. }) => {
                let [host, name, user, password] = [host, name, user, password].map(String::clone);
                DatabaseNames { engine, host, port: *port, name, user, password, pool }
            }
        }
    }
}
