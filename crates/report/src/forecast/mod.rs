//! What a forecast says, for people and for programs. What is predicted is always called so, and stands beside how wrong such
//! predictions were.

mod csv;
mod lines;
mod markdown;
mod text;

pub use csv::csv;
pub use markdown::markdown;
pub use text::text;

use tolok_analysis::forecast::Forecast;

/// The forecast for programs, as `schemas/forecast.schema.json` describes it.
pub fn json(forecast: &Forecast) -> String {
    // Of such a type, nothing can fail to be written.
    let mut text = serde_json::to_string_pretty(forecast).unwrap_or_default();
    text.push('\n');
    text
}

/// The JSON Schema of [`json`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Forecast).to_value()
}
