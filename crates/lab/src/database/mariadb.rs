//! The commands of a private MariaDB: made once in an empty folder, then served from it over a Unix socket.
//!
//! Nothing is read of the system's configuration and nothing is written outside the folder. Whoever runs the commands
//! owns the files; a server that is started as root stays root (`--user=root`), since a box in which only one account is
//! mapped has nobody to change to.

use std::path::{Path, PathBuf};

use crate::toolbox::Program;

/// The commands of one instance. All of them need the program's own `env`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MariadbCommands {
    /// Makes the system tables; ends when they are made.
    pub install: Vec<String>,
    /// The server; stays in the foreground, logs to standard error and ends well on TERM.
    pub server: Vec<String>,
    /// The client, logged in as the database's `root`; takes statements from standard input.
    pub client: Vec<String>,
    /// Where the server listens, and nowhere else.
    pub socket: PathBuf,
}

/// The commands of an instance that lives in `folder`, which must exist and be empty. The path of its socket is 8
/// characters longer than that of the folder, and the kernel allows it 107.
pub fn mariadb_command(program: &Program, folder: &Path) -> MariadbCommands {
    let part = |name: &str| program.extras.get(name).cloned().unwrap_or_default();
    let data = format!("--datadir={}", folder.join("data").display());
    let socket = folder.join("db.sock");
    // A tree that was unpacked elsewhere than it was built for finds none of its parts by itself.
    let places = [format!("--basedir={}", part("base")), format!("--lc-messages-dir={}", part("share"))];
    let charsets = format!("--character-sets-dir={}/charsets", part("share"));
    // The log of transactions is 96 MiB by default, and a folder in memory has to hold it.
    let small_log = "--innodb-log-file-size=8M".to_owned();
    // Without a user of its own: with one it would change the owner of a folder of the program's.
    let install_options = ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"];
    let mut install = vec![part("install"), "--no-defaults".to_owned(), data.clone(), small_log.clone()];
    install.extend(places.iter().cloned().chain(install_options.map(str::to_owned)));

    let mut server = vec![program.path.display().to_string(), "--no-defaults".to_owned(), data, small_log, charsets];
    server.extend(places);
    server.extend([
        format!("--socket={}", socket.display()),
        format!("--pid-file={}", folder.join("db.pid").display()),
        format!("--tmpdir={}", folder.display()),
        "--skip-networking".to_owned(),
        "--skip-log-bin".to_owned(),
    ]);
    if rustix::process::geteuid().is_root() {
        server.push("--user=root".to_owned());
    }
    let socket_option = format!("--socket={}", socket.display());
    let client = [part("client"), "--no-defaults".to_owned(), socket_option, "--user=root".to_owned()];
    MariadbCommands { install, server, client: client.into(), socket }
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
    use crate::isolate::wait_within;
    use crate::toolbox::{ProgramState, Toolbox};

    /// Nothing here takes so long unless it hangs.
    const PATIENCE: Duration = Duration::from_secs(120);

    /// A started server; killed when the test ends, however it ends.
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

    /// Waits until somebody listens: a login before that would fail, and one after it waits for the server by itself.
    fn wait_for_socket(server: &mut Child, commands: &MariadbCommands, log: &Path) {
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
        assert!(!commands.socket.exists(), "nobody listens any more");
    }
}
