use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    hash::{Hash, Hasher},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use rustix::{fs::OFlags, process::geteuid};
use sha2::{Digest, Sha256};
use wasmtime::Engine;

use super::Code;

/// What a file of code begins with.
const MAGIC: &[u8; 16] = b"weft code v1\n\0\0\0";
/// The magic, the key and the digest.
const HEAD: usize = 16 + 32 + 32;
/// The most files that are kept; the oldest go first.
const FILES: usize = 512;
/// The bits of a mode by which others than the owner may write.
const OTHERS_WRITE: u32 = 0o022;

/// Why code is not taken from, or not kept in, the cache.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The system refuses.
    #[error("the cache of compiled modules: {path}: {source}", path = .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Others could have written what would be run.
    #[error(
        "the cache of compiled modules: {path} is {what}; what lies there would be run, so it must \
         be owned by the user of this process (uid {uid}) and be writable for nobody else: remove \
         it, or name another folder",
        path = .path.display(), uid = geteuid().as_raw()
    )]
    Unsafe {
        /// Where.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// It is not what was written.
    #[error(
        "the cache of compiled modules: {path} was changed or cut short since it was written, so \
         it is not used, and made anew", path = .0.display()
    )]
    Damaged(PathBuf),
}

/// A folder of compiled modules, each under its module's digest and all that its code depends on.
///
/// Invariant: when it was opened, the folder was owned by the user of this process and writable
/// for nobody else.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// For names of files that are not whole yet.
    serial: AtomicU64,
}

/// What code is known by.
pub(super) struct Key([u8; 32]);

impl Key {
    /// Of a module's digest, and of all that the engine says its code depends on: its version, its
    /// options and the processor's features.
    pub(super) fn new(engine: &Engine, module: &[u8; 32]) -> Self {
        let mut digest = Digester(Sha256::new());
        digest.write(module);
        engine.precompile_compatibility_hash().hash(&mut digest);
        Self(digest.0.finalize().into())
    }
}

/// Takes in what is hashed.
struct Digester(Sha256);

impl Hasher for Digester {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the digest is taken in its full length")
    }
}

impl Cache {
    /// Opens a folder, and makes it if it is not there.
    pub(crate) fn open(folder: &Path) -> Result<Self, CacheError> {
        let at = |source| CacheError::Io { path: folder.to_owned(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(at)?;
        let found = fs::symlink_metadata(folder).map_err(at)?;
        if !found.is_dir() {
            return Err(CacheError::Unsafe { path: folder.to_owned(), what: "no folder".into() });
        }
        check_owner(folder, &found)?;
        Ok(Self { folder: folder.to_owned(), serial: AtomicU64::new(0) })
    }

    /// The code under a key, if there is any and it is whole.
    pub(super) fn read(&self, key: &Key) -> Result<Option<Code>, CacheError> {
        let path = self.path(key);
        let at = |source| CacheError::Io { path: path.clone(), source };
        let no_link = OFlags::NOFOLLOW.bits().cast_signed();
        let mut file = match OpenOptions::new().read(true).custom_flags(no_link).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(at(error)),
        };
        let found = file.metadata().map_err(at)?;
        if !found.is_file() {
            return Err(CacheError::Unsafe { path, what: "no file".into() });
        }
        check_owner(&path, &found)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(at)?;
        match unwrap(bytes, key) {
            Some(code) => Ok(Some(Code::from_own_compiler(code))),
            None => Err(CacheError::Damaged(path)),
        }
    }

    /// Keeps code under a key: whole or not at all.
    pub(super) fn write(&self, key: &Key, code: &Code) -> Result<(), CacheError> {
        let path = self.path(key);
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.folder.join(format!("new-{}-{serial}", std::process::id()));
        let done = write_whole(&unfinished, key, code)
            .and_then(|()| fs::rename(&unfinished, &path))
            .map_err(|source| CacheError::Io { path, source });
        if done.is_err() {
            // It may not even be there.
            drop(fs::remove_file(&unfinished));
        }
        self.make_room();
        done
    }

    fn path(&self, key: &Key) -> PathBuf {
        let name: String = key.0.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(name)
    }

    /// Deletes the oldest files, if there are too many. What cannot be deleted stays.
    fn make_room(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let age = |entry: fs::DirEntry| {
            let written = entry.metadata().and_then(|data| data.modified());
            (written.unwrap_or(SystemTime::UNIX_EPOCH), entry.path())
        };
        let mut files: Vec<_> = entries.flatten().map(age).collect();
        files.sort();
        for (_, path) in &files[..files.len().saturating_sub(FILES)] {
            drop(fs::remove_file(path));
        }
    }
}

fn write_whole(path: &Path, key: &Key, code: &Code) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let write = |file: &mut File, bytes: &[u8]| file.write_all(bytes);
    write(&mut file, MAGIC)?;
    write(&mut file, &key.0)?;
    write(&mut file, &Sha256::digest(code.bytes()))?;
    write(&mut file, code.bytes())?;
    file.sync_data()
}

/// The code in a file, if the file is of this key and whole.
fn unwrap(mut bytes: Vec<u8>, key: &Key) -> Option<Vec<u8>> {
    let (head, code) = bytes.split_at_checked(HEAD)?;
    let (magic, rest) = head.split_at(MAGIC.len());
    let (of, digest) = rest.split_at(key.0.len());
    if magic != MAGIC || of != key.0 || digest != &Sha256::digest(code)[..] {
        return None;
    }
    bytes.drain(..HEAD);
    Some(bytes)
}

fn check_owner(path: &Path, found: &fs::Metadata) -> Result<(), CacheError> {
    let what = match (found.uid(), found.mode() & OTHERS_WRITE) {
        (owner, _) if owner != geteuid().as_raw() => format!("owned by uid {owner}"),
        (_, 0) => return Ok(()),
        _ => format!("writable for others (mode {:o})", found.mode() & 0o7777),
    };
    Err(CacheError::Unsafe { path: path.to_owned(), what })
}
