//! Links without relocations: to resolve some 50,000 of them costs as much as the rest of a start.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A static program of musl begins with other code, which relocates itself.
    if std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu") {
        println!("cargo:rustc-link-arg-bin=tolok=-no-pie");
    }
}
