use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// One connection to the API, kept for all requests.
#[derive(Debug)]
pub(crate) struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    pub(crate) fn connect(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Reads a resource.
    pub(crate) fn get<T: DeserializeOwned>(&mut self, path: &str) -> Result<T, Error> {
        let request = format!("GET {path}");
        let body = self.ask(&request, &[])?;
        serde_json::from_slice(&body).map_err(|why| Error::Api { request, why: why.to_string() })
    }

    /// Sends a document, and leaves the answer unread if it is one of success.
    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Result<(), Error> {
        self.ask(&format!("POST {path}"), body.to_string().as_bytes()).map(drop)
    }

    fn ask(&mut self, request: &str, body: &[u8]) -> Result<Vec<u8>, Error> {
        let failed = |why: String| Error::Api { request: request.to_owned(), why };
        let (status, answer) =
            self.exchange(request, body).map_err(|why| failed(why.to_string()))?;
        if !(200..300).contains(&status) {
            return Err(failed(format!("{status}: {}", String::from_utf8_lossy(&answer))));
        }
        Ok(answer)
    }

    fn exchange(&mut self, request: &str, body: &[u8]) -> io::Result<(u16, Vec<u8>)> {
        let length = body.len();
        let head = format!(
            "{request} HTTP/1.1\r\nhost: weft\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n"
        );
        self.stream.get_mut().write_all(&[head.as_bytes(), body].concat())?;
        self.answer()
    }

    fn answer(&mut self) -> io::Result<(u16, Vec<u8>)> {
        let status = self.line()?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| io::Error::other("the answer is not HTTP"))?;
        let mut length = None;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().ok();
            }
        }
        let length = length.ok_or_else(|| io::Error::other("the answer has no length"))?;
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((status, body))
    }

    /// A line of the head, without its end.
    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::net::UnixListener, thread};

    use serde_json::json;

    use super::*;

    /// Answers one request after the other on one connection, and returns what it was asked.
    fn server(answers: &'static [&'static str]) -> (Client, thread::JoinHandle<Vec<String>>) {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("api.sock")).unwrap();
        let serving = thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            let respond = |answer: &&str| {
                let mut asked = vec![0; 4096];
                let length = stream.read(&mut asked).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
                String::from_utf8(asked[..length].to_vec()).unwrap()
            };
            answers.iter().map(respond).collect()
        });
        (Client::connect(&folder.path().join("api.sock")).unwrap(), serving)
    }

    #[test]
    fn one_connection_serves_all_requests() {
        let (mut client, serving) = server(&[
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a\":1}",
            "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n",
        ]);
        assert_eq!(client.get::<Value>("/v1/a").unwrap(), json!({"a": 1}));
        client.post("/v1/b", &json!([2])).unwrap();
        let asked = serving.join().unwrap();
        assert!(asked[0].starts_with("GET /v1/a HTTP/1.1\r\n"), "{asked:?}");
        assert!(asked[1].ends_with("content-length: 3\r\n\r\n[2]"), "{asked:?}");
    }

    #[test]
    fn a_refusal_is_told_with_its_request() {
        let (mut client, serving) =
            server(&["HTTP/1.1 404 Not Found\r\ncontent-length: 7\r\n\r\nno such"]);
        let refused = client.post("/v1/c", &json!({})).unwrap_err().to_string();
        assert_eq!(refused, "POST /v1/c of weftd's API failed: 404: no such");
        serving.join().unwrap();
    }
}
