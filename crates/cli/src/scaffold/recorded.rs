//! Creates the folder of a workload from a recorded response.

use std::path::{Path, PathBuf};

use tolok_lab::user_servers::RecordedAnswer;

use super::{Kind, ScaffoldError, filled, in_toml, new_folder, schema_for, write};

/// A request and the response to it.
#[derive(Debug)]
pub struct Recording<'a> {
    /// The request's URL.
    pub url: &'a str,
    /// Type and content of the request's body.
    pub sent: Option<(&'a str, &'a [u8])>,
    pub answer: &'a RecordedAnswer,
}

/// Creates the folder of a workload: `folder/name`.
pub fn recorded_workload(
    folder: &Path,
    name: &str,
    schemas: Option<&Path>,
    recording: &Recording<'_>,
) -> Result<Vec<PathBuf>, ScaffoldError> {
    let own = new_folder(folder, name)?;
    let schema = schema_for(&own, Kind::Workload, schemas)?;
    let Recording { url, sent, answer } = recording;
    let method = if sent.is_some() { "POST" } else { "GET" };
    let request = sent.map(|(content_type, _)| request_keys(content_type)).unwrap_or_default();
    let words = [
        ("NAME", name),
        ("SCHEMA", &schema.reference),
        ("URL", url),
        ("TITLE", &in_toml(&format!("{method} {}", answer.path))),
        ("METHOD", method),
        ("PATH", &in_toml(&answer.path)),
        ("REQUEST", &request),
        ("STATUS", &answer.status.to_string()),
        ("TYPE", &in_toml(&answer.content_type)),
        ("BODY", &body_value(answer)),
        ("COMPARED", answer.words()),
    ];
    let texts = [
        ("workload.toml", include_str!("files/workload/recorded.toml")),
        ("README.md", include_str!("files/workload/recorded-README.md")),
    ];
    let mut files = Vec::new();
    for (file, text) in texts {
        files.push(write(own.join(file), filled(text, &words).as_bytes())?);
    }
    if answer.varying.as_ref().is_none_or(|varying| varying.file.is_some()) {
        files.push(write(own.join(body_file(&answer.content_type)), &answer.body)?);
    }
    if let Some((content_type, body)) = sent {
        files.push(write(own.join(request_file(content_type)), body)?);
    }
    Ok(files.into_iter().chain(schema.written).collect())
}

/// The file name of a body, by its type.
pub fn body_file(content_type: &str) -> String {
    format!("body.{}", ending(content_type))
}

fn request_file(content_type: &str) -> String {
    format!("request.{}", ending(content_type))
}

fn ending(content_type: &str) -> &'static str {
    match content_type.rsplit(['/', '+']).next().unwrap_or_default() {
        "json" => "json",
        "html" => "html",
        "xml" => "xml",
        "plain" => "txt",
        _ => "bin",
    }
}

fn request_keys(content_type: &str) -> String {
    format!("body   = {}\ncontent-type = {}\n", in_toml(&request_file(content_type)), in_toml(content_type))
}

/// The value of `body` in `[answer]`.
fn body_value(answer: &RecordedAnswer) -> String {
    let Some(varying) = &answer.varying else { return in_toml(&body_file(&answer.content_type)) };
    let compared = serde_json::to_value(varying.compared).unwrap_or_default();
    let file = varying.file.as_ref().map(|file| format!(", file = {}", in_toml(file))).unwrap_or_default();
    let bytes = varying.bytes.map(|bytes| format!(", bytes = {bytes}")).unwrap_or_default();
    format!("{{ compared = {compared}{file}{bytes} }}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tolok_model::{Compared, VaryingBody, Workload};

    use super::*;

    fn answer(content_type: &str, varying: Option<VaryingBody>) -> RecordedAnswer {
        let (server, path) = ("http://127.0.0.1:3000".to_owned(), "/api/v1/users?q=%22a%22&page=2".to_owned());
        let (content_type, body) = (content_type.to_owned(), b"[1]".to_vec());
        RecordedAnswer { server, path, status: 201, content_type, body, varying }
    }

    /// Writes an answer and reads the workload back.
    fn written(answer: &RecordedAnswer, sent: Option<(&str, &[u8])>) -> (Workload, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let recording = Recording { url: "http://127.0.0.1:3000/api/v1/users?q=%22a%22&page=2", sent, answer };
        let files = recorded_workload(folder.path(), "users", None, &recording).unwrap();
        let text = fs::read_to_string(&files[0]).unwrap();
        let workload = Workload::read("users", &text).unwrap_or_else(|problems| panic!("{text}\n{problems:?}"));
        assert!(
            files
                .iter()
                .all(|file| file.ends_with("workload.schema.json") || !fs::read_to_string(file).unwrap().contains('@'))
        );
        let named = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
        (workload, files.iter().map(named).collect())
    }

    #[test]
    fn a_constant_response_is_compared_byte_for_byte() {
        let (workload, files) = written(&answer("application/json", None), None);
        assert_eq!((workload.method.as_str(), workload.path.as_str()), ("GET", "/api/v1/users?q=%22a%22&page=2"));
        assert_eq!((workload.status, workload.content_type.as_str()), (201, "application/json"));
        assert_eq!(workload.body, tolok_model::Body::File("body.json".to_owned()));
        assert_eq!(files, ["workload.toml", "README.md", "body.json", "workload.schema.json"]);
    }

    #[test]
    fn a_varying_response_is_compared_as_far_as_it_is_constant_and_a_sent_body_has_its_own_file() {
        let shape = VaryingBody { compared: Compared::Shape, file: Some("body.json".to_owned()), bytes: Some(3) };
        let sent = Some(("application/json", br#"{"q":1}"#.as_slice()));
        let (workload, files) = written(&answer("application/problem+json", Some(shape.clone())), sent);
        assert_eq!((workload.method.as_str(), workload.sent.unwrap().file.as_str()), ("POST", "request.json"));
        assert_eq!(workload.body.varying(), Some(&shape));
        assert!(files.contains(&"body.json".to_owned()) && files.contains(&"request.json".to_owned()), "{files:?}");
        for (compared, bytes) in [(Compared::Length, Some(3)), (Compared::Nothing, None)] {
            let varying = VaryingBody { compared, file: None, bytes };
            let (workload, files) = written(&answer("image/png", Some(varying.clone())), None);
            assert_eq!(workload.body.varying(), Some(&varying));
            assert_eq!(files, ["workload.toml", "README.md", "workload.schema.json"]);
        }
    }
}
