//! Detection on made-up machines, whose programs are scripts; plans; and failures of a fetch.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

mod fetching;
mod mysql;
mod php_driver;
mod postgres;
mod swoole;
mod tools;
mod versions;

use fetching::{entries, fetch};

/// A machine whose search path is one folder of scripts, with an empty toolbox.
struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("bin")).unwrap();
        let lab = Self { folder };
        lab.write("system/usr/share/zoneinfo/UTC", "");
        lab
    }

    /// A Debian machine that could fetch everything but Swoole.
    fn debian() -> Self {
        let lab = Self::new();
        lab.write("system/var/lib/dpkg/status", "");
        for name in ["apt-get", "apt-config", "dpkg-deb", "npm"] {
            lab.program(&format!("bin/{name}"), "exit 0");
        }
        lab
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn program(&self, path: &str, script: &str) {
        self.write(path, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn toolbox(&self) -> Toolbox {
        self.toolbox_with(None)
    }

    fn toolbox_with(&self, swoole_so: Option<PathBuf>) -> Toolbox {
        Toolbox::with_surroundings(self.path("toolbox"), self.surroundings(swoole_so))
    }

    fn surroundings(&self, swoole_so: Option<PathBuf>) -> Surroundings {
        // Too long for any machine to reach; no test takes it.
        let patience = Duration::from_secs(300);
        let (search_path, system_root) = (vec![self.path("bin")], self.path("system"));
        Surroundings { search_path, system_root, swoole_so, swoole_source: None, patience, folder: PathBuf::from("/") }
    }

    fn detect(&self, name: &str) -> ProgramState {
        self.toolbox().detect(name).unwrap()
    }

    #[track_caller]
    fn ready(&self, name: &str) -> Program {
        match self.detect(name) {
            ProgramState::Ready(program) => program,
            other => panic!("{name} should be ready: {other:?}"),
        }
    }

    #[track_caller]
    fn broken(&self, name: &str) -> String {
        match self.detect(name) {
            ProgramState::Broken { seen, .. } => seen,
            other => panic!("{name} should be broken: {other:?}"),
        }
    }

    #[track_caller]
    fn missing(&self, name: &str) -> (String, Remedy) {
        match self.detect(name) {
            ProgramState::Missing { reason, remedy } => (reason.unwrap_or_default(), remedy),
            other => panic!("{name} should be missing: {other:?}"),
        }
    }
}

const PHP_INFO: &str =
    "echo 'PHP Version => 8.2.36'; echo 'extension_dir => /usr/lib/php/20220829 => /usr/lib/php/20220829'";
const LIBPHP: &str = "\0API420220829,NTS\0\0API20220829,NTS\0X-Powered-By: PHP/8.2.36\0";

#[test]
fn a_program_of_the_users_own_is_ready_with_its_version() {
    let lab = Lab::new();
    lab.program("bin/node", "echo 20.20.2");
    let node = lab.ready("node");
    assert_eq!((node.version.as_str(), node.source, node.prefix.as_str()), ("20.20.2", Source::System, ""));
    assert_eq!(node.path, lab.path("bin/node"));
    let state = ProgramState::Ready(node);
    let json = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<ProgramState>(&json).unwrap(), state);
}

#[test]
fn a_shim_of_a_version_manager_gives_way_to_the_program_that_it_starts() {
    let lab = Lab::new();
    let real = lab.path("versions/3.13/bin/python3.13");
    lab.program("versions/3.13/bin/python3.13", "echo Python 3.13.0");
    lab.program(
        "bin/python3",
        &format!("echo warning >&2; [ \"$1\" = -c ] && echo {} || echo Python 3.13.0", real.display()),
    );
    assert_eq!(lab.ready("python").path, real);
    // A link to the manager's own program, as mise and Volta make them.
    let node = lab.path("versions/24/bin/node");
    lab.program("versions/24/bin/node", "echo 24.1.0");
    lab.program("manager", &format!("[ \"$2\" = process.execPath ] && echo {} || echo 24.1.0", node.display()));
    std::os::unix::fs::symlink(lab.path("manager"), lab.path("bin/node")).unwrap();
    assert_eq!(lab.ready("node").path, node);
    lab.program("bin/ruby", "[ \"$1\" = --version ] && echo ruby 3.4.1");
    assert_eq!(lab.ready("ruby").path, lab.path("bin/ruby"), "it does not say where it is");
}

#[test]
fn a_program_that_fails_hides_its_version_or_is_too_old_is_never_used() {
    let lab = Lab::new();
    lab.program("bin/node", "echo 'cannot open shared object file' >&2; exit 127");
    lab.program("bin/nginx", "echo hello");
    lab.program("bin/go", "echo go version go1.19.8 linux/amd64");
    lab.program("bin/bun", "kill -SEGV $$");
    assert!(lab.broken("node").contains("failed (exit status: 127): cannot open shared object file"));
    assert!(lab.broken("nginx").contains("printed no version: hello"));
    assert!(lab.broken("go").contains("is version 1.19.8, and 1.22 is the oldest"));
    assert!(lab.broken("bun").contains("signal: 11"));
}

#[test]
fn a_program_that_hangs_is_broken() {
    let lab = Lab::new();
    lab.program("bin/cargo", "sleep 600");
    let surroundings = Surroundings { patience: Duration::from_millis(50), ..lab.surroundings(None) };
    let state = Toolbox::with_surroundings(lab.path("toolbox"), surroundings).detect("cargo").unwrap();
    let ProgramState::Broken { seen, .. } = state else { panic!("{state:?}") };
    assert!(seen.ends_with("cargo --version` gave no answer within 50 ms"), "{seen}");
}

#[test]
fn the_highest_numbered_name_is_taken() {
    let lab = Lab::new();
    for version in ["8.2", "8.10", "7.4"] {
        lab.program(&format!("bin/php-fpm{version}"), &format!("echo 'PHP Version => {version}.1'"));
    }
    lab.program("bin/php-fpm-wrapper", "echo 'PHP Version => 9.9.9'");
    assert_eq!(lab.ready("php_fpm").version, "8.10.1");
    lab.program("bin/php-fpm", "echo 'PHP Version => 8.3.0'");
    assert_eq!(lab.ready("php_fpm").version, "8.3.0", "the plain name is preferred");
}

#[test]
fn the_toolbox_is_second_and_brings_its_libraries() {
    let lab = Lab::new();
    lab.program("toolbox/root/usr/sbin/nginx", "echo nginx version: nginx/1.22.1 >&2");
    fs::create_dir_all(lab.path("toolbox/root/usr/lib/aarch64-linux-gnu")).unwrap();
    fs::create_dir_all(lab.path("toolbox/root/lib/aarch64-linux-gnu")).unwrap();
    let nginx = lab.ready("nginx");
    assert_eq!((nginx.source, nginx.prefix.as_str()), (Source::Toolbox, lab.path("toolbox/root").to_str().unwrap()));
    let folders = ["usr/lib", "lib"].map(|base| format!("{}/{base}/aarch64-linux-gnu", nginx.prefix));
    assert_eq!(nginx.env["LD_LIBRARY_PATH"], folders.join(":"));

    lab.program("bin/nginx", "echo nginx version: nginx/1.18.0 >&2");
    assert_eq!(lab.ready("nginx").version, "1.18.0", "the user's own is preferred");
    lab.program("bin/nginx", "exit 1");
    assert_eq!(lab.ready("nginx").version, "1.22.1", "unless it is broken");
}

#[test]
fn bun_is_found_in_its_package_without_its_install_script() {
    let lab = Lab::new();
    lab.program("toolbox/npm/bun/node_modules/@oven/bun-linux-x64-musl/bin/bun", "exit 127");
    lab.program("toolbox/npm/bun/node_modules/@oven/bun-linux-x64/bin/bun", "echo 1.4.5");
    let bun = lab.ready("bun");
    assert_eq!((bun.version.as_str(), bun.source), ("1.4.5", Source::Toolbox));
    assert!(bun.env.is_empty() && bun.prefix.is_empty(), "it is not a Debian package: {bun:?}");
}

#[test]
fn pm2_is_never_called() {
    let lab = Lab::new();
    lab.program("lib/node_modules/pm2/bin/pm2-runtime", &format!("touch {}", lab.path("called").display()));
    lab.write("lib/node_modules/pm2/package.json", r#"{ "name": "pm2", "version": "7.0.4" }"#);
    std::os::unix::fs::symlink(lab.path("lib/node_modules/pm2/bin/pm2-runtime"), lab.path("bin/pm2-runtime")).unwrap();
    let pm2 = lab.ready("pm2");
    assert_eq!(pm2.version, "7.0.4");
    assert!(pm2.path.ends_with("lib/node_modules/pm2/bin/pm2-runtime"), "the script, not the link: {pm2:?}");
    assert!(!lab.path("called").exists());

    lab.write("lib/node_modules/pm2/package.json", r#"{ "name": "other", "version": "1.0.0" }"#);
    assert!(lab.broken("pm2").contains("is not in the package pm2"));
}

#[test]
fn mysql2_is_a_library_and_no_program() {
    let lab = Lab::new();
    lab.write("toolbox/npm/mysql2/node_modules/mysql2/promise.js", "throw new Error('called');");
    lab.write("toolbox/npm/mysql2/node_modules/mysql2/package.json", r#"{ "name": "mysql2", "version": "3.24.6" }"#);
    let mysql2 = lab.ready("mysql2");
    assert_eq!((mysql2.version.as_str(), mysql2.source), ("3.24.6", Source::Toolbox));
    assert!(
        mysql2.path.ends_with("node_modules/mysql2/promise.js"),
        "the path must be the module that servers import: {mysql2:?}"
    );
}

#[test]
fn php_tells_where_its_extensions_are() {
    let lab = Lab::new();
    lab.program("bin/php-fpm8.2", PHP_INFO);
    assert_eq!(lab.ready("php_fpm").extras["extensions"], "", "there is no such folder");
    fs::create_dir_all(lab.path("toolbox/root/usr/lib/php/20220829")).unwrap();
    let unpacked = lab.path("toolbox/root/usr/lib/php/20220829");
    assert_eq!(lab.ready("php_fpm").extras["extensions"], unpacked.to_str().unwrap());
    fs::create_dir_all(lab.path("system/usr/lib/php/20220829")).unwrap();
    let own = lab.path("system/usr/lib/php/20220829");
    assert_eq!(lab.ready("php_fpm").extras["extensions"], own.to_str().unwrap(), "the system's own is preferred");
}

#[test]
fn apache_of_the_system_takes_mod_php_from_the_toolbox() {
    let lab = Lab::new();
    lab.program("bin/apache2", "echo 'Server version: Apache/2.4.71 (Debian)'");
    lab.write("system/usr/lib/apache2/modules/mod_mpm_prefork.so", "");
    assert!(lab.missing("apache").0.contains("bin/apache2 2.4.71 is here, without mod_php"));

    lab.write("toolbox/root/usr/lib/apache2/modules/libphp8.2.so", LIBPHP);
    fs::create_dir_all(lab.path("toolbox/root/usr/lib/php/20220829")).unwrap();
    fs::create_dir_all(lab.path("toolbox/root/usr/lib/x86_64-linux-gnu")).unwrap();
    let apache = lab.ready("apache");
    let extra = |name: &str| apache.extras[name].as_str();
    assert_eq!(extra("modules"), lab.path("system/usr/lib/apache2/modules").to_str().unwrap());
    assert_eq!(extra("php_module"), lab.path("toolbox/root/usr/lib/apache2/modules/libphp8.2.so").to_str().unwrap());
    assert_eq!(extra("php_extensions"), lab.path("toolbox/root/usr/lib/php/20220829").to_str().unwrap());
    assert_eq!((extra("php_module_name"), extra("php_version")), ("php_module", "8.2.36"));
    assert!(apache.env.contains_key("LD_LIBRARY_PATH"), "the module needs its libraries");

    lab.write("toolbox/root/usr/lib/apache2/modules/libphp8.2.so", "no PHP at all");
    assert!(lab.broken("apache").contains("no PHP version in it"));
}

#[test]
fn mariadb_is_a_server_with_its_messages_its_installer_and_its_client() {
    let lab = Lab::new();
    let usr = |path: &str| format!("toolbox/root/usr/{path}");
    lab.program(
        &usr("sbin/mariadbd"),
        "echo 'mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64'",
    );
    fs::create_dir_all(lab.path(&usr("lib/x86_64-linux-gnu"))).unwrap();
    let lacks = |what: &str| {
        let expect = format!("sbin/mariadbd 10.11.19-MariaDB-0+deb12u1 is here, without {what}");
        let reason = lab.missing("mariadb").0;
        assert!(reason.contains(&expect), "{reason}");
    };
    lacks("its messages");
    lab.write(&usr("share/mysql/english/errmsg.sys"), "");
    lacks("mariadb-install-db");
    lab.program(&usr("bin/mariadb-install-db"), "exit 0");
    lacks("its client mariadb");
    lab.program(&usr("bin/mariadb"), "exit 0");

    fs::remove_file(lab.path("system/usr/share/zoneinfo/UTC")).unwrap();
    let mariadb = lab.ready("mariadb");
    assert_eq!((mariadb.version.as_str(), mariadb.source), ("10.11.19-MariaDB-0+deb12u1", Source::Toolbox));
    assert!(mariadb.env.contains_key("LD_LIBRARY_PATH"), "{mariadb:?}");
    let parts =
        [("base", ""), ("client", "bin/mariadb"), ("install", "bin/mariadb-install-db"), ("share", "share/mysql")];
    for (name, path) in parts {
        assert_eq!(Path::new(&mariadb.extras[name]), lab.path(&usr(path)), "{name}");
    }
}

#[test]
fn php_from_the_toolbox_needs_the_time_zones_of_the_system() {
    let lab = Lab::debian();
    lab.program("toolbox/root/usr/sbin/php-fpm8.3", PHP_INFO);
    fs::remove_file(lab.path("system/usr/share/zoneinfo/UTC")).unwrap();
    let (reason, remedy) = lab.missing("php_fpm");
    assert!(reason.contains("/usr/share/zoneinfo/UTC is not there"), "{reason}");
    assert_eq!(remedy, Remedy::ByHand { command: "sudo apt-get install tzdata".to_owned() });
    lab.program("bin/php-fpm", PHP_INFO);
    assert_eq!(lab.ready("php_fpm").source, Source::System, "the user's own may have been built otherwise");
}

#[test]
fn swoole_is_php_with_swoole_wherever_the_extension_is() {
    let lab = Lab::new();
    let reports = "case \"$*\" in\n'-n -i') %INFO% ;;\n%CASE%) echo 'Version => 6.2.2' ;;\n*) echo \"Extension 'swoole' not present.\"; exit 1 ;;\nesac";
    let php = |case: &str| lab.program("bin/php", &reports.replace("%INFO%", PHP_INFO).replace("%CASE%", case));

    php("never");
    let reason = lab.missing("swoole").0;
    assert!(reason.contains("without swoole; swoole is built from source, but this machine has no phpize"), "{reason}");

    php("'--ri swoole'");
    let swoole = lab.ready("swoole");
    assert_eq!(
        (swoole.version.as_str(), swoole.extras["extension"].as_str()),
        ("6.2.2", ""),
        "PHP's own configuration loads it"
    );
    assert_eq!((swoole.path, swoole.extras["php_version"].as_str()), (lab.path("bin/php"), "8.2.36"));

    php("'-d extension=/some/swoole.so --ri swoole'");
    let state = lab.toolbox_with(Some(PathBuf::from("/some/swoole.so"))).detect("swoole").unwrap();
    assert_eq!(state.ready().unwrap().extras["extension"], "/some/swoole.so");
    let state = lab.toolbox_with(Some(PathBuf::from("/other/swoole.so"))).detect("swoole").unwrap();
    assert!(matches!(&state, ProgramState::Broken { seen, .. } if seen.contains("/other/swoole.so")), "{state:?}");

    let built = lab.path("toolbox/swoole/swoole.so");
    lab.write("toolbox/swoole/swoole.so", "");
    php(&format!("'-d extension={} --ri swoole'", built.display()));
    assert_eq!(lab.ready("swoole").extras["extension"], built.to_str().unwrap());
}

#[test]
fn what_is_missing_comes_with_a_remedy_of_this_machine() {
    let fetch = |program: &str, from: &str| Remedy::Fetch { program: program.to_owned(), from: from.to_owned() };
    let by_hand = |command: &str| Remedy::ByHand { command: command.to_owned() };
    let debian = Lab::debian();
    assert_eq!(debian.missing("nginx"), (String::new(), fetch("nginx", "Debian package nginx")));
    assert_eq!(debian.missing("bun").1, fetch("bun", "npm package bun 1.4.5"));
    assert_eq!(debian.missing("go").1, by_hand("install Go as go.dev/doc/install says"));
    let fedora = Lab::new();
    fedora.program("bin/dnf", "exit 0");
    let (reason, remedy) = fedora.missing("nginx");
    assert_eq!((reason.as_str(), remedy), ("this is no Debian or Ubuntu system", by_hand("sudo dnf install nginx")));
    assert_eq!(fedora.missing("bun").1, by_hand("sudo dnf install nodejs npm && tolok setup"));
    assert_eq!(fedora.missing("bun").0, "there is no npm here");
}

#[test]
fn all_programs_are_asked_at_once() {
    let lab = Lab::new();
    // Each waits for the other's mark, so neither would answer if they ran one after the other.
    let meet = |own: &str, other: &str| {
        let (own, other) = (lab.path(own), lab.path(other));
        format!("touch {}; while ! test -e {}; do sleep 0.01; done", own.display(), other.display())
    };
    lab.program("bin/node", &format!("{}; echo 20.0.0", meet("a", "b")));
    lab.program("bin/bun", &format!("{}; echo 1.4.5", meet("b", "a")));
    let states = lab.toolbox().detect_all();
    assert_eq!(states.len(), Catalogue::built_in().names().count());
    assert!(states["node"].ready().is_some() && states["bun"].ready().is_some(), "{states:?}");
}

#[test]
fn a_plan_is_the_exact_commands() {
    let lab = Lab::debian();
    let toolbox = lab.toolbox();
    let plan = toolbox.plan(&["bun", "apache", "nginx", "pm2", "swoole", "go"]).unwrap();
    let text = plan.to_string();
    let text = text.replace(toolbox.staging().to_str().unwrap(), "STAGING");
    insta::assert_snapshot!(text, @r#"
    # apache, nginx (Debian packages apache2-bin, libapache2-mod-php, nginx, php-mysql)
    APT_CONFIG=STAGING/apt.conf apt-get --quiet update
    APT_CONFIG=STAGING/apt.conf apt-get --quiet --yes --download-only install apache2-bin libapache2-mod-php nginx php-mysql
    for package in STAGING/cache/archives/*.deb; do dpkg-deb --extract "$package" STAGING/root; done
    # bun (npm package bun 1.4.5)
    npm_config_update_notifier=false npm ci --prefix STAGING/bun --cache STAGING/npm-cache --ignore-scripts --include=optional --no-audit --no-fund --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --logs-max=0
    # pm2 (npm package pm2 7.0.4)
    npm_config_update_notifier=false npm ci --prefix STAGING/pm2 --cache STAGING/npm-cache --ignore-scripts --include=optional --no-audit --no-fund --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --logs-max=0
    # PHP Swoole, by hand: swoole is built from source, but this machine has no phpize, no php-config, no make, no c++, no strip, no pecl; TOLOK_SWOOLE_SOURCE is not set
    sudo apt-get install php-cli php-dev php-pear g++ make && tolok setup swoole
    # Go, by hand: tolok cannot put it into the toolbox
    install Go as go.dev/doc/install says
    "#);
    assert!(!lab.path("toolbox").exists(), "a plan changes nothing");
    assert!(plan.by_hand.iter().find(|step| step.program == "swoole").unwrap().optional);
    assert!(toolbox.plan(&[]).unwrap().is_empty());
    assert!(toolbox.plan(&["bum"]).is_err());
}

#[test]
fn only_what_is_missing_is_fetched() {
    let plan = Lab::debian().toolbox().plan(&["bun"]).unwrap();
    let [step] = plan.steps.as_slice() else { panic!("{plan:?}") };
    assert_eq!((step.programs.as_slice(), step.commands.len()), (["bun".to_owned()].as_slice(), 1));
}

#[test]
fn a_plan_keeps_what_the_tree_has_already() {
    let lab = Lab::debian();
    let record = r#"{ "format_version": 1, "apt_asked": ["nginx"], "apt": [], "npm": {}, "swoole": null }"#;
    lab.write("toolbox/installed.json", record);
    let plan = lab.toolbox().plan(&["php_fpm"]).unwrap();
    assert!(plan.steps[0].commands[1].ends_with("install nginx php-fpm php-mysql"), "{plan}");
}

#[test]
fn swoole_is_built_by_the_systems_tools_from_what_pecl_downloads() {
    let lab = Lab::debian();
    lab.program("bin/php", PHP_INFO);
    for name in ["pecl", "phpize", "php-config", "make", "c++", "strip"] {
        lab.program(&format!("bin/{name}"), "exit 0");
    }
    let plan = lab.toolbox().plan(&["swoole"]).unwrap();
    assert!(plan.by_hand.is_empty() && plan.steps[0].optional, "{plan}");
    assert!(plan.steps[0].commands[0].ends_with("/swoole && pecl download swoole"), "{plan}");
}

#[test]
fn swoole_is_built_by_unpacked_tools_from_an_archive_where_the_system_has_none() {
    let lab = Lab::debian();
    lab.program("bin/unshare", "exit 0");
    let toolbox = lab.toolbox().with_swoole_source(PathBuf::from("/some/swoole.tar.xz"));
    let plan = toolbox.plan(&["swoole"]).unwrap();
    let text = plan.to_string().replace(toolbox.staging().to_str().unwrap(), "STAGING");
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    insta::assert_snapshot!(text.replace(&format!("-j{jobs}"), "-jN"));
}

#[test]
fn the_default_folder_is_the_users_cache() {
    let folder = |variables: &'static [(&str, &str)]| {
        default_folder(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value)))
    };
    let home = ("HOME", "/home/u");
    assert_eq!(folder(&[("HOME", "/home/u")]).unwrap(), Path::new("/home/u/.cache/tolok/toolbox"));
    assert_eq!(folder(&[("HOME", "/home/u"), ("XDG_CACHE_HOME", "/c")]).unwrap(), Path::new("/c/tolok/toolbox"));
    assert_eq!(
        folder(&[("HOME", "/home/u"), ("XDG_CACHE_HOME", "c")]).unwrap(),
        Path::new("/home/u/.cache/tolok/toolbox")
    );
    assert_eq!(folder(&[("TOLOK_TOOLBOX", "/t"), ("XDG_CACHE_HOME", "/c")]).unwrap(), Path::new("/t"));
    assert!(folder(&[]).unwrap_err().to_string().contains("TOLOK_TOOLBOX"), "{home:?}");
}
