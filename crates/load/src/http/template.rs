//! Requests with placeholders: `{{ name }}` in the path, in values of headers, and in the body.
//!
//! Values are written so they cannot change the structure: percent-encoded in a path, escaped in a JSON body, and unchanged elsewhere.

use std::fmt::Write;

use super::request;
use crate::error::LoadError;
use crate::options::{Data, Request, is_name};
use crate::target::Target;

/// The names that placeholders may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names<'a> {
    pub columns: &'a [String],
    /// Names of captured values, in the order of their slots.
    pub captured: &'a [String],
    /// How many of these an earlier request of the iteration has captured.
    pub known: usize,
}

/// The values of an iteration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values<'a> {
    pub data: Option<&'a Data>,
    pub row: usize,
    pub captured: &'a [String],
}

impl Values<'_> {
    fn of(&self, place: Place) -> &str {
        match place {
            Place::Column(column) => self.data.map_or("", |data| data.value(self.row, column)),
            Place::Captured(number) => self.captured.get(number).map_or("", String::as_str),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Column(usize),
    Captured(usize),
}

/// The context of a value, which determines its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Path,
    Json,
    Plain,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Value(Place),
}

/// A text with placeholders.
#[derive(Debug)]
struct Pattern {
    pieces: Vec<Piece>,
    within: Within,
}

/// A request with placeholders.
#[derive(Debug)]
pub(crate) struct Template {
    path: Pattern,
    headers: Vec<Pattern>,
    /// `None` for a body that is not text.
    body: Option<Pattern>,
    /// Method and path.
    words: String,
    /// The request as last filled. Its buffers are reused.
    filled: Request,
    body_text: String,
}

impl Template {
    /// The template of a request, or `None` without placeholders. It is validated with every value set to `1`.
    pub fn of(target: &Target, request: &Request, names: Names<'_>) -> Result<Option<Self>, LoadError> {
        let body = std::str::from_utf8(&request.body).ok().map(|text| {
            let is_json = text.trim_start().starts_with(['{', '[']);
            Pattern::read(text, if is_json { Within::Json } else { Within::Plain }, names)
        });
        let headers = request.headers.iter().map(|(_, value)| Pattern::read(value, Within::Plain, names));
        let mut template = Self {
            path: Pattern::read(&request.path, Within::Path, names)?,
            headers: headers.collect::<Result<_, _>>()?,
            body: body.transpose()?,
            words: format!("{} {}", request.method.as_str(), request.path),
            filled: request.clone(),
            body_text: String::new(),
        };
        if !template.has_places() {
            return Ok(None);
        }
        request::render(target, template.fill_with(|_| "1"), false)?;
        Ok(Some(template))
    }

    /// Method and path, with its placeholders.
    pub fn words(&self) -> &str {
        &self.words
    }

    fn has_places(&self) -> bool {
        self.headers.iter().chain([&self.path]).chain(&self.body).any(Pattern::has_places)
    }

    /// The request as last filled.
    pub fn filled(&self) -> &Request {
        &self.filled
    }

    /// The request with these values.
    pub fn fill(&mut self, values: Values<'_>) -> &Request {
        self.fill_with(|place| values.of(place))
    }

    fn fill_with<'v>(&mut self, value: impl Fn(Place) -> &'v str) -> &Request {
        let Request { path, headers, body, .. } = &mut self.filled;
        self.path.fill(path, &value);
        for (pattern, (_, header)) in self.headers.iter().zip(headers) {
            pattern.fill(header, &value);
        }
        if let Some(pattern) = &self.body {
            pattern.fill(&mut self.body_text, &value);
            body.clear();
            body.extend_from_slice(self.body_text.as_bytes());
        }
        &self.filled
    }

    /// The columns used in headers, where a control character would end the request early.
    fn columns_of_headers(&self) -> impl Iterator<Item = usize> {
        let pieces = self.headers.iter().flat_map(|pattern| &pattern.pieces);
        pieces.filter_map(|piece| match piece {
            Piece::Value(Place::Column(column)) => Some(*column),
            _ => None,
        })
    }

    /// Rejects values that are not allowed where the template puts them.
    pub fn check(&self, data: &Data) -> Result<(), LoadError> {
        for column in self.columns_of_headers() {
            let wrong = (0..data.rows()).find(|row| data.value(*row, column).chars().any(char::is_control));
            if let Some(row) = wrong {
                let (name, row) = (&data.columns[column], row + 1);
                return Err(refused(format!(
                    "`{name}` of row {row} holds a control character, and stands in a header"
                )));
            }
        }
        Ok(())
    }
}

impl Pattern {
    fn read(text: &str, within: Within, names: Names<'_>) -> Result<Self, LoadError> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once("{{") {
            // Other braces may be part of the body.
            let Some((name, behind)) = after.split_once("}}").filter(|(name, _)| is_name(name.trim())) else {
                let (kept, left) = rest.split_at(before.len() + 2);
                pieces.push(Piece::Text(kept.to_owned()));
                rest = left;
                continue;
            };
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Value(names.place(name.trim())?));
            rest = behind;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self { pieces, within })
    }

    fn has_places(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Value(_)))
    }

    fn fill<'v>(&self, text: &mut String, value: &impl Fn(Place) -> &'v str) {
        text.clear();
        for piece in &self.pieces {
            match piece {
                Piece::Text(fixed) => text.push_str(fixed),
                Piece::Value(place) => self.within.write(value(*place), text),
            }
        }
    }
}

impl Names<'_> {
    fn place(&self, name: &str) -> Result<Place, LoadError> {
        let at = |names: &[String]| names.iter().position(|known| known == name);
        if let Some(number) = at(&self.captured[..self.known]) {
            return Ok(Place::Captured(number));
        }
        if let Some(column) = at(self.columns) {
            return Ok(Place::Column(column));
        }
        let known: Vec<&str> = self.columns.iter().chain(&self.captured[..self.known]).map(String::as_str).collect();
        let later = if at(self.captured).is_some() { ": the request that captures it comes later" } else { "" };
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(refused(format!("nothing is known here by the name of `{{{{ {name} }}}}`{later}; known: {known}")))
    }
}

impl Within {
    fn write(self, value: &str, text: &mut String) {
        match self {
            Self::Plain => text.push_str(value),
            Self::Path => {
                for byte in value.bytes() {
                    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                        text.push(char::from(byte));
                    } else {
                        let _ = write!(text, "%{byte:02X}");
                    }
                }
            }
            Self::Json => {
                for letter in value.chars() {
                    match letter {
                        '"' | '\\' => text.extend(['\\', letter]),
                        control if control < ' ' => {
                            let _ = write!(text, "\\u{:04x}", u32::from(control));
                        }
                        other => text.push(other),
                    }
                }
            }
        }
    }
}

fn refused(reason: String) -> LoadError {
    LoadError::Option { option: "data", reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{DataOrder, Method};

    fn data() -> Data {
        let values = ["1", "Ada \"L\" Ünal/?", "2", "Bo\nb"].map(Box::from).to_vec();
        Data { columns: vec!["id".to_owned(), "name".to_owned()], values, order: DataOrder::Random }
    }

    fn template(request: &Request, known: usize) -> Result<Option<Template>, LoadError> {
        let (data, captured) = (data(), ["token".to_owned()]);
        let names = Names { columns: &data.columns, captured: &captured, known };
        let template = Template::of(&Target::parse("http://h/").unwrap(), request, names)?;
        template.as_ref().map_or(Ok(()), |template| template.check(&data))?;
        Ok(template)
    }

    fn request(path: &str, header: &str, body: &str) -> Request {
        let headers = vec![("X-A".to_owned(), header.to_owned())];
        Request { method: Method::Post, headers, body: body.into(), ..Request::get(path) }
    }

    #[test]
    fn a_value_is_encoded_by_where_it_stands() {
        let mut template = template(&request("/{{id}}?n={{ name }}", "t {{ token }}", "{\"n\":\"{{name}}\"}"), 1);
        let template = template.as_mut().unwrap().as_mut().unwrap();
        let (data, captured) = (data(), ["a b".to_owned()]);
        let filled = template.fill(Values { data: Some(&data), row: 0, captured: &captured });
        assert_eq!(filled.path, "/1?n=Ada%20%22L%22%20%C3%9Cnal%2F%3F");
        assert_eq!(filled.headers[0].1, "t a b");
        assert_eq!(String::from_utf8_lossy(&filled.body), r#"{"n":"Ada \"L\" Ünal/?"}"#);
        let filled = template.fill(Values { data: Some(&data), row: 1, captured: &captured });
        assert_eq!(filled.path, "/2?n=Bo%0Ab");
        assert_eq!(String::from_utf8_lossy(&filled.body), r#"{"n":"Bo\u000ab"}"#);
    }

    #[test]
    fn a_body_that_is_no_text_stays_as_it_is() {
        let request = Request { body: vec![0xFF, b'{', b'{', b'x'], ..request("/{{id}}", "", "") };
        let mut template = template(&request, 0).unwrap().unwrap();
        let data = data();
        let filled = template.fill(Values { data: Some(&data), row: 1, captured: &[] });
        assert_eq!((filled.path.as_str(), &filled.body), ("/2", &request.body));
    }

    #[test]
    fn what_has_no_places_is_no_template() {
        assert!(template(&request("/a", "b", "{\"a\":{\"b\":{{}}}"), 0).unwrap().is_none());
    }

    #[test]
    fn places_must_be_known_and_values_must_fit() {
        let wrong = |request: &Request, known| template(request, known).unwrap_err().to_string();
        let unknown = wrong(&request("/{{nme}}", "", ""), 0);
        assert!(unknown.ends_with("by the name of `{{ nme }}`; known: id, name"), "{unknown}");
        let early = wrong(&request("/{{token}}", "", ""), 0);
        assert!(early.contains("`{{ token }}`: the request that captures it comes later"), "{early}");
        let broken = wrong(&request("/", "{{name}}", ""), 0);
        assert!(broken.contains("`name` of row 2 holds a control character"), "{broken}");
        let path = wrong(&request("/a b{{id}}", "", ""), 0);
        assert!(path.contains("holds a blank"), "{path}");
    }
}
