//! Rendering of commands, environments and files of a subject.

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;
use tolok_model::ParameterValue;

use crate::toolbox::Program;

/// What templates of a subject can name.
#[derive(Debug, Clone, Serialize)]
pub struct TemplateNames {
    /// Port on 127.0.0.1.
    pub port: u16,
    /// Private writable folder of this trial.
    pub run: String,
    /// The subject's sources.
    pub subject: String,
    /// Output of the subject's build.
    pub build: String,
    /// Folder with the answer bodies.
    pub assets: String,
    /// How many CPUs the subject has.
    pub cpus: usize,
    /// Which CPUs, as `0` or `0-3`.
    pub cpu_list: String,
    /// Whether it is started as root.
    pub root: bool,
    /// An account without rights to change to, when started as root.
    pub user: String,
    /// Its group.
    pub group: String,
    /// Values of the parameters.
    pub parameter: BTreeMap<String, ParameterValue>,
    /// Programs by their toolbox name, each with path, prefix, version and extras.
    pub program: BTreeMap<String, BTreeMap<String, String>>,
}

/// A template that cannot be rendered.
#[derive(Debug, thiserror::Error)]
#[error("cannot fill in `{template}`: {reason}")]
pub struct TemplateError {
    template: String,
    reason: String,
}

/// The names of a program that templates can use.
pub fn program_names(program: &Program) -> BTreeMap<String, String> {
    let own = [
        ("path".to_owned(), program.path.display().to_string()),
        ("prefix".to_owned(), program.prefix.clone()),
        ("version".to_owned(), program.version.clone()),
    ];
    program.extras.clone().into_iter().chain(own).collect()
}

impl TemplateNames {
    /// Renders one template; an unknown name is an error.
    pub fn render(&self, template: &str) -> Result<String, TemplateError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let names = Value::from(minijinja::value::Serde(self));
        environment.render_str(template, names).map_err(|error| TemplateError {
            template: template.chars().take(80).collect(),
            reason: error.to_string(),
        })
    }

    /// Renders the parts of a command; those that render to nothing are dropped.
    pub fn render_command(&self, parts: &[String]) -> Result<Vec<String>, TemplateError> {
        let rendered: Result<Vec<String>, TemplateError> = parts.iter().map(|part| self.render(part)).collect();
        Ok(rendered?.into_iter().filter(|part| !part.is_empty()).collect())
    }

    /// Renders the values of an environment.
    pub fn render_env(&self, env: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, TemplateError> {
        env.iter().map(|(name, value)| Ok((name.clone(), self.render(value)?))).collect()
    }
}
