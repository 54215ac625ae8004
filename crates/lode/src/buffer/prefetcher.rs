//! Threads that bring pages before they are requested.

use std::mem;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::Buffer;
use crate::owner::Owner;

/// While some wait for the disk, others make room or check what came. With two, the disk was
/// without a request so often that a scan reached two thirds of its bandwidth; with six it was no
/// faster than with four.
const THREADS: usize = 4;

/// Threads that read ahead for a buffer, until this is dropped.
pub struct Prefetcher {
    buffer: Arc<Buffer>,
    threads: Vec<JoinHandle<()>>,
    owner: Owner,
}

impl Prefetcher {
    /// For a buffer that reads ahead; none for another, and none where the system gives no threads:
    /// then the reader that misses a page reads ahead.
    pub fn of(buffer: &Arc<Buffer>) -> Self {
        let mut prefetcher =
            Self { buffer: Arc::clone(buffer), threads: Vec::new(), owner: Owner::here() };
        while buffer.read_ahead.is_on() && prefetcher.threads.len() < THREADS {
            let buffer = Arc::clone(buffer);
            let work = move || {
                while let Some(task) = buffer.read_ahead.next() {
                    buffer.bring(task.run.clone());
                }
            };
            let Ok(thread) = Builder::new().name("lode-read-ahead".to_owned()).spawn(work) else {
                break;
            };
            prefetcher.threads.push(thread);
            prefetcher.buffer.read_ahead.begin();
        }
        prefetcher
    }
}

impl Drop for Prefetcher {
    fn drop(&mut self) {
        if !self.owner.is_here() {
            // A child of the process has none of its threads: it would wait for ever.
            mem::forget(mem::take(&mut self.threads));
            return;
        }
        self.buffer.read_ahead.end();
        for thread in self.threads.drain(..) {
            // One that panicked has said so, and nothing depends on it.
            let _ = thread.join();
        }
    }
}
