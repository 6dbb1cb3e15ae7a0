//! Links without relocations: resolving about 50,000 of them costs as much as the rest of a start.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A static musl program starts with different code, which relocates itself.
    if std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu") {
        println!("cargo:rustc-link-arg-bin=tolok=-no-pie");
    }
}
