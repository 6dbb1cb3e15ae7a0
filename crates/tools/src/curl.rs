//! Parses a request as browsers and API documents give it: a curl command line.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Options of curl that do not affect the request.
const SILENT: [&str; 14] = [
    "-s",
    "--silent",
    "-S",
    "--show-error",
    "-v",
    "--verbose",
    "-i",
    "--include",
    "-f",
    "--fail",
    "-L",
    "--location",
    "-g",
    "--globoff",
];
/// The same, for options with a value.
const SILENT_WITH_VALUE: [&str; 8] =
    ["-o", "--output", "-w", "--write-out", "-m", "--max-time", "--connect-timeout", "--retry"];

/// The request of a curl command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Curl {
    /// The URL with its scheme.
    pub url: String,
    pub method: Option<String>,
    pub headers: Vec<(String, String)>,
    /// Parts of the body, joined by `&`. A single part that begins with `@` is a file.
    pub data: Vec<String>,
    pub insecure: bool,
    pub http2: bool,
}

/// Parses a command. The error names what is not understood.
pub fn read(command: &str) -> Result<Curl, String> {
    let words = words(command)?;
    let mut words = words.into_iter().peekable();
    words.next_if(|word| word == "curl");
    let (mut curl, mut is_json) = (Curl::default(), false);
    while let Some(word) = words.next() {
        let (name, attached) = parted(&word);
        let mut value = || attached.clone().or_else(|| words.next()).ok_or_else(|| format!("`{name}` lacks its value"));
        match name.as_str() {
            "-X" | "--request" => curl.method = Some(value()?),
            "-H" | "--header" => curl.headers.extend(header(&value()?)),
            "-A" | "--user-agent" => curl.headers.push(("User-Agent".to_owned(), value()?)),
            "-e" | "--referer" => curl.headers.push(("Referer".to_owned(), value()?)),
            "-b" | "--cookie" => curl.headers.push(("Cookie".to_owned(), value()?)),
            "-u" | "--user" => {
                curl.headers.push(("Authorization".to_owned(), format!("Basic {}", BASE64_STANDARD.encode(value()?))));
            }
            "-d" | "--data" | "--data-raw" | "--data-ascii" | "--data-binary" => curl.data.push(value()?),
            "--json" => {
                is_json = true;
                curl.data.push(value()?);
            }
            "--url" => curl.url = value()?,
            "-I" | "--head" => curl.method = Some("HEAD".to_owned()),
            "-k" | "--insecure" => curl.insecure = true,
            "--http2" | "--http2-prior-knowledge" => curl.http2 = true,
            "--compressed" => curl.headers.push(("Accept-Encoding".to_owned(), "gzip, deflate, br".to_owned())),
            known if SILENT.contains(&known) => {}
            known if SILENT_WITH_VALUE.contains(&known) => drop(value()?),
            unknown if unknown.starts_with('-') => {
                return Err(format!(
                    "tolok does not know curl's `{unknown}`; leave it out, or use tolok's own options"
                ));
            }
            _ if curl.url.is_empty() => curl.url = word,
            _ => return Err(format!("`{word}` is a second address; give one")),
        }
    }
    if curl.url.is_empty() {
        return Err("there is no address in the command".to_owned());
    }
    if !curl.url.contains("://") {
        curl.url.insert_str(0, "http://");
    }
    complete(&mut curl, is_json);
    Ok(curl)
}

/// Adds what curl adds to a request with a body.
fn complete(curl: &mut Curl, is_json: bool) {
    if curl.data.is_empty() {
        return;
    }
    curl.method.get_or_insert_with(|| "POST".to_owned());
    let mut add = |name: &str, value: &str| {
        if !curl.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            curl.headers.push((name.to_owned(), value.to_owned()));
        }
    };
    if is_json {
        add("Content-Type", "application/json");
        add("Accept", "application/json");
    } else {
        add("Content-Type", "application/x-www-form-urlencoded");
    }
}

/// `Name: value`. A name without a value removes a header from curl, and adds nothing here. The generator sets the
/// length and the connection itself.
fn header(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    let is_own = ["content-length", "connection"].iter().any(|own| name.eq_ignore_ascii_case(own));
    (!value.is_empty() && !is_own && !name.starts_with(':')).then(|| (name.to_owned(), value.to_owned()))
}

/// Splits `-XPOST` and `--request=POST` into a name and its value.
fn parted(word: &str) -> (String, Option<String>) {
    if let Some((name, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
        return (name.to_owned(), Some(value.to_owned()));
    }
    let takes_value = |letter: char| "XHAebudowm".contains(letter);
    let mut letters = word.chars();
    match (letters.next(), letters.next()) {
        (Some('-'), Some(letter)) if takes_value(letter) && word.len() > 2 => {
            (word[..2].to_owned(), Some(word[2..].to_owned()))
        }
        _ => (word.to_owned(), None),
    }
}

/// The words of a command as a shell splits it: handles quotes, backslashes, and `$'…'` as browsers write it.
fn words(command: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                // A line continuation.
                Some('\n') | None => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
            },
            '$' if letters.next_if_eq(&'\'').is_some() => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or("a quote is not closed")? {
                        '\'' => break,
                        '\\' => word.push(unescaped(letters.next().ok_or("a quote is not closed")?)),
                        plain => word.push(plain),
                    }
                }
            }
            quote @ ('\'' | '"') => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or("a quote is not closed")? {
                        end if end == quote => break,
                        '\\' if quote == '"' => match letters.next().ok_or("a quote is not closed")? {
                            '\n' => {}
                            escaped if "\\\"$`".contains(escaped) => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        plain => word.push(plain),
                    }
                }
            }
            blank if blank.is_whitespace() => words.extend(word.take()),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Ok(words)
}

fn unescaped(letter: char) -> char {
    match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(headers: &[(&str, &str)]) -> Vec<(String, String)> {
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_a_browser_copies_is_understood() {
        let command = "curl 'https://localhost:8443/a?b=1' \\\n  -H 'accept: */*' \\\n  -H 'content-type: application/json' \\\n  \
                       --data-raw $'{\"name\":\"it\\'s\"}' --compressed --insecure";
        let curl = read(command).unwrap();
        assert_eq!((curl.url.as_str(), curl.method.as_deref()), ("https://localhost:8443/a?b=1", Some("POST")));
        assert_eq!(curl.data, [r#"{"name":"it's"}"#]);
        let encoding = ("Accept-Encoding", "gzip, deflate, br");
        assert_eq!(curl.headers, pairs(&[("accept", "*/*"), ("content-type", "application/json"), encoding]));
        assert!(curl.insecure);
    }

    #[test]
    fn curls_own_defaults_are_kept() {
        let form = read("curl -d a=1 -d b=2 localhost:3000/form").unwrap();
        assert_eq!((form.url.as_str(), form.data.join("&").as_str()), ("http://localhost:3000/form", "a=1&b=2"));
        assert_eq!(form.headers, pairs(&[("Content-Type", "application/x-www-form-urlencoded")]));
        let put = read("curl -sXPUT http://a/ --json '{}' -u me:secret");
        assert!(put.is_err(), "letters in one word are not taken apart: {put:?}");
        let put = read("curl -s -XPUT http://a/ --json '{}' -u me:secret").unwrap();
        assert_eq!(put.method.as_deref(), Some("PUT"));
        let expect = [
            ("Authorization", "Basic bWU6c2VjcmV0"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
        ];
        assert_eq!(put.headers, pairs(&expect));
        assert_eq!(read("curl --head http://a/").unwrap().method.as_deref(), Some("HEAD"));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (command, expect) in [
            ("curl -F file=@a http://a/", "`-F`"),
            ("curl -s", "no address"),
            ("curl 'http://a/", "not closed"),
            ("curl http://a/ http://b/", "second address"),
            ("curl http://a/ -H", "lacks its value"),
        ] {
            let refused = read(command).unwrap_err();
            assert!(refused.contains(expect), "{command}: {refused}");
        }
    }
}
