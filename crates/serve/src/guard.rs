//! Which requests to answer, and the rules for the browser.
//!
//! A page of another site in the same browser can send requests to any address. If its name first points to its own server and then to this
//! machine (DNS rebinding), it could read the answers. So the server only answers to names that no other site can have, and no answer
//! grants anything to another origin.

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// A page may load its own style, script, events and drawings, but nothing from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A report may load only its own style and icon, as its own policy states.
pub const POLICY_OF_REPORTS: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                                     form-action 'none'; frame-ancestors 'none'";

/// The names that this server answers to.
#[derive(Debug, Clone)]
pub struct Names([String; 2]);

impl Names {
    pub fn of(port: u16) -> Self {
        Self(["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}")))
    }

    /// Whether a request is for this server: by its single `Host` header, and by its target if that names a host.
    fn are_meant(&self, headers: &HeaderMap, target: &Uri) -> bool {
        let is_own = |name: &str| self.0.iter().any(|own| own.eq_ignore_ascii_case(name));
        let mut hosts = headers.get_all(HOST).iter();
        let is_host = hosts.next().and_then(|host| host.to_str().ok()).is_some_and(is_own) && hosts.next().is_none();
        is_host && target.authority().is_none_or(|authority| is_own(authority.as_str()))
    }
}

/// Whether another site's page sends the request without the user having followed a link. It could not read the answer, but answering costs
/// time on a machine that may be measuring.
fn is_of_another_page(headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|found| found == value);
    is("sec-fetch-site", "cross-site") && !is("sec-fetch-mode", "navigate")
}

/// Rejects requests for another server and requests that are not GET or HEAD. Adds the rules to every answer.
pub async fn guard(State(names): State<Names>, request: Request, next: Next) -> Response {
    let mut response = if !names.are_meant(request.headers(), request.uri()) {
        let text = "This server answers to 127.0.0.1 and localhost only.\n";
        (StatusCode::MISDIRECTED_REQUEST, text).into_response()
    } else if is_of_another_page(request.headers()) {
        let text = "This server answers its own pages, and links that a person follows.\n";
        (StatusCode::FORBIDDEN, text).into_response()
    } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let text = "This server only shows what is there: GET and HEAD.\n";
        (StatusCode::METHOD_NOT_ALLOWED, [(axum::http::header::ALLOW, "GET, HEAD")], text).into_response()
    } else {
        next.run(request).await
    };
    let rules = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, rule) in rules {
        // A page may set stricter rules.
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(rule));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_somebody_else_s_may_link_here_and_no_more() {
        let of = |site: &'static str, mode: &'static str| {
            let headers = [("sec-fetch-site", site), ("sec-fetch-mode", mode)];
            let named = headers.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            is_of_another_page(&named.into_iter().collect())
        };
        assert!(of("cross-site", "no-cors") && of("cross-site", "cors"));
        assert!(!of("cross-site", "navigate") && !of("same-origin", "cors") && !is_of_another_page(&HeaderMap::new()));
    }

    #[test]
    fn only_host_names_of_this_machine_are_answered() {
        let are_meant = |hosts: &[&'static str], target: &str| {
            let headers = hosts.iter().map(|host| (HOST, HeaderValue::from_static(host))).collect();
            Names::of(7357).are_meant(&headers, &target.parse().unwrap())
        };
        assert!(are_meant(&["127.0.0.1:7357"], "/"));
        assert!(are_meant(&["LocalHost:7357"], "/runs/a/"));
        assert!(are_meant(&["localhost:7357"], "http://localhost:7357/"));
        // A request from a page of evil.example after its name was pointed here.
        assert!(!are_meant(&["evil.example:7357"], "/"));
        assert!(!are_meant(&["127.0.0.1.evil.example:7357"], "/"));
        assert!(!are_meant(&["localhost:7357"], "http://evil.example/"));
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost", "localhost:73570", "[::1]:7357", "127.0.0.2:7357", ""] {
            assert!(!are_meant(&[host], "/"), "{host}");
        }
        assert!(!are_meant(&[], "/"));
        assert!(!are_meant(&["localhost:7357", "evil.example"], "/"));
    }
}
