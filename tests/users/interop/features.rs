//! This project's `ocaml-boxroot-sys` has each feature of the published 0.4.0, and the same default
//! features.

use cargo_metadata::MetadataCommand;
use std::collections::BTreeMap;

fn features(manifest: &str) -> BTreeMap<String, Vec<String>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../");
    let metadata =
        MetadataCommand::new().manifest_path(format!("{folder}{manifest}")).exec().unwrap();
    let found = metadata.packages.into_iter().find(|package| *package.name == "ocaml-boxroot-sys");
    found.expect("it is a dependency").features
}

#[test]
fn features_of_the_published_crate() {
    let published = features("tests/users/interop/published/Cargo.toml");
    let ours = features("ocaml-boxroot-sys/Cargo.toml");
    assert!(published.contains_key("default"), "{published:?}");
    let missing: Vec<_> = published.keys().filter(|name| !ours.contains_key(*name)).collect();
    assert!(missing.is_empty(), "not in ours: {missing:?}");
    assert_eq!(ours["default"], published["default"]);
}
