//! Opens the laboratory: the checkout, the toolbox and the programs that are ready.

use std::collections::{BTreeMap, BTreeSet};

use tolok_lab::database::DatabaseStore;
use tolok_lab::home::{Home, user_folder};
use tolok_lab::run::Laboratory;
use tolok_lab::subject::Builds;
use tolok_lab::toolbox::{ProgramState, Toolbox};
use tolok_model::{Catalogue, Database, DatabaseAddress, Role, Subject, Wire};

use crate::bring::UserServers;
use crate::exit::{CliError, Exit};

/// Programs that are databases; no subject names them.
pub const DATABASES: [&str; 3] = ["mariadb", "mysql", "postgres"];

/// Programs that measure: load generators, and timers of programs; no subject names them.
pub const TOOLS: [&str; 8] = ["k6", "wrk", "ab", "h2load", "hey", "oha", "hyperfine", "gnu_time"];

/// The toolbox and what was found of each program.
pub struct Lab {
    pub laboratory: Laboratory,
    pub toolbox: Toolbox,
    /// What was found of each program that a subject needs.
    pub states: BTreeMap<String, ProgramState>,
}

impl Lab {
    /// Reads the catalogue and looks for every program that a subject needs.
    pub fn open() -> Result<Self, CliError> {
        Self::open_with(&UserServers::default())
    }

    /// The same with what was brought beside what there is.
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

    /// Looks again, after something was fetched.
    pub fn look_again(&mut self) -> Result<(), CliError> {
        self.states = detect(&self.toolbox, &self.laboratory.catalogue)?;
        self.take_ready();
        Ok(())
    }

    /// Names of the programs that these subjects need, in any of their variants, and that are not ready.
    pub fn missing_for<'a>(&self, subjects: impl Iterator<Item = &'a Subject>) -> Vec<String> {
        let needed = subjects
            .flat_map(Subject::all_needs)
            .filter(|name| self.states.get(*name).is_none_or(|it| it.ready().is_none()));
        let names: BTreeSet<&str> = needed.collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Why a variant of a subject cannot be run here, with what would help.
    pub fn ready(&self, subject: &Subject, variant: &str) -> Result<(), String> {
        self.ready_for(subject, variant, None)
    }

    /// The same for workloads that use a `database`, or for those that do not.
    pub fn ready_for(&self, subject: &Subject, variant: &str, database: Option<&Database>) -> Result<(), String> {
        let wire = database.map(wire_of);
        if let Some(wire) = wire.filter(|wire| !subject.asks(variant, *wire)) {
            return Err(format!("it has no driver for {}", wire.title()));
        }
        let reasons: Vec<String> = subject.needs_for(variant, wire).filter_map(|name| self.lack(name)).collect();
        if reasons.is_empty() { Ok(()) } else { Err(reasons.join("; ")) }
    }

    /// Why a database cannot be had here, with what would help. Whether one that is there already answers is another question;
    /// that its address is known is not.
    pub fn database_ready(&self, database: &Database) -> Result<(), String> {
        match database.engine.program() {
            Some(program) => self.lack(program).map_or(Ok(()), Err),
            // Of a server that is there already only the client is needed, and any will do.
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

    /// Why a tool of the toolbox cannot be used here, with what would help.
    pub fn tool_ready(&self, name: &str) -> Result<(), String> {
        self.lack(name).map_or(Ok(()), Err)
    }

    fn lack(&self, name: &str) -> Option<String> {
        lack_of(name, self.states.get(name))
    }

    /// Subjects that compete, in the order of their names.
    pub fn competitors(&self) -> impl Iterator<Item = &Subject> {
        self.laboratory.catalogue.subjects.iter().filter(|subject| subject.role == Role::Subject)
    }

    fn take_ready(&mut self) {
        let ready = self.states.iter().filter_map(|(name, state)| Some((name.clone(), state.ready()?.clone())));
        self.laboratory.programs = ready.collect();
    }
}

/// What a database speaks, its address looked up in the environment.
pub fn wire_of(database: &Database) -> Wire {
    database.wire(&|name| std::env::var(name).ok())
}

/// Why a program cannot be used, with what would help.
fn lack_of(name: &str, state: Option<&ProgramState>) -> Option<String> {
    match state {
        Some(ProgramState::Ready(_)) => None,
        // Why exactly is a matter for `tolok doctor`; in a report one sentence must do.
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
