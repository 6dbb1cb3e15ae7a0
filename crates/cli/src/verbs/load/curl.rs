//! `--curl`: converts a curl command, as copied from browsers and API documents, to options of `tolok load`.

use tolok_tools::curl;

use tolok_load::options::Method;

use crate::args::{BodyText, LoadArgs};

/// The command line with the request of its `--curl`. tolok's own options take precedence: a `--header` replaces one of the same
/// name.
pub fn with_request(args: &LoadArgs, command: &str) -> Result<LoadArgs, String> {
    let curl = curl::read(command).map_err(|reason| format!("--curl: {reason}"))?;
    let mut taken = args.clone();
    taken.url = curl.url;
    if let (None, Some(name)) = (args.method, curl.method.as_deref()) {
        taken.method = Some(Method::named(name)?);
    }
    let is_ours = |name: &str| args.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    taken.headers.extend(curl.headers.into_iter().filter(|(name, _)| !is_ours(name)));
    if args.body.is_none() && !curl.data.is_empty() {
        taken.body = Some(match curl.data.as_slice() {
            [file] if file.starts_with('@') => BodyText::File(file[1..].into()),
            parts => BodyText::Text(parts.join("&")),
        });
    }
    taken.insecure |= curl.insecure;
    taken.http2 |= curl.http2;
    Ok(taken)
}
