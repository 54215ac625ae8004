//! Ranges that transactions have said they will write (`log=set-range`).
//!
//! A page of which ranges were said has no shadow: what it was follows from what it is and from the
//! bytes that were kept with each range. So it can be taken back, and written to its place
//! before the commit, as under any other `log`.

use std::borrow::Cow;
use std::ops::Range;

use super::begun::ZEROS;
use super::changes::{BeforeImage, Changes};
use super::shadow::Space;
use super::table::{Changed, Origin, Table, Unlogged};
use crate::error::Result;
use crate::lock::TransactionNumber;
use crate::log::{Body, Ranges};
use crate::page::{PageBytes, PageNumber};

impl Changes {
    /// A transaction is about to change a range of a page that it has locked and latched, and
    /// nothing else of it: note the range, and keep what is there.
    ///
    /// # Errors
    ///
    /// As of [`Changes::keep_before_image`].
    pub(crate) fn keep_range(
        &self,
        transaction: TransactionNumber,
        page: PageNumber,
        before: &PageBytes,
        range: Range<usize>,
    ) -> Result<BeforeImage> {
        let mut table = self.table();
        let changed = table.changed.get(&page);
        let first = changed.is_none();
        let retained = if changed.is_some_and(Changed::is_unlogged) {
            BeforeImage::Known
        } else {
            let retained =
                self.keep(&mut table, transaction, (page, before, Space::None), first)?;
            if let Some(changed) = table.changed.get_mut(&page).filter(|one| !one.is_begun()) {
                changed.unlogged = Unlogged::Ranges;
            }
            retained
        };
        table.say(page, range, before);
        Ok(retained)
    }

    /// Log what lies in the ranges that were said, each as often as it was.
    pub(super) fn log_ranges(
        &self,
        page: PageNumber,
        after: &PageBytes,
        changed: &mut Changed,
        reserve_bytes: u64,
    ) -> Result<()> {
        let Some(ranges) = &changed.ranges else { return Ok(()) };
        for runs in ranges.redo(after) {
            let body = Body::Redo { page, runs };
            self.log.make_space(reserve_bytes + body.record_bytes() as u64)?;
            self.log.append(&body, changed.transaction)?;
            changed.logged = true;
        }
        Ok(())
    }

    /// The number of times that a range was said since the database was opened.
    pub(crate) fn ranges_said(&self) -> u64 {
        self.table().ranges_said
    }
}

impl Changed {
    /// The page before it was changed since it was last written, of which `now` is what it is; if
    /// that is known without the log.
    pub(crate) fn before(&self, now: &PageBytes) -> Option<Cow<'_, PageBytes>> {
        if let Some(shadow) = &self.shadow {
            return Some(Cow::Borrowed(shadow));
        }
        if self.origin == Origin::Zeros {
            return Some(Cow::Borrowed(&ZEROS));
        }
        self.ranges.as_deref().map(|ranges: &Ranges| {
            let mut before = *now;
            ranges.restore(&mut before);
            Cow::Owned(before)
        })
    }
}

impl Table {
    /// Note a range of a changed page, with what lies there. Of a page that its transaction has
    /// begun nothing is logged, whatever is said.
    pub(super) fn say(&mut self, page: PageNumber, range: Range<usize>, before: &PageBytes) {
        let Some(changed) = self.changed.get_mut(&page).filter(|changed| !changed.is_begun())
        else {
            return;
        };
        let is_said = changed.ranges.get_or_insert_default().say(range, before);
        self.ranges_said += u64::from(is_said);
    }
}
