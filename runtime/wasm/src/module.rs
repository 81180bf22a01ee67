use std::{fmt::Write, sync::Arc};

use sha2::{Digest, Sha256};
use wasmtime::InstancePre;
use weft_abi::Manifest;

use crate::{
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
        let module = wasmtime::Module::from_binary(&host.engine, bytes).map_err(failed)?;
        let pre = host.linker.instantiate_pre(&module).map_err(failed)?;
        let digest = digest(bytes);
        Ok(Arc::new(Self { manifest, digest, size: bytes.len(), memory, pre }))
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

fn digest(bytes: &[u8]) -> String {
    let mut digest = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        write!(digest, "{byte:02x}").expect("a string takes everything");
    }
    digest
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_digest_is_that_of_the_standard() {
        let abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(super::digest(b"abc"), abc);
    }
}
