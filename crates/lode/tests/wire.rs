//! The page server's wire may bring anything, under a checksum that fits: both ends answer what it
//! says or that it says nothing, and make no room for what did not come.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use lode::internals::aligned_page::AlignedPage;
use lode::internals::log::{apply, difference};
use lode::internals::page::PAGE_BYTES;
use lode::internals::wire::{
    Change, FRAME_BYTES_MAX, HEAD_BYTES, Refusal, Reply, Request, Stale, VERSION, Welcome,
    decode_reply, decode_request, open_frame,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes that may be taken for each that came. The worst are changes of nothing: 12 bytes each,
/// 40 in memory, in a list that had to grow once more and has a copy of itself meanwhile.
const TAKEN_PER_BYTE: usize = 12;

/// The least that an answer takes: a page, and a list's first places.
const TAKEN_ANYWAY: usize = 2 * PAGE_BYTES;

/// The system's memory, with a count of what this thread has of it.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static TAKEN: Cell<isize> = const { Cell::new(0) };
    static TAKEN_MOST: Cell<isize> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator, whose calls go on to the system's as they came")]
// SAFETY: the system's allocator keeps the contract, and what is counted has no part in it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let taken = TAKEN.get() + layout.size() as isize;
        TAKEN.set(taken);
        TAKEN_MOST.set(TAKEN_MOST.get().max(taken));
        // SAFETY: the caller keeps what `alloc` requests.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        TAKEN.set(TAKEN.get() - layout.size() as isize);
        // SAFETY: the caller keeps what `dealloc` requests, and all memory came from the system.
        unsafe { System.dealloc(at, layout) }
    }
}

/// The result of `run`, and the most memory that it had at a time.
fn weighed<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.get();
    TAKEN_MOST.set(before);
    let result = run();
    (result, (TAKEN_MOST.get() - before) as usize)
}

/// The frame that says this, under its checksum.
fn frame(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; HEAD_BYTES];
    frame.extend_from_slice(content);
    let length = frame.len() as u32;
    frame[8..12].copy_from_slice(&length.to_le_bytes());
    frame[12] = kind;
    let sum = xxh3_64(&frame[8..]);
    frame[..8].copy_from_slice(&sum.to_le_bytes());
    frame
}

/// Let both ends have it; whether it says anything. What it says comes back as the same bytes, and
/// the runs of its changes lie within a page.
fn hear(kind: u8, content: &[u8]) -> bool {
    let frame = frame(kind, content);
    let (request, taken) = weighed(|| decode_request(&frame));
    assert!(taken <= frame.len() * TAKEN_PER_BYTE + TAKEN_ANYWAY, "kind {kind} took {taken}");
    let (reply, taken) = weighed(|| decode_reply(&frame));
    assert!(taken <= frame.len() * TAKEN_PER_BYTE + TAKEN_ANYWAY, "kind {kind} took {taken}");
    if let Some(Request::Changes { changes, .. } | Request::Commit { changes, .. }) = &request {
        let mut page = AlignedPage::zeros();
        for change in changes {
            apply(&change.runs, &mut page.page_mut()).unwrap();
        }
    }
    let mut again = Vec::new();
    match (&request, &reply) {
        (None, None) => return false,
        (Some(request), None) => request.encode(&mut again),
        (None, Some(reply)) => reply.encode(&mut again),
        (Some(_), Some(_)) => panic!("kind {kind} is both"),
    }
    assert_eq!(again, frame);
    true
}

/// Messages that have a length, a count or a text in them.
fn examples() -> Vec<(u8, Vec<u8>)> {
    let (before, mut after) = ([0; PAGE_BYTES], [0; PAGE_BYTES]);
    (after[100], after[2_000], after[PAGE_BYTES - 1]) = (7, 8, 9);
    let runs = difference(&before, &after);
    let changes = vec![Change { page: 5, runs: runs.clone() }, Change { page: 6, runs }];
    let welcome = Welcome {
        version: VERSION,
        extent_pages: 16,
        identity: [7; 16],
        session: 12,
        position: 1,
        pages_total: 32,
        tactics: "locks=page".to_owned(),
    };
    let locked = |stale| Reply::Locked { position: 4, pages_total: 64, stale };
    let requests = [Request::Commit { slot: 1, changes }, Request::Fetch { first: 8, count: 3 }];
    let replies = [
        Reply::Welcome(welcome),
        locked(Stale::Some(vec![3, 1, 2])),
        locked(Stale::This(Box::new([5; PAGE_BYTES]))),
        Reply::Pages { position: 8, first: 3, bytes: vec![1; 2 * PAGE_BYTES] },
        Reply::Refused(Refusal::other("will not")),
    ];
    let mut frame = Vec::new();
    let mut opened = |encode: &dyn Fn(&mut Vec<u8>)| {
        encode(&mut frame);
        let (kind, content) = open_frame(&frame).unwrap();
        (kind, content.to_vec())
    };
    let mut examples = Vec::new();
    examples.extend(requests.iter().map(|request| opened(&|into| request.encode(into))));
    examples.extend(replies.iter().map(|reply| opened(&|into| reply.encode(into))));
    examples
}

/// The damage that a content may take on its way.
#[derive(Debug, Clone)]
enum Mutation {
    Word { at: prop::sample::Index, word: u32 },
    Cut { at: prop::sample::Index },
    Again { at: prop::sample::Index },
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<prop::sample::Index>;
    let word = prop_oneof![
        0..4_u32,
        any::<u32>(),
        Just(u32::MAX),
        Just(FRAME_BYTES_MAX as u32),
        Just(1 << 31)
    ];
    prop_oneof![
        4 => (index(), word).prop_map(|(at, word)| Mutation::Word { at, word }),
        1 => index().prop_map(|at| Mutation::Cut { at }),
        1 => index().prop_map(|at| Mutation::Again { at }),
    ]
}

fn mutate(content: &mut Vec<u8>, mutation: &Mutation) {
    // Lengths and counts stand in the first words: most hits are there.
    let place = |at: &prop::sample::Index| at.index((content.len() / 4).clamp(1, 12)) * 4;
    match mutation {
        Mutation::Word { at, word } => {
            let at = place(at);
            if let Some(field) = content.get_mut(at..at + 4) {
                field.copy_from_slice(&word.to_le_bytes());
            }
        }
        Mutation::Cut { at } => content.truncate(at.index(content.len() + 1)),
        Mutation::Again { at } => {
            let at = place(at).min(content.len());
            content.extend_from_within(at..);
        }
    }
}

#[test]
fn the_examples_are_understood() {
    for (kind, content) in examples() {
        assert!(hear(kind, &content), "kind {kind}");
    }
}

/// The most that a frame can make the server take: as many changes as it has room for, of nothing.
#[test]
fn as_many_changes_as_a_frame_holds_take_no_more_than_others() {
    let count = (FRAME_BYTES_MAX - HEAD_BYTES - 8) / 12;
    let mut content = [1_u32.to_le_bytes(), (count as u32).to_le_bytes()].concat();
    content.resize(8 + count * 12, 0);
    assert!(hear(7, &content));
    content[4..8].fill(0xff);
    assert!(!hear(7, &content), "it says that more come than do");
}

#[test]
fn bytes_of_a_change_that_belong_to_no_run_are_refused() {
    // One change, of page 5, by no runs, in so many bytes.
    let change = |bytes: u32| [1, 1, 5, 0, bytes, 0].map(u32::to_le_bytes);
    assert!(hear(7, change(0)[..5].as_flattened()));
    assert!(!hear(7, change(4).as_flattened()));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_bytes_are_heard(kind: u8, content in prop::collection::vec(any::<u8>(), 0..300)) {
        hear(kind, &content);
        // Of a kind that there is.
        hear(kind % 8, &content);
        hear(kind % 8 + 128, &content);
    }

    #[test]
    fn messages_that_are_nearly_right_are_read(
        example: prop::sample::Index,
        mutations in prop::collection::vec(mutation(), 1..4),
    ) {
        let mut examples = examples();
        let (kind, mut content) = examples.swap_remove(example.index(examples.len()));
        for mutation in &mutations {
            mutate(&mut content, mutation);
        }
        content.truncate(FRAME_BYTES_MAX - HEAD_BYTES);
        hear(kind, &content);
    }
}
