//! RVM's benchmark on lode: the one struct of the original as a region, whose pages hold records
//! one behind the other. With `detect=explicit` the program says each range and gets it; with
//! `sigsegv` and `kernel` it maps a page when it first comes to it, and stores.

use loadstone_datasets::rvm::{Database as Data, Place as At, TELLERS};
use lode::internals::catalog::FileKind;
use lode::internals::page::PageNumber;
use lode::tactics::Detect;
use lode::{Database, Mapping, PageRead, PageWrite, Region, Writing};

use super::ENGINE;
use super::failure::{Failure, Result as Found};
use super::loading::{self, Loading};
use super::place::Place;
use super::store::Store;
use crate::error::ClientError;
use crate::outcome::Logged;
use crate::rvm::contents::Contents;
use crate::rvm::driver::Driver;
use crate::rvm::{self, HISTORY_BYTES, History, RECORD_BYTES};
use crate::tactics::{Address, Tactics};

const NAMES: [&str; 1] = ["rvm.region"];
const ACCESS: &str = "a region of records, changed in place";

const DATA_BYTES: usize = Region::DATA.end - Region::DATA.start;
const RECORDS: u32 = (DATA_BYTES / RECORD_BYTES) as u32;
const HISTORIES: u32 = (DATA_BYTES / HISTORY_BYTES) as u32;

/// The place in the first page that says how many accounts there are, behind the branch and the
/// tellers.
const ACCOUNTS_AT: usize = Region::DATA.start + (1 + TELLERS as usize) * RECORD_BYTES;

/// Pages that are written in one transaction of a load.
const PAGES_PER_COMMIT: usize = 512;

/// The place where everything lies: the branch and the tellers in the first page, then the
/// accounts, then the ring, each class from a page's begin on.
struct Layout {
    pages: Vec<PageNumber>,
    accounts: u32,
}

impl Layout {
    const fn pages_of(accounts: u32) -> usize {
        1 + accounts.div_ceil(RECORDS) as usize + (2 * accounts).div_ceil(HISTORIES) as usize
    }

    /// The page, and where in it.
    #[inline]
    fn at(&self, index: u32, each: u32, bytes: usize, first: u32) -> Option<(PageNumber, usize)> {
        let page = *self.pages.get((first + index / each) as usize)?;
        Some((page, Region::DATA.start + (index % each) as usize * bytes))
    }

    #[inline]
    fn record(&self, place: At) -> Option<(PageNumber, usize)> {
        match place {
            At::Branch => self.at(0, RECORDS, RECORD_BYTES, 0),
            At::Teller(number) => self.at(1 + number, RECORDS, RECORD_BYTES, 0),
            At::Account(number) => self.at(number, RECORDS, RECORD_BYTES, 1),
        }
    }

    #[inline]
    fn history(&self, slot: u32) -> Option<(PageNumber, usize)> {
        self.at(slot, HISTORIES, HISTORY_BYTES, 1 + self.accounts.div_ceil(RECORDS))
    }
}

/// lode in the program's process.
pub struct Lode {
    writer: Option<Writing>,
    /// The pages that the transaction has mapped, where stores are found.
    mapped: Vec<(PageNumber, Mapping)>,
    finds: bool,
    layout: Option<Layout>,
    store: Store<Database>,
}

impl Lode {
    /// Open the database that is there, or create one.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let store = Store::<Database>::open(address, tactics)?;
        let database = store.database()?;
        let finds = database.tactics().detect != Detect::Explicit;
        let layout = find(&database.reading());
        let layout = layout.map_err(|failure| failure.reported("finding its region"))?;
        Ok(Self { writer: None, mapped: Vec::new(), finds, layout, store })
    }

    fn layout(&self) -> Result<&Layout, ClientError> {
        self.layout.as_ref().ok_or_else(|| {
            ClientError::engine(ENGINE, "finding its region", "nothing was loaded: load it first")
        })
    }

    /// Change bytes of a page: said, or stored to.
    fn change_at<R>(
        &mut self,
        place: Option<(PageNumber, usize)>,
        bytes: usize,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R, ClientError> {
        let (page, at) = place.ok_or_else(|| malformed("a place beyond the region"))?;
        let Self { writer, mapped, finds, .. } = self;
        let writer = writer.as_mut().ok_or_else(not_begun)?;
        let range = at..at + bytes;
        let failed = |error| ClientError::engine(ENGINE, "changing a record", error);
        if !*finds {
            let changed = writer.write_range(page, |_| Ok(range), change).map_err(failed)?;
            return changed.map_err(failed);
        }
        let known = mapped.iter().rev().find(|(known, _)| *known == page);
        let mapping = if let Some((_, mapping)) = known {
            *mapping
        } else {
            let mapping = writer.map(&[page]).map_err(failed)?;
            mapped.push((page, mapping));
            mapping
        };
        Ok(change(&mut writer.memory(mapping).map_err(failed)?[range]))
    }
}

#[cold]
fn not_begun() -> ClientError {
    ClientError::engine(ENGINE, "using it", "nothing was begun: begin to write first")
}

#[cold]
fn malformed(what: &str) -> ClientError {
    ClientError::Malformed { engine: ENGINE, what: what.to_owned() }
}

/// The place where everything lies, if it was loaded.
fn find(pages: &impl PageRead) -> Found<Option<Layout>> {
    let Some([entry]) = loading::files(pages, NAMES)? else { return Ok(None) };
    let all = Region::open(entry.file, entry.root).pages(pages)?;
    let first = *all.first().ok_or(Failure::Malformed("a region without a page"))?;
    let accounts = pages.read(first, |view| view.u32(ACCOUNTS_AT))?;
    if all.len() != Layout::pages_of(accounts) {
        return Err(Failure::Malformed("a region of another length than its accounts take"));
    }
    Ok(Some(Layout { pages: all, accounts }))
}

fn fill(loading: &mut Loading<'_>, database: &Data) -> Found<()> {
    let entry = loading.create(NAMES[0], FileKind::Region)?;
    let region = Region::create(loading.pages(), entry.file)?;
    let mut left = Layout::pages_of(database.accounts);
    while left > 0 {
        let some = left.min(PAGES_PER_COMMIT);
        region.extend(loading.pages(), some)?;
        loading.commit()?;
        left -= some;
    }
    let layout = Layout { pages: region.pages(loading.pages())?, accounts: database.accounts };
    for place in database.places() {
        let (page, at) = layout.record(place).ok_or(Failure::Malformed("a place beyond"))?;
        let words = database.record(place);
        let put = |record: &mut [u8]| rvm::put(&words, record);
        loading.pages().write(page, |bytes| bytes.change(at..at + RECORD_BYTES, put))?;
        loading.step()?;
    }
    loading.pages().write(layout.pages[0], |bytes| {
        bytes.put_u32(ACCOUNTS_AT, database.accounts);
    })?;
    loading.publish([(entry, region.root())])
}

impl Driver for Lode {
    const ENGINE: &'static str = ENGINE;

    fn load(&mut self, database: &Data) -> Result<(), ClientError> {
        self.rollback()?;
        let records = u64::from(database.accounts);
        self.store.load(records, |loading| fill(loading, database))?;
        let found = find(&self.store.database()?.reading());
        self.layout = found.map_err(|failure| failure.reported("finding its region"))?;
        Ok(())
    }

    fn begin(&mut self) -> Result<(), ClientError> {
        self.rollback()?;
        self.writer = Some(self.store.database()?.writing());
        Ok(())
    }

    fn change(&mut self, place: At, by: u64) -> Result<u64, ClientError> {
        let at = self.layout()?.record(place);
        self.change_at(at, RECORD_BYTES, |bytes| rvm::add(bytes, by))
    }

    fn put(&mut self, slot: u32, record: &History) -> Result<(), ClientError> {
        let at = self.layout()?.history(slot);
        self.change_at(at, HISTORY_BYTES, |bytes| rvm::put(record, bytes))
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.mapped.clear();
        let committed = self.writer.take().map_or(Ok(()), Writing::commit);
        committed.map_err(|error| ClientError::engine(ENGINE, "committing", error))
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.mapped.clear();
        self.writer = None;
        Ok(())
    }

    fn contents(&mut self, contents: &mut Contents) -> Result<(), ClientError> {
        let layout = self.layout()?;
        let reading = self.store.database()?.reading();
        let failed = |error| ClientError::engine(ENGINE, "reading everything", error);
        let beyond = || malformed("a place beyond the region");
        let accounts = layout.accounts;
        let tellers = (0..TELLERS).map(At::Teller);
        let places = std::iter::once(At::Branch).chain(tellers);
        for place in places.chain((0..accounts).map(At::Account)) {
            let (page, at) = layout.record(place).ok_or_else(beyond)?;
            let words = reading.read(page, |view| view.words(at)).map_err(failed)?;
            contents.record(place, &words.ok_or_else(beyond)?);
        }
        for slot in 0..2 * accounts {
            let (page, at) = layout.history(slot).ok_or_else(beyond)?;
            let words = reading.read(page, |view| view.words(at)).map_err(failed)?;
            contents.history(slot, &words.ok_or_else(beyond)?);
        }
        Ok(())
    }

    fn logged(&self) -> Option<Logged> {
        self.store.database().ok().and_then(|database| database.logged())
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        self.store.size_bytes()
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let mut terms = self.store.terms(ACCESS)?;
        if self.layout.is_some() {
            terms.push(("access".to_owned(), "objects".to_owned()));
        }
        Ok(terms)
    }
}
