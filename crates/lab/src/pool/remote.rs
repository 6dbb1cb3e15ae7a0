//! Runs scripts on the machines of a pool: over ssh, or in a local shell.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use tolok_host::isolate::wait_within;

/// A script that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);
/// Limit for the output of a script.
const MOST_BYTES: u64 = 1 << 20;
/// ssh's exit code if it could not connect.
const NOT_REACHED: i32 = 255;

/// The command that reaches other machines.
#[derive(Debug, Clone)]
pub struct Ssh(Vec<String>);

impl Ssh {
    /// Never prompts, because nobody would answer, and limits the connection time.
    pub const USUAL: &str = "ssh -o BatchMode=yes -o ConnectTimeout=10";

    /// A command and its arguments, separated by whitespace. `None` if there is no word in it.
    pub fn of(command: &str) -> Option<Self> {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self(words))
    }

    /// Runs a script in a shell of a host, or of this machine.
    pub(super) fn run(&self, host: Option<&str>, script: &str) -> Result<String, NotRun> {
        let mut command = match host {
            Some(host) => {
                let mut ssh = Command::new(&self.0[0]);
                ssh.args(&self.0[1..]).arg(host).arg("sh");
                ssh
            }
            None => Command::new("sh"),
        };
        // Not passed as an argument: a process list would show its key, and another shell would parse it first.
        command.arg("-s").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C must not reach it: a half-done script could not be undone.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| NotRun::starting(&command, &error))?;
        let (mut input, script) = (child.stdin.take(), script.to_owned());
        // A script that does not read its input ends, and its exit code shows why.
        let said = std::thread::spawn(move || input.take().map(|mut input| input.write_all(script.as_bytes())));
        let (output, errors) = (read(child.stdout.take()), read(child.stderr.take()));
        let code = ended(&mut child).map_err(|error| NotRun::starting(&command, &error))?;
        let Some(code) = code else {
            return Err(NotRun { code: None, said: format!("no end within {} s", LIMIT.as_secs()) });
        };
        let (output, errors, _) = (output.join(), errors.join(), said.join());
        if code == Some(0) {
            return Ok(output.unwrap_or_default());
        }
        let said = last_line(&errors.unwrap_or_default()).unwrap_or_else(|| "it said nothing".to_owned());
        Err(NotRun { code, said })
    }
}

/// What a command on this machine prints, or the last line of its errors if it fails.
pub(crate) fn printed(command: &mut Command) -> io::Result<Result<String, String>> {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output()?;
    Ok(match status.success() {
        true => Ok(String::from_utf8_lossy(&stdout).into_owned()),
        false => Err(last_line(&String::from_utf8_lossy(&stderr)).unwrap_or_else(|| status.to_string())),
    })
}

fn last_line(errors: &str) -> Option<String> {
    errors.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
}

/// The exit code of a child that ends in time. Otherwise the child is killed.
fn ended(child: &mut Child) -> io::Result<Option<Option<i32>>> {
    if let Some(status) = wait_within(child, LIMIT)? {
        return Ok(Some(status.code()));
    }
    child.kill()?;
    child.wait().map(|_| None)
}

fn read(from: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.map(|from| from.take(MOST_BYTES).read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Why a script failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotRun {
    /// Its exit code.
    pub(super) code: Option<i32>,
    /// The last line of its standard error, or why there is none.
    pub(super) said: String,
}

impl NotRun {
    fn starting(command: &Command, error: &io::Error) -> Self {
        Self { code: None, said: format!("cannot start {}: {error}", command.get_program().to_string_lossy()) }
    }

    /// The same as a sentence about a host, with advice.
    pub(super) fn words(&self, host: &str) -> String {
        let Self { code, said } = self;
        let has = |words: &str| said.to_lowercase().contains(words);
        if has("permission denied") && *code == Some(NOT_REACHED) {
            format!("{host}: ssh may not log in ({said}). Let it do so with a key: ssh-copy-id {host}")
        } else if has("host key") {
            format!("{host}: ssh does not trust it ({said}). Log in once by hand: ssh {host}")
        } else if *code == Some(NOT_REACHED) {
            format!("{host}: ssh does not reach it ({said}). Check its name, and that sshd runs there")
        } else {
            format!("{host}: {said}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_by_a_shell_and_its_last_complaint_is_kept() {
        let ssh = Ssh::of("env --").unwrap();
        assert_eq!(ssh.run(None, "echo 'one two'").unwrap(), "one two\n");
        let failed = ssh.run(None, "echo first >&2; echo last >&2; exit 3").unwrap_err();
        assert_eq!(failed, NotRun { code: Some(3), said: "last".to_owned() });
        let failed = Ssh::of("/nowhere/ssh -v").unwrap().run(Some("n1"), "").unwrap_err();
        assert!(failed.words("n1").starts_with("n1: cannot start /nowhere/ssh"), "{failed:?}");
        assert!(Ssh::of(" ").is_none());
    }

    #[test]
    fn what_ssh_says_becomes_advice() {
        let words = |code, said: &str| NotRun { code: Some(code), said: said.to_owned() }.words("root@n1");
        assert!(words(255, "root@n1: Permission denied (publickey).").contains("ssh-copy-id root@n1"));
        assert!(words(255, "Host key verification failed.").contains("Log in once by hand: ssh root@n1"));
        assert!(words(255, "ssh: connect to host n1 port 22: Connection refused").contains("that sshd runs there"));
        assert_eq!(words(1, "mkdir: no room"), "root@n1: mkdir: no room");
    }
}
