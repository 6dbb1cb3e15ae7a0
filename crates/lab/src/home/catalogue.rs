//! The subjects and workloads of a checkout, and the user's own workloads.

use std::path::{Path, PathBuf};

use tolok_model::{Catalogue, Problem, ProgramWorkload, Subject, Workload, WorkloadFolder, WrongPart};

use super::{Home, HomeError, WORKLOADS, entries, read};
use crate::subject::fingerprint;

impl Home {
    pub fn catalogue(&self) -> Result<Catalogue, HomeError> {
        let (workloads, programs) = workloads(&self.root.join(WORKLOADS))?;
        let mut catalogue = Catalogue { subjects: self.subjects()?, workloads, programs };
        if let Some(folder) = &self.own_workloads {
            self.add_own(folder, &mut catalogue)?;
        }
        catalogue.settle_mixed().map_err(|wrong| self.wrong_part(wrong))?;
        Ok(catalogue)
    }

    /// Adds the user's own workloads. None may replace one that comes with tolok; otherwise runs of one study would depend on the
    /// working folder.
    fn add_own(&self, folder: &Path, catalogue: &mut Catalogue) -> Result<(), HomeError> {
        let (own, programs) = workloads(folder)?;
        let names = own.iter().map(|own| &own.name).chain(programs.iter().map(|program| &program.name));
        let is_taken = |name: &&String| catalogue.has_workload(name);
        if let Some(name) = names.into_iter().find(is_taken) {
            return Err(HomeError::Taken { path: folder.join(name), name: name.clone() });
        }
        for workload in own {
            let folder = folder.join(&workload.name);
            catalogue.workloads.push(with_folder(workload, &folder)?);
        }
        catalogue.programs.extend(programs);
        Ok(())
    }

    /// An invalid part, with its place in the file.
    fn wrong_part(&self, wrong: WrongPart) -> HomeError {
        let own = self.own_workloads.as_ref().map(|folder| folder.join(&wrong.mixed)).filter(|folder| folder.is_dir());
        let path = own.unwrap_or_else(|| self.root.join(WORKLOADS).join(&wrong.mixed)).join("workload.toml");
        match read(&path) {
            Ok(text) => {
                let start = text.find(&wrong.part).unwrap_or_default();
                let span = start..text.len().min(start + wrong.part.len());
                HomeError::Wrong {
                    path,
                    text,
                    problems: vec![Problem { span, message: wrong.message, help: wrong.help }],
                }
            }
            Err(error) => error,
        }
    }

    fn subjects(&self) -> Result<Vec<Subject>, HomeError> {
        let mut subjects = Vec::new();
        for runtime in sorted_folders(&self.root.join("subjects"))? {
            for folder in sorted_folders(&runtime)? {
                let id = format!("{}/{}", file_name(&runtime), file_name(&folder));
                subjects.extend(read_if_there(&folder.join("subject.toml"), |text| Subject::read(&id, text))?);
            }
        }
        Ok(subjects)
    }
}

/// The workload in a user's folder, named after the folder.
pub fn own_workload(folder: &Path) -> Result<Option<Workload>, HomeError> {
    let name = file_name(folder);
    let found = read_if_there(&folder.join("workload.toml"), |text| Workload::read(&name, text))?;
    found.map(|workload| with_folder(workload, folder)).transpose()
}

fn with_folder(workload: Workload, folder: &Path) -> Result<Workload, HomeError> {
    let unreadable = |source| HomeError::Unreadable { path: folder.to_owned(), source };
    let sha256 = fingerprint(folder).map_err(|error| unreadable(std::io::Error::other(error)))?;
    let (name, folder) = (workload.name.clone(), folder.display().to_string());
    Ok(Workload { folder: Some(WorkloadFolder { workload: name, folder, sha256 }), ..workload })
}

/// The workloads of servers, and those of programs.
fn workloads(root: &Path) -> Result<(Vec<Workload>, Vec<ProgramWorkload>), HomeError> {
    let (mut workloads, mut programs) = (Vec::new(), Vec::new());
    for folder in sorted_folders(root)? {
        let (name, file) = (file_name(&folder), folder.join("workload.toml"));
        let is_program = read_if_there(&file, |text| Ok(ProgramWorkload::is_meant(text)))?;
        if is_program == Some(true) {
            programs.extend(read_if_there(&file, |text| ProgramWorkload::read(&name, text))?);
        } else {
            workloads.extend(read_if_there(&file, |text| Workload::read(&name, text))?);
        }
    }
    Ok((workloads, programs))
}

fn read_if_there<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, Vec<Problem>>) -> Result<Option<T>, HomeError> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = read(path)?;
    let parsed = parse(&text).map_err(|problems| HomeError::Wrong { path: path.to_owned(), text, problems });
    parsed.map(Some)
}

fn sorted_folders(folder: &Path) -> Result<Vec<PathBuf>, HomeError> {
    let mut folders: Vec<PathBuf> = entries(folder)?.into_iter().filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
