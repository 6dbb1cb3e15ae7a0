//! The catalogue of programs, as data: `toolbox/programs.toml`, built into the binary.

use serde::Deserialize;
use tolok_model::wording::suggestion;

use super::npm::NpmPackage;
use super::versions::VersionsFrom;
use super::{ToolboxError, Version};

/// The programs that tolok knows.
#[derive(Debug, Clone)]
pub struct Catalogue {
    recipes: Vec<Recipe>,
}

/// How to find, query and get a program. The fields are explained at the head of `programs.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recipe {
    /// The name that subjects use.
    pub name: String,
    /// The name that people use.
    pub title: String,
    /// The program that it is a part of: found with it, without an executable and a version of its own.
    pub(super) part_of: Option<String>,
    #[serde(default)]
    pub(super) names: Vec<String>,
    #[serde(default)]
    pub(super) folders: Vec<String>,
    pub(super) version: Option<VersionSource>,
    pub(super) own_path: Option<Vec<String>>,
    pub(super) driver: Option<String>,
    #[serde(default)]
    pub(super) asked: Vec<String>,
    pub(super) smallest: Option<String>,
    pub(super) extras: Option<Extras>,
    #[serde(default)]
    pub(super) apt: Vec<String>,
    pub(super) newer: Option<NewerPackages>,
    pub(super) npm: Option<NpmPackage>,
    #[serde(default)]
    pub(super) files: Vec<String>,
    pub(super) pecl: Option<String>,
    #[serde(default)]
    pub(super) configure: Vec<String>,
    #[serde(default)]
    pub(super) headers: Vec<String>,
    #[serde(default)]
    pub(super) build_apt: Vec<String>,
    pub(super) go_package: Option<GoPackage>,
    pub(super) versions: Option<VersionsFrom>,
    /// The required version, if one is required; not in the file.
    #[serde(skip)]
    pub(super) at: Option<String>,
    /// It starts the measured programs, which must not inherit the toolbox's libraries.
    #[serde(default)]
    pub(super) starts_others: bool,
    pub(super) by_hand: ByHand,
    /// Setup succeeds even if this program cannot be installed.
    #[serde(default)]
    pub optional: bool,
}

/// How to find a version.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum VersionSource {
    /// In the program's output.
    Printed(Question),
    /// In the `package.json` of the package that the script belongs to.
    Package { package: String },
}

/// How to ask a program for its version, and where else to look if it does not know it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Question {
    pub(super) arguments: Vec<String>,
    /// The text right before the version.
    pub(super) after: String,
    /// The text before the version in other builds of the program.
    pub(super) or_after: Option<String>,
    /// An exit code besides 0 that is normal when the program prints its version.
    #[serde(default)]
    pub(super) status: i32,
    /// The text right before another number that identifies a build of the version.
    pub(super) revision: Option<String>,
    /// The Go module whose version the linker has written into the program.
    pub(super) go_module: Option<String>,
    /// The Debian package whose version to use if nothing else shows one.
    pub(super) debian_package: Option<String>,
}

/// A program that Go builds from the sources of a module, at one version.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct GoPackage {
    pub(super) package: String,
    pub(super) version: String,
    /// The oldest Go that can build it.
    pub(super) go: String,
    /// Approximate size of what Go downloads for it.
    pub(super) download: String,
}

/// Packages of a newer release of Debian than the system's.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct NewerPackages {
    /// The release that has them.
    pub(super) suite: String,
    pub(super) packages: Vec<String>,
    /// The programs in them, each of which needs the loader from these packages.
    pub(super) programs: Vec<String>,
}

/// What a program's subjects need besides path and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Extras {
    PhpExtensions,
    ApacheModules,
    SwooleExtension,
    MariadbParts,
    MysqlParts,
    PostgresParts,
}

impl Extras {
    /// Whether the program contains PHP.
    pub(super) fn is_php(self) -> bool {
        !matches!(self, Self::MariadbParts | Self::MysqlParts | Self::PostgresParts)
    }
}

/// The command for the user, by the package manager of the system.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ByHand {
    apt_get: Option<String>,
    dnf: Option<String>,
    pacman: Option<String>,
    other: String,
}

/// The package managers whose commands tolok can print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackageManager {
    Apt,
    Dnf,
    Pacman,
    Unknown,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    program: Vec<Recipe>,
}

impl Catalogue {
    /// The catalogue built into this binary.
    pub fn built_in() -> Self {
        const TEXT: &str = include_str!("../../../../toolbox/programs.toml");
        let file: File = toml::from_str(TEXT).expect("the built-in catalogue is read by a test");
        assert_eq!(file.format, 1, "the built-in catalogue has the format that this version reads");
        Self { recipes: file.program }
    }

    /// All recipes, in display order.
    pub fn recipes(&self) -> impl Iterator<Item = &Recipe> {
        self.recipes.iter()
    }

    /// All names, in display order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.recipes.iter().map(|recipe| recipe.name.as_str())
    }

    /// The recipe of a program.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn recipe(&self, name: &str) -> Result<&Recipe, ToolboxError> {
        self.recipes.iter().find(|recipe| recipe.name == name).ok_or_else(|| ToolboxError::UnknownProgram {
            name: name.to_owned(),
            known: suggestion(name, &self.names().collect::<Vec<_>>()),
        })
    }
}

impl Catalogue {
    /// The programs that can be fetched in several versions.
    pub(super) fn with_versions(&self) -> impl Iterator<Item = &str> {
        self.recipes.iter().filter(|recipe| recipe.versions.is_some()).map(|recipe| recipe.name.as_str())
    }
}

impl Recipe {
    pub(super) fn smallest_version(&self) -> Option<Version> {
        self.smallest.as_deref().and_then(Version::parse)
    }

    /// The command for the user to get the program, on a system with that package manager.
    pub(super) fn by_hand(&self, manager: PackageManager) -> String {
        let known = match manager {
            PackageManager::Apt => &self.by_hand.apt_get,
            PackageManager::Dnf => &self.by_hand.dnf,
            PackageManager::Pacman => &self.by_hand.pacman,
            PackageManager::Unknown => &None,
        };
        known.as_ref().unwrap_or(&self.by_hand.other).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_catalogue_is_complete() {
        let catalogue = Catalogue::built_in();
        let names: std::collections::BTreeSet<&str> = catalogue.names().collect();
        assert_eq!(names.len(), catalogue.names().count(), "no two programs have the same name");
        for recipe in catalogue.recipes() {
            assert!(!recipe.title.is_empty() && !recipe.by_hand.other.is_empty(), "{}", recipe.name);
            let can_be_found = !recipe.names.is_empty() || recipe.npm.is_some();
            let is_whole = can_be_found && recipe.version.is_some();
            assert_ne!(
                is_whole,
                recipe.part_of.is_some(),
                "{}: must be either a program or a part of one",
                recipe.name
            );
            let whole = recipe.part_of.as_deref().map(|name| catalogue.recipe(name).unwrap());
            assert!(whole.is_none_or(|whole| whole.part_of.is_none()), "{}: must not be a part of a part", recipe.name);
            assert_eq!(recipe.smallest.is_some(), recipe.smallest_version().is_some(), "{}", recipe.name);
            assert_eq!(recipe.npm.is_some(), !recipe.files.is_empty(), "{}: an npm package has files", recipe.name);
        }
    }

    #[test]
    fn apt_names_are_bound_to_no_version() {
        for package in Catalogue::built_in().recipes().flat_map(|recipe| &recipe.apt) {
            // Here the digit is part of the name.
            let rest = package.replace("apache2", "").replace("nghttp2", "");
            assert!(!rest.contains(|c: char| c.is_ascii_digit()), "{package}");
        }
    }

    #[test]
    fn what_go_builds_has_an_exact_version_and_names_the_go_that_it_needs() {
        for recipe in Catalogue::built_in().recipes() {
            let Some(go) = &recipe.go_package else { continue };
            let version = go.version.strip_prefix('v').and_then(Version::parse).expect(&go.version);
            assert_eq!(format!("v{version}"), go.version, "an exact version");
            assert!(recipe.by_hand.other.contains(&format!("Go {} or newer", go.go)), "{}", recipe.name);
        }
    }

    #[test]
    fn the_printed_command_is_that_of_the_system() {
        let catalogue = Catalogue::built_in();
        let by_hand = |name: &str, manager| catalogue.recipe(name).unwrap().by_hand(manager);
        assert_eq!(by_hand("apache", PackageManager::Apt), "sudo apt-get install apache2-bin libapache2-mod-php");
        assert_eq!(by_hand("apache", PackageManager::Dnf), "sudo dnf install httpd php");
        assert_eq!(by_hand("nginx", PackageManager::Pacman), "sudo pacman -S nginx");
        assert!(by_hand("nginx", PackageManager::Unknown).contains("nginx.org"));
        assert_eq!(
            by_hand("go", PackageManager::Apt),
            by_hand("go", PackageManager::Unknown),
            "Debian's may be too old"
        );
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = Catalogue::built_in().recipe("bum").unwrap_err().to_string();
        assert!(error.contains("did you mean `bun`?") && error.contains("go, cargo, node, bun"), "{error}");
    }
}
