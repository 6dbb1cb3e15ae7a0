//! A PHP extension, built from source into the toolbox.
//!
//! The source is the archive that the user names, or what PECL downloads. `pecl install` would write into the system's extension
//! folder, so the build performs the same steps itself, and keeps only the one file.
//!
//! The tools are the system's. If it has none, Debian's packages are unpacked into the staging folder and overlaid on
//! `/usr` in a mount namespace of the build. There every tool finds its parts under their usual paths, without root, and
//! nothing of them remains.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::catalogue::Recipe;
use super::fetch::{FetchError, Worker, make_folder};
use super::{SWOOLE_SOURCE_VARIABLE, Toolbox, apt};
use tolok_host::call::Call;
use tolok_host::shell::quoted;

const BUILD_TOOLS: [&str; 5] = ["phpize", "php-config", "make", "c++", "strip"];
/// Creates the namespace of the unpacked tools.
const NAMESPACE_TOOL: &str = "unshare";

/// A channel that takes longer is down.
const DOWNLOAD_PATIENCE: Duration = Duration::from_secs(120);
/// Swoole takes some five minutes of CPU time, more on a loaded machine.
const BUILD_PATIENCE: Duration = Duration::from_secs(45 * 60);

/// How to build an extension on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExtensionBuild {
    /// The program of the catalogue, which names the file.
    program: String,
    extension: String,
    /// For `./configure`.
    options: Vec<String>,
    /// The archive that the user named; without one, PECL downloads it.
    archive: Option<PathBuf>,
    tools: Tools,
}

/// Where the compiler, make and PHP's headers come from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tools {
    System,
    Debian { packages: Vec<String> },
}

impl ExtensionBuild {
    /// How to build the recipe's extension here, or why that is impossible.
    pub(super) fn plan(extension: &str, recipe: &Recipe, toolbox: &Toolbox) -> Result<Self, String> {
        let surroundings = &toolbox.surroundings;
        let lacking = |names: &[&str]| {
            let lacking = names.iter().filter(|name| surroundings.find(name).is_none());
            lacking.map(|name| format!("no {name}")).collect::<Vec<String>>()
        };
        let archive = surroundings.swoole_source.clone();
        let mut needed = BUILD_TOOLS.to_vec();
        if archive.is_none() {
            needed.push("pecl");
        }
        let mut lacking_here = lacking(&needed);
        let is_here = |header: &String| surroundings.system_file(header).is_file();
        if let Some(header) = recipe.headers.first().filter(|_| !recipe.headers.iter().any(is_here)) {
            lacking_here.push(format!("no {header}"));
        }
        let tools = if lacking_here.is_empty() {
            Tools::System
        } else if apt::is_usable(surroundings) && lacking(&[NAMESPACE_TOOL]).is_empty() {
            Tools::Debian { packages: recipe.build_apt.clone() }
        } else {
            return Err(format!(
                "{extension} is built from source, but this machine has {}; {SWOOLE_SOURCE_VARIABLE} is {}",
                lacking_here.join(", "),
                if archive.is_some() { "set" } else { "not set" }
            ));
        };
        let (program, options) = (recipe.name.clone(), recipe.configure.clone());
        Ok(Self { program, extension: extension.to_owned(), options, archive, tools })
    }

    /// Its source, in a few words.
    pub(super) fn from(&self) -> String {
        match &self.archive {
            Some(archive) => format!("built from {}, some minutes", archive.display()),
            None => format!("PECL extension {}, built from source, some minutes", self.extension),
        }
    }

    /// The commands that [`fetch`] runs, as one would type them.
    pub(super) fn description(&self, staging: &Path) -> Vec<String> {
        let mut commands = match &self.tools {
            Tools::System => Vec::new(),
            Tools::Debian { packages } => apt::description(packages, staging),
        };
        commands.extend(self.steps(staging).iter().map(|step| step.call.to_string()));
        commands
    }

    fn folder(&self, staging: &Path) -> PathBuf {
        staging.join(&self.extension)
    }

    /// The steps, in order.
    fn steps(&self, staging: &Path) -> Vec<Step> {
        let (folder, extension) = (self.folder(staging), &self.extension);
        let source = folder.join("source");
        let archive = match &self.archive {
            Some(archive) => quoted(&archive.to_string_lossy()),
            // PECL names the archive after the version, which is not known in advance.
            None => format!("{extension}-*.tgz"),
        };
        // In PECL's archive, the source is one folder down, beside a description.
        let unpack = format!(
            "tar -xf {archive} -C unpacked && config=$(find unpacked -maxdepth 2 -name config.m4) && if test -n \"$config\"; then mv \
             \"${{config%/*}}\" source; else echo 'no config.m4: not the source of a PHP extension'; exit 1; fi"
        );
        let [pecl, phpize, configure] = match self.tools {
            Tools::System => ["pecl", "phpize", "./configure"],
            Tools::Debian { .. } => [
                "PHP_PEAR_PHP_BIN=$(echo /usr/bin/php[0-9]*.[0-9]) pecl",
                // This phpize asks dpkg for libtool's files, and dpkg does not know packages that were only unpacked.
                "/usr/bin/phpize[0-9]* && for file in ltmain.sh config.guess config.sub; do test -e build/$file || cp \
                 /usr/share/libtool/build-aux/$file build/; done",
                "./configure --with-php-config=$(echo /usr/bin/php-config[0-9]*)",
            ],
        };
        let jobs = thread::available_parallelism().map_or(1, usize::from);
        let (make, strip) = (format!("make -j{jobs}"), format!("strip --strip-unneeded modules/{extension}.so"));
        let step = |name: String, call: Call| Step { name, call, patience: BUILD_PATIENCE };
        let configure = [configure].into_iter().chain(self.options.iter().map(String::as_str));
        let configure = configure.collect::<Vec<&str>>().join(" ");
        let built = |name: &str, script: &str| step(name.to_owned(), self.call(script, &source, staging));
        let download = Step {
            name: format!("pecl download {extension}"),
            call: self.call(&format!("{pecl} download {extension}"), &folder, staging),
            patience: DOWNLOAD_PATIENCE,
        };
        let mut steps = vec![
            step(format!("tar -xf {archive}"), Call::new("sh", ["-c", &unpack]).in_folder(&folder)),
            built("phpize", phpize),
            built("./configure", &configure),
            built(&make, &make),
            built(&strip, &strip),
        ];
        if self.archive.is_none() {
            steps.insert(0, download);
        }
        steps
    }

    /// The script in that folder, where it finds the tools.
    fn call(&self, script: &str, folder: &Path, staging: &Path) -> Call {
        match self.tools {
            Tools::System => {
                let (program, arguments) = script.split_once(' ').unwrap_or((script, ""));
                Call::new(program, arguments.split_whitespace()).in_folder(folder)
            }
            Tools::Debian { .. } => {
                // A relative path, because colons and commas have a meaning in mount options.
                let folder = quoted(&folder.to_string_lossy());
                let script =
                    format!("mount -t overlay overlay -o lowerdir=usr:/usr /usr && cd {folder} && {{ {script}; }}");
                Call::new(NAMESPACE_TOOL, ["--user", "--map-root-user", "--mount", "sh", "-c", &script])
                    .in_folder(staging.join("root"))
            }
        }
    }
}

/// A command of the build, and its name for progress messages.
struct Step {
    name: String,
    call: Call,
    patience: Duration,
}

/// Downloads and builds the extension, and puts only its library in place.
pub(super) fn fetch(build: &ExtensionBuild, worker: &mut Worker<'_>) -> Result<(), FetchError> {
    let staging = worker.toolbox.staging();
    let folder = build.folder(&staging);
    if let Tools::Debian { packages } = &build.tools {
        apt::prepare(&staging, &worker.toolbox.surroundings, &[])?;
        apt::download_and_unpack(packages, worker, |_| true)?;
    }
    make_folder(&folder.join("unpacked"))?;
    for step in build.steps(&staging) {
        worker.run_as(&step.name, &step.call, step.patience)?;
    }
    let built = folder.join("source/modules").join(format!("{}.so", build.extension));
    if !built.is_file() {
        return Err(FetchError::Result { what: format!("{}.so", build.extension) });
    }
    worker.put_in_place(&built, &worker.toolbox.swoole_extension(&build.program))?;
    let archive = build.archive.clone().or_else(|| downloaded(&folder));
    let archive = archive.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    if build.program == build.extension {
        worker.installed.swoole = archive;
    } else {
        worker.installed.swoole_pgsql = archive;
    }
    Ok(())
}

fn downloaded(folder: &Path) -> Option<PathBuf> {
    let mut paths = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    paths.find(|path| path.extension().is_some_and(|extension| extension == "tgz"))
}
