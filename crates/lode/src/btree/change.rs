//! Inserting and removing: down to a leaf, and up again as far as pages overflow or become empty.

use crate::error::{LodeError, Result};
use crate::page::{self, NO_PAGE, PageNumber, offset};
use crate::page_mut::PageMut;
use crate::pages::{PageRead, PageWrite};
use crate::view::View;

use super::admit;
use super::layout::{Corruption, Header, KEY_BYTES_MAX, LEVELS_MAX, USABLE_BYTES, kind, slots_at};
use super::node::{self, Left};
use super::search;
use super::split::{Bias, Split};
use super::unpacked_node::{Item, UnpackedNode};

/// The inner pages from the root down, each with the index of the child that was followed.
type Path = Vec<(PageNumber, usize)>;

/// Two neighbours are merged if the page that results has this much or less: a page that is full
/// at once would be split again by the next insertion.
const MERGED_BYTES_MAX: usize = super::layout::offset::PREFIX + USABLE_BYTES * 7 / 8;

/// Put an entry into the tree; answers the value that was there before, which stays unless
/// `replace`.
pub(super) fn put(
    pages: &mut impl PageWrite,
    root: PageNumber,
    key: &[u8],
    value: &[u8],
    replace: bool,
) -> Result<Option<Vec<u8>>> {
    admit(key, value)?;
    let mut path = Path::new();
    let choose = |view: View<'_>| search::find_child(view, key);
    let visit = |page, index| path.push((page, index));
    let (leaf, (position, bias, old)) = search::descend(&*pages, root, choose, visit, |view| {
        let (position, equal) = search::find_in_leaf(view, key);
        let old = if equal { Some(search::value(view, position)?.to_vec()) } else { None };
        let bias = match position {
            at if at == search::leaf_count(view) && view.next() == NO_PAGE => Bias::End,
            0 if view.previous() == NO_PAGE => Bias::Start,
            _ => Bias::Middle,
        };
        Ok((position, bias, old))
    })?;
    if old.is_some() && !replace {
        return Ok(old);
    }
    let item = Item::value(key, value);
    let overfull = edit(pages, leaf, |bytes| node::put(bytes, position, old.is_some(), &item))?;
    if let Some(unpacked) = overfull {
        let bias = if old.is_some() { Bias::Middle } else { bias };
        split(pages, path, leaf, unpacked, bias)?;
    }
    Ok(old)
}

/// Change a page; what contradicts itself in it is reported with its number.
fn edit<R>(
    pages: &mut impl PageWrite,
    page: PageNumber,
    change: impl FnOnce(&mut PageMut<'_>) -> Result<R, Corruption>,
) -> Result<R> {
    pages.write(page, change)?.map_err(|corruption| LodeError::corrupt_page(page, corruption))
}

/// Split an overfull page in two, and its parents as far as they become overfull.
fn split(
    pages: &mut impl PageWrite,
    mut path: Path,
    mut page: PageNumber,
    mut unpacked: UnpackedNode,
    bias: Bias,
) -> Result<()> {
    loop {
        let split =
            unpacked.split(bias).map_err(|corruption| LodeError::corrupt_page(page, corruption))?;
        let Some((parent, index)) = path.pop() else {
            return split_root(pages, page, split);
        };
        let Split { mut left, separator, mut right } = split;
        let right_page = pages.allocate(unpacked.file, kind(unpacked.level))?;
        if unpacked.level == 0 {
            left.next = right_page;
            right.previous = page;
            link(pages, right.next, offset::PREVIOUS, page, right_page)?;
        }
        pages.write(page, |bytes| left.write_to(bytes))?;
        pages.write(right_page, |bytes| right.write_to(bytes))?;
        let item = Item::child(&separator, right_page);
        match edit(pages, parent, |bytes| node::put(bytes, index, false, &item))? {
            Some(overfull) => (page, unpacked) = (parent, overfull),
            None => return Ok(()),
        }
    }
}

/// Put both halves of the root into pages of their own, below it.
fn split_root(pages: &mut impl PageWrite, root: PageNumber, split: Split) -> Result<()> {
    let Split { mut left, separator, mut right } = split;
    let (file, level) = (left.file, left.level);
    if level >= LEVELS_MAX {
        return Err(LodeError::corrupt_page(root, "it is higher than a tree can be"));
    }
    let left_page = pages.allocate(file, kind(level))?;
    let right_page = pages.allocate(file, kind(level))?;
    if level == 0 {
        left.next = right_page;
        right.previous = left_page;
    }
    let mut above = UnpackedNode::new(level + 1, file);
    above.first_child = left_page;
    above.push(&Item::child(&separator, right_page));
    pages.write(left_page, |bytes| left.write_to(bytes))?;
    pages.write(right_page, |bytes| right.write_to(bytes))?;
    pages.write(root, |bytes| above.write_to(bytes))
}

/// Let a leaf's link, at `field`, that says `old` say `new`.
fn link(
    pages: &mut impl PageWrite,
    leaf: PageNumber,
    field: usize,
    old: PageNumber,
    new: PageNumber,
) -> Result<()> {
    if leaf == NO_PAGE {
        return Ok(());
    }
    edit(pages, leaf, |bytes| {
        if Header::of(bytes)?.level > 0 || page::u32_at(bytes, field) != old {
            return Err("its neighbour in the chain is another");
        }
        bytes.put_u32(field, new);
        Ok(())
    })
}

/// Remove a key, and answer its value if it was there.
pub(super) fn remove(
    pages: &mut impl PageWrite,
    root: PageNumber,
    key: &[u8],
) -> Result<Option<Vec<u8>>> {
    let mut path = Path::new();
    let choose = |view: View<'_>| search::find_child(view, key);
    let visit = |page, index| path.push((page, index));
    let (leaf, found) = search::descend(&*pages, root, choose, visit, |view| {
        let (position, equal) = search::find_in_leaf(view, key);
        if !equal {
            return Ok(None);
        }
        Ok(Some((position, search::value(view, position)?.to_vec())))
    })?;
    let Some((position, old)) = found else {
        return Ok(None);
    };
    let left = edit(pages, leaf, |bytes| node::remove_entry(bytes, position))?;
    if left != Left::Enough && !path.is_empty() {
        mend(pages, path, leaf, left)?;
        collapse_root(pages, root)?;
    }
    Ok(Some(old))
}

/// Give back or merge pages in which little or nothing is left, from `page` upwards.
fn mend(
    pages: &mut impl PageWrite,
    mut path: Path,
    mut page: PageNumber,
    mut left: Left,
) -> Result<()> {
    while let Some((parent, index)) = path.pop() {
        left = match left {
            Left::Enough => return Ok(()),
            Left::Nothing => {
                unchain(pages, page)?;
                pages.free(page)?;
                edit(pages, parent, |bytes| node::remove_child(bytes, index))?
            }
            Left::Little => match merge(pages, parent, index)? {
                Some(left) => left,
                None => return Ok(()),
            },
        };
        page = parent;
    }
    if left == Left::Nothing {
        // Not even the root has a child.
        let file = pages.read(page, |view| view.u32(offset::FILE))?;
        pages.write(page, |bytes| UnpackedNode::new(0, file).write_to(bytes))?;
    }
    Ok(())
}

/// Take a leaf out of the chain; inner pages are in none.
fn unchain(pages: &mut impl PageWrite, page: PageNumber) -> Result<()> {
    let (next, previous) = pages.read(page, |view| (view.next(), view.previous()))?;
    link(pages, previous, offset::NEXT, page, next)?;
    link(pages, next, offset::PREVIOUS, page, previous)
}

/// Merge the child of `parent` at `index` with one of its neighbours, if both fit into a page.
/// Answers what is then left of the parent.
fn merge(pages: &mut impl PageWrite, parent: PageNumber, index: usize) -> Result<Option<Left>> {
    let above = UnpackedNode::read(pages, parent)?;
    for left_index in [Some(index), index.checked_sub(1)].into_iter().flatten() {
        if left_index >= above.count() || index > above.count() {
            continue;
        }
        let (left_page, right_page) = (above.child(left_index), above.child(left_index + 1));
        if used_bytes_min(pages, left_page, right_page)? > MERGED_BYTES_MAX {
            continue;
        }
        let (left, right) =
            (UnpackedNode::read(pages, left_page)?, UnpackedNode::read(pages, right_page)?);
        if left.level + 1 != above.level || right.level != left.level || left_page == right_page {
            return Err(LodeError::corrupt_page(parent, "its children are not of its level"));
        }
        let separator = above.key(left_index);
        let ordered = (left.count() == 0 || left.key(left.count() - 1) < separator)
            && (right.count() == 0 || separator <= right.key(0));
        if !ordered {
            return Err(LodeError::corrupt_page(parent, "its children's keys lie elsewhere"));
        }
        let merged = left.merged(separator, &right);
        if merged.page_bytes() > MERGED_BYTES_MAX {
            continue;
        }
        if merged.level == 0 {
            link(pages, merged.next, offset::PREVIOUS, right_page, left_page)?;
        }
        pages.write(left_page, |bytes| merged.write_to(bytes))?;
        pages.free(right_page)?;
        return edit(pages, parent, |bytes| node::remove_child(bytes, left_index + 1)).map(Some);
    }
    Ok(None)
}

/// The least that two pages take when they are merged: only a header and a prefix can be saved.
fn used_bytes_min(pages: &impl PageRead, left: PageNumber, right: PageNumber) -> Result<usize> {
    let used = |page| {
        let header = pages.read(page, |view| Header::of(&view.copy()))?;
        let header = header.map_err(|corruption| LodeError::corrupt_page(page, corruption))?;
        Ok::<_, LodeError>(header.used_bytes())
    };
    Ok((used(left)? + used(right)?).saturating_sub(slots_at(KEY_BYTES_MAX)))
}

/// As long as the root has a single child, take that one's place.
fn collapse_root(pages: &mut impl PageWrite, root: PageNumber) -> Result<()> {
    for _ in 0..LEVELS_MAX {
        let above = pages.read(root, |view| {
            let first_child = view.u32(super::layout::offset::FIRST_CHILD);
            (view.count() == 0 && view.level() > 0).then(|| (view.level(), first_child))
        })?;
        let Some((level, child)) = above else {
            return Ok(());
        };
        let unpacked = UnpackedNode::read(pages, child)?;
        if unpacked.level + 1 != level || unpacked.next != NO_PAGE || unpacked.previous != NO_PAGE {
            return Err(LodeError::corrupt_page(child, "an only child has a neighbour"));
        }
        pages.write(root, |bytes| unpacked.write_to(bytes))?;
        pages.free(child)?;
    }
    Ok(())
}
