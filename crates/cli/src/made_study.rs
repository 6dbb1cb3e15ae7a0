//! Studies that tolok generates when none is named: two levels of users, five rounds.

use tolok_model::{Catalogue, ExternalServer};

use crate::exit::{CliError, with_help};

/// The study of the users' URLs.
pub fn study_of_urls(servers: &[ExternalServer]) -> String {
    let subjects: Vec<&str> = servers.iter().map(|server| server.subject.as_str()).collect();
    let urls: Vec<String> =
        servers.iter().filter_map(|it| Some(format!("{}{}", it.base, it.own.as_ref()?.path))).collect();
    let question = format!("How many requests a second do they answer, and how fast: {}?", urls.join(", "));
    study(&["What the URLs can do", &question], &subjects, &["url"], false)
}

/// The study of the named workloads: its name and its text. It covers every subject that is ready here; if the user brings servers,
/// it covers only those.
pub fn study_of_workloads(named: &[String], catalogue: &Catalogue) -> Result<(String, String), CliError> {
    let mut has_ceiling = true;
    for name in named {
        let chosen = catalogue.choose_workload(name);
        let chosen = chosen.map_err(|wrong| CliError::usage(format!("--workload: {}", with_help(wrong))))?;
        // The ceiling serves only the workloads that come with tolok.
        has_ceiling &= chosen.folder.is_none();
    }
    let title = named.join(", ");
    let question = format!("Which server gives the most correct responses per second to {title}?");
    let text = study(&[&title, &question], &["*"], named, has_ceiling);
    let called = named.first().map_or("workload", |name| name.split('?').next().unwrap_or_default());
    Ok((called.to_owned(), text))
}

fn study([title, question]: &[&str; 2], subjects: &[&str], workloads: &[impl AsRef<str>], has_ceiling: bool) -> String {
    // A list of strings in JSON is also valid TOML.
    let listed = |texts: &[&str]| serde_json::Value::from(texts).to_string();
    let workloads: Vec<&str> = workloads.iter().map(AsRef::as_ref).collect();
    let mut text = format!(
        "# Made by tolok for what it was given.\ntitle    = {}\nquestion = {}\nsubjects = {}\nblocks   = 5\n\
         ceiling  = {has_ceiling}\n",
        serde_json::Value::from(*title),
        serde_json::Value::from(*question),
        listed(subjects),
    );
    for vus in [16, 64] {
        text += &format!(
            "\n[[scenario]]\nworkload = {}\nload     = {{ executor = \"constant-vus\", vus = {vus}, duration = \"2s\", \
             warmup = \"500ms\" }}\n",
            listed(&workloads)
        );
    }
    text
}
