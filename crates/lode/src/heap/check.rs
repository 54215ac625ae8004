//! Everything that must hold of a whole heap.

use std::collections::BTreeMap;

use super::{Heap, RecordId, copy, flag, owner, room};
use crate::error::Result;
use crate::page::{self, NO_PAGE, PageBytes, PageNumber};
use crate::pages::Pages;
use crate::slotted::{self, Damaged};

/// What the chain's pages hold between them.
#[derive(Default)]
struct Found {
    /// Each page's mark.
    marks: BTreeMap<PageNumber, u8>,
    /// For each forward, where it leads.
    forwards: BTreeMap<RecordId, RecordId>,
    /// For each body, whose it is.
    bodies: BTreeMap<RecordId, RecordId>,
    records: u64,
}

impl Heap {
    /// Read the whole heap and hold every page, every forward and every list against each other;
    /// the number of records. [`crate::LodeError::Corrupt`] names the first contradiction.
    pub fn check(self, pages: &impl Pages) -> Result<u64> {
        let (key, mut found) = (pages.label_key(), Found::default());
        let mut chain = self.chain(pages)?;
        let mut last = NO_PAGE;
        while let Some(page) = chain.next_page(pages)? {
            let bytes = copy(pages, page)?;
            found.take(page, &bytes, key).map_err(|damaged| damaged.on(page))?;
            last = page;
        }
        if self.root_field(pages, room::offset::LAST)? != last {
            return Err(Damaged("it names another last page").on(self.root));
        }
        for (id, body) in &found.forwards {
            if found.bodies.get(body) != Some(id) {
                return Err(Damaged("its forward leads to no body of its own").in_record(*id));
            }
        }
        if let Some(id) = found.bodies.values().find(|id| !found.forwards.contains_key(id)) {
            return Err(Damaged("a body says that it is this record's").in_record(*id));
        }
        self.check_lists(pages, &found.marks)?;
        Ok(found.records + found.forwards.len() as u64)
    }

    fn check_lists(self, pages: &impl Pages, marks: &BTreeMap<PageNumber, u8>) -> Result<()> {
        let current = self.root_field(pages, room::offset::CURRENT)?;
        for (&page, &mark) in marks {
            if (mark == room::mark::CURRENT) != (page == current) {
                return Err(Damaged("it and the root do not agree on what is current").on(page));
            }
        }
        let mut left = marks.values().filter(|&&mark| (1..=room::CLASSES).contains(&mark)).count();
        for class in 1..=room::CLASSES {
            let mut previous = NO_PAGE;
            let mut page = self.root_field(pages, room::list_at(class))?;
            while page != NO_PAGE {
                let (before, after) = pages.read(page, |view| (view.previous(), view.next()))?;
                if marks.get(&page) != Some(&class) || before != previous || left == 0 {
                    return Err(Damaged("it is on a list that it does not know of").on(page));
                }
                left -= 1;
                (previous, page) = (page, after);
            }
        }
        if left != 0 {
            return Err(Damaged("pages are missing on its lists").on(self.root));
        }
        Ok(())
    }
}

impl Found {
    fn take(&mut self, page: PageNumber, bytes: &PageBytes, key: u64) -> slotted::Result<()> {
        slotted::check(bytes)?;
        let mark = bytes[page::offset::LEVEL];
        let is_mark = mark <= room::CLASSES || mark == room::mark::CURRENT;
        if !is_mark || mark < room::class_of(slotted::room_in(bytes)?) {
            return Err(Damaged("its class is not that of its room"));
        }
        self.marks.insert(page, mark);
        for slot in 0..page::u16_at(bytes, page::offset::COUNT) {
            let Some(record) = slotted::find_in(bytes, slot)? else { continue };
            let place = RecordId { page, slot };
            let labelled = &bytes[record.at..record.at + record.len];
            match (record.flags, owner(labelled, key)) {
                (flag::RECORD, Some(id)) if id == place => self.records += 1,
                (flag::RECORD, _) => return Err(Damaged("a record bears another's label")),
                (flag::FORWARD, _) if record.len == size_of::<u64>() => {
                    let body = RecordId::of(page::u64_at(bytes, record.at));
                    let body = body.ok_or(Damaged("a forward leads nowhere"))?;
                    self.forwards.insert(place, body);
                }
                (flag::BODY, Some(id)) => {
                    self.bodies.insert(place, id);
                }
                _ => return Err(Damaged("a slot holds something unknown")),
            }
        }
        Ok(())
    }
}
