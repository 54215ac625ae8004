use proptest::prelude::*;

use super::*;
use crate::pages::PageWrite;
use crate::pages::counting::{CountingPages, Counts};
use crate::pages::memory::MemoryPages;

/// Records of a number and three references.
#[derive(Clone, Copy)]
struct Threes(Heap);

impl Edges for Threes {
    type Start = [u64; 3];

    fn records(&self) -> Heap {
        self.0
    }

    fn start(&self, view: View<'_>, at: usize) -> [u64; 3] {
        view.words(at + 8).unwrap_or_default()
    }

    fn follow<P: PageRead, const PREFETCH: bool>(
        &self,
        ahead: &Ahead<'_, P, PREFETCH>,
        _from: Reference,
        start: [u64; 3],
        to: &mut Vec<Reference>,
    ) -> Result<()> {
        let ends = start.map(Reference).into_iter().filter(|&end| end != Reference(0));
        to.extend(ends.inspect(|&end| ahead.note(self.0, end)));
        Ok(())
    }
}

/// Which numbers each number leads to, at most three.
type Graph = Vec<Vec<usize>>;

fn stored(pages: &mut impl PageWrite, graph: &Graph) -> (Threes, Vec<Reference>) {
    let heap = Heap::create(pages, 9).unwrap();
    let mut places = Vec::new();
    for number in 0..graph.len() {
        let record = [number as u64, 0, 0, 0].map(u64::to_le_bytes);
        let id = heap.insert(pages, record.as_flattened(), None).unwrap();
        places.push(heap.reference(pages, id).unwrap());
    }
    for (ends, place) in graph.iter().zip(&places) {
        let put = |record: &mut [u8]| {
            for (field, &end) in record[8..].chunks_exact_mut(8).zip(ends) {
                field.copy_from_slice(&places[end].0.to_le_bytes());
            }
        };
        heap.change(pages, place.id().unwrap(), put).unwrap();
    }
    (Threes(heap), places)
}

/// The records that a walk must see.
fn expected(graph: &Graph, from: usize, depth: u32, seen: &mut Vec<usize>) {
    for &to in graph[from].iter().filter(|_| depth > 0) {
        seen.push(to);
        expected(graph, to, depth - 1, seen);
    }
}

fn number(view: View<'_>, at: usize) -> usize {
    view.u64(at) as usize
}

fn walked(edges: Threes, pages: &impl PageRead, from: Reference, depth: u32) -> Vec<usize> {
    let mut seen = Vec::new();
    let end = edges.walk(pages, from, depth, number, |_, number| {
        seen.push(number);
        ControlFlow::<()>::Continue(())
    });
    assert!(end.unwrap().is_continue());
    seen
}

fn graph() -> impl Strategy<Value = Graph> {
    (2..30_usize)
        .prop_flat_map(|count| prop::collection::vec(prop::collection::vec(0..count, 0..=3), count))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn visited_records_are_prefetched_once_or_never(
        graph in graph(),
        from in 0..30_usize,
        depth in 0..5_u32,
    ) {
        let (from, mut wanted) = (from % graph.len(), Vec::new());
        expected(&graph, from, depth, &mut wanted);
        for (swizzle, prefetch) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut pages = CountingPages::new(MemoryPages::following(swizzle, prefetch));
            let (edges, places) = stored(&mut pages, &graph);
            pages.take_counts();
            prop_assert_eq!(&walked(edges, &pages, places[from], depth), &wanted);
            let Counts { prefetches, prefetches_noted, .. } = pages.take_counts();
            let count = if prefetch { wanted.len() as u64 } else { 0 };
            prop_assert_eq!((prefetches, prefetches_noted), (count, count));
        }
    }
}

#[test]
fn a_walk_ends_where_the_caller_stops_it() {
    let mut pages = CountingPages::new(MemoryPages::following(true, true));
    let (edges, places) = stored(&mut pages, &vec![vec![1, 2, 0], vec![2], vec![]]);
    for depth in [1, 2, 9] {
        let mut seen = Vec::new();
        let end = edges.walk(&pages, places[0], depth, number, |at, number| {
            seen.push(number);
            if number == 2 { ControlFlow::Break(at) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(end.unwrap(), ControlFlow::Break(places[2]));
        assert_eq!(seen, [1, 2], "{depth}");
    }
    let Counts { prefetches, prefetches_noted, .. } = pages.take_counts();
    assert_eq!((prefetches, prefetches_noted), (3 + 4 + 4, 3 + 4 + 4), "also of one cut short");
}

#[test]
fn a_walk_of_any_depth_takes_no_stack() {
    let mut pages = MemoryPages::following(true, false);
    let (edges, places) = stored(&mut pages, &vec![vec![0]]);
    assert_eq!(walked(edges, &pages, places[0], 1_000_000).len(), 1_000_000);
}
