//! Subjects from outside the checkout: the user's folders, and servers that already run.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::values::positive;

/// Options of every verb that can measure servers from outside the checkout.
#[derive(Debug, Default, ClapArgs)]
pub struct BringArgs {
    /// Also measure the server whose `subject.toml` is in this folder. Its id is `local/` and the folder's name. Repeatable.
    #[arg(long, value_name = "DIR")]
    pub subject: Vec<PathBuf>,
    /// Also measure a server that already runs, here or elsewhere. tolok never starts, stops or limits it. Repeatable, with an
    /// optional name: mine=http://127.0.0.1:3000.
    #[arg(long, value_name = "[NAME=]URL", value_parser = named_url)]
    pub url: Vec<NamedUrl>,
    /// The main process of the server of --url: tolok counts the CPU time and memory of it and of all its children. Repeatable, in the
    /// order of --url.
    #[arg(long, value_name = "PID", requires = "url", value_parser = positive)]
    pub pid: Vec<u32>,
    /// Allow load on a --url that is not on this machine. Load on somebody else's server may count as an attack.
    #[arg(long)]
    pub allow_remote: bool,
}

/// A URL, and the name of its server unless that is its host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedUrl {
    /// The name.
    pub name: Option<String>,
    /// The URL.
    pub url: String,
}

/// `http://127.0.0.1:3000/a?b=c`, `mine=http://127.0.0.1:3000`.
fn named_url(text: &str) -> Result<NamedUrl, String> {
    let (name, url) = match text.split_once('=') {
        // A URL may contain an equals sign after its scheme.
        Some((name, url)) if !name.contains("://") => (Some(name.to_owned()), url),
        _ => (None, text),
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    match &name {
        Some(name) if name.is_empty() || !name.chars().all(is_plain) => {
            Err(format!("`{name}` is no name; letters, digits, `-`, `_` and `.` make one"))
        }
        _ if !url.contains("://") => Err(format!("a URL begins with http://, such as http://{url}")),
        _ => Ok(NamedUrl { name, url: url.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_may_have_a_name() {
        let read = |text: &str| named_url(text).map(|it| (it.name.unwrap_or_default(), it.url));
        assert_eq!(read("http://a:1/?b=c"), Ok((String::new(), "http://a:1/?b=c".to_owned())));
        assert_eq!(read("mine=http://a:1/?b=c"), Ok(("mine".to_owned(), "http://a:1/?b=c".to_owned())));
        assert!(read("my server=http://a:1").unwrap_err().contains("no name"));
        assert!(read("localhost:3000").unwrap_err().contains("http://localhost:3000"));
    }
}
