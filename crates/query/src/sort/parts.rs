//! Sorting that can be ended meanwhile.

use std::cmp::Ordering;

use super::Item;
use crate::error::Result;

/// Items between two looks at whether to go on: a tenth of a second's, about.
pub(super) const ITEMS_CHECKED: usize = 1 << 17;

/// Sort items, those that are equal in their order, by halves, so that it can end between them.
/// Where it does, items may be there twice.
pub(super) fn sort_in_parts(
    items: &mut [Item],
    aside: &mut Vec<Item>,
    compare: &impl Fn(&Item, &Item) -> Ordering,
    check: &impl Fn() -> Result<()>,
) -> Result<()> {
    if items.len() <= ITEMS_CHECKED {
        check()?;
        items.sort_by(compare);
        return Ok(());
    }
    let middle = items.len() / 2;
    let (left, right) = items.split_at_mut(middle);
    sort_in_parts(left, aside, compare, check)?;
    sort_in_parts(right, aside, compare, check)?;
    if compare(&items[middle - 1], &items[middle]).is_le() {
        return Ok(());
    }
    aside.clear();
    aside.extend_from_slice(&items[..middle]);
    let (mut left, mut right) = (0, middle);
    // The rest of the right half is in its place.
    while let Some(&first) = aside.get(left) {
        let to = left + right - middle;
        if to.is_multiple_of(ITEMS_CHECKED) {
            check()?;
        }
        match items.get(right) {
            Some(&second) if compare(&second, &first).is_lt() => {
                items[to] = second;
                right += 1;
            }
            _ => {
                items[to] = first;
                left += 1;
            }
        }
    }
    Ok(())
}
