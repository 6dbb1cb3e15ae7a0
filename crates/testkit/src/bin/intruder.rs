//! Tries what no program of a trial should be able to do, and prints a line with the result of each attempt:
//! `mount: refused (…)` or `mount: managed`. `--read PATH` and `--write FOLDER` name what to read and where to write.
#![allow(unsafe_code, reason = "system calls without a safe wrapper, which should fail")]

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn main() {
    let sibling = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn();
    for (name, call) in CALLS {
        let pid = sibling.as_ref().map_or(0, Child::id);
        say(name, call(i64::from(pid)));
    }
    let mut arguments = std::env::args().skip(1);
    while let (Some(option), Some(path)) = (arguments.next(), arguments.next()) {
        let came = if option == "--read" { read(Path::new(&path)) } else { write(Path::new(&path)) };
        say(&format!("{} {path}", &option[2..]), came);
    }
    if let Ok(mut sibling) = sibling {
        let _ = sibling.kill();
        let _ = sibling.wait();
    }
}

fn say(name: &str, came: io::Result<()>) {
    let mut output = io::stdout().lock();
    // A reader notices a missing line.
    let _ = match came {
        Ok(()) => writeln!(output, "{name}: managed"),
        Err(error) => writeln!(output, "{name}: refused ({error})"),
    };
}

/// Takes the pid of a sibling.
type Attempt = fn(i64) -> io::Result<()>;

/// Calls with bad arguments are checked for permission first.
const CALLS: [(&str, Attempt); 10] = [
    ("mount", |_| call(libc::SYS_mount, [c"none".as_ptr() as i64, c"/".as_ptr() as i64, c"tmpfs".as_ptr() as i64])),
    ("unshare", |_| call(libc::SYS_unshare, [i64::from(libc::CLONE_NEWUSER), 0, 0])),
    ("ptrace", |pid| call(libc::SYS_ptrace, [i64::from(libc::PTRACE_SEIZE), pid, 0])),
    ("pidfd_getfd", |_| allowed(call(libc::SYS_pidfd_getfd, [-1, 0, 0]))),
    ("process_vm_readv", |pid| call(libc::SYS_process_vm_readv, [pid, 0, 0])),
    ("bpf", |_| allowed(call(libc::SYS_bpf, [0, 0, 0]))),
    ("module", |_| allowed(call(libc::SYS_finit_module, [-1, 0, 0]))),
    ("kexec", |_| allowed(call(libc::SYS_kexec_load, [0, 17, 0]))),
    ("keys", |_| call(libc::SYS_keyctl, [0, -3, 1])),
    ("root", |_| call(libc::SYS_setuid, [0, 0, 0])),
];

fn call(number: i64, [one, two, three]: [i64; 3]) -> io::Result<()> {
    // SAFETY: the arguments are numbers, or pointers to constants. The effect of a successful call ends with this process.
    match unsafe { libc::syscall(number, one, two, three, 0, 0, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Turns the failure of a permitted call with bad arguments into success.
fn allowed(came: io::Result<()>) -> io::Result<()> {
    came.or_else(|error| if error.raw_os_error() == Some(libc::EPERM) { Err(error) } else { Ok(()) })
}

/// Fails if there is nothing to see.
fn read(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        return fs::read(path).map(drop);
    }
    let entry = fs::read_dir(path)?.next();
    entry.map_or_else(|| Err(io::Error::other("it is empty")), |entry| entry.map(drop))
}

fn write(folder: &Path) -> io::Result<()> {
    let file = folder.join("written-by-an-intruder");
    fs::write(&file, "here")?;
    fs::remove_file(file)
}
