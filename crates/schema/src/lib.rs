//! Stands in for `schemars::JsonSchema` where the feature `schema` is off.
//!
//! The schemas are checked in under `schemas/`, and tests hold them against the types. Only these tests turn the feature on:
//! the code that schemars derives is a tenth of what a release build of the model and the analysis costs.

use proc_macro::TokenStream;

/// Derives nothing, so that types keep one derive and their `#[schemars(...)]` attributes in every build.
#[proc_macro_derive(JsonSchema, attributes(schemars, serde))]
pub fn derive_json_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
