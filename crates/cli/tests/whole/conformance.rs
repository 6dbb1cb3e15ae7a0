//! Every workload of every subject and variant answers as the contract says, and refuses what it should refuse.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tolok_lab::home::{Home, user_folder};
use tolok_lab::machine::Machine;
use tolok_lab::run::{Ground, Laboratory, Session, check_conformance};
use tolok_lab::subject::Builds;
use tolok_lab::toolbox::Toolbox;
use tolok_model::CpuMap;

use crate::place::{TOLOK, my_turn, repository};

fn laboratory() -> Laboratory {
    let home = Home::at(repository());
    let catalogue = home.catalogue().unwrap();
    let states = Toolbox::open_default().unwrap().detect_all();
    let programs: BTreeMap<_, _> =
        states.into_iter().filter_map(|(name, state)| Some((name, state.ready()?.clone()))).collect();
    let builds = Builds::new(user_folder("XDG_CACHE_HOME", ".cache").join("builds"));
    Laboratory { home, catalogue, programs, builds, tolok: PathBuf::from(TOLOK) }
}

/// Checks every variant of the subjects of one runtime.
fn check(runtime_folder: &str) {
    let _turn = my_turn();
    let laboratory = laboratory();
    let cpus = Machine::read().allowed_cpus;
    let (subject, generator) = (cpus[..1].to_vec(), cpus[cpus.len() - 1..].to_vec());
    let cpus = CpuMap { subject, generator, shared: cpus.len() < 2, ..CpuMap::default() };
    let ground = Ground::prepare();
    let session = Session::begin(&laboratory, &ground, [(String::new(), cpus)].into()).unwrap();
    let prefix = format!("{runtime_folder}/");
    let subjects: Vec<_> = laboratory.catalogue.subjects.iter().filter(|it| it.id.starts_with(&prefix)).collect();
    assert!(!subjects.is_empty(), "no subject below {prefix}");
    for subject in subjects {
        for variant in subject.variants.keys() {
            let missing: Vec<&str> =
                subject.needs(variant).filter(|name| !laboratory.programs.contains_key(*name)).collect();
            if !missing.is_empty() {
                let test = format!("conformance of {}:{variant}", subject.id);
                tolok_testkit::skip(&test, &format!("{} is not on this machine", missing.join(", ")));
                continue;
            }
            let choice = subject.choose(Some(variant), &BTreeMap::new()).unwrap();
            let found =
                check_conformance(&session, &choice).unwrap_or_else(|error| panic!("{}: {error}", choice.label));
            assert_eq!(found.differences, Vec::<String>::new(), "{}", choice.label);
            assert_eq!(found.workloads, subject.workloads(variant), "{}: every workload was asked for", choice.label);
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
