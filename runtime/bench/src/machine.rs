use std::fs::{File, TryLockError};

use crate::error::Error;

/// The file that whoever runs a daemon on this machine holds locked: the tests do, too.
const LOCK: &str = "weft-tests.lock";

/// The right to measure on this machine, which another daemon would disturb.
#[derive(Debug)]
pub(crate) struct Machine {
    _lock: File,
}

impl Machine {
    /// Waits until nobody else has it, and calls `waiting` if that takes time.
    pub(crate) fn acquire(waiting: impl FnOnce()) -> Result<Self, Error> {
        let path = std::env::temp_dir().join(LOCK);
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let lock = file.map_err(Error::file("open", &path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                waiting();
                lock.lock().map_err(Error::file("lock", &path))?;
            }
            Err(TryLockError::Error(source)) => {
                return Err(Error::File { what: "lock", path, source });
            }
        }
        Ok(Self { _lock: lock })
    }
}
