//! Giving back all pages of a tree.

use std::collections::BTreeSet;

use crate::error::{LodeError, Result};
use crate::page::PageNumber;
use crate::pages::PageWrite;

use super::unpacked_node::UnpackedNode;

/// Free every page below `root`, and it too. The pages are known before the first is freed, so that
/// a damaged tree is refused whole.
pub(super) fn destroy(pages: &mut impl PageWrite, root: PageNumber) -> Result<()> {
    let top = UnpackedNode::read(&*pages, root)?;
    let (file, mut level) = (top.file, top.level);
    let mut all = BTreeSet::from([root]);
    let mut above = vec![top];
    while level > 0 {
        level -= 1;
        let children: Vec<PageNumber> = above
            .iter()
            .flat_map(|node| (0..=node.count()).map(|index| node.child(index)))
            .collect();
        above.clear();
        for child in children {
            if !all.insert(child) {
                return Err(LodeError::corrupt_page(child, "two pages name it as their child"));
            }
            // Leaves are not taken apart: that they belong to the file is seen when they are freed.
            if level == 0 {
                continue;
            }
            let node = UnpackedNode::read(&*pages, child)?;
            if node.level != level || node.file != file {
                let how = "its level or file is another than above it";
                return Err(LodeError::corrupt_page(child, how));
            }
            above.push(node);
        }
    }
    all.into_iter().try_for_each(|page| pages.free(page))
}
