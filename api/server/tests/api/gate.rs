//! A gate that answers wait at until its keeper opens it.

use std::sync::{Mutex, mpsc};

/// Where answers about single ports wait.
pub(crate) struct Gate {
    reached: mpsc::Sender<()>,
    opened: Mutex<mpsc::Receiver<()>>,
}

/// The other side of a gate.
pub(crate) struct Keeper {
    reached: mpsc::Receiver<()>,
    open: mpsc::Sender<()>,
}

impl Keeper {
    /// Waits until an answer waits; gives itself back.
    pub(crate) async fn reached(self) -> Self {
        let wait = move || {
            self.reached.recv().unwrap();
            self
        };
        tokio::task::spawn_blocking(wait).await.unwrap()
    }

    pub(crate) fn open(&self) {
        self.open.send(()).unwrap();
    }
}

impl Gate {
    pub(crate) fn new() -> (Self, Keeper) {
        let ((reached_sender, reached), (open, opened)) = (mpsc::channel(), mpsc::channel());
        let gate = Self { reached: reached_sender, opened: Mutex::new(opened) };
        (gate, Keeper { reached, open })
    }

    /// Waits until the keeper opens.
    pub(crate) fn wait(&self) {
        self.reached.send(()).unwrap();
        self.opened.lock().unwrap().recv().unwrap();
    }
}
