//! Module versions that Go's linker writes into every program.
//!
//! `go version -m` shows the same, but Go need not be installed here. The note begins with a mark, aligned to 16 bytes. After a
//! head of 32 bytes come two texts, each after its length: the version of Go, and a line for each module. Programs built by Go
//! before 1.18 use another format, which is not read: their version is unknown.

use std::fs;
use std::io;
use std::path::Path;

const MARK: &[u8] = b"\xff Go buildinf:";
const ALIGNMENT: usize = 16;
const HEAD_BYTES: usize = 32;
/// This byte of the head has flags; with this bit, the texts come right after the head.
const FLAGS_AT: usize = 15;
const TEXTS_BEHIND_THE_HEAD: u8 = 2;

/// The version of the main module, if it is this one and the program was built from a release of it.
pub(super) fn module_version(file: &Path, module: &str) -> io::Result<Option<String>> {
    let bytes = fs::read(file)?;
    Ok(modules(&bytes).and_then(|modules| main_version(&modules, module)))
}

/// The lines about the modules.
fn modules(bytes: &[u8]) -> Option<String> {
    let note = bytes.chunks(ALIGNMENT).position(|chunk| chunk.starts_with(MARK))? * ALIGNMENT;
    let note = &bytes[note..];
    if note.get(FLAGS_AT)? & TEXTS_BEHIND_THE_HEAD == 0 {
        return None;
    }
    let (_go, rest) = text(note.get(HEAD_BYTES..)?)?;
    let (modules, _) = text(rest)?;
    // The lines are between two binary marks of 16 bytes.
    Some(String::from_utf8_lossy(modules).into_owned())
}

/// A text after its length, which is a varint (groups of seven bits, lowest first), and the remaining bytes.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let digits = bytes.iter().take(5).position(|byte| byte & 0x80 == 0)? + 1;
    let length = bytes[..digits].iter().rev().fold(0, |length, byte| length << 7 | usize::from(byte & 0x7f));
    bytes[digits..].split_at_checked(length)
}

fn main_version(modules: &str, module: &str) -> Option<String> {
    let line = modules.lines().find_map(|line| line.strip_prefix("mod\t"))?;
    let (name, rest) = line.split_once('\t')?;
    let version = rest.split('\t').next()?.strip_prefix('v')?;
    // A build from a checkout has "(devel)".
    (name == module && version.starts_with(|c: char| c.is_ascii_digit())).then(|| version.to_owned())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A file with such a note, as Go's linker writes it.
    pub(crate) fn program(modules: &str) -> Vec<u8> {
        let lines = [&[0x30; 16], modules.as_bytes(), &[0xf9; 16]].concat();
        let length = [u8::try_from(lines.len() & 0x7f).unwrap() | 0x80, u8::try_from(lines.len() >> 7).unwrap()];
        let head = [MARK, &[8, TEXTS_BEHIND_THE_HEAD], &[0; 16]].concat();
        [vec![b'x'; 48], head, vec![8], b"go1.26.8".to_vec(), length.to_vec(), lines, vec![0; 5]].concat()
    }

    const HEY: &str = "github.com/rakyll/hey";

    #[test]
    fn the_version_is_that_of_the_main_module() {
        let version = |line: &str| {
            let text = format!("path\t{HEY}\n{line}\ndep\tgolang.org/x/net\tv0.48.0\th1:x=\nbuild\tCGO_ENABLED=0\n");
            main_version(&modules(&program(&text)).unwrap(), HEY)
        };
        assert_eq!(version(&format!("mod\t{HEY}\tv0.1.5\th1:x=")).as_deref(), Some("0.1.5"));
        assert_eq!(version(&format!("mod\t{HEY}\tv0.1.5")).as_deref(), Some("0.1.5"), "no sum without a module cache");
        assert_eq!(version(&format!("mod\t{HEY}\t(devel)\t")), None, "a build from a checkout");
        assert_eq!(version("mod\texample.org/hey\tv0.1.5\th1:x="), None, "another module");
        assert_eq!(version("build\t-trimpath=true"), None, "a build without modules");
    }

    #[test]
    fn files_that_have_no_such_note_or_a_broken_one_tell_nothing() {
        let whole = program(&format!("mod\t{HEY}\tv0.1.5\th1:x=\n"));
        let note = whole.windows(5).position(|bytes| bytes == b"\xff Go ").unwrap();
        assert!(modules(&whole).is_some());
        for end in 0..whole.len() - 5 {
            assert_eq!(modules(&whole[..end]), None, "cut off at {end}");
        }
        let mut old = whole.clone();
        old[note + FLAGS_AT] = 0;
        assert_eq!(modules(&old), None, "before Go 1.18");
        assert_eq!(modules(&whole[1..]), None, "not at a multiple of 16");
    }

    #[test]
    fn a_program_that_go_builds_here_is_read_as_go_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("go.mod", "module example.org/try\n\ngo 1.18\n");
        write("main.go", "package main\n\nfunc main() {}\n");
        let go = |arguments: &[&str]| {
            let mut go = std::process::Command::new("go");
            go.args(arguments).current_dir(folder.path()).env("GOFLAGS", "-buildvcs=false").env("GOTOOLCHAIN", "local");
            go.output().ok().filter(|output| output.status.success())
        };
        tolok_testkit::require!(go(&["build", "-o", "try", "."]).is_some(), "there is no Go");
        let shown = String::from_utf8(go(&["version", "-m", "try"]).unwrap().stdout).unwrap();
        let shown: Vec<&str> = shown.lines().skip(1).map(str::trim).collect();
        let read = modules(&fs::read(folder.path().join("try")).unwrap()).unwrap();
        for line in ["path\texample.org/try", "mod\texample.org/try\t(devel)"] {
            assert!(shown.iter().any(|shown| shown.starts_with(line)), "{line}: {shown:?}");
            assert!(read.contains(line), "{line}: {read:?}");
        }
        assert_eq!(module_version(&folder.path().join("try"), "example.org/try").unwrap(), None);
    }
}
