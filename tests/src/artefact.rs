//! Where what was built lies.

use std::path::{Path, PathBuf};

/// The folder of the repository.
#[must_use]
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository")
}

/// The profile's output folder: a test runs from its `deps`.
fn profile_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a process knows its program");
    let folder = test.ancestors().nth(2).expect("cargo runs tests from <target>/<profile>/deps");
    folder.to_owned()
}

/// A program of this workspace, built in the profile of the test that asks.
///
/// # Panics
///
/// Panics if it was not built.
#[must_use]
pub fn binary(name: &str) -> String {
    built(profile_folder().join(name), "cargo build --workspace --bins")
}

/// A module as `make modules` leaves it, such as `firewall-1.0.0`.
///
/// # Panics
///
/// Panics if it was not built.
#[must_use]
pub fn module(name: &str) -> String {
    built(profile_folder().join(format!("../modules/{name}.wasm")), "make modules")
}

fn built(path: PathBuf, command: &str) -> String {
    assert!(path.exists(), "{} is not there: `{command}` builds it", path.display());
    path.into_os_string().into_string().expect("the path is UTF-8")
}
