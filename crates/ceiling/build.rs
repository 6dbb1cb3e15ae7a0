//! Names this build by everything that determines its machine code: its sources, the versions of dependencies, the compiler and its
//! optimisation. Runs with the same name were measured alongside the same ceiling.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let variable = |name| env::var(name).map_err(io::Error::other);
    let own = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let (sources, lock) = (own.join("src"), own.join("../../Cargo.lock"));
    let mut hash = DefaultHasher::new();
    for file in files(&sources)?.iter().chain([&lock]) {
        file.file_name().hash(&mut hash);
        fs::read(file)?.hash(&mut hash);
    }
    for path in [&sources, &lock] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Command::new(variable("RUSTC")?).arg("--version").output()?.stdout.hash(&mut hash);
    for name in ["OPT_LEVEL", "DEBUG", "TARGET"] {
        variable(name)?.hash(&mut hash);
    }
    env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().hash(&mut hash);
    println!("cargo::rustc-env=TOLOK_CEILING_BUILD={:016x}", hash.finish());
    Ok(())
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}
