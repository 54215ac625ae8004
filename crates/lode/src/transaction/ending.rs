//! The way in which a transaction ends.

use std::mem;

use super::lock_set::LockSource;
use super::writing::Writing;
use crate::error::{LodeError, Result};
use crate::lock::TransactionNumber;
use crate::log::{Body, Log, Lsn, Packed, Sync as LogSync, apply, difference};
use crate::page::{PAGE_BYTES, PageNumber};
use crate::page_mut::PageMut;
use crate::shared::Changed;
use crate::tactics::Durability;

impl Writing {
    /// Make the changes one whole, durable as the tactic `durability` says.
    ///
    /// # Errors
    ///
    /// After [`LodeError::Uncertain`] the transaction may turn out committed when the database is
    /// opened again, and until then nothing can be done with it. After any other error the
    /// transaction is rolled back. [`LodeError::Interrupted`] comes before anything is committed.
    pub fn commit(mut self) -> Result<()> {
        self.lock_set.source().check_owner()?;
        self.failure.check()?;
        self.lock_set.source().check_interrupted()?;
        // Where this fails, dropping takes the changes back.
        if !self.mapped.is_empty() {
            self.take_stores()?;
        }
        let Some(commit) = self.log_commit()? else {
            self.end();
            return Ok(());
        };
        match self.shared().tactics.durability {
            Durability::Full => {
                self.wait_for(commit, LogSync::Own)?;
                self.end();
            }
            Durability::Group => {
                // All that depends on this transaction comes later in the log, so others may go on.
                self.end();
                self.wait_for(commit, LogSync::Group)?;
            }
            Durability::None => self.end(),
        }
        self.shared().checkpoint_if_due();
        Ok(())
    }

    /// Take the changes back.
    ///
    /// # Errors
    ///
    /// [`LodeError::Reopen`] if that failed; opening the database again takes them back.
    pub fn rollback(mut self) -> Result<()> {
        self.shared().changes.check_owner()?;
        self.roll_back()
    }

    /// Log what the pages became and that this is final; `None` if nothing differs from before.
    fn log_commit(&mut self) -> Result<Option<Lsn>> {
        self.changed.sort_unstable();
        let changes = &self.shared().changes;
        changes.check_usable()?;
        let to_place = changes.pages_to_place(self.number(), &self.changed)?;
        let is_placed = !to_place.is_empty();
        self.buffer.place(to_place)?;
        let mut packed = Packed::default();
        for &page in &self.changed {
            if changes.is_unlogged(page) {
                changes.log_redo(page, &*self.buffer.latch(page)?, &mut packed)?;
            }
        }
        changes.commit(self.number(), &self.changed, packed, is_placed)
    }

    fn wait_for(&mut self, commit: Lsn, sync: LogSync) -> Result<()> {
        let changes = &self.shared().changes;
        changes.log().make_durable(commit, sync).map_err(|error| {
            changes.set_broken(&error);
            LodeError::Uncertain { why: error.to_string() }
        })
    }

    /// Let go of everything: the changes are committed or taken back.
    fn end(&mut self) {
        self.shared().changes.forget(&self.changed);
        self.changed.clear();
        if self.begun.replace(false) {
            self.shared().leave(self.number());
        }
        self.lock_set.release();
    }

    fn roll_back(&mut self) -> Result<()> {
        if self.shared().changes.is_broken() {
            self.leave_to_recovery();
            return Ok(());
        }
        if let Err(error) = self.restore() {
            self.shared().changes.set_broken(&error);
            self.leave_to_recovery();
            return Err(LodeError::Reopen { why: error.to_string() });
        }
        self.end();
        self.shared().checkpoint_if_due();
        Ok(())
    }

    /// Let go of the locks alone: the database has failed, and recovery is to take the changes
    /// back. A thread that asked before the failure may still write pages or begin the log anew.
    /// For that thread the transaction goes on running: its pages are written with what takes them
    /// back, and the log forgets nothing of that.
    fn leave_to_recovery(&mut self) {
        self.changed.clear();
        self.begun.set(false);
        self.lock_set.release();
    }

    fn restore(&mut self) -> Result<()> {
        let pages = mem::take(&mut self.changed);
        let changes = &self.shared().changes;
        changes.log_begun(&pages)?;
        let mut logged = false;
        for page in pages {
            let mut latched = self.buffer.latch(page)?;
            if let Some(changed) = changes.take(page) {
                // Asked of each page when it is latched: until then another thread may write it,
                // and log what takes the changes back.
                logged |= changed.is_in_log();
                let (log, number) = (changes.log(), self.number());
                restore_page(log, number, page, &mut latched.page_mut(), &changed)
                    // Before the latch goes: nothing of this page is kept any more. Whoever holds
                    // it next to write it out asks `check_usable` after that, and writes nothing;
                    // who has asked already holds it, so that it cannot be latched here.
                    .inspect_err(|error| changes.set_broken(error))?;
            }
        }
        if logged {
            changes.log().append(&Body::End, self.number())?;
        }
        Ok(())
    }
}

/// Give a page the bytes back that it had before the transaction; log them where the log says
/// otherwise.
fn restore_page(
    log: &Log,
    transaction: TransactionNumber,
    page: PageNumber,
    bytes: &mut PageMut<'_>,
    changed: &Changed,
) -> Result<()> {
    if changed.is_begun() {
        bytes.clear(0..PAGE_BYTES);
        return Ok(());
    }
    if let Some(before) = changed.before(bytes) {
        if changed.logged {
            let runs = difference(bytes, &before);
            log.append(&Body::Redo { page, runs }, transaction)?;
        }
        bytes.put(0, &before[..]);
    }
    for &lsn in changed.undo.iter().rev() {
        let Body::Undo { runs, .. } = log.record_at(lsn)?.body else {
            return Err(LodeError::Corrupt {
                what: format!("the log at {lsn}"),
                how: "an undo record was written there".to_owned(),
            });
        };
        apply(&runs, bytes)?;
        if changed.logged {
            log.append(&Body::Redo { page, runs }, transaction)?;
        }
    }
    Ok(())
}

impl Drop for Writing {
    fn drop(&mut self) {
        if self.shared().changes.check_owner().is_err() {
            return;
        }
        if self.begun.get() || !self.changed.is_empty() {
            // The next call reports a failure here.
            let _ = self.roll_back();
        }
    }
}
