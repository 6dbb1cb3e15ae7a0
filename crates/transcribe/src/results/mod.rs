//! Result files of public benchmarks: a row for each measurement, with the file's name for its subject.

mod clickbench;
mod httparena;
mod techempower;
mod the_benchmarker;

use crate::json::{Json, Places};
use crate::outputs::Outputs;
use crate::row::{Remark, Row};
use crate::writing::quoted;

/// The benchmarks whose result files can be read.
pub const RESULTS: &str = "HttpArena, TechEmpower, the-benchmarker and ClickBench";

/// The format of a file.
struct Form {
    is: fn(&Json<'_>) -> bool,
    /// Also takes the name of the file.
    read: fn(&Json<'_>, &str, &mut Reading<'_>),
}

const FORMS: [Form; 4] = [httparena::FORM, techempower::FORM, the_benchmarker::FORM, clickbench::FORM];

/// The measurements of a file; `None` if no known benchmark has its format.
pub(crate) fn results(whole: &str, json: &Json<'_>, file: &str) -> Option<Outputs> {
    let form = FORMS.iter().find(|form| (form.is)(json))?;
    let mut reading = Reading { places: Places::of(whole), outputs: Outputs::default() };
    (form.read)(json, file, &mut reading);
    Some(reading.outputs)
}

/// What was read from a file so far.
struct Reading<'a> {
    places: Places<'a>,
    outputs: Outputs,
}

impl Reading<'_> {
    /// Adds a row for a value, unless the row has no figures.
    fn row(&mut self, json: &Json<'_>, subject: &str, read: impl FnOnce(&mut Measurement<'_>)) {
        let row = Row { line: self.places.line(json), subject: subject.to_owned(), ..Row::default() };
        let mut measurement = Measurement { row, of: subject, places: &self.places, remarks: Vec::new() };
        read(&mut measurement);
        let Measurement { row, remarks, .. } = measurement;
        self.outputs.remarks.extend(remarks);
        if !row.figures.is_empty() {
            self.outputs.rows.push(row);
        }
    }

    fn remark(&mut self, json: &Json<'_>, text: String) {
        self.outputs.remarks.push(Remark { line: self.places.line(json), text });
    }
}

/// The row being read.
struct Measurement<'a> {
    row: Row,
    of: &'a str,
    places: &'a Places<'a>,
    remarks: Vec<Remark>,
}

impl Measurement<'_> {
    /// Reads a value under its key in the file. `read` returns whether it understood it.
    fn value(&mut self, key: &str, json: &Json<'_>, read: impl FnOnce(&mut Row, &Json<'_>) -> bool) {
        let shown = json.shown();
        if read(&mut self.row, json) {
            self.row.raw.push(format!("{key}: {shown}"));
        } else {
            let text = format!("not understood: {key} of {}, {}", self.of, crate::block::shortened(shown));
            self.remarks.push(Remark { line: self.places.line(json), text });
        }
    }

    fn scenario(&mut self, name: &str) {
        self.row.setting("scenario", quoted(name), None);
    }
}

/// The digits of a number, as a figure.
fn digits(row: &mut Row, key: &str, json: &Json<'_>) -> bool {
    json.digits().is_some_and(|digits| row.figure(key, &digits))
}
