//! Published comparisons that come with tolok: their figures as data, and how to replicate them.

use std::path::{Path, PathBuf};

use tolok_model::replication::Replication;
use tolok_model::transcription::Transcription;

use super::{Home, HomeError};

/// A published comparison that can be replicated.
#[derive(Debug)]
pub struct Source {
    /// The folder with its studies.
    pub folder: PathBuf,
    /// The published figures.
    pub transcription: Transcription,
    /// How to replicate it.
    pub replication: Replication,
}

impl Home {
    /// Names of the published comparisons that can be replicated.
    pub fn sources(&self) -> Vec<String> {
        let folders = std::fs::read_dir(self.sources_folder()).into_iter().flatten().flatten();
        let is_source = |path: &PathBuf| path.join("replication.toml").is_file();
        let paths = folders.map(|entry| entry.path()).filter(is_source);
        let mut names: Vec<String> =
            paths.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
        names.sort();
        names
    }

    /// Reads a published comparison and how to replicate it.
    pub fn source(&self, key: &str) -> Result<Source, HomeError> {
        let folder = self.sources_folder().join(key);
        let file = folder.join("replication.toml");
        if key.contains('/') || !file.is_file() {
            return Err(HomeError::NoSource { name: key.to_owned(), known: self.sources() });
        }
        let transcription = read(&self.published_file(key)?, |text| Transcription::read(text, key))?;
        let replication = read(&file, |text| Replication::read(text, &transcription))?;
        Ok(Source { folder, transcription, replication })
    }

    fn sources_folder(&self) -> PathBuf {
        self.root().join("studies").join("sources")
    }
}

fn read<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, Vec<tolok_model::Problem>>) -> Result<T, HomeError> {
    let text = super::read(path)?;
    parse(&text).map_err(|problems| HomeError::Wrong { path: path.to_owned(), text, problems })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_source_is_refused_with_the_nearest_one() {
        let folder = tempfile::TempDir::new().unwrap();
        let known = folder.path().join("studies/sources/doe-apache-node");
        std::fs::create_dir_all(&known).unwrap();
        std::fs::write(known.join("replication.toml"), "").unwrap();
        std::fs::create_dir_all(folder.path().join("studies/sources/empty")).unwrap();
        let home = Home::at(folder.path());
        assert_eq!(home.sources(), ["doe-apache-node"]);
        let refused = home.source("doe-apache-nod").unwrap_err().to_string();
        assert!(refused.contains("no source `doe-apache-nod`") && refused.contains("doe-apache-node"), "{refused}");
        assert!(home.source("../sources/doe-apache-node").is_err());
        // A source without figures cannot be read, and the message names the file.
        let untranscribed = home.source("doe-apache-node").unwrap_err().to_string();
        assert!(untranscribed.contains("doe-apache-node"), "{untranscribed}");
    }
}
