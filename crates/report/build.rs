//! Builds in each `subject.toml` that defines its runtime's colours and marker. So these are the same on every page, even for a
//! stored run whose subjects no longer exist.

#![allow(clippy::print_stdout, reason = "cargo reads the build script's output")]

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let subjects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    println!("cargo::rerun-if-changed={}", subjects.display());
    let mut list = String::from("[\n");
    for file in subject_files(&subjects)? {
        if fs::read_to_string(&file)?.lines().any(|line| line.starts_with("colour")) {
            list += &format!("include_str!({:?}),\n", file.display().to_string());
        }
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(folder.join("subjects.rs"), list + "]\n")
}

fn subject_files(subjects: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for runtime in folders(subjects)? {
        let of_runtime = folders(&runtime)?.into_iter().map(|subject| subject.join("subject.toml"));
        files.extend(of_runtime.filter(|file| file.exists()));
    }
    files.sort();
    Ok(files)
}

fn folders(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let paths: io::Result<Vec<_>> = fs::read_dir(parent)?.map(|entry| Ok(entry?.path())).collect();
    Ok(paths?.into_iter().filter(|path| path.is_dir()).collect())
}
