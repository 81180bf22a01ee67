//! The Unix socket's file, and addresses.

use std::{
    fs::{self, File},
    os::unix::{
        fs::{FileTypeExt, PermissionsExt, symlink},
        net::{UnixDatagram, UnixListener},
    },
    path::Path,
    time::Duration,
};

use api_model::ApiConfig;
use api_server::{Limits, ListenError, Listeners};

use tokio::net::{UnixSocket, UnixStream};

use crate::running::{Running, exchange, status};

async fn open(socket: &Path) -> Result<Listeners, ListenError> {
    Listeners::open(&ApiConfig { socket: socket.to_owned(), listen: None }).await
}

#[tokio::test]
async fn it_answers_on_the_socket_and_on_loopback() {
    let server = Running::start(Limits::default()).await;
    let request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    for answer in
        [exchange(server.unix().await, request).await, exchange(server.tcp().await, request).await]
    {
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok\n"),
            "{answer}"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn the_socket_is_for_owner_and_group_and_goes_with_the_server() {
    let server = Running::start(Limits::default()).await;
    let socket = server.socket.clone();
    let file = fs::metadata(&socket).unwrap();
    assert!(file.file_type().is_socket());
    assert_eq!(file.permissions().mode() & 0o777, 0o660);
    let folder = fs::metadata(socket.parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o750);
    server.stop().await;
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_socket_that_a_dead_process_left_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("api.sock");
    drop(UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    let listeners = open(&socket).await.unwrap();
    assert_eq!(listeners.socket(), socket);
    std::os::unix::net::UnixStream::connect(&socket).unwrap();
}

#[tokio::test]
async fn a_socket_that_a_process_listens_on_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("api.sock");
    let _other = UnixListener::bind(&socket).unwrap();
    let error = open(&socket).await.unwrap_err();
    let text = format!(
        "another process listens on {}: stop it, or give this one another socket",
        socket.display()
    );
    assert_eq!(error.to_string(), text);
    std::os::unix::net::UnixStream::connect(&socket).unwrap();
}

#[tokio::test]
async fn a_socket_whose_process_is_too_busy_to_answer_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("api.sock");
    // Without room for a second connection that nobody has taken yet.
    let other = UnixSocket::new_stream().unwrap();
    other.bind(&socket).unwrap();
    let other = other.listen(0).unwrap();
    let _first = UnixStream::connect(&socket).await.unwrap();
    let error = tokio::time::timeout(Duration::from_secs(5), open(&socket)).await.unwrap();
    assert!(matches!(error.unwrap_err(), ListenError::InUse(_)) && socket.exists());
    drop(other);
}

#[tokio::test]
async fn what_is_no_socket_is_never_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link, sub) =
        (folder.path().join("file"), folder.path().join("link"), folder.path().join("sub"));
    File::create(&file).unwrap();
    symlink(&file, &link).unwrap();
    fs::create_dir(&sub).unwrap();
    for path in [&file, &link, &sub] {
        let error = open(path).await.unwrap_err();
        assert!(matches!(error, ListenError::NotASocket(_)), "{error}");
        assert!(fs::symlink_metadata(path).is_ok(), "{path:?}");
    }
    let datagrams = folder.path().join("datagrams");
    let _other = UnixDatagram::bind(&datagrams).unwrap();
    let error = open(&datagrams).await.unwrap_err();
    assert!(matches!(error, ListenError::Socket { .. }) && datagrams.exists(), "{error}");
}

#[tokio::test]
async fn a_file_that_took_the_sockets_place_is_not_removed_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("api.sock");
    let listeners = open(&socket).await.unwrap();
    fs::remove_file(&socket).unwrap();
    File::create(&socket).unwrap();
    drop(listeners);
    assert!(socket.exists());
}

#[tokio::test]
async fn an_address_that_can_be_reached_from_outside_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:9177", "[::ffff:192.0.2.1]:9177"] {
        let socket = folder.path().join("api.sock");
        let listen = Some(address.parse().unwrap());
        let error =
            Listeners::open(&ApiConfig { socket: socket.clone(), listen }).await.unwrap_err();
        assert!(error.to_string().contains("it is not a loopback address, and the API has no TLS"));
        assert!(!socket.exists());
    }
}

#[tokio::test]
async fn an_address_in_use_is_an_error_that_names_it() {
    let server = Running::start(Limits::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let config = ApiConfig { socket: folder.path().join("api.sock"), listen: Some(server.address) };
    let error = Listeners::open(&config).await.unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("cannot listen on {}: Address already in use", server.address)),
        "{error}"
    );
    server.stop().await;
}

#[tokio::test]
async fn only_http_1_is_spoken() {
    let server = Running::start(Limits::default()).await;
    let answer = exchange(server.unix().await, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    assert!(["400", "505", "none"].contains(&status(&answer)), "{answer}");
    server.stop().await;
}
