//! Any bytes are a slotted page or none: whatever is looked up in them lies within them, and what
//! is changed on a page that was whole leaves it whole.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lode::internals::page::PAGE_BYTES;
use lode::internals::slotted::{self, Fit};
use lode::internals::aligned_page::AlignedPage;
use lode::internals::view::View;

fuzz_target!(|bytes: &[u8]| {
    let (steps, bytes) = bytes.split_at(bytes.len().min(32));
    let mut page = AlignedPage::zeros();
    let len = bytes.len().min(PAGE_BYTES / 2);
    // The beginning has the header, the end the slots.
    page[..len].copy_from_slice(&bytes[..len]);
    let rest = &bytes[len..];
    let len = rest.len().min(PAGE_BYTES / 2);
    page[PAGE_BYTES - len..].copy_from_slice(&rest[..len]);

    let mut whole = slotted::check(&page).is_ok();
    for step in steps.chunks_exact(4) {
        let (slot, len) = (u16::from(step[1]), usize::from(step[2]) * 17);
        let done = match step[0] % 4 {
            0 => {
                let room = slotted::room_in(&page);
                let slot = slotted::insert(&mut page.page_mut(), &vec![step[3]; len], step[3] % 16);
                if let (true, Ok(room), Ok(slot)) = (whole, room, slot) {
                    assert_eq!(slot.is_some(), len <= room && room > 0);
                }
                slot.map(drop)
            }
            1 => slotted::update(&mut page.page_mut(), slot, &vec![step[3]; len], 0).map(|fit| {
                assert!(!matches!(fit, Fit::Done(record) if record.len != len));
            }),
            2 => slotted::delete(&mut page.page_mut(), slot).map(drop),
            _ => slotted::resize(&mut page.page_mut(), slot, len).map(drop),
        };
        assert!(!whole || done.is_ok(), "{done:?}");
        whole = slotted::check(&page).is_ok() || {
            assert!(!whole);
            false
        };
        look(&page);
    }
    look(&page);
});

fn look(page: &AlignedPage) {
    let view = View::of(page);
    for slot in 0..=slotted::slots(view) {
        let found = slotted::find(view, slot);
        assert_eq!(found, slotted::find_in(page, slot));
        if let Ok(Some(record)) = found {
            assert!(record.at + record.len <= PAGE_BYTES);
        }
    }
    assert!(slotted::room(view) < PAGE_BYTES);
}
