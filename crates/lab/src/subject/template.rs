//! Renders the commands, environments and files of a subject.

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;
use tolok_model::ParameterValue;

use crate::toolbox::Program;

/// Facts on programs by their toolbox name: path, prefix, version and extras.
pub type ProgramNames = BTreeMap<String, BTreeMap<String, String>>;

/// The values for the templates of a subject's processes and files.
#[derive(Debug, Clone, Serialize)]
pub struct TemplateNames {
    /// The only IPv4 address to listen on: loopback, or the subject's end of a link.
    pub host: String,
    pub port: u16,
    /// Private writable folder of this trial.
    pub run: String,
    /// The protocol to speak: `http1`, `https`, `h2` or `h2c`.
    pub protocol: String,
    /// Its certificate for encrypted protocols.
    pub tls: TlsNames,
    /// The subject's sources.
    pub subject: String,
    /// Output of the subject's build.
    pub build: String,
    /// Folder with the response bodies.
    pub assets: String,
    /// tolok's own program, which contains the ceiling.
    pub tolok: String,
    /// Which build of the ceiling it contains.
    pub ceiling: String,
    /// How many CPUs the subject has.
    pub cpus: usize,
    /// Which CPUs, as `0` or `0-3`.
    pub cpu_list: String,
    /// Whether it is started as root.
    pub root: bool,
    /// An unprivileged account to switch to when started as root.
    pub user: String,
    pub group: String,
    /// Whether this is an unscored trial, in which the subject may enable costly diagnostics.
    pub diagnosing: bool,
    /// The database of the trial; its host is empty if there is none.
    pub database: DatabaseNames,
    /// Address and port of the service that the workload `upstream` calls; empty for other workloads.
    pub upstream: String,
    pub parameter: BTreeMap<String, ParameterValue>,
    /// The programs that it needs.
    pub program: ProgramNames,
}

/// A certificate made for the run, and its key: files in PEM.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TlsNames {
    pub certificate: String,
    pub key: String,
}

/// How a subject reaches the database of its trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DatabaseNames {
    /// Its wire protocol: `mysql` or `postgres`; empty if the trial has no database.
    pub engine: String,
    /// Its address or name; empty if the trial has no database.
    pub host: String,
    pub port: u16,
    /// The database on the server.
    pub name: String,
    pub user: String,
    pub password: String,
    /// Connections that all the subject's processes together may have; 0 if the trial has no database.
    pub pool: u32,
}

/// The values for the templates of a build: only what identifies the build. A build that depended on the port or a parameter
/// would be wrong for the next trial.
#[derive(Debug, Clone, Serialize)]
pub struct BuildNames {
    /// The subject's sources.
    pub subject: String,
    /// The folder for the build's output.
    pub build: String,
    /// Seed for the order of functions or objects: 0 for the usual order.
    pub layout: u32,
    /// The programs that it needs.
    pub program: ProgramNames,
}

/// A template that cannot be rendered.
#[derive(Debug, thiserror::Error)]
#[error("cannot fill in `{template}`: {reason}; CONTRIBUTING.md lists the names that a subject's templates know")]
pub struct TemplateError {
    template: String,
    reason: String,
}

impl TemplateError {
    fn of(template: &str, error: &minijinja::Error) -> Self {
        Self { template: template.chars().take(80).collect(), reason: error.to_string() }
    }
}

/// The values of a program for templates.
pub fn program_names(program: &Program) -> BTreeMap<String, String> {
    let own = [
        ("path".to_owned(), program.path.display().to_string()),
        ("prefix".to_owned(), program.prefix.clone()),
        ("version".to_owned(), program.version.clone()),
    ];
    program.extras.clone().into_iter().chain(own).collect()
}

/// Values that can be filled into templates.
pub trait Render: Serialize {
    /// Renders one template; an unknown name is an error.
    fn render(&self, template: &str) -> Result<String, TemplateError> {
        self.render_in(Environment::new(), template)
    }

    /// The same, but keeps the newline at the end.
    fn render_to_the_last_byte(&self, template: &str) -> Result<String, TemplateError> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().keep_trailing_newline(true).build();
        environment.set_syntax(syntax.map_err(|error| TemplateError::of(template, &error))?);
        self.render_in(environment, template)
    }

    /// Renders one template in an environment.
    fn render_in(&self, mut environment: Environment<'_>, template: &str) -> Result<String, TemplateError> {
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let names = Value::from(minijinja::value::Serde(self));
        environment.render_str(template, names).map_err(|error| TemplateError::of(template, &error))
    }

    /// Renders the parts of a command, and drops those that render to nothing.
    fn render_command(&self, parts: &[String]) -> Result<Vec<String>, TemplateError> {
        let rendered: Result<Vec<String>, TemplateError> = parts.iter().map(|part| self.render(part)).collect();
        Ok(rendered?.into_iter().filter(|part| !part.is_empty()).collect())
    }

    /// Renders the values of an environment.
    fn render_env(&self, env: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, TemplateError> {
        env.iter().map(|(name, value)| Ok((name.clone(), self.render(value)?))).collect()
    }
}

impl Render for TemplateNames {}
impl Render for BuildNames {}
/// The values of a workload's parameters.
impl Render for BTreeMap<String, u32> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::Home;

    fn names() -> TemplateNames {
        let fpm = [("path", "/usr/sbin/php-fpm"), ("prefix", ""), ("version", "8.4")];
        let fpm = fpm.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        TemplateNames {
            host: "198.18.0.2".to_owned(),
            port: 8080,
            protocol: "https".to_owned(),
            tls: TlsNames { certificate: "/tmp/tls/certificate.pem".to_owned(), ..TlsNames::default() },
            run: "/tmp/run".to_owned(),
            subject: "/subjects/php/fpm".to_owned(),
            build: "/builds/php-fpm".to_owned(),
            assets: "/tmp/assets".to_owned(),
            tolok: "/usr/bin/tolok".to_owned(),
            ceiling: "0123456789abcdef".to_owned(),
            cpus: 4,
            cpu_list: "0-3".to_owned(),
            root: false,
            user: String::new(),
            group: String::new(),
            diagnosing: false,
            database: DatabaseNames::default(),
            upstream: String::new(),
            parameter: [
                ("mode".to_owned(), ParameterValue::Text("jit".to_owned())),
                ("workers".to_owned(), ParameterValue::Integer(0)),
            ]
            .into(),
            program: [("php_fpm".to_owned(), fpm)].into(),
        }
    }

    #[test]
    fn every_name_of_a_trial_can_be_used() {
        let check = |template: &str, expect: &str| assert_eq!(names().render(template).unwrap(), expect);
        check("{{ host }}:{{ port }}", "198.18.0.2:8080");
        check("{{ program.php_fpm.path }} {{ program.php_fpm.version }}", "/usr/sbin/php-fpm 8.4");
        check("{{ parameter.workers or cpus }} of {{ cpu_list }}", "4 of 0-3");
        check("{% if parameter.mode == 'jit' %}on{% endif %}", "on");
        check("{% if protocol in ['https', 'h2'] %}{{ tls.certificate }}{% endif %}", "/tmp/tls/certificate.pem");
        check("{% if root %}user {{ user }};{% endif %}", "");
    }

    #[test]
    fn an_unknown_name_is_an_error_that_shows_the_template() {
        let check = |template: &str| {
            let error = names().render(template).unwrap_err().to_string();
            assert!(error.starts_with(&format!("cannot fill in `{template}`: undefined value")), "{error}");
        };
        check("--port={{ prot }}");
        check("{{ parameter.wrokers }}");
        check("{{ program.nginx.path }}");
        let long = format!("{{{{ prot }}}}{}", "x".repeat(500));
        assert!(names().render(&long).unwrap_err().to_string().len() < 250);
    }

    #[test]
    fn arguments_that_come_to_nothing_are_dropped() {
        let parts = ["php", "{% if root %}-R{% endif %}", "-c", "{{ run }}/php.ini"].map(str::to_owned);
        assert_eq!(names().render_command(&parts).unwrap(), ["php", "-c", "/tmp/run/php.ini"]);
    }

    #[test]
    fn a_diagnosis_can_add_an_argument() {
        let parts = ["node", "{{ '--trace-gc' if diagnosing }}", "server.js"].map(str::to_owned);
        assert_eq!(names().render_command(&parts).unwrap(), ["node", "server.js"]);
        let diagnosing = TemplateNames { diagnosing: true, ..names() };
        assert_eq!(diagnosing.render_command(&parts).unwrap(), ["node", "--trace-gc", "server.js"]);
    }

    #[test]
    fn every_subject_of_this_checkout_is_told_where_to_listen() {
        let home = Home::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        // A program is not a server.
        let servers = home.catalogue().unwrap().subjects.into_iter().filter(|subject| subject.program.is_none());
        for subject in servers {
            let files = subject.files.iter().map(|file| home.subject_folder(&subject.id).join(&file.from));
            let files = files.map(|path| std::fs::read_to_string(path).unwrap());
            let processes = subject.processes.iter();
            let said = processes.flat_map(|process| process.command.iter().chain(process.env.values())).cloned();
            let text = said.chain(files).collect::<Vec<_>>().join("\n");
            for name in ["{{ host }}", "{{ port }}"] {
                assert!(text.contains(name), "{} does not use {name}", subject.id);
            }
            assert!(
                !text.contains("127.0.0.1"),
                "{} must not fix its address, which differs behind a link",
                subject.id
            );
        }
    }

    #[test]
    fn what_a_program_owes_is_computed_from_the_parameters_to_the_last_digit_and_byte() {
        let values = BTreeMap::from([("n".to_owned(), 10_000_000_u32)]);
        let owed = |template: &str| values.render_to_the_last_byte(template).unwrap();
        assert_eq!(owed("{{ n * (n + 1) // 2 }}\n"), "50000005000000\n");
        assert_eq!(owed("{{ n * (n + 1) // 2 }}"), "50000005000000");
        assert_eq!(values.render("{{ n }}").unwrap(), "10000000");
        assert!(values.render_to_the_last_byte("{{ m }}\n").is_err());
        let most = BTreeMap::from([("n".to_owned(), u32::MAX)]);
        assert_eq!(most.render("{{ n * (n + 1) // 2 }}").unwrap(), "9223372034707292160");
    }

    #[test]
    fn empty_values_of_an_environment_are_kept() {
        let env = [("PORT", "{{ port }}"), ("PHP_INI_SCAN_DIR", "")].map(|(name, value)| (name.into(), value.into()));
        let expect = [("PORT", "8080"), ("PHP_INI_SCAN_DIR", "")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(names().render_env(&env.into()).unwrap(), expect.into());
    }

    #[test]
    fn a_build_cannot_depend_on_what_changes_from_trial_to_trial() {
        let names =
            BuildNames { subject: "/s".to_owned(), build: "/b".to_owned(), layout: 0, program: BTreeMap::new() };
        assert_eq!(names.render("-o {{ build }}/server {{ subject }}").unwrap(), "-o /b/server /s");
        assert!(names.render("{{ port }}").is_err() && names.render("{{ parameter.json }}").is_err());
    }
}
