//! Everything that must hold of a whole heap.

use std::collections::BTreeMap;

use super::{Heap, RecordId, copy, flag, free_space, owner};
use crate::error::Result;
use crate::page::{self, NO_PAGE, PageBytes, PageNumber};
use crate::pages::PageRead;
use crate::slotted::{self, Corruption};

/// The content of the chain's pages together.
#[derive(Default)]
struct Found {
    /// Each page's state.
    states: BTreeMap<PageNumber, u8>,
    /// For each stub, where it leads.
    stubs: BTreeMap<RecordId, RecordId>,
    /// For each relocated record, whose it is.
    relocated: BTreeMap<RecordId, RecordId>,
    records: u64,
}

impl Heap {
    /// Read the whole heap and hold every page, every stub and every list against each other;
    /// the number of records. [`crate::LodeError::Corrupt`] names the first contradiction.
    pub fn check(self, pages: &impl PageRead) -> Result<u64> {
        let (key, mut found) = (pages.salt(), Found::default());
        let mut chain = self.chain(pages)?;
        let mut last = NO_PAGE;
        while let Some(page) = chain.next_page(pages)? {
            let bytes = copy(pages, page)?;
            found.take(page, &bytes, key).map_err(|corruption| corruption.on(page))?;
            last = page;
        }
        if self.root_field(pages, free_space::offset::LAST)? != last {
            return Err(Corruption("it names another last page").on(self.root));
        }
        for (id, relocated) in &found.stubs {
            if found.relocated.get(relocated) != Some(id) {
                return Err(Corruption("its stub leads to no relocated of its own").in_record(*id));
            }
        }
        if let Some(id) = found.relocated.values().find(|id| !found.stubs.contains_key(id)) {
            return Err(Corruption("a relocated record claims to be this record's").in_record(*id));
        }
        self.check_lists(pages, &found.states)?;
        Ok(found.records + found.stubs.len() as u64)
    }

    fn check_lists(self, pages: &impl PageRead, states: &BTreeMap<PageNumber, u8>) -> Result<()> {
        let current = self.root_field(pages, free_space::offset::CURRENT)?;
        for (&page, &state) in states {
            if (state == free_space::page_state::CURRENT) != (page == current) {
                return Err(Corruption("it and the root do not agree on what is current").on(page));
            }
        }
        let mut left =
            states.values().filter(|&&state| (1..=free_space::CLASSES).contains(&state)).count();
        for class in 1..=free_space::CLASSES {
            let mut previous = NO_PAGE;
            let mut page = self.root_field(pages, free_space::list_at(class))?;
            while page != NO_PAGE {
                let (before, after) = pages.read(page, |view| (view.previous(), view.next()))?;
                if states.get(&page) != Some(&class) || before != previous || left == 0 {
                    return Err(
                        Corruption("it is on a list that its header does not name").on(page)
                    );
                }
                left -= 1;
                (previous, page) = (page, after);
            }
        }
        if left != 0 {
            return Err(Corruption("pages are missing on its lists").on(self.root));
        }
        Ok(())
    }
}

impl Found {
    fn take(&mut self, page: PageNumber, bytes: &PageBytes, key: u64) -> slotted::Result<()> {
        slotted::check(bytes)?;
        let state = bytes[page::offset::LEVEL];
        let is_state = state <= free_space::CLASSES || state == free_space::page_state::CURRENT;
        if !is_state || state < free_space::class_of(slotted::free_space_in(bytes)?) {
            return Err(Corruption("its class is not that of its room"));
        }
        self.states.insert(page, state);
        for slot in 0..page::u16_at(bytes, page::offset::COUNT) {
            let Some(record) = slotted::find_in(bytes, slot)? else { continue };
            let place = RecordId { page, slot };
            let tagged = &bytes[record.at..record.at + record.len];
            match (record.flags, owner(tagged, key)) {
                (flag::RECORD, Some(id)) if id == place => self.records += 1,
                (flag::RECORD, _) => return Err(Corruption("a record carries another's tag")),
                (flag::STUB, _) if record.len == size_of::<u64>() => {
                    let relocated = RecordId::of(page::u64_at(bytes, record.at));
                    let relocated = relocated.ok_or(Corruption("a stub leads nowhere"))?;
                    self.stubs.insert(place, relocated);
                }
                (flag::RELOCATED, Some(id)) => {
                    self.relocated.insert(place, id);
                }
                _ => return Err(Corruption("a slot holds something unknown")),
            }
        }
        Ok(())
    }
}
