//! The documents that errors and templates name, for users without a checkout: `tolok help docs/audit.md`.

macro_rules! documents {
    ($($path:literal),+ $(,)?) => {
        /// The path of each document in the checkout, and its text.
        const DOCUMENTS: [(&str, &str); [$($path),+].len()] =
            [$(($path, include_str!(concat!("../../../../", $path)))),+];
    };
}

documents![
    "METHODOLOGY.md",
    "BIAS.md",
    "docs/audit.md",
    "docs/tools.md",
    "docs/transcribe.md",
    "docs/reference/study.md",
    "docs/reference/subject.md",
    "docs/reference/transcription.md",
    "docs/reference/workload.md",
];

/// The paths that `tolok help` accepts.
pub fn paths() -> impl Iterator<Item = &'static str> {
    DOCUMENTS.into_iter().map(|(path, _)| path)
}

/// The document with this path.
pub fn document(path: &str) -> Option<&'static str> {
    DOCUMENTS.into_iter().find(|(known, _)| *known == path).map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn check(folder: &Path) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                check(&entry);
                continue;
            }
            let Ok(text) = fs::read_to_string(&entry) else { continue };
            let named =
                text.split("tolok help ").skip(1).map(|rest| rest.split_whitespace().next().unwrap_or_default());
            for path in named.map(|path| path.trim_end_matches(['.', '`', ','])).filter(|path| path.contains('/')) {
                assert!(document(path).is_some(), "{} names {path}", entry.display());
            }
        }
    }

    #[test]
    fn every_document_that_a_template_names_can_be_printed() {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scaffold/files"));
        assert!(document("docs/audit.md").is_some_and(|text| text.starts_with("# ")));
    }
}
