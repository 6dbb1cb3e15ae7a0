//! What all trials of a run share: where things are, which programs there are, the answer bodies, the CPUs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tolok_model::{Catalogue, CpuMap, Plan, Subject, SubjectChoice};

use crate::home::Home;
use crate::isolate::keeper::{SCRATCH_LOCK, SCRATCH_PREFIX, sweep};
use crate::machine::format_cpu_list;
use crate::subject::{Assets, BuildError, Builds, TemplateNames, program_names};
use crate::toolbox::Program;

/// The laboratory: what there is on this machine, whatever study is run.
#[derive(Debug)]
pub struct Laboratory {
    /// Where subjects, workloads and studies are.
    pub home: Home,
    /// The subjects and workloads.
    pub catalogue: Catalogue,
    /// Programs of the toolbox that are ready.
    pub programs: BTreeMap<String, Program>,
    /// Finished builds.
    pub builds: Builds,
    /// The tolok binary, for the keeper and the load tool.
    pub tolok: PathBuf,
}

/// What all trials of one run share.
#[derive(Debug)]
pub struct Session<'a> {
    /// The laboratory.
    pub laboratory: &'a Laboratory,
    /// CPUs of the parts.
    pub cpus: CpuMap,
    /// The answer bodies.
    pub assets: Assets,
    /// Private folder of this session.
    scratch: Scratch,
}

/// Why a session cannot begin.
#[derive(Debug, thiserror::Error)]
#[error("cannot prepare a private folder in {}: {source}", parent.display())]
pub struct SessionError {
    parent: PathBuf,
    source: io::Error,
}

/// A private folder that is removed at the end; while it lives, a lock in it says so.
#[derive(Debug)]
struct Scratch {
    folder: PathBuf,
    _lock: File,
}

impl<'a> Session<'a> {
    /// Sweeps up after dead sessions, makes the private folder and lays out the answer bodies.
    pub fn begin(laboratory: &'a Laboratory, cpus: CpuMap) -> Result<Self, SessionError> {
        let parent = std::env::temp_dir();
        sweep(&parent);
        let begin = || {
            let scratch = Scratch::make(&parent)?;
            let folder = scratch.folder.join("assets");
            fs::create_dir(&folder)?;
            let assets = Assets::lay_out(folder, &laboratory.home, &laboratory.catalogue.workloads)?;
            Ok(Self { laboratory, cpus, assets, scratch })
        };
        begin().map_err(|source| SessionError { parent: parent.clone(), source })
    }

    /// A new private folder for one trial.
    pub fn trial_scratch(&self, number: u32) -> io::Result<PathBuf> {
        let folder = self.scratch.folder.join(format!("trial-{number}"));
        fs::create_dir(&folder)?;
        // Servers that change to an account without rights write their sockets and logs here.
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(if is_root() { 0o777 } else { 0o755 });
        fs::set_permissions(&folder, everybody)?;
        Ok(folder)
    }

    /// Builds what `choice` needs; `begins` is called if there is anything to do.
    pub fn build(&self, choice: &SubjectChoice, begins: &mut dyn FnMut()) -> Result<(), BuildError> {
        let Some(subject) = self.laboratory.catalogue.subject(&choice.subject) else { return Ok(()) };
        if subject.build.is_none() {
            return Ok(());
        }
        let names = self.names(choice, subject, 0, &self.scratch.folder);
        if self.laboratory.builds.is_built(Path::new(&names.build)) {
            return Ok(());
        }
        begins();
        let sources = self.laboratory.home.subject_folder(&subject.id);
        self.laboratory.builds.build(subject, &sources, &names, &self.program_env(choice, subject))
    }

    /// What the subject's templates can name.
    pub fn names(&self, choice: &SubjectChoice, subject: &Subject, port: u16, run: &Path) -> TemplateNames {
        let sources = self.laboratory.home.subject_folder(&subject.id);
        let programs: BTreeMap<String, &Program> = subject
            .needs(&choice.variant)
            .filter_map(|name| Some((name.to_owned(), self.laboratory.programs.get(name)?)))
            .collect();
        let versions: Vec<String> =
            programs.values().map(|program| format!("{} {}", program.name, program.version)).collect();
        // A folder that cannot be read makes the build fail with its reason, so any name will do for it here.
        let build = self.laboratory.builds.folder(subject, &sources, &versions).unwrap_or_default();
        let (user, group) = if is_root() { unprivileged_account() } else { (String::new(), String::new()) };
        TemplateNames {
            port,
            run: run.display().to_string(),
            subject: sources.display().to_string(),
            build: build.display().to_string(),
            assets: self.assets.folder().display().to_string(),
            cpus: self.cpus.subject.len(),
            cpu_list: format_cpu_list(&self.cpus.subject),
            root: is_root(),
            user,
            group,
            parameter: choice.parameters.clone(),
            program: programs.into_iter().map(|(name, program)| (name, program_names(program))).collect(),
        }
    }

    /// The environment that the subject's programs need.
    pub fn program_env(&self, choice: &SubjectChoice, subject: &Subject) -> BTreeMap<String, String> {
        let needed = subject.needs(&choice.variant).filter_map(|name| self.laboratory.programs.get(name));
        needed.flat_map(|program| program.env.clone()).collect()
    }
}

impl Laboratory {
    /// The programs that the subjects of a plan use.
    pub fn programs_of(&self, plan: &Plan) -> Vec<&Program> {
        let needed: std::collections::BTreeSet<&str> = plan
            .cases
            .iter()
            .filter_map(|case| Some((self.catalogue.subject(&case.subject.subject)?, &case.subject.variant)))
            .flat_map(|(subject, variant)| subject.needs(variant))
            .collect();
        needed.into_iter().filter_map(|name| self.programs.get(name)).collect()
    }
}

impl Scratch {
    fn make(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(SCRATCH_PREFIX).tempdir_in(parent)?.keep();
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&folder, readable)?;
        let lock = File::create(folder.join(SCRATCH_LOCK))?;
        lock.lock()?;
        Ok(Self { folder, _lock: lock })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If this fails, the next session sweeps the folder up.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// An account that owns nothing, and a group of this machine for it (Debian calls it `nogroup`, others `nobody`).
fn unprivileged_account() -> (String, String) {
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let group = if groups.lines().any(|line| line.starts_with("nogroup:")) { "nogroup" } else { "nobody" };
    ("nobody".to_owned(), group.to_owned())
}
