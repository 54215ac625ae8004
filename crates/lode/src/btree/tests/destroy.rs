//! A tree that is given back leaves nothing.

use super::*;

#[test]
fn every_page_is_given_back() {
    for count in [0, 1, 300, 40_000] {
        let (mut pages, tree) = empty();
        let entries = (0..count).map(|at| (number(at * 3), number(at)));
        tree.bulk_load(&mut pages, entries, 100).unwrap();
        for other in 0..count / 50 {
            tree.put(&mut pages, &number(other * 3 + 1), b"between").unwrap();
        }
        tree.destroy(&mut pages).unwrap();
        assert_eq!(pages.allocated(), 0, "of {count} entries");
    }
}
