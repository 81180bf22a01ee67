use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::error::Error;

/// How many hugepages of the default size the kernel sets aside.
const COUNT: &str = "/proc/sys/vm/nr_hugepages";

/// Waits until its input ends, which it does however the one who writes to it ends, and then writes
/// the second argument into the first.
const KEEPER: &str = r#"trap "" INT TERM HUP; cat > /dev/null; echo "$1" > "$0""#;

/// Hugepages of 2 MB that are set aside as long as this lives; then there are as many as before. A
/// child process sees to that, so that it is so even if this process is killed.
#[derive(Debug)]
pub(crate) struct Hugepages {
    path: PathBuf,
    keeper: Child,
}

impl Hugepages {
    /// Sets aside at least so many.
    pub(crate) fn reserve(pages: u64) -> Result<Self, Error> {
        Self::reserve_in(COUNT.into(), pages)
    }

    fn reserve_in(path: PathBuf, wanted: u64) -> Result<Self, Error> {
        let before = read(&path)?;
        let keeper = Command::new("sh")
            .args(["-c", KEEPER])
            .arg(&path)
            .arg(before.to_string())
            .stdin(Stdio::piped())
            // Without the right to write it says so, which was said before.
            .stderr(Stdio::null())
            .spawn()
            .map_err(Error::file("run", "sh"))?;
        let mut held = Self { path, keeper };
        held.raise(wanted)?;
        Ok(held)
    }

    /// Sets aside more, if there are fewer than these.
    pub(crate) fn raise(&mut self, wanted: u64) -> Result<(), Error> {
        if read(&self.path)? < wanted {
            fs::write(&self.path, wanted.to_string())
                .map_err(|source| Error::NotRoot { source })?;
        }
        let reserved = read(&self.path)?;
        if reserved < wanted {
            return Err(Error::Hugepages { wanted, reserved });
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<u64, Error> {
    let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
    text.trim().parse().map_err(|_| {
        let source = io::Error::other(format!("{text:?} is no number"));
        Error::File { what: "understand", path: path.to_owned(), source }
    })
}

impl Drop for Hugepages {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // It ends by itself, and there is nobody to tell if it does not.
        let _ = self.keeper.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_left_as_were_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nr_hugepages");
        fs::write(&path, "3\n").unwrap();
        let mut held = Hugepages::reserve_in(path.clone(), 640).unwrap();
        assert_eq!(read(&path).unwrap(), 640);
        held.raise(700).unwrap();
        held.raise(10).unwrap();
        assert_eq!(read(&path).unwrap(), 700);
        drop(held);
        assert_eq!(read(&path).unwrap(), 3);
    }

    #[test]
    fn more_than_enough_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nr_hugepages");
        fs::write(&path, "1000\n").unwrap();
        let held = Hugepages::reserve_in(path.clone(), 640).unwrap();
        assert_eq!(read(&path).unwrap(), 1000);
        drop(held);
        assert_eq!(read(&path).unwrap(), 1000);
    }

    #[test]
    fn too_few_are_an_error_that_says_how_many() {
        // The kernel takes what is written to it in another way than a file does: it may give less.
        let error = Error::Hugepages { wanted: 640, reserved: 12 }.to_string();
        assert!(error.starts_with("only 12 of 640 hugepages"), "{error}");
    }
}
