//! A page whose checksum is right and whose contents are not: an error, or an answer, but no panic
//! and no endless walk.

use proptest::prelude::*;

use super::super::{Btree, check};
use super::{empty, number, whole};
use crate::error::{LodeError, Result};
use crate::page::{PAGE_BYTES, PageNumber, offset};
use crate::pages::memory::MemoryPages;
use crate::pages::{PageRead, PageWrite};

/// A tree of two levels with keys that share little and keys that share much.
fn tree() -> (MemoryPages, Btree) {
    let (mut pages, tree) = empty();
    for key in 0..700_u64 {
        tree.insert(&mut pages, &number(key), &key.to_le_bytes()).unwrap();
        let text = format!("{:>30}", key * 7_919 % 700);
        tree.insert(&mut pages, text.as_bytes(), b"text").unwrap();
    }
    assert_eq!(whole(&pages, tree).levels, 2);
    (pages, tree)
}

fn all_pages(pages: &MemoryPages) -> Vec<PageNumber> {
    (4..).take(pages.allocated()).collect()
}

/// Everything that a tree can be asked; that it ends is what is tested.
fn ask_all(pages: &mut MemoryPages, tree: Btree) -> Result<()> {
    let walk = |forwards: bool| -> Result<()> {
        let mut cursor =
            if forwards { tree.forwards(pages, ..)? } else { tree.backwards(pages, ..)? };
        while cursor.entry()?.is_some() {}
        Ok(())
    };
    let walks = [walk(true), walk(false)];
    let pull = || -> Result<()> {
        let (mut leaves, mut key) = (tree.leaves(&*pages, ..)?, Vec::new());
        while let Some(leaf) = leaves.next_leaf(&*pages)? {
            (0..leaf.count()).try_for_each(|index| leaf.append_key(index, &mut key))?;
        }
        Ok(())
    };
    assert!(walks[0].is_err() || pull().is_ok(), "what a cursor takes, the leaves are");
    let mut results = Vec::from(walks);
    for key in (0..700_u64).step_by(3) {
        let key = number(key);
        results.push(tree.get(pages, &key, |value| value.u64(0)).map(drop));
        results.push(tree.put(pages, &key, &key[..5]).map(drop));
        results.push(tree.put(pages, &key, &[1; 600]).map(drop));
        results.push(tree.insert(pages, &[&key[..], b"x"].concat(), b"more").map(drop));
    }
    for key in 0..700_u64 {
        results.push(tree.remove(pages, &number(key)).map(drop));
        results.push(tree.remove(pages, format!("{key:>30}").as_bytes()).map(drop));
    }
    results.into_iter().collect()
}

fn corrupt<T: std::fmt::Debug>(result: Result<T>) {
    match result {
        Err(LodeError::Corrupt { .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_whole_tree_answers_everything() {
    let (mut pages, tree) = tree();
    ask_all(&mut pages, tree).unwrap();
    whole(&pages, tree);
}

#[test]
fn a_page_of_another_kind_is_no_tree() {
    let (pages, _) = tree();
    let stranger = Btree::open(3);
    corrupt(stranger.get(&pages, b"", |_| ()));
    corrupt(stranger.forwards(&pages, ..).map(drop));
    corrupt(check(&pages, 3));
    corrupt(Btree::open(9_999).get(&pages, b"", |_| ()));
}

#[test]
fn a_child_above_itself_is_seen() {
    let (mut pages, tree) = tree();
    let root = tree.root();
    pages
        .write(root, |bytes| bytes.put_u32(super::super::layout::offset::FIRST_CHILD, root))
        .unwrap();
    corrupt(tree.get(&pages, &[0], |_| ()));
    corrupt(tree.insert(&mut pages, &[0], b""));
    corrupt(check(&pages, root));
}

#[test]
fn a_chain_in_a_circle_is_seen() {
    let (mut pages, tree) = tree();
    let mut leaves = Vec::new();
    for page in all_pages(&pages) {
        let (level, next) = pages.read(page, |view| (view.level(), view.next())).unwrap();
        if level == 0 && next != 0 {
            leaves.push(page);
        }
    }
    for &leaf in &leaves {
        let links = pages.read(leaf, |view| (view.next(), view.previous())).unwrap();
        pages.write(leaf, |bytes| bytes.put_u32(offset::NEXT, leaf)).unwrap();
        pages.write(leaf, |bytes| bytes.put_u32(offset::PREVIOUS, leaf)).unwrap();
        corrupt(check(&pages, tree.root()));
        let mut cursor = tree.forwards(&pages, ..).unwrap();
        let ended = loop {
            match cursor.entry() {
                Ok(Some(_)) => {}
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        corrupt(ended);
        pages.write(leaf, |bytes| bytes.put_u32(offset::NEXT, links.0)).unwrap();
        pages.write(leaf, |bytes| bytes.put_u32(offset::PREVIOUS, links.1)).unwrap();
    }
}

#[test]
fn a_count_beyond_the_page_is_seen() {
    let (mut pages, tree) = tree();
    for page in all_pages(&pages) {
        pages.write(page, |bytes| bytes.put_u16(offset::COUNT, u16::MAX)).unwrap();
    }
    corrupt(check(&pages, tree.root()));
    corrupt(tree.insert(&mut pages, b"key", b""));
    drop(ask_all(&mut pages, tree));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn damaged_pages_end_in_an_answer_or_an_error(
        damages in prop::collection::vec(
            (any::<prop::sample::Index>(), prop_oneof![16..64_usize, 16..PAGE_BYTES], any::<u8>()),
            1..30,
        ),
    ) {
        let (mut pages, tree) = tree();
        let all = all_pages(&pages);
        for (page, at, byte) in damages {
            let page = all[page.index(all.len())];
            pages.write(page, |bytes| bytes.put_u8(at, byte)).unwrap();
        }
        drop(check(&pages, tree.root()));
        drop(ask_all(&mut pages, tree));
    }
}
