//! Pages that change hands under `locks=relation`: what is locked before they do.
//!
//! A page is locked as a part of the file that its header names, or by itself if that names none
//! (`local_locks`). So who gives it to a file, or takes it from one, locks both: the file, since
//! from now on its lock is the page's or no longer is, and the page itself, for those who meet it
//! while it belongs to nobody. Under the other grains nothing depends on the owner.

use super::writing::Writing;
use crate::error::Result;
use crate::lock::{Mode, Resource};
use crate::log::Runs;
use crate::page::{FileNumber, NO_FILE, PageNumber, offset};
use crate::pages::PageRead;
use crate::tactics::Grain;

impl Writing {
    fn locks_relations(&self) -> bool {
        self.shared().tactics.locks == Grain::Relation
    }

    /// Before a file is given a page. The page itself is locked when it is written, since it
    /// belongs to nobody until then.
    pub(crate) fn lock_receiver(&self, file: FileNumber) -> Result<()> {
        if self.locks_relations() {
            self.lock_exclusively_as(Resource::Relation(file))
        } else {
            Ok(())
        }
    }

    /// Before a page is given back. Its file is locked when it is written.
    pub(super) fn lock_given_back(&self, page: PageNumber) -> Result<()> {
        if self.locks_relations() { self.lock_exclusively_as(Resource::Page(page)) } else { Ok(()) }
    }

    /// Before runs of bytes change a page, which may make it another file's: a page server's client
    /// gives pages out by itself, and sends what they have become. Whether they do.
    pub(super) fn lock_owner_after(&self, page: PageNumber, runs: &Runs) -> Result<bool> {
        if !self.locks_relations() {
            return Ok(false);
        }
        self.lock(page, Mode::Exclusive)?;
        let owner = self.read(page, |view| view.u32(offset::FILE))?;
        let next = owner_after(owner, runs);
        if next == owner {
            return Ok(false);
        }
        self.lock_given_back(page)?;
        if next != NO_FILE {
            self.lock_receiver(next)?;
        }
        Ok(true)
    }
}

/// The owner that a page's header names once the runs are written over it.
fn owner_after(owner: FileNumber, runs: &Runs) -> FileNumber {
    let mut bytes = owner.to_le_bytes();
    for (at, piece) in runs.pieces() {
        for (place, byte) in bytes.iter_mut().enumerate() {
            let within = (offset::FILE + place).checked_sub(at);
            if let Some(&new) = within.and_then(|within| piece.get(within)) {
                *byte = new;
            }
        }
    }
    FileNumber::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligned_page::AlignedPage;
    use crate::log;
    use crate::page::{self, PAGE_BYTES, PageKind};

    #[test]
    fn the_owner_after_a_change_is_what_the_changed_page_names() {
        let mut before = AlignedPage::zeros();
        page::format(&mut before.page_mut(), PageKind::Heap, 0x0102_0304);
        for next in [0x0102_0304, 0, 1, 0x0100_0304, 0x0102_0305] {
            let mut after = before.clone();
            page::format(&mut after.page_mut(), PageKind::BtreeLeaf, next);
            after[PAGE_BYTES - 1] = 7;
            for runs in [log::difference(&before, &after), Runs::whole(&after)] {
                assert_eq!(owner_after(0x0102_0304, &runs), next);
            }
        }
        let mut after = before.clone();
        after[offset::FILE + 1..offset::FILE + 3].copy_from_slice(&[9, 8]);
        let mut said = log::Ranges::default();
        said.say_only(&(offset::FILE + 1..offset::FILE + 3));
        let partly: Vec<Runs> = said.redo(&after).collect();
        assert_eq!(owner_after(0x0102_0304, &partly[0]), 0x0108_0904);
    }
}
