//! Replaces `schemars::JsonSchema` if the feature `schema` is off.
//!
//! The schemas are checked in under `schemas/`, and tests compare them with the types. Only these tests enable the feature: the
//! code that schemars derives is a tenth of the cost of a release build of the model and the analysis.

use proc_macro::TokenStream;

/// Derives nothing, so types keep one derive and their `#[schemars(...)]` attributes in every build.
#[proc_macro_derive(JsonSchema, attributes(schemars, serde))]
pub fn derive_json_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
