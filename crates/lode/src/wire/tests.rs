//! Every frame comes back as it went, and no bytes at all do harm.

use proptest::prelude::*;

use super::*;
use crate::lock::Mode;
use crate::log::difference;
use crate::page::PAGE_BYTES;

fn requests() -> Vec<Request> {
    let (before, mut after) = ([0; PAGE_BYTES], [0; PAGE_BYTES]);
    after[100] = 7;
    after[PAGE_BYTES - 1] = 9;
    let runs = difference(&before, &after);
    let none = difference(&before, &before);
    let changes = vec![Change { page: 5, runs }, Change { page: u32::MAX, runs: none }];
    let lock =
        Lock { slot: 3, access: Access::Writing, mode: Mode::Exclusive, page: 77, known: u64::MAX };
    vec![
        Request::Hello(Hello { version: VERSION, identity: [9; 16], session: 1 }),
        Request::Lock(lock),
        Request::Lock(Lock { mode: Mode::Shared, ..lock }),
        Request::Lock(Lock { mode: Mode::Shared, access: Access::Reading, ..lock }),
        Request::End { slot: u32::MAX },
        Request::Fetch { first: 8, count: FETCH_PAGES_MAX },
        Request::Grow { pages_total: 99 },
        Request::Changes { slot: 1, changes: changes.clone() },
        Request::Changes { slot: 1, changes: Vec::new() },
        Request::Commit { slot: 1, changes },
    ]
}

fn replies() -> Vec<Reply> {
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
    vec![
        Reply::Welcome(welcome),
        locked(Stale::Nothing),
        locked(Stale::Some(vec![3, 1, 2])),
        locked(Stale::Some(Vec::new())),
        locked(Stale::All),
        locked(Stale::This(Box::new([5; PAGE_BYTES]))),
        Reply::Pages { position: 8, first: 3, bytes: vec![1; 2 * PAGE_BYTES] },
        Reply::Grown { pages_total: 7 },
        Reply::Committed { position: u64::MAX },
        Reply::Refused(Refusal::other("will not")),
        Reply::Refused(Refusal::from(&crate::LodeError::corrupt_page(3, "it is torn"))),
    ]
}

fn frames() -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    for request in requests() {
        let mut frame = vec![1, 2, 3];
        request.encode(&mut frame);
        frames.push(frame);
    }
    for reply in replies() {
        let mut frame = Vec::new();
        reply.encode(&mut frame);
        frames.push(frame);
    }
    frames
}

#[test]
fn messages_are_read_as_they_were_sent() {
    let mut frame = Vec::new();
    for request in requests() {
        request.encode(&mut frame);
        assert_eq!(decode_request(&frame).as_ref(), Some(&request));
        assert_eq!(decode_reply(&frame), None, "a request is no reply");
        assert_eq!(frame_bytes(&frame), Some(frame.len()));
    }
    for reply in replies() {
        reply.encode(&mut frame);
        assert_eq!(decode_reply(&frame).as_ref(), Some(&reply));
        assert_eq!(decode_request(&frame), None, "a reply is no request");
    }
}

#[test]
fn a_flipped_bit_or_a_missing_byte_is_seen() {
    for frame in frames() {
        let step = frame.len() / 97 + 1;
        for at in (0..frame.len()).filter(|at| *at < 64 || at.is_multiple_of(step)) {
            let mut flipped = frame.clone();
            flipped[at] ^= 1 << (at % 8);
            assert_eq!(open_frame(&flipped), None, "byte {at} of {}", frame.len());
            assert_eq!(open_frame(&frame[..at]), None);
        }
        let longer: Vec<u8> = frame.iter().copied().chain([0]).collect();
        assert_eq!(open_frame(&longer), None);
    }
}

#[test]
fn impossible_contents_are_refused_though_the_checksum_fits() {
    let mut bytes = Vec::new();
    for content in requests().iter().map(|request| {
        request.encode(&mut bytes);
        bytes.clone()
    }) {
        let (kind, content) = open_frame(&content).unwrap();
        for end in 0..content.len() {
            assert_eq!(Request::decode(kind, &content[..end]), None, "kind {kind} cut at {end}");
        }
        let longer = [content, &[0]].concat();
        assert_eq!(Request::decode(kind, &longer), None, "kind {kind} with a byte more");
    }
    assert_eq!(Request::decode(4, &[0, 0, 0, 0, 0, 0, 0, 0]), None, "no page is fetched");
    assert_eq!(Request::decode(4, &[0, 0, 0, 0, 65, 0, 0, 0]), None, "too many are");
    assert_eq!(Request::decode(4, &[255, 255, 255, 255, 2, 0, 0, 0]), None, "there are no such");
    assert_eq!(Request::decode(7, &[1, 0, 0, 0, 255, 255, 255, 255]), None, "no such changes");
}

#[test]
fn errors_keep_their_meaning() {
    let reported =
        |error: crate::LodeError| crate::LodeError::from(Refusal::from(&error)).to_string();
    for error in [
        crate::LodeError::Deadlock,
        crate::LodeError::RolledBack,
        crate::LodeError::ReadOnly,
        crate::LodeError::Uncertain { why: "the disk failed".to_owned() },
        crate::LodeError::corrupt_page(3, "it is torn"),
        crate::LodeError::Server { what: "is tired".to_owned() },
    ] {
        let text = error.to_string();
        assert_eq!(reported(error), text);
    }
    let long = crate::LodeError::Server { what: "\u{e4}".repeat(10_000) };
    assert!(reported(long).len() < 5_000);
}

proptest! {
    #[test]
    fn no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300), kind: u8) {
        prop_assert_eq!(decode_request(&bytes), None);
        prop_assert_eq!(decode_reply(&bytes), None);
        let _ = frame_bytes(&bytes);
        // As if the checksum had fitted.
        let _ = Request::decode(kind % 16, &bytes);
        let _ = Reply::decode(kind % 16 + 124, &bytes);
    }
}
