//! A disk that is elsewhere: reading it asks the server, and nothing is ever written.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::connections::{Connections, Shared, lock};
use crate::disk::{Destination, Disk};
use crate::error::{LodeError, Result};
use crate::page::{self, PAGE_BYTES, PageBytes, PageNumber};
use crate::wire::{FETCH_PAGES_MAX, Reply, Request};

/// The volume of a page server. A page that is read has in its header the commit position as of
/// which it holds, in place of the log's, and is sealed anew.
///
/// Only transactions read: they have locked what they request.
pub struct RemoteDisk {
    connections: Arc<Connections>,
    pages_total: AtomicU32,
}

impl RemoteDisk {
    pub(super) const fn new(connections: Arc<Connections>, pages_total: PageNumber) -> Self {
        Self { connections, pages_total: AtomicU32::new(pages_total) }
    }

    /// The server has reported how long the volume is.
    pub(super) fn note_total(&self, pages_total: PageNumber) {
        self.pages_total.fetch_max(pages_total, Ordering::Relaxed);
    }

    fn with_connection<R>(&self, run: impl FnOnce(&Shared) -> Result<R>) -> io::Result<R> {
        let connection = self.connections.enter().map_err(io::Error::other)?;
        let outcome = run(&connection);
        self.connections.leave();
        outcome.map_err(io::Error::other)
    }
}

/// Read consecutive pages, no more than can be fetched at once.
fn fetch(connection: &Shared, first: PageNumber, into: Destination<'_>) -> Result<()> {
    let mut connection = lock(connection);
    if into.len() == PAGE_BYTES
        && let Some((position, bytes)) = connection.take(first)
    {
        put(&bytes, first, position, into);
        return Ok(());
    }
    let count = (into.len() / PAGE_BYTES) as u32;
    match connection.ask(&Request::Fetch { first, count })? {
        Reply::Pages { position, first: sent, bytes }
            if sent == first && bytes.len() == into.len() =>
        {
            let (copies, _) = bytes.as_chunks::<PAGE_BYTES>();
            let copies = copies.iter().zip(into.chunks(PAGE_BYTES));
            for ((copy, into), page) in copies.zip(first..) {
                put(copy, page, position, into);
            }
            Ok(())
        }
        _ => Err(connection.nonsense()),
    }
}

fn put(copy: &PageBytes, page: PageNumber, position: u64, mut into: Destination<'_>) {
    let mut bytes = *copy;
    page::put_u64(&mut bytes, page::offset::LSN, position);
    page::seal(&mut bytes, page);
    into.put(&bytes);
}

impl Disk for RemoteDisk {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(u64::from(self.pages_total.load(Ordering::Relaxed)) * PAGE_BYTES as u64)
    }

    fn read_into(&self, offset: u64, into: Destination<'_>) -> io::Result<()> {
        let is_whole = into.len().is_multiple_of(PAGE_BYTES);
        let first = PageNumber::try_from(offset / PAGE_BYTES as u64).ok();
        let (Some(mut first), true, true) =
            (first, is_whole, offset.is_multiple_of(PAGE_BYTES as u64))
        else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        self.with_connection(|connection| {
            for stretch in into.chunks(FETCH_PAGES_MAX as usize * PAGE_BYTES) {
                let pages = stretch.len() / PAGE_BYTES;
                fetch(connection, first, stretch)?;
                first += pages as PageNumber;
            }
            Ok(())
        })
    }

    fn write(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::Error::other(LodeError::ReadOnly))
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        if len_bytes <= self.len_bytes()? {
            return Ok(());
        }
        let pages_total = PageNumber::try_from(len_bytes.div_ceil(PAGE_BYTES as u64))
            .map_err(|_| io::ErrorKind::InvalidInput)?;
        let reported = self.with_connection(|connection| {
            let mut connection = lock(connection);
            match connection.ask(&Request::Grow { pages_total })? {
                Reply::Grown { pages_total: reported } if reported >= pages_total => Ok(reported),
                _ => Err(connection.nonsense()),
            }
        })?;
        self.note_total(reported);
        Ok(())
    }
}
