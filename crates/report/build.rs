//! Builds in how each runtime looks, from the `subject.toml` of the subjects: the class, colours and marker of a
//! runtime are the same on every page, also for a stored run whose subjects are no longer there.

#![allow(clippy::print_stdout, reason = "cargo reads what a build script prints")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What the subjects of one runtime say of its look. A test holds this against what the model reads.
#[derive(Default)]
struct Look {
    colours: Option<(String, String)>,
    marker: Option<String>,
}

fn main() -> io::Result<()> {
    let subjects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    println!("cargo::rerun-if-changed={}", subjects.display());
    let mut looks: BTreeMap<String, Look> = BTreeMap::new();
    for file in subject_files(&subjects)? {
        read(&fs::read_to_string(file)?, &mut looks);
    }
    looks.retain(|_, look| look.colours.is_some());
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(folder.join("looks.css"), style(&looks))?;
    fs::write(folder.join("looks.rs"), table(&looks))
}

fn subject_files(subjects: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for runtime in folders(subjects)? {
        files.extend(
            folders(&runtime)?.into_iter().map(|subject| subject.join("subject.toml")).filter(|it| it.exists()),
        );
    }
    Ok(files)
}

fn folders(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let paths: io::Result<Vec<_>> = fs::read_dir(parent)?.map(|entry| Ok(entry?.path())).collect();
    let mut folders: Vec<PathBuf> = paths?.into_iter().filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

/// Takes the three keys from the head of a `subject.toml`, each on a line of its own.
fn read(text: &str, looks: &mut BTreeMap<String, Look>) {
    let head = text.lines().take_while(|line| !line.starts_with('['));
    let values: BTreeMap<&str, Vec<&str>> = head
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim(), value.split('"').skip(1).step_by(2).collect()))
        .collect();
    let Some([runtime]) = values.get("runtime").map(Vec::as_slice) else { return };
    let look = looks.entry((*runtime).to_owned()).or_default();
    if let Some([light, dark]) = values.get("colour").map(Vec::as_slice) {
        look.colours = Some(((*light).to_owned(), (*dark).to_owned()));
    }
    if let Some([marker]) = values.get("marker").map(Vec::as_slice) {
        look.marker = Some((*marker).to_owned());
    }
}

fn style(looks: &BTreeMap<String, Look>) -> String {
    let variables = |of: fn(&(String, String)) -> &String| {
        let each =
            looks.iter().filter_map(|(runtime, look)| Some(format!(" --{runtime}: {};", of(look.colours.as_ref()?))));
        format!(":root {{{} }}", each.collect::<String>())
    };
    let (light, dark) = (variables(|(light, _)| light), variables(|(_, dark)| dark));
    let mut style = format!(
        "\n/* Of the subjects' folders. */\n{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n@media print {{ {light} }}\n"
    );
    for runtime in looks.keys() {
        writeln!(style, ".r-{runtime} {{ --c: var(--{runtime}); }}").expect("a String takes any text");
    }
    style
}

/// Rows of `(runtime, class, marker)`.
fn table(looks: &BTreeMap<String, Look>) -> String {
    let rows = looks.iter().map(|(runtime, look)| {
        let marker = look.marker.as_deref().unwrap_or("ring");
        format!("({runtime:?}, \"r-{runtime}\", {marker:?}),\n")
    });
    format!("[\n{}]\n", rows.collect::<String>())
}
