//! The request: written once before the run, or with new values for each send.

use crate::error::LoadError;
use crate::options::{Method, Request};
use crate::target::Target;

/// The bytes of a request. The last one on a connection asks the target to close it.
pub(crate) fn render(target: &Target, request: &Request, last_on_connection: bool) -> Result<Vec<u8>, LoadError> {
    check_path(request.method, &request.path)?;
    request.headers.iter().try_for_each(|(name, value)| check_header(name, value))?;
    let mut bytes = Vec::new();
    write(&mut bytes, &target.authority(), request, last_on_connection);
    Ok(bytes)
}

/// Appends the bytes of a valid request.
pub(crate) fn write(bytes: &mut Vec<u8>, authority: &str, request: &Request, last_on_connection: bool) {
    let mut add = |pieces: &[&str]| pieces.iter().for_each(|piece| bytes.extend_from_slice(piece.as_bytes()));
    add(&[request.method.as_str(), " ", &request.path, " HTTP/1.1\r\nHost: ", authority, "\r\n"]);
    for (name, value) in &request.headers {
        add(&[name, ": ", value, "\r\n"]);
    }
    // These methods normally carry a body, so Content-Length announces even an empty one (RFC 9110 §8.6).
    let carries_body = matches!(request.method, Method::Post | Method::Put | Method::Patch);
    if carries_body || !request.body.is_empty() {
        // Writing to memory cannot fail.
        let _ = std::io::Write::write_fmt(bytes, format_args!("Content-Length: {}\r\n", request.body.len()));
    }
    if last_on_connection {
        bytes.extend_from_slice(b"Connection: close\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&request.body);
}

/// The same for HTTP/2. It has no fixed bytes: the encoding depends on what the connection has carried before.
pub(crate) fn in_fields(target: &Target, request: &Request) -> Result<http::Request<()>, LoadError> {
    check_path(request.method, &request.path)?;
    let refuse = |error: http::Error| LoadError::Option { option: "request", reason: error.to_string() };
    let scheme = if target.is_secure() { "https" } else { "http" };
    let uri = http::Uri::builder().scheme(scheme).authority(target.authority()).path_and_query(&*request.path);
    let uri = uri.build().map_err(refuse)?;
    let mut fields = http::Request::builder().method(request.method.as_str()).uri(uri).version(http::Version::HTTP_2);
    for (name, value) in &request.headers {
        check_header(name, value)?;
        if ["keep-alive", "proxy-connection"].contains(&name.to_ascii_lowercase().as_str()) {
            let reason =
                format!("`{name}` is about the connection, which requests of HTTP/2 do not control; leave it out");
            return Err(LoadError::Option { option: "header", reason });
        }
        fields = fields.header(name, value);
    }
    let carries_body = matches!(request.method, Method::Post | Method::Put | Method::Patch);
    if carries_body || !request.body.is_empty() {
        fields = fields.header(http::header::CONTENT_LENGTH, request.body.len());
    }
    fields.body(()).map_err(refuse)
}

/// Every reason why a request cannot be sent, each as a sentence.
pub(crate) fn problems(request: &Request) -> Vec<String> {
    let headers = request.headers.iter().map(|(name, value)| check_header(name, value));
    let checks = std::iter::once(check_path(request.method, &request.path)).chain(headers);
    let problems = checks.filter_map(Result::err).map(|error| match error {
        LoadError::Option { reason, .. } => reason,
        other => other.to_string(),
    });
    problems.collect()
}

fn check_path(method: Method, path: &str) -> Result<(), LoadError> {
    let refuse = |reason: String| Err(LoadError::Option { option: "request", reason });
    if !path.starts_with('/') && (method != Method::Options || path != "*") {
        return refuse(format!("`{path}` does not begin with `/`; only OPTIONS may also ask for `*`"));
    }
    if !path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return refuse(format!("`{path}` holds a blank, a `#`, or a character outside ASCII; encode it as %XX"));
    }
    Ok(())
}

fn check_header(name: &str, value: &str) -> Result<(), LoadError> {
    let refuse = |reason: String| Err(LoadError::Option { option: "header", reason });
    if name.is_empty() || !name.bytes().all(super::head::is_token) {
        return refuse(format!("`{name}` is no header name; use letters, digits and -"));
    }
    if value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
        return refuse(format!("the value of `{name}` holds a control character, which would end the header early"));
    }
    let engines_own = ["host", "connection", "content-length", "transfer-encoding", "expect", "upgrade", "te"];
    if engines_own.contains(&name.to_ascii_lowercase().as_str()) {
        return refuse(format!(
            "`{name}` belongs to the engine, which writes it from the URL or from how messages are framed"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(request: &Request, last: bool) -> String {
        let target = Target::parse("http://127.0.0.1:8080/").unwrap();
        String::from_utf8(render(&target, request, last).unwrap()).unwrap()
    }

    fn refused(request: &Request) -> &'static str {
        match render(&Target::parse("http://127.0.0.1/").unwrap(), request, false) {
            Err(LoadError::Option { option, .. }) => option,
            other => panic!("{request:?} became {other:?}"),
        }
    }

    #[test]
    fn a_keep_alive_request_is_as_short_as_it_can_be() {
        assert_eq!(rendered(&Request::get("/json"), false), "GET /json HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
    }

    #[test]
    fn the_last_request_of_a_connection_says_so() {
        let headers = vec![("Accept".into(), "*/*".into())];
        let request = Request { method: Method::Head, headers, ..Request::get("/json") };
        assert_eq!(
            rendered(&request, true),
            "HEAD /json HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        );
    }

    #[test]
    fn a_body_is_announced_also_an_empty_one_where_one_is_expected() {
        let check = |method: Method, body: &str, expected: &str| {
            let request = Request { method, body: body.into(), ..Request::get("/a") };
            let rendered = rendered(&request, false);
            let rest = rendered.split_once("Host: 127.0.0.1:8080\r\n").unwrap().1;
            assert_eq!(rest, expected, "{method:?}");
        };
        for method in [Method::Post, Method::Put, Method::Patch] {
            check(method, "", "Content-Length: 0\r\n\r\n");
            check(method, "{\"a\":1}", "Content-Length: 7\r\n\r\n{\"a\":1}");
        }
        for method in [Method::Get, Method::Delete, Method::Options] {
            check(method, "", "\r\n");
            check(method, "x\r\n", "Content-Length: 3\r\n\r\nx\r\n");
        }
    }

    #[test]
    fn with_http2_a_request_is_fields() {
        let target = Target::parse("http://127.0.0.1:8080/").unwrap();
        let headers = vec![("X-Tag".into(), "a\tb".into()), ("X-Tag".into(), "c".into())];
        let request = Request { method: Method::Post, headers, body: b"{}".to_vec(), ..Request::get("/a?b=%20&c[]=*") };
        let fields = in_fields(&target, &request).unwrap();
        assert_eq!(fields.uri().to_string(), "http://127.0.0.1:8080/a?b=%20&c[]=*");
        assert_eq!(fields.headers().get_all("x-tag").iter().count(), 2);
        assert_eq!(fields.headers()["content-length"], "2");
        let everything = Request { method: Method::Options, ..Request::get("*") };
        assert_eq!(in_fields(&target, &everything).unwrap().uri().path(), "*");
        let headers = vec![("Keep-Alive".into(), "timeout=5".into())];
        let refused = in_fields(&target, &Request { headers, ..Request::get("/") }).unwrap_err().to_string();
        assert!(refused.contains("`Keep-Alive` is about the connection"), "{refused}");
    }

    #[test]
    fn a_path_stands_in_the_request_line_as_it_is_or_not_at_all() {
        for path in ["", "hello", "*", "http://other/", "/a b", "/a\r\nX: y", "/a#b", "/\u{e4}", "/\0"] {
            assert_eq!(refused(&Request::get(path)), "request", "{path:?}");
        }
        assert_eq!(refused(&Request { method: Method::Options, ..Request::get("*x") }), "request");
        let everything = Request { method: Method::Options, ..Request::get("*") };
        assert!(rendered(&everything, false).starts_with("OPTIONS * HTTP/1.1\r\n"));
        assert!(rendered(&Request::get("/a?b=%20&c[]=*"), false).starts_with("GET /a?b=%20&c[]=* HTTP/1.1\r\n"));
    }

    #[test]
    fn headers_that_would_change_the_request_are_refused() {
        for (name, value) in [
            ("A: b\r\nC", "d"),
            ("A", "b\r\nC: d"),
            ("", "x"),
            ("Connection", "close"),
            ("Content-Length", "1"),
            ("Transfer-Encoding", "chunked"),
            ("HOST", "other"),
        ] {
            let headers = vec![(name.into(), value.into())];
            assert_eq!(refused(&Request { headers, ..Request::get("/") }), "header", "{name:?}: {value:?}");
        }
    }
}
