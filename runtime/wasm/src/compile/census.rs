use wasmparser::{FunctionBody, Operator, Parser, Payload, TypeRef};

use super::{CompileLimits, Excess};
use crate::load_error::LoadError;

/// Counts what makes a module dear to compile, before anything is spent on it.
pub(crate) fn count(wasm: &[u8], limits: &CompileLimits) -> Result<(), LoadError> {
    let mut function = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    function += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionStart { count: found, .. } if found > limits.functions => {
                return Err(Excess::Functions { found, limit: limits.functions }.into());
            }
            Payload::CodeSectionEntry(body) => {
                count_function(&body, function, limits)?;
                function += 1;
            }
            _ => {}
        }
    }
    Ok(())
}

fn count_function(
    body: &FunctionBody<'_>,
    function: u32,
    limits: &CompileLimits,
) -> Result<(), LoadError> {
    let (found, limit) = (body.range().len(), limits.function_bytes);
    if found > limit {
        return Err(Excess::FunctionBytes { function, found, limit }.into());
    }
    let mut found = 0_u32;
    for locals in body.get_locals_reader()? {
        found = found.saturating_add(locals?.0);
    }
    let limit = limits.locals;
    if found > limit {
        return Err(Excess::Locals { function, found, limit }.into());
    }
    check_nesting(body, function, limits.nesting)
}

fn check_nesting(body: &FunctionBody<'_>, function: u32, limit: u32) -> Result<(), LoadError> {
    let mut depth = 0_u32;
    for operator in body.get_operators_reader()? {
        match operator? {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => depth += 1,
            // The last one is the function's own.
            Operator::End => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth > limit {
            return Err(Excess::Nesting { function, limit }.into());
        }
    }
    Ok(())
}
