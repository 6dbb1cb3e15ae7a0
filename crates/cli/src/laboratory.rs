//! Opens the laboratory: the checkout, the toolbox and the installed programs.

use std::collections::{BTreeMap, BTreeSet};

use tolok_lab::data_contract::data_sha256;
use tolok_lab::database::DatabaseStore;
use tolok_lab::home::{Home, user_folder};
use tolok_lab::run::Laboratory;
use tolok_lab::subject::Builds;
use tolok_lab::toolbox::{Program, ProgramState, Toolbox};
use tolok_model::{Catalogue, Database, DatabaseAddress, Role, Subject, Wire};

use crate::bring::UserServers;
use crate::exit::{CliError, Exit};

/// Database programs; no subject lists them.
pub const DATABASES: [&str; 3] = ["mariadb", "mysql", "postgres"];

/// Programs that measure: load generators and timers; no subject lists them.
pub const TOOLS: [&str; 8] = ["k6", "wrk", "ab", "h2load", "hey", "oha", "hyperfine", "gnu_time"];

/// The laboratory, the toolbox, and the state of each program.
pub struct Lab {
    pub laboratory: Laboratory,
    pub toolbox: Toolbox,
    /// The state of each program that a subject needs.
    pub states: BTreeMap<String, ProgramState>,
}

impl Lab {
    /// Reads the catalogue and detects every program that a subject needs.
    pub fn open() -> Result<Self, CliError> {
        Self::open_with(&UserServers::default())
    }

    /// Like [`Self::open`], with the user's own subjects and servers.
    pub fn open_with(bring: &UserServers) -> Result<Self, CliError> {
        let home = Home::find()?;
        let mut catalogue = home.catalogue()?;
        bring.enter(&mut catalogue)?;
        let toolbox = Toolbox::open_default()?;
        let tolok = std::env::current_exe().map_err(|error| {
            CliError::new(Exit::Internal, format!("cannot find tolok's own program: {error}. Start it by its path"))
        })?;
        let states = detect(&toolbox, &catalogue)?;
        let builds = Builds::new(user_folder("XDG_CACHE_HOME", ".cache")?.join("builds"));
        let databases = DatabaseStore::of_the_user()?;
        let laboratory = Laboratory { home, catalogue, programs: BTreeMap::new(), builds, databases, tolok };
        let mut opened = Self { laboratory, toolbox, states };
        opened.take_ready();
        Ok(opened)
    }

    /// Detects programs again, after a fetch.
    pub fn look_again(&mut self) -> Result<(), CliError> {
        self.states = detect(&self.toolbox, &self.laboratory.catalogue)?;
        self.take_ready();
        Ok(())
    }

    /// Names of the programs that these subjects need, in any variant, and that are not ready.
    pub fn missing_for<'a>(&self, subjects: impl Iterator<Item = &'a Subject>) -> Vec<String> {
        let needed = subjects
            .flat_map(Subject::all_needs)
            .filter(|name| self.states.get(*name).is_none_or(|it| it.ready().is_none()));
        let names: BTreeSet<&str> = needed.collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Returns an error if a variant of a subject cannot run here, with a remedy.
    pub fn ready(&self, subject: &Subject, variant: &str) -> Result<(), String> {
        self.ready_for(subject, variant, None)
    }

    /// The same for workloads that use `database`, or for those that use none.
    pub fn ready_for(&self, subject: &Subject, variant: &str, database: Option<&Database>) -> Result<(), String> {
        let wire = database.map(wire_of);
        if let Some(wire) = wire.filter(|wire| !subject.asks(variant, *wire)) {
            return Err(format!("it has no driver for {}", wire.title()));
        }
        let reasons: Vec<String> = subject.needs_for(variant, wire).filter_map(|name| self.lack(name)).collect();
        if reasons.is_empty() { Ok(()) } else { Err(reasons.join("; ")) }
    }

    /// Returns an error if a database is not available here, with a remedy. For one that already runs, it checks that the address
    /// is known, not that the server responds.
    pub fn database_ready(&self, database: &Database) -> Result<(), String> {
        match database.engine.program() {
            Some(name) => match (self.lack(name), self.laboratory.programs.get(name)) {
                (Some(lack), _) => Err(lack),
                (None, Some(program)) => self.store_ready(database, program),
                (None, None) => Ok(()),
            },
            // A server that already runs needs only a client, and any will do.
            None => {
                let clients: &[&str] = match wire_of(database) {
                    Wire::Mysql => &["mariadb", "mysql"],
                    Wire::Postgres => &["postgres"],
                };
                let lacks: Vec<String> = clients.iter().filter_map(|name| self.lack(name)).collect();
                if lacks.len() == clients.len() {
                    return Err(lacks[0].clone());
                }
                let written = database.dsn.as_deref().unwrap_or_default();
                let address = DatabaseAddress::read(written, &|name| std::env::var(name).ok());
                address.map(drop).map_err(|error| format!("the database's address: {error}"))
            }
        }
    }

    /// Returns an error if this account can neither use nor make the cached template of this database.
    fn store_ready(&self, database: &Database, program: &Program) -> Result<(), String> {
        let data = || data_sha256(wire_of(database));
        self.laboratory.databases.check(database.engine, program, &data).map_err(|error| error.to_string())
    }

    /// Returns an error if a tool of the toolbox cannot be used here, with a remedy.
    pub fn tool_ready(&self, name: &str) -> Result<(), String> {
        self.lack(name).map_or(Ok(()), Err)
    }

    fn lack(&self, name: &str) -> Option<String> {
        lack_of(name, self.states.get(name))
    }

    /// Competing subjects, sorted by name.
    pub fn competitors(&self) -> impl Iterator<Item = &Subject> {
        self.laboratory.catalogue.subjects.iter().filter(|subject| subject.role == Role::Subject)
    }

    fn take_ready(&mut self) {
        let ready = self.states.iter().filter_map(|(name, state)| Some((name.clone(), state.ready()?.clone())));
        self.laboratory.programs = ready.collect();
    }
}

/// The protocol of a database; its address may come from the environment.
pub fn wire_of(database: &Database) -> Wire {
    database.wire(&|name| std::env::var(name).ok())
}

/// Why a program cannot be used, with a remedy.
fn lack_of(name: &str, state: Option<&ProgramState>) -> Option<String> {
    match state {
        Some(ProgramState::Ready(_)) => None,
        // `tolok doctor` gives the exact reason; in a report, one sentence must do.
        Some(ProgramState::Missing { remedy, .. }) => Some(format!("{name} is missing: {remedy}")),
        Some(ProgramState::Broken { remedy, .. }) => Some(format!("{name} does not work: {remedy}")),
        None => Some(format!("{name} is not a program that tolok knows")),
    }
}

fn detect(toolbox: &Toolbox, catalogue: &Catalogue) -> Result<BTreeMap<String, ProgramState>, CliError> {
    let needed = catalogue.subjects.iter().flat_map(Subject::all_needs);
    let names: BTreeSet<&str> = needed.chain(DATABASES).chain(TOOLS).collect();
    let names: Vec<&str> = names.into_iter().collect();
    Ok(toolbox.detect_some(&names)?)
}
