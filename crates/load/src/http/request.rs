//! The request: written once before the run, the same bytes every time.

use crate::error::LoadError;
use crate::options::{ConnectionPolicy, Options};

/// The bytes of the request that the options describe.
pub(crate) fn render(options: &Options) -> Result<Vec<u8>, LoadError> {
    let mut text = format!(
        "{} {} HTTP/1.1\r\nHost: {}\r\n",
        options.method.as_str(),
        options.target.path(),
        options.target.authority()
    );
    for (name, value) in &options.headers {
        check_header(name, value)?;
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if options.connection == ConnectionPolicy::PerRequest {
        text.push_str("Connection: close\r\n");
    }
    text.push_str("\r\n");
    Ok(text.into_bytes())
}

fn check_header(name: &str, value: &str) -> Result<(), LoadError> {
    let refuse = |reason: String| Err(LoadError::Option { option: "headers", reason });
    if name.is_empty() || !name.bytes().all(super::head::is_token) {
        return refuse(format!("`{name}` is no header name; use letters, digits and -"));
    }
    if value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
        return refuse(format!("the value of `{name}` holds a control character, which would end the header early"));
    }
    let engines_own = ["host", "connection", "content-length", "transfer-encoding", "expect", "upgrade", "te"];
    if engines_own.contains(&name.to_ascii_lowercase().as_str()) {
        return refuse(format!("`{name}` belongs to the engine, because it changes how answers are framed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Method;

    fn options() -> Options {
        Options::new("http://127.0.0.1:8080/json").unwrap()
    }

    fn rendered(options: &Options) -> String {
        String::from_utf8(render(options).unwrap()).unwrap()
    }

    #[test]
    fn a_keep_alive_request_is_as_short_as_it_can_be() {
        assert_eq!(rendered(&options()), "GET /json HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
    }

    #[test]
    fn a_connection_per_request_is_announced() {
        let mut options = options();
        options.connection = ConnectionPolicy::PerRequest;
        options.method = Method::Head;
        options.headers = vec![("Accept".into(), "*/*".into())];
        assert_eq!(
            rendered(&options),
            "HEAD /json HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        );
    }

    #[test]
    fn headers_that_would_change_the_request_are_refused() {
        for (name, value) in [
            ("A: b\r\nC", "d"),
            ("A", "b\r\nC: d"),
            ("", "x"),
            ("Connection", "close"),
            ("Transfer-Encoding", "chunked"),
            ("HOST", "other"),
        ] {
            let mut options = options();
            options.headers = vec![(name.into(), value.into())];
            assert!(
                matches!(render(&options), Err(LoadError::Option { option: "headers", .. })),
                "{name:?}: {value:?}"
            );
        }
    }
}
