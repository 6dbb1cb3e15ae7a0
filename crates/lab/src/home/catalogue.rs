//! The subjects and workloads of a checkout.

use std::path::{Path, PathBuf};

use tolok_model::{Catalogue, Problem, ProgramWorkload, Subject, Workload};

use super::{Home, HomeError, entries, read};

impl Home {
    pub fn catalogue(&self) -> Result<Catalogue, HomeError> {
        let (workloads, programs) = self.workloads()?;
        Ok(Catalogue { subjects: self.subjects()?, workloads, programs })
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

    /// Those of servers, and those of programs.
    fn workloads(&self) -> Result<(Vec<Workload>, Vec<ProgramWorkload>), HomeError> {
        let (mut workloads, mut programs) = (Vec::new(), Vec::new());
        for folder in sorted_folders(&self.root.join("workloads"))? {
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
