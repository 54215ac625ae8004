//! The slow way to a page: it is watched, latched by another, or not in memory.

use super::ahead::Run;
use super::latched::{Guard, Held};
use super::room::{Slot, Taken};
use super::state::Word;
use super::{Buffer, Wait};
use crate::error::{LodeError, Result};
use crate::page::{self, PAGE_BYTES, PageBytes, PageNumber};
use crate::pages::Stamp;
use crate::view::View;

use std::io;
use std::slice;

/// A reader who was disturbed so often holds the page, so that nobody changes it during the next
/// look; looks within the look, also at the same page, pass.
const DISTURBANCES_MAX: u32 = 8;

impl Buffer {
    /// Look at a page that is not open, or was changed or evicted during the first look.
    #[cold]
    #[inline(never)]
    pub(super) fn look_slowly<R>(
        &self,
        page: PageNumber,
        look: &mut impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Word)> {
        let state = self.state(page).ok_or_else(|| beyond(page))?;
        let mut disturbances = 0;
        loop {
            let before = self.open(page)?;
            let held = if disturbances < DISTURBANCES_MAX {
                None
            } else {
                // Where another holds it, nobody changes it either, for as long as that lasts.
                Held::try_hold(self, page).map(|held| (held, Guard::new(self)))
            };
            let seen = look(self.view(page));
            if state.is_as(before) {
                return Ok((seen, before));
            }
            drop(held);
            self.events.retries.add(1);
            disturbances += 1;
        }
    }

    /// Bring a page to where it can be looked at. The word that it had then.
    fn open(&self, page: PageNumber) -> Result<Word> {
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
            } else if !self.ahead.wait_for(page) {
                wait.once();
            }
        }
    }

    /// The same for one that is there already, if nobody has it or gets it meanwhile.
    #[cold]
    #[inline(never)]
    pub(super) fn open_watched(&self, page: PageNumber) -> Option<Word> {
        let word = self.state(page)?.load();
        if word.is_readable() { self.note_use(page, word) } else { None }
    }

    /// The same for a page that must have that stamp already.
    #[cold]
    #[inline(never)]
    pub(super) fn open_stamped(&self, page: PageNumber, stamp: Stamp) -> Option<Word> {
        let state = self.state(page)?;
        loop {
            let word = state.load();
            if !word.is_readable() || word.stamp() != stamp {
                return None;
            }
            if let Some(word) = self.note_use(page, word) {
                return Some(word);
            }
        }
    }

    /// Tell the tactic of a look. `None` if the word has changed.
    fn note_use(&self, page: PageNumber, word: Word) -> Option<Word> {
        if !word.is_watched() {
            return Some(word);
        }
        if self.ahead.is_milestone(page) {
            self.ahead.passed(page, self.pages_total());
        }
        if self.tactic.is_clock() {
            return self.state_of(page).unwatch(word);
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
        let mut taken = self.make_room()?;
        let Some(asked) = Claim::on(self, page, &mut taken) else { return Ok(()) };
        self.events.misses.add(1);
        let run = self.ahead.run_around(page, self.pages_total());
        let mut claims = Vec::with_capacity(run.len());
        for before in run.start..page {
            claims.extend(self.claim_ahead(before, &mut taken)?);
        }
        claims.push(asked);
        for after in page + 1..run.end {
            claims.extend(self.claim_ahead(after, &mut taken)?);
        }
        drop(taken);
        for stretch in claims.chunk_by_mut(|one, next| one.page + 1 == next.page) {
            self.fill(stretch, page)?;
        }
        Ok(())
    }

    /// Read those pages of a run that are absent, and for which there is room without waiting and
    /// without writing. Nobody has asked for them yet; what goes wrong is told to who does.
    pub(crate) fn bring(&self, run: Run) {
        let absent = run.filter(|&page| self.state_of(page).load().is_evicted());
        let absent: Vec<PageNumber> = absent.collect();
        let mut taken = self.room.taken(0);
        let mut claims = Vec::with_capacity(absent.len());
        for (at, &page) in absent.iter().enumerate() {
            if taken.pages() == 0 {
                match self.room.take() {
                    Some(more) => taken.join(more),
                    None => taken.join(self.evict_clean(absent.len() - at)),
                }
            }
            if taken.pages() == 0 {
                break;
            }
            claims.extend(Claim::on(self, page, &mut taken));
        }
        drop(taken);
        for stretch in claims.chunk_by_mut(|one, next| one.page + 1 == next.page) {
            self.fill_ahead(stretch);
        }
    }

    /// Claim a page that nobody has asked for, if it is absent and room can be had without waiting.
    fn claim_ahead<'a>(
        &'a self,
        page: PageNumber,
        taken: &mut Taken<'a>,
    ) -> Result<Option<Claim<'a>>> {
        if !self.state_of(page).load().is_evicted() {
            return Ok(None);
        }
        if taken.pages() == 0 {
            match self.room.take() {
                Some(more) => taken.join(more),
                None => taken.join(self.evict()?),
            }
        }
        Ok(if taken.pages() > 0 { Claim::on(self, page, taken) } else { None })
    }

    /// Read a stretch of claimed pages by one call. What goes wrong with pages that nobody has
    /// asked for goes wrong again, and is told, when somebody does.
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
        // claimed, so nobody else has a plain reference to them.
        #[expect(unsafe_code, reason = "pages are read into their place")]
        let into = unsafe {
            slice::from_raw_parts_mut(self.pages.page(first), stretch.len() * PAGE_BYTES)
        };
        let read = self.disk.read(u64::from(first) * PAGE_BYTES as u64, into);
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
    /// Claim an evicted page, at the cost of one page of the room taken; `None`, and no cost, if
    /// another was faster.
    fn on(buffer: &'a Buffer, page: PageNumber, taken: &mut Taken<'a>) -> Option<Self> {
        buffer.state_of(page).claim().then(|| {
            taken.spend();
            Self { buffer, page, slot: buffer.room.settle(page), published: false }
        })
    }

    /// Let others look at the page, if it is whole.
    fn publish(&mut self, ahead: bool) -> Result<()> {
        // SAFETY: the page lies within the reservation and is claimed by us.
        #[expect(unsafe_code, reason = "a claimed page is a plain array")]
        let bytes = unsafe { &*self.buffer.pages.page(self.page).cast::<PageBytes>() };
        page::check(bytes, self.page)?;
        let tactic = &self.buffer.tactic;
        tactic.arrived(self.slot, self.page, ahead);
        self.buffer.state_of(self.page).publish(tactic.watches_arrivals(ahead));
        self.published = true;
        Ok(())
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if !self.published {
            self.buffer.abandon_claimed(self.slot, self.page);
        }
    }
}

/// The error for a page that the volume does not have.
#[cold]
pub(super) fn beyond(page: PageNumber) -> LodeError {
    LodeError::beyond(page)
}
