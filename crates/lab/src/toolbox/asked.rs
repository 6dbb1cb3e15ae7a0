//! Finds a program's version by running it.
//!
//! Some programs do not know their own: hey never prints one, GNU time of Debian 12 prints "UNKNOWN", and ab's has been 2.3 since
//! 2007. Then the version is read elsewhere: in the program's file, where Go's linker writes it, or in the records of its
//! package. First, the output must show that the program is the right one. If there is no version anywhere, it stays unknown,
//! and the program is refused.

use super::build_info;
use super::catalogue::Question;
use super::detect::{Refusal, ask_ending, complaint};
use super::dpkg;
use super::version::find_version;
use super::{Program, Toolbox};
use tolok_host::call::Call;

/// The version, and everything that the program printed.
pub(super) fn version(question: &Question, program: &Program, toolbox: &Toolbox) -> Result<(String, String), Refusal> {
    let call = Call::new(&program.path, question.arguments.clone()).with_env(&program.env);
    let output = ask_ending(&call, question.status, &toolbox.surroundings)?.text;
    let marks = || [Some(&question.after), question.or_after.as_ref()].into_iter().flatten();
    let version = match marks().find_map(|after| find_version(&output, after)) {
        Some(version) => with_build(version, question, &output, program, toolbox),
        None if marks().any(|mark| output.contains(mark)) => written_down(question, program, toolbox)?,
        None => return Err(Refusal::Broken(format!("`{call}` printed no version{}", complaint(&output)))),
    };
    Ok((version, output))
}

/// A version that does not identify the build, completed by the revision or else the package.
fn with_build(version: String, question: &Question, output: &str, program: &Program, toolbox: &Toolbox) -> String {
    let Some(mark) = &question.revision else { return version };
    if let Some(revision) = find_version(output, mark) {
        return format!("{version} (r{revision})");
    }
    match packaged(question, program, toolbox) {
        Some((package, of_package)) => format!("{version} ({package} {of_package})"),
        None => version,
    }
}

/// The version of a program that does not know it.
fn written_down(question: &Question, program: &Program, toolbox: &Toolbox) -> Result<String, Refusal> {
    let path = program.path.display();
    if let Some(module) = &question.go_module {
        let version = build_info::module_version(&program.path, module)
            .map_err(|error| Refusal::Broken(format!("{path}: {error}")))?;
        if let Some(version) = version {
            return Ok(version);
        }
    }
    let unknown = || Refusal::Broken(format!("{path} does not tell its version, and it is written nowhere else"));
    packaged(question, program, toolbox).map(|(_, version)| version).ok_or_else(unknown)
}

/// The Debian package of the program, and the package's version.
fn packaged<'a>(question: &'a Question, program: &Program, toolbox: &Toolbox) -> Option<(&'a str, String)> {
    let package = question.debian_package.as_deref()?;
    Some((package, dpkg::version_with(package, &program.path, toolbox)?))
}
