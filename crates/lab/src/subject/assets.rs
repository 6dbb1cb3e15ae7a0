//! The answer bodies of all workloads, laid out under the names that URLs give them.
//!
//! Servers read their answers from here, the generator compares with them, and both therefore have the same bytes. The
//! folder is private to one session and readable by everybody, because servers give up their rights after the start
//! and a checkout under `/root` would be closed to them.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tolok_model::{Body, Workload};

use super::png::noise_png;
use crate::home::Home;

/// The folder with the answer bodies.
#[derive(Debug, Clone)]
pub struct Assets {
    folder: PathBuf,
    bodies: BTreeMap<String, Vec<u8>>,
}

/// Why the answer bodies cannot be laid out.
#[derive(Debug, thiserror::Error)]
pub enum AssetError {
    /// A file failed.
    #[error("cannot lay out the answer body {}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A generated body cannot be so small.
    #[error("workload {workload}: a picture of {bytes} bytes cannot be made; ask for 2,000 or more")]
    TooSmall {
        /// The workload.
        workload: String,
        /// The size that it asks for.
        bytes: usize,
    },
}

impl Assets {
    /// Writes the bodies of `workloads` into `folder`, which must exist.
    pub fn lay_out(folder: PathBuf, home: &Home, workloads: &[Workload]) -> Result<Self, AssetError> {
        let mut bodies = BTreeMap::new();
        for workload in workloads {
            let body = body(home, workload)?;
            let path = folder.join(workload.asset());
            write_for_everybody(&path, &body).map_err(|source| AssetError::File { path, source })?;
            bodies.insert(workload.name.clone(), body);
        }
        Ok(Self { folder, bodies })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file that holds the body owed by `workload`.
    pub fn file(&self, workload: &Workload) -> PathBuf {
        self.folder.join(workload.asset())
    }

    /// The body owed by `workload`.
    pub fn body(&self, workload: &Workload) -> &[u8] {
        self.bodies.get(&workload.name).map(Vec::as_slice).unwrap_or_default()
    }
}

fn body(home: &Home, workload: &Workload) -> Result<Vec<u8>, AssetError> {
    match &workload.body {
        Body::File(name) => {
            let path = home.workload_folder(&workload.name).join(name);
            fs::read(&path).map_err(|source| AssetError::File { path, source })
        }
        Body::Data { .. } => Ok(Vec::new()),
        Body::Generated(generated) => {
            let too_small = || AssetError::TooSmall { workload: workload.name.clone(), bytes: generated.bytes };
            noise_png(generated.bytes, generated.seed).ok_or_else(too_small)
        }
    }
}

/// Writes a file that servers can read after they have given up their rights, whatever the user's umask is.
pub(crate) fn write_for_everybody(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::write(path, content)?;
    fs::set_permissions(path, Permissions::from_mode(0o644))
}

#[cfg(test)]
mod tests {
    use tolok_model::{GeneratedBody, GeneratedKind};

    use super::*;

    fn workload(name: &str, path: &str, body: Body) -> Workload {
        Workload {
            name: name.to_owned(),
            title: String::new(),
            summary: String::new(),
            method: "GET".to_owned(),
            path: path.to_owned(),
            status: 200,
            content_type: "text/html".to_owned(),
            body,
            database: false,
            parameters: BTreeMap::new(),
            values: BTreeMap::new(),
        }
    }

    fn picture(bytes: usize) -> Workload {
        let body = Body::Generated(GeneratedBody { generate: GeneratedKind::Png, bytes, seed: 1 });
        workload("file", "/file-2k.png", body)
    }

    #[test]
    fn bodies_lie_under_their_url_names_for_everybody_to_read() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("assets");
        fs::create_dir_all(root.path().join("workloads/hello")).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(root.path().join("workloads/hello/body.html"), "<p>Hello").unwrap();
        let hello = workload("hello", "/hello", Body::File("body.html".to_owned()));
        let file = picture(2000);

        let workloads = [hello.clone(), file.clone()];
        let assets = Assets::lay_out(folder.clone(), &Home::at(root.path()), &workloads).unwrap();
        assert_eq!(assets.body(&hello), b"<p>Hello");
        assert_eq!(assets.body(&file).len(), 2000);
        for (workload, name) in [(&hello, "hello"), (&file, "file-2k.png")] {
            assert_eq!(assets.file(workload), folder.join(name));
            assert_eq!(fs::read(folder.join(name)).unwrap(), assets.body(workload));
            assert_eq!(fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777, 0o644);
        }
    }

    #[test]
    fn a_body_that_cannot_be_had_is_named() {
        let root = tempfile::tempdir().unwrap();
        let check = |workload: Workload, expect: String| {
            let laid_out = Assets::lay_out(root.path().to_owned(), &Home::at(root.path()), &[workload]);
            assert_eq!(laid_out.unwrap_err().to_string(), expect);
        };
        let absent = root.path().join("workloads/hello/body.html");
        let expect =
            format!("cannot lay out the answer body {}: No such file or directory (os error 2)", absent.display());
        check(workload("hello", "/hello", Body::File("body.html".to_owned())), expect);
        let expect = "workload file: a picture of 100 bytes cannot be made; ask for 2,000 or more";
        check(picture(100), expect.to_owned());
    }
}
