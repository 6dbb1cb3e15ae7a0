//! Servers for tests: templates that tests share while they run, and instances on addresses of their own.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tempfile::TempDir;
use tolok_model::{DatabaseAddress, Engine, Wire};

use crate::data_contract::new_password;
use crate::database::{Client, DatabaseError, DatabaseStore, Instance, Settings, Target, Template};
use crate::toolbox::{Program, Toolbox};

/// Anything that takes longer hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);
/// Identifies the data of [`script`].
pub(super) const SHA256: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// The password of the subjects' account in a test's trial.
pub(super) const PASSWORD: &str = "5ecret";

pub(super) fn program(engine: Engine) -> Option<Program> {
    let state = Toolbox::open_default().unwrap().detect(engine.program().unwrap()).unwrap();
    state.ready().cloned()
}

/// A small script for a private server.
pub(super) fn script(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(
        b"CREATE DATABASE tolok CHARACTER SET utf8mb4;\nUSE tolok;\n\
          CREATE TABLE rows40 (id INT PRIMARY KEY, what VARCHAR(40)) ENGINE=InnoDB;\n",
    )?;
    out.write_all("INSERT INTO rows40 VALUES (1, 'späti'), (2, 'naïve'), (3, NULL);\n".as_bytes())?;
    out.write_all(b"CREATE USER 'tolok'@'%' IDENTIFIED BY 'tolok';\nGRANT ALL PRIVILEGES ON tolok.* TO 'tolok'@'%';\n")
}

/// A small script for a user's own server.
pub(super) fn external_script(out: &mut dyn Write, version: &str) -> io::Result<()> {
    for table in ["rows40", "rows50", "fidelity", "fortune", "stock", "counter"] {
        writeln!(out, "CREATE TABLE {table} (id INT PRIMARY KEY) COMMENT='tolok data {version}';")?;
        writeln!(out, "INSERT INTO {table} VALUES (1);")?;
        if table.starts_with("rows") {
            writeln!(out, "CREATE VIEW {table}_text AS SELECT id FROM {table};")?;
        }
    }
    Ok(())
}

/// The template of an engine, made by the first of the concurrent tests that use it, and removed after the last.
pub(super) fn template(engine: Engine, program: &Program) -> (Arc<TempDir>, Template) {
    static SHARED: Mutex<Weak<TempDir>> = Mutex::new(Weak::new());
    let folder = {
        let mut shared = SHARED.lock().unwrap();
        let folder = shared.upgrade().unwrap_or_else(|| Arc::new(tempfile::tempdir().unwrap()));
        *shared = Arc::downgrade(&folder);
        folder
    };
    let store = DatabaseStore::new(folder.path());
    let template = store.template(engine, program, &script, SHA256, &mut || (), &|| true).unwrap();
    (folder, template)
}

/// A running instance; killed when the test ends in any way.
pub(super) struct Served {
    program: Program,
    instance: Instance,
    pub(super) at: SocketAddrV4,
    child: Child,
    folder: TempDir,
}

impl Served {
    pub(super) fn start(template: &Template, max_connections: u32) -> Self {
        static NEXT: AtomicU8 = AtomicU8::new(1);
        // A unique loopback address, so that no other test takes the port before the server does.
        let [high, low, ..] = std::process::id().to_ne_bytes();
        let address = Ipv4Addr::new(127, 1 + high % 200, low, NEXT.fetch_add(1, Ordering::Relaxed));
        let port = TcpListener::bind((address, 0)).unwrap().local_addr().unwrap().port();
        let (at, folder) = (SocketAddrV4::new(address, port), tempfile::tempdir().unwrap());
        let settings = Settings { max_connections, buffer_pool_bytes: 32 << 20, account: None };
        let instance = template.instance(folder.path(), at, &settings);
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        assert!(Command::new(&instance.close[0]).args(&instance.close[1..]).status().unwrap().success());
        fs::write(&instance.first, new_password(PASSWORD, Wire::Mysql)).unwrap();
        let copied = Command::new(&instance.copy[0]).args(&instance.copy[1..]).status().unwrap();
        assert!(copied.success());
        let child = serve(&instance, &folder);
        Self { program: template.program.clone(), instance, at, child, folder }
    }

    /// Logs in as root, over the socket.
    pub(super) fn login(&mut self) -> Result<Client, DatabaseError> {
        let target = Target::Socket { path: self.instance.socket.clone() };
        Client::login(&self.program, &target, PATIENCE, &|| true)
    }

    /// Whether another user of the machine can see its socket.
    pub(super) fn shows_its_socket_to_others(&self) -> bool {
        let mut test = Command::new("test");
        test.arg("-e").arg(&self.instance.socket).uid(65_533).gid(65_533).current_dir("/").status().unwrap().success()
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(super) fn restart(&mut self) {
        assert!(Command::new(&self.instance.tidy[0]).args(&self.instance.tidy[1..]).status().unwrap().success());
        self.child = serve(&self.instance, &self.folder);
    }
}

fn serve(instance: &Instance, folder: &TempDir) -> Child {
    let mut command = Command::new(&instance.server[0]);
    command.args(&instance.server[1..]).env_clear().envs(&instance.env).current_dir(folder.path()).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(File::create(folder.path().join("log")).unwrap()).spawn().unwrap()
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address of its database `tolok` for the subjects' account.
pub(super) fn network(served: &Served, password: &str) -> DatabaseAddress {
    let (host, port) = (served.at.ip().to_string(), served.at.port());
    let (wire, user, name) = (Wire::Mysql, "tolok".to_owned(), "tolok".to_owned());
    DatabaseAddress { wire, user, password: password.to_owned(), host, port, name }
}
