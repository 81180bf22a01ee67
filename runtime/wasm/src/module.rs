use std::{fmt::Write, sync::Arc};

use sha2::{Digest, Sha256};
use wasmtime::InstancePre;
use weft_abi::Manifest;

use crate::{
    compile::{Origin, Outcome},
    host::Host,
    inspect::{Inspected, inspect},
    instance::Guest,
    load_error::LoadError,
};

/// A module that was checked and compiled, to be instantiated any number of times.
pub struct Module {
    manifest: Manifest,
    digest: String,
    size: usize,
    memory: u64,
    pre: InstancePre<Guest>,
    origin: Origin,
    cache_trouble: Option<String>,
}

impl Module {
    /// Checks a module and compiles it, which takes long: not for a worker's core, and best called
    /// from a thread that may use several others.
    ///
    /// # Errors
    ///
    /// What is wrong with the module, where, and what to do.
    pub fn compile(host: &Host, bytes: &[u8]) -> Result<Arc<Self>, LoadError> {
        let Inspected { manifest, memory } = inspect(bytes, &host.options)?;
        let failed = |error: wasmtime::Error| LoadError::Compile(format!("{error:#}"));
        let digest = Sha256::digest(bytes);
        let Outcome { module, origin, trouble } =
            host.workshop.make(&host.engine, bytes, &digest.into())?;
        let pre = host.linker.instantiate_pre(&module).map_err(failed)?;
        let (digest, size) = (written(&digest), bytes.len());
        let cache_trouble = trouble.map(|trouble| trouble.to_string());
        Ok(Arc::new(Self { manifest, digest, size, memory, pre, origin, cache_trouble }))
    }

    /// What it says of itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What its bytes are known by: `sha256:` and 64 digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What some bytes are known by, modules or not.
    #[must_use]
    pub fn digest_of(bytes: &[u8]) -> String {
        written(&Sha256::digest(bytes))
    }

    /// Where its code is from.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// What went wrong with the cache of compiled modules, though nothing came of it but work.
    #[must_use]
    pub fn cache_trouble(&self) -> Option<&str> {
        self.cache_trouble.as_deref()
    }

    /// The number of its bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The bytes of its memory from the start.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    pub(crate) fn pre(&self) -> &InstancePre<Guest> {
        &self.pre
    }
}

fn written(hash: &[u8]) -> String {
    let mut digest = String::from("sha256:");
    for byte in hash {
        write!(digest, "{byte:02x}").expect("a string takes everything");
    }
    digest
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_digest_is_that_of_the_standard() {
        let abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(super::Module::digest_of(b"abc"), abc);
    }
}
