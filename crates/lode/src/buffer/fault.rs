//! The slow way to a page: it is on its second chance, latched by another, or not in memory.

use super::frame_budget::{Permit, Slot};
use super::latched::{Guard, Pinned};
use super::read_ahead::Run;
use super::state::Word;
use super::{Buffer, Wait};
use crate::disk::Destination;
use crate::error::{LodeError, Result};
use crate::page::{self, PAGE_BYTES, PageBytes, PageNumber};
use crate::pages::Version;
use crate::view::View;

use std::io;

/// A reader who was disturbed so often holds the page, so that nobody changes it during the next
/// read; reads within that read, also of the same page, pass.
const DISTURBANCES_MAX: u32 = 8;

impl Buffer {
    /// Read a page that is not open, or was changed or evicted during the first read.
    #[cold]
    #[inline(never)]
    pub(super) fn read_slow<R>(
        &self,
        page: PageNumber,
        inspect: &mut impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Word)> {
        let state = self.state(page).ok_or_else(|| beyond(page))?;
        let mut disturbances = 0;
        loop {
            let before = self.open(page)?;
            let pinned = if disturbances < DISTURBANCES_MAX {
                None
            } else {
                // Where another holds it, nobody changes it either, for as long as that lasts.
                Pinned::try_pin(self, page).map(|pinned| (pinned, Guard::new(self)))
            };
            let seen = inspect(self.view(page));
            if state.is_as(before) {
                return Ok((seen, before));
            }
            drop(pinned);
            self.events.retries.add(1);
            disturbances += 1;
        }
    }

    /// Bring a page to where it can be read. The word that it had then.
    pub(super) fn open(&self, page: PageNumber) -> Result<Word> {
        let state = self.state(page).ok_or_else(|| beyond(page))?;
        let mut wait = Wait::new(self);
        loop {
            let word = state.load();
            if word.is_readable() {
                if let Some(word) = self.note_use(page, word) {
                    return Ok(word);
                }
            } else if word.is_evicted() {
                self.fault(page)?;
            } else {
                wait.once_for(page);
            }
        }
    }

    /// The same for one that is there already, if nobody has it or gets it meanwhile.
    #[cold]
    #[inline(never)]
    pub(super) fn open_second_chance(&self, page: PageNumber) -> Option<Word> {
        let word = self.state(page)?.load();
        if word.is_readable() { self.note_use(page, word) } else { None }
    }

    /// The same for a page that must have that version already.
    #[cold]
    #[inline(never)]
    pub(super) fn open_version(&self, page: PageNumber, version: Version) -> Option<Word> {
        let state = self.state(page)?;
        loop {
            let word = state.load();
            if !word.is_readable() || word.version() != version {
                return None;
            }
            if let Some(word) = self.note_use(page, word) {
                return Some(word);
            }
        }
    }

    /// Report the tactic of a use. `None` if the word has changed.
    fn note_use(&self, page: PageNumber, word: Word) -> Option<Word> {
        if !word.is_on_second_chance() {
            return Some(word);
        }
        if self.read_ahead.is_milestone(page) {
            self.read_ahead.passed(page, self.pages_total());
        }
        if self.tactic.is_clock() {
            return self.state_of(page).end_second_chance(word);
        }
        self.tactic.used(page);
        Some(word)
    }

    /// Read an absent page from disk, and its neighbours as the tactic says. When it returns, the
    /// page was in memory at some moment, or another is about to bring it.
    pub(super) fn fault(&self, page: PageNumber) -> Result<()> {
        if page >= self.pages_total() {
            return Err(beyond(page));
        }
        let mut permit = self.make_space()?;
        let Some(asked) = Claim::on(self, page, &mut permit) else { return Ok(()) };
        self.events.misses.add(1);
        let run = self.read_ahead.run_around(page, self.pages_total());
        let mut claims = Vec::with_capacity(run.len());
        self.claim_ahead(run.start..page, &mut permit, &mut claims)?;
        claims.push(asked);
        self.claim_ahead(page + 1..run.end, &mut permit, &mut claims)?;
        drop(permit);
        for stretch in claims.chunk_by_mut(|one, next| one.page + 1 == next.page) {
            self.fill(stretch, page)?;
        }
        Ok(())
    }

    /// Read those pages of a run that are absent, and for which there are frames without waiting
    /// and without writing. They are read ahead: the caller that requests such a page gets the
    /// error of its read.
    pub(crate) fn bring(&self, run: Run) {
        let absent = self.absent(run);
        let mut permit = self.budget.acquire_up_to(absent.len());
        permit.merge(self.evict_clean(absent.len() - permit.pages()));
        let mut claims = Vec::with_capacity(absent.len());
        for page in absent {
            if permit.pages() == 0 {
                break;
            }
            claims.extend(Claim::on(self, page, &mut permit));
        }
        drop(permit);
        for stretch in claims.chunk_by_mut(|one, next| one.page + 1 == next.page) {
            self.fill_ahead(stretch);
        }
    }

    /// Claim the pages of a run that are absent, of which nobody has requested any, and for which
    /// frames can be had without waiting: what is lacking of these is evicted together.
    fn claim_ahead<'a>(
        &'a self,
        run: Run,
        permit: &mut Permit<'a>,
        claims: &mut Vec<Claim<'a>>,
    ) -> Result<()> {
        let absent = self.absent(run);
        permit.merge(self.budget.acquire_up_to(absent.len().saturating_sub(permit.pages())));
        for (at, &page) in absent.iter().enumerate() {
            if permit.pages() == 0 {
                permit.merge(self.evict(absent.len() - at)?);
            }
            if permit.pages() == 0 {
                break;
            }
            claims.extend(Claim::on(self, page, permit));
        }
        Ok(())
    }

    /// The pages of a run that are not in memory.
    fn absent(&self, run: Run) -> Vec<PageNumber> {
        run.filter(|&page| self.state_of(page).load().is_evicted()).collect()
    }

    /// Read a stretch of claimed pages by one call. What goes wrong with pages that nobody has
    /// requested goes wrong again, and is reported, when somebody does.
    fn fill(&self, stretch: &mut [Claim<'_>], asked: PageNumber) -> Result<()> {
        let Some(at) = stretch.iter().position(|claim| claim.page == asked) else {
            self.fill_ahead(stretch);
            return Ok(());
        };
        if let Err(error) = self.read_stretch(stretch) {
            if stretch.len() == 1 {
                return Err(error);
            }
            // A neighbour that cannot be read must not take this one with it.
            return self.fill(&mut stretch[at..=at], asked);
        }
        let (before, rest) = stretch.split_at_mut(at);
        let (one, after) = rest.split_first_mut().expect("it was found there");
        let ahead = before.iter_mut().chain(after).map(|claim| claim.publish(true));
        self.events.pages_read_ahead.add(ahead.flatten().count());
        one.publish(false)
    }

    fn fill_ahead(&self, stretch: &mut [Claim<'_>]) {
        if self.read_stretch(stretch).is_ok() {
            let ahead = stretch.iter_mut().map(|claim| claim.publish(true));
            self.events.pages_read_ahead.add(ahead.flatten().count());
        }
    }

    fn read_stretch(&self, stretch: &[Claim<'_>]) -> Result<()> {
        let first = stretch[0].page;
        self.events.reads.add(1);
        self.events.pages_read.add(stretch.len());
        // SAFETY: the stretch's pages follow one another within the reservation and are all
        // claimed, so nobody else stores there, and who still looks at them does so by a view.
        #[expect(unsafe_code, reason = "pages are read into their place")]
        let into = unsafe { Destination::at(self.pages.page(first), stretch.len() * PAGE_BYTES) };
        let read = self.disk.read_into(u64::from(first) * PAGE_BYTES as u64, into);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                LodeError::corrupt_page(first, "the volume ends before it does")
            }
            _ => LodeError::io(format!("reading page {first}"), error),
        })
    }
}

/// A page that its owner is bringing to memory. Dropped before [`Claim::publish`], it is evicted.
struct Claim<'a> {
    buffer: &'a Buffer,
    page: PageNumber,
    slot: Slot,
    published: bool,
}

impl<'a> Claim<'a> {
    /// Claim an evicted page, at the cost of one frame of the permit; `None`, and no cost, if
    /// another was faster.
    fn on(buffer: &'a Buffer, page: PageNumber, permit: &mut Permit<'a>) -> Option<Self> {
        buffer.state_of(page).claim().then(|| {
            permit.spend();
            Self { buffer, page, slot: buffer.budget.add_resident(page), published: false }
        })
    }

    /// Let others read the page, if it is whole.
    fn publish(&mut self, ahead: bool) -> Result<()> {
        // SAFETY: the page lies within the reservation and is claimed by us.
        #[expect(unsafe_code, reason = "a claimed page is a plain array")]
        let bytes = unsafe { &*self.buffer.pages.page(self.page).cast::<PageBytes>() };
        page::check(bytes, self.page)?;
        let tactic = &self.buffer.tactic;
        tactic.arrived(self.slot, self.page, ahead);
        self.buffer.state_of(self.page).publish(tactic.starts_on_second_chance(ahead));
        self.published = true;
        self.buffer.arrivals.wake(self.page);
        Ok(())
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if !self.published {
            self.buffer.abandon_claimed(self.slot, self.page);
            self.buffer.arrivals.wake(self.page);
        }
    }
}

/// The error for a page that the volume does not have.
#[cold]
pub(super) fn beyond(page: PageNumber) -> LodeError {
    LodeError::beyond(page)
}
