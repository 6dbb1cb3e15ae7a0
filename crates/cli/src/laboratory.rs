//! Opens the laboratory: the checkout, the toolbox and the programs that are ready.

use std::collections::{BTreeMap, BTreeSet};

use tolok_lab::home::{Home, user_folder};
use tolok_lab::run::Laboratory;
use tolok_lab::subject::Builds;
use tolok_lab::toolbox::{ProgramState, Toolbox};
use tolok_model::{Catalogue, Role, Subject};

use crate::exit::{Complaint, Exit};

/// The toolbox and what was found of each program.
pub struct Opened {
    /// The laboratory.
    pub laboratory: Laboratory,
    /// The toolbox.
    pub toolbox: Toolbox,
    /// What was found of each program that a subject needs.
    pub states: BTreeMap<String, ProgramState>,
}

impl Opened {
    /// Reads the catalogue and looks for every program that a subject needs.
    pub fn open() -> Result<Self, Complaint> {
        let home = Home::find()?;
        let catalogue = home.catalogue()?;
        let toolbox = Toolbox::open_default()?;
        let tolok = std::env::current_exe().map_err(|error| Complaint::new(Exit::Internal, error))?;
        let states = detect(&toolbox, &catalogue)?;
        let builds = Builds::new(user_folder("XDG_CACHE_HOME", ".cache").join("builds"));
        let programs = BTreeMap::new();
        let mut opened = Self { laboratory: Laboratory { home, catalogue, programs, builds, tolok }, toolbox, states };
        opened.take_ready();
        Ok(opened)
    }

    /// Looks again, after something was fetched.
    pub fn look_again(&mut self) -> Result<(), Complaint> {
        self.states = detect(&self.toolbox, &self.laboratory.catalogue)?;
        self.take_ready();
        Ok(())
    }

    /// Names of the programs that these subjects need, in any of their variants, and that are not ready.
    pub fn missing_for<'a>(&self, subjects: impl Iterator<Item = &'a Subject>) -> Vec<String> {
        let needed =
            subjects.flat_map(needs).filter(|name| self.states.get(*name).is_none_or(|it| it.ready().is_none()));
        let names: BTreeSet<&str> = needed.collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Why a variant of a subject cannot be run here, with what would help.
    pub fn ready(&self, subject: &Subject, variant: &str) -> Result<(), String> {
        let reasons: Vec<String> = subject.needs(variant).filter_map(|name| self.lack(name)).collect();
        if reasons.is_empty() { Ok(()) } else { Err(reasons.join("; ")) }
    }

    fn lack(&self, name: &str) -> Option<String> {
        match self.states.get(name) {
            Some(ProgramState::Ready(_)) => None,
            // Why exactly is a matter for `tolok doctor`; in a report one sentence must do.
            Some(ProgramState::Missing { remedy, .. }) => Some(format!("{name} is missing: {remedy}")),
            Some(ProgramState::Broken { remedy, .. }) => Some(format!("{name} does not work: {remedy}")),
            None => Some(format!("{name} is not a program that tolok knows")),
        }
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

/// Every program that a subject needs, in any of its variants.
fn needs(subject: &Subject) -> impl Iterator<Item = &str> {
    let of_variants = subject.variants.values().flat_map(|variant| &variant.needs);
    subject.needs.iter().chain(of_variants).map(String::as_str)
}

fn detect(toolbox: &Toolbox, catalogue: &Catalogue) -> Result<BTreeMap<String, ProgramState>, Complaint> {
    let names: BTreeSet<&str> = catalogue.subjects.iter().flat_map(needs).collect();
    let names: Vec<&str> = names.into_iter().collect();
    Ok(toolbox.detect_some(&names)?)
}
