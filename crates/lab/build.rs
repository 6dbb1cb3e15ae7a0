//! Builds into the binary what it needs outside its checkout: the npm locks of `toolbox/`, and the files of subjects, workloads,
//! studies and published tables.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders of the checkout whose files are built in.
const SHIPPED: [&str; 4] = ["published", "studies", "subjects", "workloads"];

fn main() -> io::Result<()> {
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../..");
    let out = PathBuf::from(variable("OUT_DIR")?);
    fs::write(out.join("npm_packages.rs"), npm_packages(&root.join("toolbox"))?)?;
    fs::write(out.join("shipped.rs"), shipped(&root)?)
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(io::Error::other)
}

/// Every folder that has a `package-lock.json`, as an expression.
fn npm_packages(toolbox: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", toolbox.display());
    let mut folders = entries(toolbox)?;
    folders.retain(|folder| folder.join("package-lock.json").is_file());
    let rows = folders.iter().map(|folder| {
        let (manifest, lock) = (folder.join("package.json"), folder.join("package-lock.json"));
        let name = folder.file_name().unwrap_or_default();
        format!(
            "NpmPackage {{ name: {name:?}, manifest: include_str!({manifest:?}), lock: include_str!({lock:?}) }},\n"
        )
    });
    Ok(format!("&[\n{}]\n", rows.collect::<String>()))
}

/// The files of the shipped folders, each with its path in the checkout, as an expression.
fn shipped(root: &Path) -> io::Result<String> {
    let mut rows = String::new();
    for name in SHIPPED {
        let folder = root.join(name);
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in files_below(&folder)? {
            let path = file.strip_prefix(root).map_err(io::Error::other)?;
            rows += &format!("({:?}, include_bytes!({:?})),\n", path.display().to_string(), file.display().to_string());
        }
    }
    Ok(format!("&[\n{rows}]\n"))
}

/// All files below a folder except documentation for people, and what runtimes leave beside sources.
fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !["node_modules", "__pycache__"].contains(&name.as_str()) {
            files.extend(files_below(&path)?);
        } else if path.is_file() && !name.starts_with('.') && !name.ends_with(".md") {
            files.push(path);
        }
    }
    Ok(files)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
