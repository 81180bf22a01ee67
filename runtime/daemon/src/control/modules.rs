use std::{
    sync::{Arc, PoisonError},
    time::Instant,
};

use api_model::{Code, Invalid, Module as Resource, Name};
use api_server::{ControlError, Kind, Put};
use wasm::Module;

use super::{
    Daemon,
    refusal::{self, Answer},
    state::State,
};

impl Daemon {
    pub(super) fn list_modules(&self) -> Vec<Resource> {
        let state = self.state();
        state.modules.iter().map(|(name, module)| describe(&state, name, module)).collect()
    }

    pub(super) fn get_module(&self, name: &Name) -> Answer<Resource> {
        let state = self.state();
        let module = state.modules.get(name).ok_or_else(|| missing(name))?;
        Ok(describe(&state, name, module))
    }

    /// Compiles a module and keeps it under a name: the one given, or its own.
    pub(super) fn keep_module(&self, name: Option<&Name>, wasm: &[u8]) -> Answer<Put<Resource>> {
        let module = self.compile_module(wasm)?;
        let name = match name {
            Some(name) => name.clone(),
            None => own_name(&module)?,
        };
        let _changing = self.changing();
        let mut state = self.state();
        let new = match state.modules.get(&name) {
            Some(known) if known.digest() == module.digest() => false,
            Some(known) => return Err(exists(&name, known, &module)),
            None => {
                tracing::info!(module = %name, digest = module.digest(), "uploaded");
                state.modules.insert(name.clone(), Arc::clone(&module));
                true
            }
        };
        let resource = describe(&state, &name, &module);
        Ok(if new { Put::Created(resource) } else { Put::Replaced(resource) })
    }

    /// Compiles a module, unless one with the same bytes is kept.
    fn compile_module(&self, wasm: &[u8]) -> Answer<Arc<Module>> {
        let _compiling = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = Module::digest_of(wasm);
        let known = self.state().modules.values().find(|it| it.digest() == digest).cloned();
        if let Some(module) = known {
            return Ok(module);
        }
        let started = Instant::now();
        let module = Module::compile(&self.host, wasm).map_err(refusal::load)?;
        if let Some(trouble) = module.cache_trouble() {
            tracing::warn!("{trouble}");
        }
        let (took, from) = (started.elapsed(), module.origin());
        tracing::debug!(digest, ?took, ?from, "compiled");
        Ok(module)
    }

    pub(super) fn remove_module(&self, name: &Name) -> Answer<()> {
        let _changing = self.changing();
        let mut state = self.state();
        let users = state.users_of(name);
        if !users.is_empty() {
            let users: Vec<String> = users.iter().map(|name| format!("stage {name}")).collect();
            return Err(refusal::in_use(Code::ModuleInUse, Kind::Module, name, &users));
        }
        state.modules.remove(name).ok_or_else(|| missing(name))?;
        tracing::info!(module = %name, "deleted");
        Ok(())
    }
}

fn missing(name: &Name) -> ControlError {
    ControlError::not_found(Kind::Module, name)
}

/// The name in a module's manifest, with its version.
fn own_name(module: &Module) -> Answer<Name> {
    let manifest = module.manifest();
    format!("{}@{}", manifest.name, manifest.version).parse().map_err(|error| {
        refusal::invalid(
            Code::ModuleInvalid,
            Invalid::at(&[], format!("its name and version make no name: {error}"))
                .hint("upload it under a name of your own"),
        )
    })
}

fn exists(name: &Name, known: &Module, new: &Module) -> ControlError {
    let (known, new) = (known.digest(), new.digest());
    refusal::conflict(
        Code::ModuleExists,
        format!("module {name} is there with other bytes: it is {known}, this is {new}"),
        "modules do not change; upload it under another name or version, and change the stage",
    )
}

fn describe(state: &State, name: &Name, module: &Module) -> Resource {
    Resource {
        name: name.clone(),
        digest: module.digest().to_owned(),
        size_bytes: module.size() as u64,
        manifest: module.manifest().clone(),
        used_by: state.users_of(name),
    }
}
