//! The commands of a private MariaDB: created once in an empty folder, then served from it over a Unix socket.
//!
//! It reads no system configuration and writes nothing outside the folder. The account that runs the commands
//! owns the files. A server that is started as root stays root (`--user=root`), because a box that maps only one account
//! has no other to switch to.

use std::path::Path;

use super::commands::{self, ServerCommands, part};
use crate::toolbox::Program;

/// The redo log is 96 MiB by default, too large for a folder in memory.
const SMALL_LOG: &str = "--innodb-log-file-size=8M";

/// The commands of an instance in `folder`, which must exist and be empty. The path of its socket is 8
/// characters longer than that of the folder; the kernel allows 107.
pub fn mariadb_command(program: &Program, folder: &Path) -> ServerCommands {
    commands::private(program, folder)
}

pub(super) fn install(program: &Program, data: &Path) -> Vec<String> {
    let mut words = vec![part(program, "install"), "--no-defaults".to_owned(), data_folder(data)];
    words.extend([SMALL_LOG.to_owned()].into_iter().chain(places(program)));
    // Temporary tables are named after the process number, which is not unique across namespaces.
    words.extend(data.parent().map(|folder| format!("--tmpdir={}", folder.display())));
    // Without `--user`, which would change the owner of one of the program's folders.
    let options = ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"];
    words.extend(options.map(str::to_owned));
    words
}

pub(super) fn server(program: &Program, data: &Path) -> Vec<String> {
    let charsets = format!("--character-sets-dir={}/charsets", part(program, "share"));
    let server = program.path.display().to_string();
    let mut words = vec![server, "--no-defaults".to_owned(), data_folder(data), SMALL_LOG.to_owned(), charsets];
    words.extend(places(program));
    words
}

fn data_folder(data: &Path) -> String {
    format!("--datadir={}", data.display())
}

/// An installation that was unpacked away from its build location does not find its parts without these.
fn places(program: &Program) -> [String; 2] {
    [format!("--basedir={}", part(program, "base")), format!("--lc-messages-dir={}", part(program, "share"))]
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::net::UnixStream;
    use std::process::{Child, Command, Output, Stdio};
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process};
    use tolok_testkit::require;

    use super::*;
    use crate::toolbox::{ProgramState, Toolbox};
    use tolok_host::isolate::wait_within;

    /// A step that takes longer hangs.
    const PATIENCE: Duration = Duration::from_secs(120);

    /// A started server; killed when the test ends in any way.
    struct Server(Child);

    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn command(words: &[String], program: &Program) -> Command {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).envs(&program.env).stdin(Stdio::null());
        command
    }

    #[track_caller]
    fn text(output: Output) -> String {
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success(), "{said}");
        said
    }

    /// Waits until the server listens. A login before that would fail; a later one waits for the server.
    fn wait_for_socket(server: &mut Child, commands: &ServerCommands, log: &Path) {
        let deadline = std::time::Instant::now() + PATIENCE;
        while UnixStream::connect(&commands.socket).is_err() {
            let said = || fs::read_to_string(log).unwrap_or_default();
            assert_eq!(server.try_wait().unwrap(), None, "{}", said());
            assert!(std::time::Instant::now() < deadline, "{}", said());
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_private_server_is_made_started_asked_and_stopped() {
        let state = Toolbox::open_default().unwrap().detect("mariadb").unwrap();
        let ProgramState::Ready(program) = state else {
            require!(false, "there is no MariaDB; `tolok setup mariadb` fetches it");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let commands = mariadb_command(&program, folder.path());
        text(command(&commands.install, &program).output().unwrap());

        let log = folder.path().join("log");
        let mut server = command(&commands.server, &program);
        let mut server = Server(server.stderr(File::create(&log).unwrap()).spawn().unwrap());
        wait_for_socket(&mut server.0, &commands, &log);
        let ask = |statement: &str| {
            let mut client = command(&commands.client, &program);
            text(client.args(["--batch", "--skip-column-names", "--execute", statement]).output().unwrap())
        };
        assert_eq!(ask("select version()").trim(), program.version);
        assert_eq!(ask("select @@skip_networking, @@log_bin").trim(), "1\t0");
        ask("create database shop; create table shop.orders (id int primary key, what text) engine=innodb");
        ask("insert into shop.orders values (1, 'späti'), (2, 'naïve')");
        assert_eq!(ask("select count(*), max(char_length(what)) from shop.orders").trim(), "2\t5");

        kill_process(Pid::from_child(&server.0), Signal::TERM).unwrap();
        let status = wait_within(&mut server.0, PATIENCE).unwrap().expect("the server did not end");
        assert!(status.success(), "{status}: {}", fs::read_to_string(&log).unwrap());
        let said = fs::read_to_string(&log).unwrap();
        assert!(said.contains("Shutdown complete") && !said.contains("[ERROR]"), "{said}");
        assert!(!commands.socket.exists(), "the socket is gone");
    }
}
