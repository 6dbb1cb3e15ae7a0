//! Converts SVG files to PDF with any installed converter.
//!
//! Papers need PDF figures, but no converter is installed everywhere, and an installed one may fail. So tolok tries all of
//! [`Converter::ALL`] that are on `PATH`, the best first. The caller reports which one worked, because fonts may differ.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tolok_host::call::{Call, CallError};

/// Time limit for one file. A browser that starts for the first time takes seconds.
const LIMIT: Duration = Duration::from_secs(60);

/// A program that converts SVG to PDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Converter {
    Rsvg,
    Inkscape,
    CairoSvg,
    /// Chromium, which prints a page that contains only the figure.
    Chromium,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub converter: Converter,
    pub program: PathBuf,
}

/// Why a file has no PDF.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    #[error("{program} {reason} for {}", .svg.display())]
    Call { program: String, reason: String, svg: PathBuf },
    #[error("{program} made no PDF of {}: {said}", .svg.display())]
    NoPdf { program: String, said: String, svg: PathBuf },
    #[error("cannot write beside {}: {source}; name a folder that you may write: --figures DIR", .svg.display())]
    Write { svg: PathBuf, source: std::io::Error },
}

/// What to install if there is no converter.
pub const INSTALL: &str = "apt-get install librsvg2-bin (rsvg-convert), inkscape, or chromium";

impl Converter {
    /// All supported converters, the best first. A browser starts slowly, and its PDFs are larger.
    pub const ALL: [Self; 4] = [Self::Rsvg, Self::Inkscape, Self::CairoSvg, Self::Chromium];

    /// The names of its program.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Rsvg => &["rsvg-convert"],
            Self::Inkscape => &["inkscape"],
            Self::CairoSvg => &["cairosvg"],
            Self::Chromium => &["chromium", "chromium-browser", "google-chrome"],
        }
    }

    /// The converters on a `PATH`, the best first.
    pub fn find(path: &OsStr) -> Vec<Found> {
        Self::ALL.into_iter().filter_map(|converter| converter.find_own(path)).collect()
    }

    /// This converter on a `PATH`.
    pub fn find_own(self, path: &OsStr) -> Option<Found> {
        let places =
            self.programs().iter().flat_map(|name| std::env::split_paths(path).map(move |folder| folder.join(name)));
        let program = places.into_iter().find(|place| place.is_absolute() && is_program(place))?;
        Some(Found { converter: self, program })
    }
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

impl Found {
    /// The name of its program file.
    pub fn name(&self) -> String {
        self.program.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Converts an SVG file to a PDF beside it, atomically. `size_mm` is the size of the drawing.
    pub fn convert(&self, svg: &Path, size_mm: [f64; 2]) -> Result<PathBuf, ConvertError> {
        let svg = fs::canonicalize(svg).map_err(|source| ConvertError::Write { svg: svg.to_owned(), source })?;
        let failed = |source| ConvertError::Write { svg: svg.clone(), source };
        // A folder with an unguessable name, because the program writes its file by name.
        let beside = tempfile::tempdir_in(svg.parent().unwrap_or(Path::new("."))).map_err(failed)?;
        let (pdf, unfinished) = (svg.with_extension("pdf"), beside.path().join("figure.pdf"));
        self.make(&svg, &unfinished, size_mm)?;
        fs::rename(&unfinished, &pdf).map_err(failed)?;
        Ok(pdf)
    }

    fn make(&self, svg: &Path, pdf: &Path, size_mm: [f64; 2]) -> Result<(), ConvertError> {
        let words = |path: &Path| path.display().to_string();
        match self.converter {
            Converter::Rsvg => self.ask(&["-f", "pdf", "-o", &words(pdf), &words(svg)], svg, pdf),
            Converter::Inkscape => self.ask(&[&format!("--export-filename={}", words(pdf)), &words(svg)], svg, pdf),
            Converter::CairoSvg => self.ask(&["-f", "pdf", "-o", &words(pdf), &words(svg)], svg, pdf),
            Converter::Chromium => self.print(svg, pdf, size_mm),
        }
    }

    /// Prints a page as large as the drawing. The browser's own files go to a temporary folder.
    fn print(&self, svg: &Path, pdf: &Path, [width_mm, height_mm]: [f64; 2]) -> Result<(), ConvertError> {
        let failed = |source| ConvertError::Write { svg: svg.to_owned(), source };
        let folder = tempfile::tempdir().map_err(failed)?;
        let page = folder.path().join("page.html");
        let drawing = fs::read_to_string(svg).map_err(failed)?;
        let drawing = drawing.split_once("?>").map_or(drawing.as_str(), |(_, after)| after);
        // Slightly more height: a page that is slightly too small becomes two.
        let text = format!(
            "<!doctype html><meta charset=\"utf-8\"><style>@page {{ size: {width_mm}mm {}mm; margin: 0 }} \
             body {{ margin: 0 }} svg {{ display: block }}</style>{drawing}",
            height_mm + 0.1
        );
        fs::write(&page, text).map_err(failed)?;
        let (profile, print) =
            (format!("--user-data-dir={}", folder.path().display()), format!("--print-to-pdf={}", pdf.display()));
        let address = format!("file://{}", page.display());
        let mut arguments =
            vec!["--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer", &profile, &print];
        // As root, Chromium refuses to run with its sandbox. The page is our own and has no script.
        arguments.extend(rustix::process::geteuid().is_root().then_some("--no-sandbox"));
        arguments.push(&address);
        self.ask(&arguments, svg, pdf)
    }

    fn ask(&self, arguments: &[&str], svg: &Path, pdf: &Path) -> Result<(), ConvertError> {
        let call = Call::new(&self.program, arguments.iter().copied());
        let failed = |error: CallError| ConvertError::Call {
            program: self.name(),
            reason: error.to_string(),
            svg: svg.to_owned(),
        };
        let answer = call.ask(LIMIT).map_err(failed)?;
        if answer.status.success() && fs::metadata(pdf).is_ok_and(|file| file.len() > 0) {
            return Ok(());
        }
        let said =
            answer.text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it wrote nothing").to_owned();
        Err(ConvertError::NoPdf { program: self.name(), said, svg: svg.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"88mm\" \
                       height=\"22mm\" viewBox=\"0 0 352 88\"><rect width=\"100\" height=\"20\" fill=\"#150879\"/></svg>\n";

    fn path() -> std::ffi::OsString {
        std::env::var_os("PATH").unwrap_or_default()
    }

    /// Makes a PDF with one converter and returns its first bytes.
    fn begins(found: &Found) -> String {
        let folder = tempfile::tempdir().unwrap();
        let svg = folder.path().join("a chart.svg");
        fs::write(&svg, SVG).unwrap();
        let pdf = found.convert(&svg, [88.0, 22.0]).unwrap();
        assert_eq!(pdf.file_name().unwrap(), "a chart.pdf");
        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a chart.pdf", "a chart.svg"], "nothing else is left");
        String::from_utf8_lossy(&fs::read(pdf).unwrap()[..5]).into_owned()
    }

    #[test]
    fn a_browser_prints_a_figure() {
        let found = Converter::Chromium.find_own(&path());
        tolok_testkit::require!(found.is_some(), "no chromium");
        assert_eq!(begins(&found.unwrap()), "%PDF-");
    }

    #[test]
    fn whatever_the_machine_has_makes_a_pdf() {
        let found = Converter::find(&path());
        tolok_testkit::require!(!found.is_empty(), "no converter of SVG");
        found.iter().for_each(|found| assert_eq!(begins(found), "%PDF-", "{}", found.name()));
    }

    #[test]
    fn without_a_converter_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Converter::find(folder.path().as_os_str()), []);
        fs::write(folder.path().join("rsvg-convert"), "no program").unwrap();
        assert_eq!(Converter::find(folder.path().as_os_str()), [], "the file is not executable");
        assert_eq!(Converter::find(OsStr::new("relative:")), [], "programs in the working folder are not used");
    }

    #[test]
    fn a_converter_that_fails_is_quoted_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("rsvg-convert");
        fs::write(&program, "#!/bin/sh\necho 'no such font' >&2\nexit 1\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let svg = folder.path().join("a.svg");
        fs::write(&svg, SVG).unwrap();
        let error = Converter::find(folder.path().as_os_str())[0].convert(&svg, [88.0, 22.0]).unwrap_err();
        assert!(error.to_string().ends_with(": no such font"), "{error}");
        assert!(!folder.path().join("a.pdf").exists());
    }
}
