//! Whatever is done, in whatever order, a page holds what was put there last.

use proptest::prelude::*;

use std::collections::BTreeMap;

use super::{ALL, TestDisk, buffer, options, pages_mapped, set_word, word};
use crate::buffer::{Buffer, BufferOptions};
use crate::page::{PAGE_BYTES, PageNumber};
use crate::pages::Version;

const PAGES: PageNumber = 1000;

#[derive(Debug, Clone, Copy)]
enum Step {
    Read(PageNumber),
    ReadAgain(PageNumber),
    Change(PageNumber, u64),
    Latch(PageNumber),
    WriteDirty,
    Forget,
}

fn step() -> impl Strategy<Value = Step> {
    // Half of the steps stay on few pages, so that there are hits.
    let page = prop_oneof![0..PAGES, 500..520_u32];
    prop_oneof![
        10 => page.clone().prop_map(Step::Read),
        6 => page.clone().prop_map(Step::ReadAgain),
        8 => (page.clone(), any::<u64>()).prop_map(|(page, value)| Step::Change(page, value)),
        2 => page.prop_map(Step::Latch),
        1 => Just(Step::WriteDirty),
        1 => Just(Step::Forget),
    ]
}

/// The content of the pages, and the one that each version stood for.
struct Model {
    words: Vec<u64>,
    versions: BTreeMap<(PageNumber, Version), u64>,
    latest: BTreeMap<PageNumber, Version>,
}

impl Model {
    fn changed(&self) -> impl Iterator<Item = (PageNumber, u64)> {
        let pages = (0..PAGES).zip(self.words.iter().copied());
        pages.filter(|&(page, word)| word != u64::from(page))
    }

    fn take(&mut self, buffer: &Buffer, step: Step) {
        match step {
            Step::Read(page) => {
                let (seen, version) = buffer.read_with_version(page, |view| view.u64(64)).unwrap();
                assert_eq!(seen, self.words[page as usize]);
                assert_ne!(version, Version(0), "0 is no version");
                assert_eq!(*self.versions.entry((page, version)).or_insert(seen), seen);
                let before = self.latest.insert(page, version).unwrap_or_default();
                assert!(before <= version, "versions only grow");
            }
            Step::ReadAgain(page) => {
                let version = self.latest.get(&page).copied().unwrap_or_default();
                if let Some(seen) = buffer.try_read_version(page, version, |view| view.u64(64)) {
                    assert_eq!(seen, self.words[page as usize]);
                    assert_eq!(seen, self.versions[&(page, version)]);
                }
            }
            Step::Change(page, value) => {
                set_word(buffer, page, value);
                self.words[page as usize] = value;
            }
            Step::Latch(page) => drop(buffer.latch(page).unwrap()),
            Step::WriteDirty => buffer.write_dirty().unwrap(),
            Step::Forget => buffer.forget(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn sixteen_pages_of_memory_serve_a_thousand(
        steps in prop::collection::vec(step(), 1..400),
        replacement in prop::sample::select(ALL.to_vec()),
        read_ahead_pages in prop::sample::select(vec![0_u32, 1, 3, 4, 64]),
    ) {
        let disk = TestDisk::with_pages(PAGES);
        let options = BufferOptions { read_ahead_pages, ..options(replacement) };
        let buffer = buffer(&disk, &options);
        let words = (0..u64::from(PAGES)).collect();
        let mut model = Model { words, versions: BTreeMap::new(), latest: BTreeMap::new() };
        for step in steps {
            model.take(&buffer, step);
            prop_assert!(buffer.counters().pages_resident <= 16);
        }
        prop_assert!(pages_mapped(&buffer) as u64 <= buffer.counters().pages_resident);
        buffer.write_dirty().unwrap();
        for (page, changed) in model.changed() {
            prop_assert_eq!(disk.word(page), changed);
        }
        buffer.forget();
        prop_assert_eq!(buffer.counters().pages_resident, 0, "all are clean and unused");
        prop_assert_eq!(pages_mapped(&buffer), 0);
        for (page, changed) in model.changed() {
            prop_assert_eq!(word(&buffer, page), changed);
        }
    }
}

#[test]
fn a_cache_larger_than_the_volume_reads_each_page_once() {
    let disk = TestDisk::with_pages(100);
    let cache_bytes = 4096 * PAGE_BYTES as u64;
    for replacement in ALL {
        let buffer = buffer(&disk, &BufferOptions { cache_bytes, ..options(replacement) });
        for page in (0..100).chain(0..100) {
            assert_eq!(word(&buffer, page), u64::from(page));
        }
        let counters = buffer.counters();
        assert_eq!((counters.misses, counters.evictions), (100, 0));
        assert_eq!(counters.pages_resident, 100);
    }
}
