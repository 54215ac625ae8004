//! The facts known of the transactions: who wrote which version of which page, who had been
//! reported that it is committed, and so what may be there after a crash.
//!
//! Each transaction that writes a page leaves its number there, and how often it wrote the page. So
//! the reader of a page knows whose version that is. The versions of a page that were committed, or
//! were about to be, stand in one line, in which the locks have put them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::error::Result;
use crate::page;
use crate::page::{FileNumber, PAGE_BYTES, PageBytes, PageKind, PageNumber};
use crate::pages::{PageRead, PageWrite};
use crate::view::View;

/// The files that the pages belong to in turn, numbers that the catalog gives to none.
pub(super) const FILES: [FileNumber; 3] = [500, 501, 502];

/// The first words behind the header, one within, and the last of the page.
const PLACES: [usize; 4] = [32, 40, 2_048, PAGE_BYTES - 8];

/// A transaction's number in the model, from 1. 0 is what there was before.
pub(super) type Writer = usize;

/// The version of a page: who wrote it last, and how often that one did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) writer: Writer,
    pub(super) times: u64,
}

impl Version {
    pub(super) const FIRST: Self = Self { writer: 0, times: 0 };

    fn words(self, page: PageNumber) -> [u64; PLACES.len()] {
        let Self { writer, times } = self;
        let mixed = (writer as u64 * 1_000 + times + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        [writer as u64, times, mixed ^ u64::from(page), !mixed]
    }

    /// As a page or, where it is no free one, now and then word by word: `log=set-range` can
    /// determine.
    pub(super) fn put(
        self,
        pages: &mut impl PageWrite,
        page: PageNumber,
        file: FileNumber,
    ) -> Result<()> {
        let is_by_word = (self.writer as u64 + self.times).is_multiple_of(2)
            && pages.read(page, |view| view.kind() == PageKind::Heap as u8)?;
        if is_by_word {
            for (at, word) in PLACES.into_iter().zip(self.words(page)) {
                let range = |_: &PageBytes| Ok(at..at + size_of::<u64>());
                let put = |bytes: &mut [u8]| bytes.copy_from_slice(&word.to_le_bytes());
                pages.write_range(page, range, put)??;
            }
            return Ok(());
        }
        pages.write(page, |bytes| {
            bytes.put_u8(page::offset::KIND, PageKind::Heap as u8);
            bytes.put_u32(page::offset::FILE, file);
            for (at, word) in PLACES.into_iter().zip(self.words(page)) {
                bytes.put_u64(at, word);
            }
        })
    }

    /// The version that a page says it is, and whether all of it is.
    pub(super) fn get(pages: &impl PageRead, page: PageNumber) -> Result<(Self, bool)> {
        let words = pages.read(page, |view: View<'_>| PLACES.map(|at| view.u64(at)))?;
        Ok(Self::in_words(words, page))
    }

    /// The same of a page's bytes.
    pub(super) fn of(bytes: &PageBytes, page: PageNumber) -> (Self, bool) {
        Self::in_words(PLACES.map(|at| page::u64_at(bytes, at)), page)
    }

    fn in_words(words: [u64; PLACES.len()], page: PageNumber) -> (Self, bool) {
        let version = Self { writer: words[0] as Writer, times: words[1] };
        (version, version.words(page) == words || words == [0; PLACES.len()])
    }
}

/// The extent to which a transaction has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has not asked to be committed. Nothing of it may be seen by anybody, ever.
    Open,
    /// It has asked, and was not answered.
    Asked,
    /// Its writer knows that it is committed.
    Reported,
    /// The same, and no crash may take it back.
    Durable,
    /// It was rolled back, or reported that it could not be committed.
    Undone,
}

/// A transaction that may write.
#[derive(Debug, Clone)]
pub(super) struct Transaction {
    pub(super) stage: Stage,
    pub(super) writes: BTreeMap<usize, u64>,
    /// Versions of pages that it has read: the page, and the version's place in the line.
    pub(super) reads: Vec<(usize, usize)>,
}

/// All that is known. Pages are counted from 0 here.
#[derive(Debug, Clone)]
pub(super) struct Model {
    lines: Vec<Vec<Version>>,
    pub(super) transactions: Vec<Transaction>,
    /// Some calls of the disk fail: who asked to be committed may have failed and not said so yet.
    pub(super) fails: bool,
}

impl Model {
    /// Pages that are as they were found.
    pub(super) fn of(found: &[Version]) -> Self {
        let durable =
            || Transaction { stage: Stage::Durable, writes: BTreeMap::new(), reads: Vec::new() };
        let highest = found.iter().map(|version| version.writer).max().unwrap_or(0);
        Self {
            lines: found.iter().map(|&version| vec![version]).collect(),
            transactions: (0..=highest).map(|_| durable()).collect(),
            fails: false,
        }
    }

    pub(super) fn begin(&mut self) -> Writer {
        let (writes, reads) = (BTreeMap::new(), Vec::new());
        self.transactions.push(Transaction { stage: Stage::Open, writes, reads });
        self.transactions.len() - 1
    }

    /// A transaction has read a page that it had not written: what is wrong with that.
    pub(super) fn read(
        &mut self,
        writer: Option<Writer>,
        page: usize,
        seen: Version,
    ) -> Option<String> {
        let line = &self.lines[page];
        let mut place = line.len() - 1;
        while self.fails && place > 0 && line[place] != seen && {
            let stage = self.transactions[line[place].writer].stage;
            matches!(stage, Stage::Asked | Stage::Undone)
        } {
            place -= 1;
        }
        if line[place] != seen {
            return Some(format!(
                "page {page} was read as {seen:?}, committed is {:?}",
                line[place]
            ));
        }
        if let Some(writer) = writer {
            self.transactions[writer].reads.push((page, place));
        }
        None
    }

    /// A transaction asks to be committed. It has locked what it wrote.
    pub(super) fn ask(&mut self, writer: Writer) {
        let transaction = &mut self.transactions[writer];
        transaction.stage = Stage::Asked;
        for (&page, &times) in &transaction.writes {
            self.lines[page].push(Version { writer, times });
        }
    }

    /// It could not be, and is rolled back: whether somebody has seen of it what nobody may.
    pub(super) fn refuse(&mut self, writer: Writer) -> Option<String> {
        self.transactions[writer].stage = Stage::Undone;
        let mut seen_by = None;
        for (page, line) in self.lines.iter_mut().enumerate() {
            let Some(gone) = line.iter().position(|version| version.writer == writer) else {
                continue;
            };
            line.remove(gone);
            for (other, transaction) in self.transactions.iter_mut().enumerate() {
                let reads = transaction.reads.iter_mut().filter(|(read, _)| *read == page);
                for (_, place) in reads {
                    if *place == gone {
                        seen_by = Some(other);
                    } else if *place > gone {
                        *place -= 1;
                    }
                }
            }
        }
        let seen_by = seen_by.filter(|&other| other != writer)?;
        Some(format!("transaction {seen_by} has read what {writer} took back"))
    }

    /// The transactions that were reported that they are committed, and are not durable by that.
    pub(super) fn reported(&self) -> Vec<Writer> {
        let stages = self.transactions.iter().enumerate();
        stages.filter(|(_, one)| one.stage == Stage::Reported).map(|(writer, _)| writer).collect()
    }

    /// Everything has been reported, and nothing was lost: what is wrong with what was found.
    pub(super) fn compare(&self, found: &[Version]) -> Option<String> {
        let last = self.lines.iter().map(|line| line[line.len() - 1]);
        let wrong = last.zip(found).enumerate().find(|(_, (last, found))| last != *found);
        wrong
            .map(|(page, (last, found))| format!("page {page} is {found:?}, committed is {last:?}"))
    }

    /// There was a crash: what is wrong with what was found after it.
    pub(super) fn compare_after_crash(&self, found: &[Version]) -> Option<String> {
        let mut places = Vec::new();
        for (page, (line, version)) in self.lines.iter().zip(found).enumerate() {
            match line.iter().position(|one| one == version) {
                Some(place) => places.push(place),
                None => return Some(format!("page {page} is {version:?}, of {line:?}")),
            }
        }
        let is_there: Vec<Option<bool>> =
            (0..self.transactions.len()).map(|writer| self.is_there(writer, &places)).collect();
        for (writer, transaction) in self.transactions.iter().enumerate() {
            if transaction.stage == Stage::Durable && is_there[writer] == Some(false) {
                return Some(self.report(writer, "is lost, and was reported durable", found));
            }
            if self.is_half_there(writer, &places) {
                return Some(self.report(writer, "is there in part", found));
            }
            if is_there[writer] == Some(true)
                && let Some(other) = self.missing_for(transaction, &places, &is_there)
            {
                let how = format!("is there, and depends on {other}, which is not");
                return Some(self.report(writer, &how, found));
            }
        }
        None
    }

    /// The places of a transaction's versions in their lines.
    fn places_of(&self, writer: Writer) -> impl Iterator<Item = (usize, usize)> {
        let pages = self.transactions[writer].writes.keys();
        pages.filter_map(move |&page| {
            let place = self.lines[page].iter().position(|version| version.writer == writer);
            place.map(|place| (page, place))
        })
    }

    /// Whether a transaction is in what was found; `None` if it wrote nothing that could be.
    fn is_there(&self, writer: Writer, places: &[usize]) -> Option<bool> {
        self.places_of(writer).next().map(|(page, place)| place <= places[page])
    }

    fn is_half_there(&self, writer: Writer, places: &[usize]) -> bool {
        let there: Vec<bool> =
            self.places_of(writer).map(|(page, place)| place <= places[page]).collect();
        there.contains(&true) && there.contains(&false)
    }

    /// Someone before a transaction, by what it read or by what it has overwritten that the other
    /// had read, who is not there though it is.
    fn missing_for(
        &self,
        transaction: &Transaction,
        places: &[usize],
        is_there: &[Option<bool>],
    ) -> Option<Writer> {
        let read = transaction.reads.iter().find(|&&(page, place)| place > places[page]);
        if let Some(&(page, place)) = read {
            return Some(self.lines[page][place].writer);
        }
        let committed = |one: &Transaction| !matches!(one.stage, Stage::Open | Stage::Undone);
        self.transactions.iter().enumerate().position(|(other, one)| {
            committed(one)
                && is_there[other] == Some(false)
                && one.reads.iter().any(|&(page, place)| {
                    let next = self.lines[page].get(place + 1).map(|version| version.writer);
                    next.is_some_and(|next| {
                        next != other
                            && std::ptr::eq(&raw const self.transactions[next], transaction)
                    })
                })
        })
    }

    fn report(&self, writer: Writer, how: &str, found: &[Version]) -> String {
        let mut text = format!("transaction {writer} {how}: {:?}", self.transactions[writer]);
        for (page, (line, found)) in self.lines.iter().zip(found).enumerate() {
            if line.len() > 1 {
                // Writing to a string cannot fail.
                _ = write!(text, "\n  page {page} is {found:?} of {line:?}");
            }
        }
        text
    }
}
