//! The state of both copies as one of them shows it, in a file of its own: two pages, written in
//! turn.

use std::io;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::aligned_page::AlignedPage;
use crate::disk::Disk;
use crate::error::{LodeError, Result};
use crate::page::{self, PAGE_BYTES, PageBytes};

const MAGIC: &[u8; 8] = b"LODEMIRR";
const VERSION: u32 = 1;
const PAGES: u64 = 2;

/// Offsets in a page.
mod offset {
    pub const CHECKSUM: usize = 0;
    pub const MAGIC: usize = 8;
    pub const VERSION: usize = 16;
    pub const STANDING: usize = 20;
    pub const EPOCH: usize = 24;
    pub const WRITES: usize = 32;
    pub const IDENTITY: usize = 40;
    pub const END: usize = 56;
}

/// All of it in one sector, so that a write of it arrives or does not.
const _: () = assert!(offset::END <= 512 && offset::EPOCH.is_multiple_of(8));

/// The content that a copy claims to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Everything, and so does the other.
    Both,
    /// Everything, and the other does not.
    Alone,
    /// Not everything.
    Incomplete,
}

/// The state that a copy shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    pub claim: Claim,
    /// Counts the changes of who is in step, from 1.
    pub epoch: u64,
    /// The volume's.
    pub identity: [u8; 16],
}

impl State {
    fn encode(&self, writes: u64, bytes: &mut PageBytes) {
        bytes[offset::MAGIC..][..MAGIC.len()].copy_from_slice(MAGIC);
        page::put_u32(bytes, offset::VERSION, VERSION);
        let claim = match self.claim {
            Claim::Both => 1,
            Claim::Alone => 2,
            Claim::Incomplete => 3,
        };
        page::put_u32(bytes, offset::STANDING, claim);
        page::put_u64(bytes, offset::EPOCH, self.epoch);
        page::put_u64(bytes, offset::WRITES, writes);
        bytes[offset::IDENTITY..offset::END].copy_from_slice(&self.identity);
        let sum = xxh3_64(&bytes[offset::MAGIC..offset::END]);
        page::put_u64(bytes, offset::CHECKSUM, sum);
    }

    /// The state in a page and how often one was written; none if the page is not whole.
    fn decode(bytes: &PageBytes) -> Result<Option<(u64, Self)>> {
        let sum = xxh3_64(&bytes[offset::MAGIC..offset::END]);
        if page::u64_at(bytes, offset::CHECKSUM) != sum || &bytes[offset::MAGIC..][..8] != MAGIC {
            return Ok(None);
        }
        let found = page::u32_at(bytes, offset::VERSION);
        if found != VERSION {
            return Err(LodeError::Version { found, known: VERSION });
        }
        let claim = match page::u32_at(bytes, offset::STANDING) {
            1 => Claim::Both,
            2 => Claim::Alone,
            3 => Claim::Incomplete,
            _ => return Ok(None),
        };
        let mut identity = [0; 16];
        identity.copy_from_slice(&bytes[offset::IDENTITY..offset::END]);
        let epoch = page::u64_at(bytes, offset::EPOCH);
        Ok(Some((page::u64_at(bytes, offset::WRITES), Self { claim, epoch, identity })))
    }
}

/// The file of a copy's state, open.
pub struct StateFile {
    disk: Arc<dyn Disk>,
    writes: u64,
}

impl StateFile {
    /// Open the state of a copy; `None` where nothing was ever written.
    ///
    /// # Errors
    ///
    /// [`LodeError::Corrupt`] if something was, and no page is whole; the disk's own.
    pub fn open(disk: Arc<dyn Disk>) -> Result<(Self, Option<State>)> {
        let read = |source| LodeError::io("reading a copy's state", source);
        let mut newest: Option<(u64, State)> = None;
        let mut is_blank = true;
        if disk.len_bytes().map_err(read)? >= PAGES * PAGE_BYTES as u64 {
            for place in 0..PAGES {
                let mut bytes = Box::new(AlignedPage::zeros());
                disk.read(place * PAGE_BYTES as u64, &mut bytes[..]).map_err(read)?;
                is_blank &= bytes.iter().all(|&byte| byte == 0);
                let found = State::decode(&bytes)?;
                newest = newest.into_iter().chain(found).max_by_key(|(writes, _)| *writes);
            }
        }
        match newest {
            Some((writes, state)) => Ok((Self { disk, writes }, Some(state))),
            None if is_blank => Ok((Self { disk, writes: 0 }, None)),
            None => Err(LodeError::Corrupt {
                what: "the state of a copy of the mirror".to_owned(),
                how: "neither of its pages is whole".to_owned(),
            }),
        }
    }

    /// Say something else, durably.
    pub fn write(&mut self, state: &State) -> io::Result<()> {
        if self.disk.len_bytes()? < PAGES * PAGE_BYTES as u64 {
            self.disk.set_len(PAGES * PAGE_BYTES as u64)?;
        }
        // One that failed may have arrived: the next is newer in any case.
        self.writes += 1;
        let mut bytes = Box::new(AlignedPage::zeros());
        state.encode(self.writes, &mut bytes);
        self.disk.write(self.writes % PAGES * PAGE_BYTES as u64, &bytes[..])?;
        self.disk.sync()
    }
}
