//! Threads that bring pages before they are asked for.

use std::mem;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::Buffer;
use crate::owner::Owner;

/// While some wait for the disk, others make room or check what came. With two, the disk was
/// without a request so often that a scan reached two thirds of its bandwidth; with six it was no
/// faster than with four.
const HANDS: usize = 4;

/// Threads that read ahead for a buffer, until this is dropped.
pub struct Hands {
    buffer: Arc<Buffer>,
    threads: Vec<JoinHandle<()>>,
    owner: Owner,
}

impl Hands {
    /// For a buffer that reads ahead; none for another, and none where the system gives no threads:
    /// then whoever misses a page reads ahead himself.
    pub fn of(buffer: &Arc<Buffer>) -> Self {
        let mut hands =
            Self { buffer: Arc::clone(buffer), threads: Vec::new(), owner: Owner::here() };
        while buffer.ahead.is_on() && hands.threads.len() < HANDS {
            let buffer = Arc::clone(buffer);
            let work = move || {
                while let Some(errand) = buffer.ahead.next() {
                    buffer.bring(errand.run.clone());
                }
            };
            let Ok(thread) = Builder::new().name("lode-read-ahead".to_owned()).spawn(work) else {
                break;
            };
            hands.threads.push(thread);
            hands.buffer.ahead.begin();
        }
        hands
    }
}

impl Drop for Hands {
    fn drop(&mut self) {
        if !self.owner.is_here() {
            // A child of the process has none of its threads: it would wait for ever.
            mem::forget(mem::take(&mut self.threads));
            return;
        }
        self.buffer.ahead.end();
        for thread in self.threads.drain(..) {
            // One that panicked has said so, and nothing depends on it.
            let _ = thread.join();
        }
    }
}
