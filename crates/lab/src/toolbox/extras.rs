//! What subjects need to know about a program beyond its path: where its parts are.
//!
//! The parts may be apart from the program: a system with Apache but without mod_php gets only the module from the
//! toolbox. So each part is searched for on its own, beside the program first.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::catalogue::Extras;
use super::detect::Refusal;
use super::{Program, Toolbox, Version, swoole};

/// Folders of Apache's modules: Debian, Fedora on 64 bits, others, and a build from source.
const MODULE_FOLDERS: [&str; 5] = [
    "usr/lib/apache2/modules",
    "usr/lib64/httpd/modules",
    "usr/lib/httpd/modules",
    "usr/lib64/apache2",
    "usr/local/apache2/modules",
];
/// Folders of the PHP extensions; `API` stands for PHP's API number.
const EXTENSION_FOLDERS: [&str; 3] = ["usr/lib/php/API", "usr/lib64/php/modules", "usr/lib/php/modules"];
/// Folders of MariaDB's messages, character sets and system tables below its base: Debian's, and those with its own name.
const SHARE_FOLDERS: [&str; 2] = ["share/mysql", "share/mariadb"];
/// The login plugins of MariaDB's client program for other kinds of servers, below the base.
const CLIENT_PLUGINS: &str = "libmariadb3/plugin";

/// Fills in the extras, or reports the missing part. `output` is what the program printed with its version.
pub(super) fn complete(kind: Extras, program: &mut Program, output: &str, toolbox: &Toolbox) -> Result<(), Refusal> {
    match kind {
        Extras::PhpExtensions => php_extensions(program, output, toolbox),
        Extras::ApacheModules => apache_modules(program, toolbox),
        Extras::SwooleExtension => swoole::extension(program, output, toolbox),
        Extras::MariadbParts => mariadb_parts(program),
        Extras::MysqlParts => mysql_parts(program),
        Extras::PostgresParts => postgres_parts(program),
    }
}

/// Debian's PHP reads the system's time zones from a fixed path. Without them it aborts, on Ubuntu 24.04 at
/// once. Container images often lack them.
pub(super) fn require_time_zones(toolbox: &Toolbox) -> Result<(), Refusal> {
    const UTC: &str = "/usr/share/zoneinfo/UTC";
    if toolbox.surroundings.system_file(UTC).exists() {
        return Ok(());
    }
    Err(Refusal::Unsupported {
        reason: format!("PHP from Debian packages needs the system's time zones, and {UTC} is not there"),
        command: "sudo apt-get install tzdata".to_owned(),
    })
}

/// `extensions`: the folder from which this PHP loads its extensions; empty if there is none.
pub(super) fn php_extensions(program: &mut Program, info: &str, toolbox: &Toolbox) -> Result<(), Refusal> {
    let folder = info.lines().find_map(|line| line.strip_prefix("extension_dir => ")?.split(" => ").next());
    let folder = folder.and_then(|folder| existing(toolbox, program, folder.trim()));
    program.extras.insert("extensions".to_owned(), text(folder.unwrap_or_default()));
    Ok(())
}

/// `modules`, `php_module`, `php_module_name`, and, of its PHP, `php_version` and `php_extensions`.
fn apache_modules(program: &mut Program, toolbox: &Toolbox) -> Result<(), Refusal> {
    let places = places(toolbox, program);
    let folders = || places.iter().flat_map(|place| MODULE_FOLDERS.map(|folder| place.join(folder)));
    let modules = folders().find(|folder| folder.join("mod_mpm_prefork.so").is_file()).ok_or_else(|| {
        Refusal::Incomplete(format!("{} is here, without its module mpm_prefork", program.path.display()))
    })?;
    let php_module = folders().find_map(|folder| newest_php_module(&folder)).ok_or_else(|| {
        Refusal::Incomplete(format!("{} {} is here, without mod_php", program.path.display(), program.version))
    })?;
    let php = PhpModule::read(&php_module)?;
    if php_module.starts_with(toolbox.root()) {
        require_time_zones(toolbox)?;
        program.env = toolbox.library_env();
    }
    let extensions = places
        .iter()
        .flat_map(|place| EXTENSION_FOLDERS.map(|folder| place.join(folder.replace("API", &php.api))))
        .find(|folder| folder.is_dir());
    let module_name = if php.version.starts_with("7.") { "php7_module" } else { "php_module" };
    program.extras = BTreeMap::from([
        ("modules".to_owned(), text(modules)),
        ("php_module".to_owned(), text(php_module)),
        ("php_module_name".to_owned(), module_name.to_owned()),
        ("php_version".to_owned(), php.version),
        ("php_extensions".to_owned(), text(extensions.unwrap_or_default())),
    ]);
    Ok(())
}

/// `base` (the folder with `bin`, `sbin` and `share`), `share`, `install` and `client`. All must be in the
/// server's own tree, because messages and system tables belong to its version.
fn mariadb_parts(program: &mut Program) -> Result<(), Refusal> {
    let lacking = |what: &str| {
        let (path, version) = (program.path.display(), &program.version);
        Refusal::Incomplete(format!("{path} {version} is here, without {what}"))
    };
    let base =
        program.path.parent().and_then(Path::parent).ok_or_else(|| lacking("a folder that it is installed in"))?;
    let share = SHARE_FOLDERS.iter().map(|folder| base.join(folder));
    let share = share.into_iter().find(|folder| folder.join("english/errmsg.sys").is_file());
    let tool = |name: &str| Some(base.join("bin").join(name)).filter(|path| path.is_file());
    let parts = [
        ("share", share.ok_or_else(|| lacking("its messages"))?),
        ("install", tool("mariadb-install-db").ok_or_else(|| lacking("mariadb-install-db"))?),
        ("client", tool("mariadb").ok_or_else(|| lacking("its client mariadb"))?),
        ("base", base.to_owned()),
    ];
    let plugins = super::apt::library_folders(base.parent().unwrap_or(base));
    let plugins = plugins.into_iter().map(|folder| folder.join(CLIENT_PLUGINS)).find(|folder| folder.is_dir());
    program.extras.extend(parts.map(|(name, path)| (name.to_owned(), text(path))));
    program.extras.insert("plugins".to_owned(), text(plugins.unwrap_or_default()));
    Ok(())
}

/// The same for MySQL, which creates its system tables itself: `base`, `share`, `client`, and `plugins`, empty if there are
/// none.
fn mysql_parts(program: &mut Program) -> Result<(), Refusal> {
    let (path, version) = (program.path.display().to_string(), program.version.clone());
    if version.contains("MariaDB") {
        return Err(Refusal::Incomplete(format!("{path} is a MariaDB, {version}")));
    }
    let lacking = |what: &str| Refusal::Incomplete(format!("{path} {version} is here, without {what}"));
    let folder =
        program.path.parent().and_then(Path::parent).ok_or_else(|| lacking("a folder that it is installed in"))?;
    // A tree with starter scripts has its parts one level further down.
    let bases = [folder.to_owned(), folder.join("usr")];
    let shares = bases.iter().flat_map(|base| ["share/mysql", "share"].map(|share| (base, base.join(share))));
    let share = shares.into_iter().find(|(_, share)| share.join("english/errmsg.sys").is_file());
    let (base, share) = share.ok_or_else(|| lacking("its messages"))?;
    let client = Some(folder.join("bin/mysql")).filter(|path| path.is_file());
    let plugins = ["lib/mysql/plugin", "lib64/mysql/plugin", "lib/plugin"].map(|folder| base.join(folder));
    let plugins = plugins.into_iter().find(|folder| folder.is_dir()).unwrap_or_default();
    let parts = [
        ("base", base.clone()),
        ("client", client.ok_or_else(|| lacking("its client mysql"))?),
        ("plugins", plugins),
        ("share", share),
    ];
    program.extras.extend(parts.map(|(name, path)| (name.to_owned(), text(path))));
    Ok(())
}

/// For PostgreSQL: `initdb`, `client`, and `statements`, the library that counts statements; empty if there is none.
fn postgres_parts(program: &mut Program) -> Result<(), Refusal> {
    // Resolves a link on the PATH to the folder with all of them.
    let path = fs::canonicalize(&program.path).unwrap_or_else(|_| program.path.clone());
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    let tool = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    let lacking = |name: &str| {
        Refusal::Incomplete(format!("{} {} is here, without {name}", program.path.display(), program.version))
    };
    let libraries = ["lib", "lib/postgresql", "lib64/pgsql"].map(|place| folder.with_file_name(place));
    let statements = libraries.into_iter().map(|place| place.join("pg_stat_statements.so")).find(|file| file.is_file());
    let parts = [
        ("initdb", tool("initdb").ok_or_else(|| lacking("initdb"))?),
        ("client", tool("psql").ok_or_else(|| lacking("its client psql"))?),
        ("statements", statements.unwrap_or_default()),
    ];
    program.extras.extend(parts.map(|(name, path)| (name.to_owned(), text(path))));
    Ok(())
}

/// What the file of a mod_php shows about it. To query it, Apache would have to be configured and started.
struct PhpModule {
    version: String,
    api: String,
}

impl PhpModule {
    fn read(file: &Path) -> Result<Self, Refusal> {
        let refuse = |why: String| Refusal::Broken(format!("{}: {why}", file.display()));
        let bytes = fs::read(file).map_err(|error| refuse(error.to_string()))?;
        // Every PHP contains its response header, and the mark of builds whose extensions it accepts ("API20220829,NTS";
        // the mark of engine extensions has one digit more).
        let version = texts_after(&bytes, b"X-Powered-By: PHP/").next();
        let marks = texts_after(&bytes, b"\0API").filter_map(|mark| Some(mark.split_once(',')?.0.to_owned()));
        let api = marks.into_iter().find(|api| api.len() == 8).unwrap_or_default();
        Ok(Self { version: version.ok_or_else(|| refuse("no PHP version in it".to_owned()))?, api })
    }
}

/// The printable texts after each mark that begin with a digit.
fn texts_after<'a>(bytes: &'a [u8], mark: &'a [u8]) -> impl Iterator<Item = String> + 'a {
    let starts = bytes.windows(mark.len()).enumerate().filter(move |(_, window)| *window == mark);
    starts.filter_map(move |(at, _)| {
        let rest = &bytes[at + mark.len()..];
        let end = rest.iter().take(64).position(|byte| !byte.is_ascii_graphic())?;
        rest.first()?.is_ascii_digit().then(|| String::from_utf8_lossy(&rest[..end]).into_owned())
    })
}

fn newest_php_module(folder: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.flatten().map(|file| file.path());
    let numbered = files.filter_map(|path| {
        let number = path.file_name()?.to_str()?.strip_prefix("libphp")?.strip_suffix(".so")?;
        // A plain libphp.so comes from a build from source, which has only one.
        (number.is_empty() || Version::parse(number).is_some()).then(|| (Version::parse(number), path.clone()))
    });
    numbered.max_by(|a, b| a.0.cmp(&b.0)).map(|(_, path)| path)
}

/// The roots below which a program's parts may be, its own first.
fn places(toolbox: &Toolbox, program: &Program) -> Vec<PathBuf> {
    let mut places = vec![toolbox.surroundings.system_root.clone(), toolbox.root()];
    if !program.prefix.is_empty() {
        places.reverse();
    }
    places
}

/// An absolute folder of a program's own tree, in the place where it exists.
fn existing(toolbox: &Toolbox, program: &Program, folder: &str) -> Option<PathBuf> {
    let below = folder.strip_prefix('/')?;
    places(toolbox, program).into_iter().map(|place| place.join(below)).find(|path| path.is_dir())
}

fn text(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}
