//! What a fetch would do, as a value that can be shown before the user agrees.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::catalogue::{GoPackage, NewerPackages, PackageManager};
use super::installed::Installed;
use super::npm::NpmPackage;
use super::php_extension::ExtensionBuild;
use super::versions::VersionsFrom;
use super::{Recipe, Remedy, Toolbox, apt, detect, go, newer, npm, swoole};

/// Everything that `fetch` would do, and what the user must do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FetchPlan {
    /// The only folder that changes.
    pub folder: PathBuf,
    /// In this order; each is independent of the others.
    pub steps: Vec<FetchStep>,
    /// The programs that tolok cannot fetch on this machine.
    pub by_hand: Vec<ManualStep>,
}

/// The work for one source, done completely or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FetchStep {
    /// The programs that it installs.
    pub programs: Vec<String>,
    /// Their source, in a few words.
    pub from: String,
    /// The commands that will be run, as one would type them.
    pub commands: Vec<String>,
    /// Setup succeeds even if this fails.
    pub optional: bool,
    #[serde(skip)]
    pub(super) work: Work,
}

/// The kind of work in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Work {
    Apt { packages: Vec<String> },
    Newer { program: String, newer: NewerPackages },
    Npm { package: NpmPackage },
    Extension { build: ExtensionBuild },
    Go { program: String, package: GoPackage },
    Version { program: String, version: String, from: VersionsFrom },
}

/// What the user must do for a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ManualStep {
    pub program: String,
    /// Its name for people.
    pub title: String,
    /// Why tolok cannot do it here.
    pub reason: String,
    pub command: String,
    /// Setup succeeds without it.
    pub optional: bool,
}

impl FetchPlan {
    /// Whether there is nothing to fetch.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl fmt::Display for FetchPlan {
    /// One command per line, then what must be done by hand.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            writeln!(f, "# {} ({})", step.programs.join(", "), step.from)?;
            step.commands.iter().try_for_each(|command| writeln!(f, "{command}"))?;
        }
        for step in &self.by_hand {
            writeln!(f, "# {}, by hand: {}", step.title, step.reason)?;
            writeln!(f, "{}", step.command)?;
        }
        Ok(())
    }
}

/// How a program can be installed here.
enum Way {
    Apt,
    Newer(NewerPackages),
    Npm(NpmPackage),
    Extension(ExtensionBuild),
    Go(GoPackage),
    Version(String, VersionsFrom),
    None { reason: String },
}

pub(super) fn plan(recipes: &[&Recipe], toolbox: &Toolbox) -> FetchPlan {
    let mut plan = FetchPlan { folder: toolbox.folder.clone(), steps: Vec::new(), by_hand: Vec::new() };
    let mut apt_recipes = Vec::new();
    for recipe in recipes {
        match way(recipe, toolbox) {
            Way::Apt => apt_recipes.push(*recipe),
            Way::Newer(newer) => {
                let work = Work::Newer { program: recipe.name.clone(), newer };
                plan.steps.push(step(&[recipe], work, toolbox));
            }
            Way::Npm(package) => plan.steps.push(step(&[recipe], Work::Npm { package }, toolbox)),
            Way::Extension(build) => {
                if needs_packages(recipe, toolbox) {
                    apt_recipes.push(*recipe);
                }
                plan.steps.push(step(&[recipe], Work::Extension { build }, toolbox));
            }
            Way::Go(package) => {
                let work = Work::Go { program: recipe.name.clone(), package };
                plan.steps.push(step(&[recipe], work, toolbox));
            }
            Way::Version(version, from) => {
                let work = Work::Version { program: recipe.name.clone(), version, from };
                plan.steps.push(step(&[recipe], work, toolbox));
            }
            Way::None { reason } => plan.by_hand.push(ManualStep {
                program: recipe.name.clone(),
                title: recipe.title.clone(),
                reason,
                command: recipe.by_hand(package_manager(toolbox)),
                optional: recipe.optional,
            }),
        }
    }
    if !apt_recipes.is_empty() {
        let asked: Vec<String> = apt_recipes.iter().flat_map(|recipe| recipe.apt.iter().cloned()).collect();
        let packages = apt::together(&Installed::read(&toolbox.record()).apt_asked, &asked);
        // First, because an extension needs the PHP from apt.
        plan.steps.insert(0, step(&apt_recipes, Work::Apt { packages }, toolbox));
    }
    plan
}

/// How to get a program that is not ready.
pub(super) fn remedy(recipe: &Recipe, toolbox: &Toolbox) -> Remedy {
    let work = match way(recipe, toolbox) {
        Way::Apt => Work::Apt { packages: recipe.apt.clone() },
        Way::Newer(newer) => Work::Newer { program: recipe.name.clone(), newer },
        Way::Npm(package) => Work::Npm { package },
        Way::Extension(build) => Work::Extension { build },
        Way::Go(package) => Work::Go { program: recipe.name.clone(), package },
        Way::Version(version, from) => Work::Version { program: recipe.name.clone(), version, from },
        Way::None { .. } => return Remedy::ByHand { command: recipe.by_hand(package_manager(toolbox)) },
    };
    Remedy::Fetch { program: recipe.name.clone(), from: work.source() }
}

/// Why a missing program cannot be fetched; `None` if it can.
pub(super) fn obstacle(recipe: &Recipe, toolbox: &Toolbox) -> Option<String> {
    match way(recipe, toolbox) {
        Way::None { reason } => Some(reason),
        Way::Apt | Way::Newer(_) | Way::Npm(_) | Way::Extension(_) | Way::Go(_) | Way::Version(..) => None,
    }
}

fn way(recipe: &Recipe, toolbox: &Toolbox) -> Way {
    let lacking = |programs: &[&str]| -> Vec<String> {
        programs
            .iter()
            .filter(|name| toolbox.surroundings.find(name).is_none())
            .map(|name| format!("no {name}"))
            .collect()
    };
    if let Some((version, from)) = recipe.version_wanted() {
        let lacking = lacking(&[from.client()]);
        return match lacking.first() {
            None => Way::Version(version.to_owned(), from.clone()),
            Some(lacking) => Way::None { reason: format!("it is fetched by a client, but this machine has {lacking}") },
        };
    }
    if let Some(extension) = &recipe.pecl {
        if let Some(reason) = swoole::obstacle(recipe, toolbox) {
            return Way::None { reason };
        }
        // A user's own swoole.so only needs a PHP to load it.
        if toolbox.surroundings.swoole_so.is_some() && needs_packages(recipe, toolbox) {
            return apt_way(toolbox);
        }
        return match ExtensionBuild::plan(extension, recipe, toolbox) {
            Ok(build) => Way::Extension(build),
            Err(reason) => Way::None { reason },
        };
    }
    if let Some(package) = recipe.npm {
        let lacking = lacking(&["npm"]);
        return if lacking.is_empty() {
            Way::Npm(package)
        } else {
            Way::None { reason: "there is no npm here".to_owned() }
        };
    }
    if let Some(newer) = &recipe.newer {
        return if newer::is_usable(&toolbox.surroundings) {
            Way::Newer(newer.clone())
        } else {
            Way::None { reason: "it comes from a newer Debian, and this is no Debian system".to_owned() }
        };
    }
    if let Some(package) = &recipe.go_package {
        return match go::obstacle(package, toolbox) {
            Some(reason) => Way::None { reason },
            None => Way::Go(package.clone()),
        };
    }
    if recipe.apt.is_empty() {
        return Way::None { reason: "tolok cannot put it into the toolbox".to_owned() };
    }
    apt_way(toolbox)
}

/// Whether packages can and must provide what loads the extension: a PHP, or the libraries of a part.
fn needs_packages(recipe: &Recipe, toolbox: &Toolbox) -> bool {
    if !apt::is_usable(&toolbox.surroundings) {
        return false;
    }
    if recipe.part_of.is_none() {
        return detect::candidates(recipe, toolbox).is_empty();
    }
    let asked = Installed::read(&toolbox.record()).apt_asked;
    !recipe.apt.iter().all(|package| asked.contains(package))
}

fn apt_way(toolbox: &Toolbox) -> Way {
    if apt::is_usable(&toolbox.surroundings) {
        return Way::Apt;
    }
    Way::None { reason: "this is no Debian or Ubuntu system".to_owned() }
}

fn step(recipes: &[&Recipe], work: Work, toolbox: &Toolbox) -> FetchStep {
    let staging = toolbox.staging();
    let commands = match &work {
        Work::Apt { packages } => apt::description(packages, &staging),
        Work::Newer { newer, .. } => newer::description(newer, &staging),
        Work::Npm { package } => vec![npm::call(*package, &staging).to_string()],
        Work::Extension { build } => build.description(&staging),
        Work::Go { package, .. } => vec![go::call(package, &staging).to_string()],
        Work::Version { version, from, .. } => {
            vec![from.call(version, &staging.join("version"), &staging).to_string()]
        }
    };
    FetchStep {
        programs: recipes.iter().map(|recipe| recipe.name.clone()).collect(),
        from: work.source(),
        commands,
        optional: recipes.iter().all(|recipe| recipe.optional),
        work,
    }
}

impl Work {
    fn source(&self) -> String {
        match self {
            Self::Apt { packages } if packages.len() == 1 => format!("Debian package {}", packages[0]),
            Self::Apt { packages } => format!("Debian packages {}", packages.join(", ")),
            Self::Newer { newer, .. } => {
                format!("packages {} of Debian's {}", newer.packages.join(", "), newer.suite)
            }
            Self::Npm { package } => format!("npm package {} {}", package.name(), package.version()),
            Self::Extension { build } => build.from(),
            Self::Go { package: GoPackage { package, version, download, .. }, .. } => {
                format!("Go package {package} {version}, built from source: {download}")
            }
            Self::Version { version, from, .. } => from.source(version),
        }
    }
}

fn package_manager(toolbox: &Toolbox) -> PackageManager {
    let managers = [("apt-get", PackageManager::Apt), ("dnf", PackageManager::Dnf), ("pacman", PackageManager::Pacman)];
    let here = |name: &str| toolbox.surroundings.find(name).is_some_and(|path: PathBuf| Path::is_file(&path));
    managers.into_iter().find(|(name, _)| here(name)).map_or(PackageManager::Unknown, |(_, manager)| manager)
}
