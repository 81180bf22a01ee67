//! Why control refuses, as the API says it.

use api_model::{Code, Invalid, Name};
use api_server::{ControlError, Kind};
use wasm::{InstantiateError, LoadError};

use crate::{plane::Stalled, reasons::NoRoom};

/// An answer of control.
pub(super) type Answer<T> = Result<T, ControlError>;

/// How many users of a thing a refusal names.
const NAMED: usize = 8;

/// Something that others need cannot go.
pub(super) fn in_use(code: Code, kind: Kind, name: &Name, users: &[String]) -> ControlError {
    let mut list = users[..users.len().min(NAMED)].join(", ");
    if users.len() > NAMED {
        list = format!("{list} and {} more", users.len() - NAMED);
    }
    conflict(
        code,
        format!("{} {name} is in use by {list}", kind.word()),
        format!("delete or change {list} first"),
    )
}

pub(super) fn conflict(code: Code, detail: String, hint: impl Into<String>) -> ControlError {
    ControlError::Conflict { code, detail, hint: Some(hint.into()) }
}

/// Numbers are not used again while the daemon runs, and there are none left.
pub(super) fn used_up(kind: Kind) -> ControlError {
    let detail = format!("65,535 {}s have been made; restart the daemon to make more", kind.word());
    ControlError::LimitExceeded { detail }
}

pub(super) fn no_room(error: NoRoom) -> ControlError {
    ControlError::LimitExceeded { detail: error.to_string() }
}

pub(super) fn stalled(error: Stalled) -> ControlError {
    ControlError::Unavailable { code: Code::WorkerStalled, detail: error.to_string() }
}

/// A change that not every worker took up, so that none did.
pub(super) fn unchanged(error: Stalled) -> ControlError {
    let detail = format!("{error}; nothing was changed");
    ControlError::Unavailable { code: Code::WorkerStalled, detail }
}

pub(super) fn load(error: LoadError) -> ControlError {
    let code = match error {
        LoadError::Excess(_) => Code::CompileLimit,
        LoadError::Compiler(_) => return ControlError::Internal { detail: error.to_string() },
        _ => Code::ModuleInvalid,
    };
    invalid(code, Invalid::at(&[], error.to_string()))
}

pub(super) fn instantiate(error: InstantiateError) -> ControlError {
    let path: &[&str] = match error {
        InstantiateError::Refused(_) => &["config"],
        _ => &[],
    };
    invalid(Code::StageInitFailed, Invalid::at(path, error.to_string()))
}

pub(super) fn device(error: dpdk::Error) -> ControlError {
    let detail = error.to_string();
    let at = |field: &str| invalid(Code::PortInvalid, Invalid::at(&[field], detail.clone()));
    match error {
        dpdk::Error::AlreadyAttached { .. } => ControlError::conflict(Code::DeviceInUse, detail),
        dpdk::Error::Probe { .. } => {
            invalid(Code::DeviceNotFound, Invalid::at(&["device"], detail))
        }
        dpdk::Error::Nul(_) | dpdk::Error::NotNetwork { .. } | dpdk::Error::TooFewQueues { .. } => {
            at("device")
        }
        dpdk::Error::MtuOutOfRange { .. } | dpdk::Error::MtuUnsupported { .. } => at("mtu"),
        _ => ControlError::Internal { detail },
    }
}

pub(super) fn invalid(code: Code, invalid: Invalid) -> ControlError {
    ControlError::Invalid { code, invalid }
}
