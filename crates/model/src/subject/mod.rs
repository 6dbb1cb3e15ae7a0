//! A subject: a server configuration under test, and its named variants.

pub(crate) mod brought;
pub(crate) mod file;
mod parameter;
mod processes;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::database::file::EngineWord;
use crate::database::{Engine, Wire};
use crate::program::SubjectProgram;
use crate::program::reading::read_subject_program;
use crate::protocol::Protocol;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Problem, ROOT, Reading};
use crate::reading::wording::closest;
use crate::subject::brought::{ExternalServer, SubjectFolder};
use crate::subject::file::{BuildFile, ColourFile, DiagnosisFile, SubjectFile, TemplateFileFile, VariantFile};
pub use crate::subject::parameter::{Parameter, ParameterValue};
use crate::subject::parameter::{read_parameters, read_setting};
use crate::subject::processes::{read_command, read_processes};

/// Whether a subject competes (always, or only where it is named) or shows the machine's limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It competes.
    #[default]
    Subject,
    /// It competes only if a study names it. `*` selects only subjects that need nothing but their runtime.
    Framework,
    /// It shows the machine's limit. Every result is compared with it.
    Ceiling,
}

/// How a subject is built: one command, run once for the same sources and program versions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// The command, each part a template.
    pub command: Vec<String>,
    /// Extra environment variables, each value a template.
    pub env: BTreeMap<String, String>,
    /// Files outside the subject's folder that the build depends on, relative to it.
    pub inputs: Vec<String>,
}

/// A file of the subject that is rendered into the trial's folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TemplateFile {
    /// The template, relative to the subject's folder.
    pub from: String,
    /// Where it goes, relative to the trial's folder.
    pub to: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    pub name: String,
    /// The command, each part a template; empty parts are dropped.
    pub command: Vec<String>,
    /// Extra environment variables, each value a template.
    pub env: BTreeMap<String, String>,
    /// Its working folder, a template. Default: the trial's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The signal that stops it: `TERM` (default), `INT`, `QUIT` or `WINCH`.
    pub stop: Option<String>,
}

/// Changes for an unscored trial that looks inside the subject. Command templates can test `diagnosing`, for changes
/// that environment variables cannot make.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SubjectDiagnosis {
    /// The format of garbage collections in the subject's log.
    pub gc_log: Option<GcLog>,
    /// Extra environment variables for every process, each value a template.
    pub env: BTreeMap<String, String>,
}

/// A log format of garbage collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GcLog {
    /// What a Go program writes with `GODEBUG=gctrace=1`.
    Go,
    /// What V8, and so Node.js, writes with `--trace-gc`.
    V8,
}

/// A named set of parameter values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// What is different, in a few words.
    pub help: String,
    pub set: BTreeMap<String, ParameterValue>,
    /// Programs of the toolbox that it needs in addition to the subject's.
    pub needs: Vec<String>,
    /// Further programs that it needs for workloads with a database.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub database_needs: Vec<String>,
    /// Further programs that it needs for workloads with PostgreSQL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub postgres_needs: Vec<String>,
    /// The databases for which it has drivers. If empty, MariaDB and MySQL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<Engine>,
    pub workloads: Vec<String>,
    /// Protocols that it speaks. If empty, only HTTP/1.1 without TLS.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<Protocol>,
    /// Work that others do for each response but this variant does not, in a few words, or `None` if it does the same
    /// work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub less_work: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// `<runtime folder>/<name>`, such as `go/nethttp`.
    pub id: String,
    pub title: String,
    /// Its name in charts and sentences; empty if its title is short enough.
    #[serde(skip)]
    pub short: String,
    /// The runtime it is grouped under.
    pub runtime: String,
    /// How reports draw the runtime. Not stored, because records do not depend on it.
    #[serde(skip)]
    pub colour: Option<Colour>,
    #[serde(skip)]
    pub marker: Marker,
    pub role: Role,
    pub summary: String,
    /// Programs of the toolbox that it needs.
    pub needs: Vec<String>,
    /// Further programs that it needs for workloads with a database.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub database_needs: Vec<String>,
    /// Further programs that it needs for workloads with PostgreSQL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub postgres_needs: Vec<String>,
    /// How long it may take until its first correct response, in seconds.
    pub start_timeout_s: f64,
    /// How to build it, if necessary.
    pub build: Option<Build>,
    /// Template files to render into the trial's folder.
    pub files: Vec<TemplateFile>,
    /// Its processes; a program has none.
    pub processes: Vec<Process>,
    /// How to start it, if it is a program rather than a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<SubjectProgram>,
    /// Changes for a trial that looks inside it.
    pub diagnosis: SubjectDiagnosis,
    pub parameters: BTreeMap<String, Parameter>,
    pub variants: BTreeMap<String, Variant>,
    /// The variant to use if none is named.
    pub default_variant: String,
    /// Its folder, if it is outside the checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<SubjectFolder>,
    /// The server, if it is external.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalServer>,
}

/// The colour of a runtime, as `#` and six hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Colour {
    /// On a light page and on paper.
    pub light: String,
    pub dark: String,
}

/// The shape of a runtime's points in charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Marker {
    Circle,
    Square,
    Triangle,
    TriangleDown,
    Diamond,
    Cross,
    Plus,
    Bar,
    Star,
    Hexagon,
    BowTie,
    Hourglass,
    HalfDisc,
    #[default]
    Ring,
}

/// A subject, one of its variants, and the resulting parameter values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubjectChoice {
    pub subject: String,
    pub variant: String,
    /// Every parameter with its value, including defaults.
    pub parameters: BTreeMap<String, ParameterValue>,
    /// What a study must write to get exactly this: `php/fpm:jit?pool=32`.
    pub label: String,
}

impl Subject {
    /// Reads the text of a `subject.toml` in the folder `id`.
    pub fn read(id: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let (file, mut reading) = Reading::read::<SubjectFile>(text);
        let title = reading.require(file.title, &ROOT, "title", "title = \"Go net/http\"");
        let runtime = reading.require(file.runtime, &ROOT, "runtime", "runtime = \"go\"");
        let colour = file.colour.and_then(|colour| read_colour(colour, &mut reading));
        let workloads = reading.require(file.workloads, &ROOT, "workloads", "workloads = [\"hello\"]");
        let workloads = workloads.map(|listed| read_workloads(listed, &mut reading)).unwrap_or_default();
        let program = file.program.map(|program| {
            if file.process.is_some() {
                let help = "leave one of them out";
                reading.note(program.span.clone(), "a subject is a `program` or has processes, not both", help);
            }
            read_subject_program(program, &mut reading)
        });
        let processes = if program.is_some() { Vec::new() } else { read_processes(file.process, &mut reading) };
        let build = file.build.map(|build| read_build(build, &mut reading));
        let diagnosis = file.diagnosis.map(read_diagnosis).unwrap_or_default();
        let files = file.file.into_iter().map(|file| read_template_file(file, &mut reading)).collect();
        let parameters = read_parameters(file.parameter, &mut reading);
        let protocols = read_protocols(file.protocols, &mut reading);
        let databases = engines(file.databases);
        let served = (workloads.as_slice(), protocols.as_slice(), databases.as_slice());
        let variants = read_variants(file.variant, served, &parameters, &mut reading);
        let default_variant = read_default(file.default, &variants, &mut reading);
        match (title, runtime) {
            (Some(title), Some(runtime)) if !reading.has_problems() => Ok(Self {
                id: id.to_owned(),
                title,
                short: file.short.unwrap_or_default(),
                runtime,
                colour,
                marker: file.marker.unwrap_or_default(),
                role: file.role.unwrap_or_default(),
                summary: file.summary.unwrap_or_default(),
                needs: file.needs,
                database_needs: file.database_needs,
                postgres_needs: file.postgres_needs,
                start_timeout_s: file.start_timeout.map_or(20.0, |timeout| timeout.0),
                build,
                files,
                processes,
                program,
                diagnosis,
                parameters,
                variants,
                default_variant,
                ..Self::default()
            }),
            _ => Err(reading.into_problems()),
        }
    }

    /// Programs of the toolbox that `variant` needs for every workload, including the subject's own.
    pub fn needs(&self, variant: &str) -> impl Iterator<Item = &str> {
        self.needs_for(variant, None)
    }

    /// Programs of the toolbox that `variant` needs, including the subject's own, for workloads with a `database` of
    /// this protocol, or for workloads without one.
    pub fn needs_for(&self, variant: &str, database: Option<Wire>) -> impl Iterator<Item = &str> {
        let variant = self.variants.get(variant);
        let own = variant.map(|variant| variant.needs.as_slice()).unwrap_or_default();
        let for_database = database.into_iter().flat_map(move |wire| self.database_needs(variant, wire));
        self.needs.iter().chain(own).map(String::as_str).chain(for_database)
    }

    /// Programs of the toolbox that `variant` needs for any workload and any database; may contain duplicates.
    pub fn needs_for_any(&self, variant: &str) -> impl Iterator<Item = &str> {
        let for_postgres = self.database_needs(self.variants.get(variant), Wire::Postgres);
        self.needs_for(variant, Some(Wire::Mysql)).chain(for_postgres)
    }

    /// Whether `variant` has a driver for databases with this protocol.
    pub fn asks(&self, variant: &str, wire: Wire) -> bool {
        let databases = self.variants.get(variant).map(|variant| variant.databases.as_slice()).unwrap_or_default();
        match databases {
            [] => wire == Wire::Mysql,
            databases => databases.iter().any(|engine| engine.wire() == Some(wire)),
        }
    }

    /// Every program of the toolbox that any variant needs for any workload; may contain duplicates.
    pub fn all_needs(&self) -> impl Iterator<Item = &str> {
        let of_variants = self.variants.keys().flat_map(|variant| self.needs_for_any(variant));
        self.needs.iter().chain(&self.database_needs).chain(&self.postgres_needs).map(String::as_str).chain(of_variants)
    }

    fn database_needs<'a>(&'a self, variant: Option<&'a Variant>, wire: Wire) -> impl Iterator<Item = &'a str> {
        let (needs, own) = match wire {
            Wire::Mysql => (&self.database_needs, variant.map(|variant| &variant.database_needs)),
            Wire::Postgres => (&self.postgres_needs, variant.map(|variant| &variant.postgres_needs)),
        };
        needs.iter().chain(own.into_iter().flatten()).map(String::as_str)
    }

    /// The workloads that `variant` serves.
    pub fn workloads(&self, variant: &str) -> &[String] {
        self.variants.get(variant).map(|variant| variant.workloads.as_slice()).unwrap_or_default()
    }

    /// The protocols that `variant` speaks.
    pub fn protocols(&self, variant: &str) -> &[Protocol] {
        match self.variants.get(variant) {
            Some(variant) if !variant.protocols.is_empty() => &variant.protocols,
            _ => &[Protocol::Http1],
        }
    }

    /// The parameter values of `variant`, overridden by `overrides`. The error reports unknown names.
    pub fn choose(
        &self,
        variant: Option<&str>,
        overrides: &BTreeMap<String, ParameterValue>,
    ) -> Result<SubjectChoice, String> {
        let variant_name = variant.unwrap_or(&self.default_variant);
        let Some(chosen) = self.variants.get(variant_name) else {
            let kind = format!("variant `{variant_name}`");
            return Err(self.has_no(&kind, variant_name, self.variants.keys()));
        };
        let mut parameters: BTreeMap<String, ParameterValue> =
            self.parameters.iter().map(|(name, parameter)| (name.clone(), parameter.default.clone())).collect();
        parameters.extend(chosen.set.clone());
        for (name, value) in overrides {
            let Some(parameter) = self.parameters.get(name) else {
                return Err(self.has_no(&format!("parameter `{name}`"), name, self.parameters.keys()));
            };
            parameters.insert(name.clone(), parameter.accept(name, value)?);
        }
        let label = label(&self.id, variant_name, overrides);
        Ok(SubjectChoice { subject: self.id.clone(), variant: variant_name.to_owned(), parameters, label })
    }

    fn has_no<'a>(&self, kind: &str, wrong: &str, names: impl Iterator<Item = &'a String>) -> String {
        let names: Vec<&str> = names.map(String::as_str).collect();
        let hint = closest(wrong, &names).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        let all = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        format!("`{}` has no {kind}{hint} (it has {all})", self.id)
    }
}

fn read_colour(colour: Table<ColourFile>, reading: &mut Reading) -> Option<Colour> {
    let mut read = |value: Option<Spanned<String>>, key: &str| {
        let value = reading.require(value, &colour.span, key, &format!("{key} = \"#356ec2\""))?;
        let digits = value.get_ref().strip_prefix('#').unwrap_or_default();
        if digits.len() != 6 || !digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            let help = "write `#` and six hexadecimal digits in lower case, such as `#356ec2`";
            reading.note(value.span(), "this is not a colour", help);
        }
        Some(value.into_inner())
    };
    let (light, dark) = (read(colour.entries.light, "light"), read(colour.entries.dark, "dark"));
    Some(Colour { light: light?, dark: dark? })
}

fn label(id: &str, variant: &str, overrides: &BTreeMap<String, ParameterValue>) -> String {
    let pairs: Vec<String> = overrides.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let tail = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
    format!("{id}:{variant}{tail}")
}

fn read_workloads(listed: Spanned<Vec<String>>, reading: &mut Reading) -> Vec<String> {
    if listed.get_ref().is_empty() && !reading.is_damaged(&ROOT, "workloads") {
        reading.note(listed.span(), "no workload is listed", None);
    }
    listed.into_inner()
}

fn read_protocols(listed: Option<Spanned<Vec<Protocol>>>, reading: &mut Reading) -> Vec<Protocol> {
    let Some(listed) = listed else { return Vec::new() };
    let is_empty = listed.get_ref().is_empty() && !reading.is_damaged(&ROOT, "protocols");
    reading.note_if(is_empty, listed.span(), "no protocol is listed", None);
    listed.into_inner()
}

fn read_diagnosis(diagnosis: Table<DiagnosisFile>) -> SubjectDiagnosis {
    let DiagnosisFile { gc_log, env } = diagnosis.entries;
    SubjectDiagnosis { gc_log, env }
}

fn read_build(build: Table<BuildFile>, reading: &mut Reading) -> Build {
    let Table { span, entries: build } = build;
    Build { command: read_command(build.command, &span, reading), env: build.env, inputs: build.inputs }
}

fn read_template_file(file: Table<TemplateFileFile>, reading: &mut Reading) -> TemplateFile {
    let Table { span, entries: file } = file;
    let from = reading.require(file.from, &span, "from", "from = \"nginx.conf\"");
    let to = reading.require(file.to, &span, "to", "to = \"nginx.conf\"");
    let mut inside = |path: Option<Spanned<String>>| path.map(|path| read_path(path, reading)).unwrap_or_default();
    TemplateFile { from: inside(from), to: inside(to) }
}

/// Accepts a path that stays in the folder it is relative to.
fn read_path(path: Spanned<String>, reading: &mut Reading) -> String {
    let span = path.span();
    let path = path.into_inner();
    if path.is_empty() || path.starts_with('/') || path.split('/').any(|part| part == "..") {
        reading.note(span, format!("`{path}` does not stay in its folder"), "give a relative path without `..`");
    }
    path
}

/// Checks the variants against the parameters; a subject without any has one called `default`.
fn read_variants(
    files: BTreeMap<Spanned<String>, Table<VariantFile>>,
    (workloads, protocols, databases): (&[String], &[Protocol], &[Engine]),
    parameters: &BTreeMap<String, Parameter>,
    reading: &mut Reading,
) -> BTreeMap<String, Variant> {
    let mut variants = BTreeMap::new();
    for (name, file) in files {
        if !name.get_ref().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
            let message = format!("`{}` cannot be written in a study", name.get_ref());
            reading.note(name.span(), message, "use letters, digits, `-`, `_` and `.`");
        }
        let file = file.entries;
        let set = file.set.into_iter().filter_map(|(name, value)| read_setting(name, value, parameters, reading));
        let set = set.collect();
        let served = file.workloads.map(|narrowed| read_narrowed(narrowed, workloads, reading));
        let served = served.unwrap_or_else(|| workloads.to_vec());
        let spoken = file.protocols.map(|listed| read_protocols(Some(listed), reading));
        let protocols = spoken.unwrap_or_else(|| protocols.to_vec());
        let databases = file.databases.map_or_else(|| databases.to_vec(), |listed| engines(Some(listed)));
        let VariantFile { help, needs, database_needs, postgres_needs, less_work, .. } = file;
        let variant = Variant {
            help,
            set,
            needs,
            database_needs,
            postgres_needs,
            databases,
            workloads: served,
            protocols,
            less_work,
        };
        variants.insert(name.into_inner(), variant);
    }
    if variants.is_empty() {
        let (workloads, protocols, databases) = (workloads.to_vec(), protocols.to_vec(), databases.to_vec());
        let only = Variant { workloads, protocols, databases, ..Variant::default() };
        variants.insert("default".to_owned(), only);
    }
    variants
}

fn engines(listed: Option<Vec<EngineWord>>) -> Vec<Engine> {
    listed.into_iter().flatten().map(Engine::from).collect()
}

fn read_narrowed(narrowed: Vec<Spanned<String>>, workloads: &[String], reading: &mut Reading) -> Vec<String> {
    for name in narrowed.iter().filter(|name| !workloads.contains(name.get_ref())) {
        if !reading.is_damaged(&ROOT, "workloads") {
            reading.note_unknown(name, "the subject does not serve", workloads);
        }
    }
    narrowed.into_iter().map(Spanned::into_inner).collect()
}

fn read_default(
    written: Option<Spanned<String>>,
    variants: &BTreeMap<String, Variant>,
    reading: &mut Reading,
) -> String {
    let names: Vec<&str> = variants.keys().map(String::as_str).collect();
    let Some(name) = written else {
        if names.len() > 1 {
            let example = format!("default = \"{}\"", names[0]);
            reading.require(None::<()>, &ROOT, "default", &example);
        }
        return names.first().map(|name| (*name).to_owned()).unwrap_or_default();
    };
    if !variants.contains_key(name.get_ref()) && !reading.was_wrong(name.get_ref()) {
        reading.note_unknown(&name, "there is no variant", &names);
    }
    name.into_inner()
}
