use std::{
    fs::{self, DirBuilder, Metadata, Permissions},
    io::{self, ErrorKind},
    os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use tokio::net::{UnixListener, UnixStream};

use super::ListenError;

/// The file of a Unix socket. Taken away when this is dropped, if it is still the same.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SocketFile {
    /// For the owner and the group.
    const MODE: u32 = 0o660;
    const FOLDER_MODE: u32 = 0o750;

    /// Makes the socket, and the folder that it is to be in.
    pub(super) async fn listen(path: &Path) -> Result<(UnixListener, Self), ListenError> {
        let socket = |source| ListenError::Socket { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(Self::FOLDER_MODE).create(folder).map_err(socket)?;
        }
        remove_stale(path).await?;
        let listener = UnixListener::bind(path).map_err(socket)?;
        fs::set_permissions(path, Permissions::from_mode(Self::MODE)).map_err(socket)?;
        let file = fs::symlink_metadata(path).map_err(socket)?;
        Ok((listener, Self { path: path.to_owned(), device: file.dev(), inode: file.ino() }))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn is(&self, file: &Metadata) -> bool {
        (file.dev(), file.ino()) == (self.device, self.inode)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|file| self.is(&file))
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "the socket stays behind");
        }
    }
}

/// Removes a socket that nobody listens on, and nothing else.
async fn remove_stale(path: &Path) -> Result<(), ListenError> {
    let socket = |source| ListenError::Socket { path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(socket(error)),
        Ok(file) if !file.file_type().is_socket() => {
            return Err(ListenError::NotASocket(path.to_owned()));
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path).await {
        Ok(_) => Err(ListenError::InUse(path.to_owned())),
        // Somebody listens, but is too busy to take a connection.
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            Err(ListenError::InUse(path.to_owned()))
        }
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            tracing::info!(path = %path.display(), "replacing a socket that nobody listens on");
            fs::remove_file(path).or_else(gone).map_err(socket)
        }
        Err(error) => Err(socket(error)),
    }
}

fn gone(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
