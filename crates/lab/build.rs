//! Builds the npm locks of `toolbox/` into the binary: every folder there that has a `package-lock.json`.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let variable = |name| env::var(name).map_err(io::Error::other);
    let toolbox = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../toolbox");
    println!("cargo::rerun-if-changed={}", toolbox.display());
    let folders = fs::read_dir(&toolbox)?.map(|entry| entry.map(|entry| entry.path()));
    let mut folders = folders.collect::<io::Result<Vec<_>>>()?;
    folders.retain(|folder| folder.join("package-lock.json").is_file());
    folders.sort();
    let rows = folders.iter().map(|folder| {
        let (manifest, lock) = (folder.join("package.json"), folder.join("package-lock.json"));
        let name = folder.file_name().unwrap_or_default();
        format!(
            "NpmPackage {{ name: {name:?}, manifest: include_str!({manifest:?}), lock: include_str!({lock:?}) }},\n"
        )
    });
    let text = format!("&[\n{}]\n", rows.collect::<String>());
    fs::write(Path::new(&variable("OUT_DIR")?).join("npm_packages.rs"), text)
}
