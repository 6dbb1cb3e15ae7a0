//! Fails if a page changed but its layout number did not.

use tolok_report::LAYOUT;
use tolok_report::print::PAGES;

use super::*;

/// FNV-1a, because it is the same on every machine and in every version of Rust.
fn hash(hash: u64, page: &[u8]) -> u64 {
    page.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[test]
fn pages_that_changed_have_a_layout_of_their_own() {
    // A new version does not change the layout, and the layout number is not part of it.
    let made_by = [format!("tolok {}", env!("CARGO_PKG_VERSION")), format!("layout {LAYOUT}")];
    let pages =
        every_edge_case().iter().flat_map(|(_, it)| [Format::Markdown, Format::Html].map(|format| text(it, format)));
    let found = pages.fold(0xcbf2_9ce4_8422_2325, |found, page| {
        hash(found, made_by.iter().fold(page, |page, words| page.replace(words, "")).as_bytes())
    });
    let found = hash(found, &tolok_report::card_picture(&edge_case("ordinary")));
    assert_eq!(
        found,
        PAGES,
        "pages changed. In crates/report/src/print/mod.rs set `LAYOUT` to {} and `PAGES` to {found:#018x}. If only the \
         invented findings of the tests changed, leave LAYOUT as it is.",
        LAYOUT + 1
    );
}
