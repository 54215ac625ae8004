use super::{
    Body, HEAD_BYTES, IMAGE_BYTES, Lsn, RECORD_BYTES_MAX, Record, checksum, decode, durable_before,
    encode, offset, put,
};
use crate::error::LodeError;
use crate::log::packed::Packed;
use crate::log::runs::{Runs, difference};
use crate::page::PAGE_BYTES;
use proptest::prelude::*;

fn encoded(body: &Body, transaction: u64, lsn: Lsn, epoch: u64) -> Vec<u8> {
    let mut bytes = vec![0xee; body.record_bytes()];
    encode(&mut bytes, body, transaction, lsn, epoch, None);
    bytes
}

fn runs() -> impl Strategy<Value = Runs> {
    let change = (16..PAGE_BYTES, any::<u8>(), 1..900_usize);
    prop::collection::vec(change, 0..9).prop_map(|changes| {
        let mut page = [0; PAGE_BYTES];
        for (at, value, length) in changes {
            page[at..(at + length).min(PAGE_BYTES)].fill(value);
        }
        difference(&[0; PAGE_BYTES], &page)
    })
}

fn packed() -> impl Strategy<Value = Packed> {
    prop::collection::btree_map(any::<u32>(), runs(), 0..3).prop_map(|pages| {
        let mut packed = Packed::default();
        let changed = pages.iter().filter(|(_, runs)| !runs.is_empty());
        changed.for_each(|(page, runs)| packed.push(*page, runs, Some(&[0; PAGE_BYTES])));
        packed
    })
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        (any::<u32>(), runs()).prop_map(|(page, runs)| Body::Redo { page, runs }),
        (any::<u32>(), runs()).prop_map(|(page, runs)| Body::Undo { page, runs }),
        (packed(), any::<bool>()).prop_map(|(changes, commits)| Body::Packed { changes, commits }),
        (any::<u32>(), any::<u8>())
            .prop_map(|(page, byte)| Body::Image { page, bytes: Box::new([byte; 4096]) }),
        prop::collection::vec((0..1_000_000_u32, 1..1_000_u32), 0..20)
            .prop_map(|runs| Body::Begun { runs }),
        Just(Body::Commit),
        Just(Body::Placed),
        Just(Body::End),
        (any::<u64>(), prop::collection::vec(any::<u64>(), 0..20)).prop_map(
            |(needed_from, transactions)| Body::Checkpoint {
                needed_from: Lsn(needed_from),
                transactions
            }
        ),
    ]
}

#[test]
fn a_commit_has_these_bytes() {
    let bytes = encoded(&Body::Commit, 0x0102, Lsn(4_096), 1);
    assert_eq!(bytes[8..16], [32, 0, 0, 0, 4, 0, 0, 0]);
    assert_eq!(bytes[16..32], [0, 16, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[..8], 0x9507_7a0e_ad65_e9cd_u64.to_le_bytes());
}

#[test]
fn the_longest_records_of_a_page_fit() {
    let image = Body::Image { page: 9, bytes: Box::new([1; PAGE_BYTES]) };
    assert_eq!(image.record_bytes(), IMAGE_BYTES);
    let whole = Body::Redo { page: 9, runs: Runs::whole(&[1; PAGE_BYTES]) };
    assert!(whole.record_bytes() <= IMAGE_BYTES);
    let mut sparse = [0; PAGE_BYTES];
    (16..PAGE_BYTES).step_by(40).for_each(|at| sparse[at] = 1);
    let runs = difference(&[0; PAGE_BYTES], &sparse);
    assert_eq!(runs.count(), 102);
    assert!(Body::Undo { page: 9, runs }.record_bytes() < IMAGE_BYTES);
}

#[test]
fn a_checksum_that_fits_nonsense_is_damage() {
    let sealed = |kind: u8, content: &[u8]| {
        let mut bytes = vec![0; HEAD_BYTES + content.len()];
        encode(&mut bytes[..HEAD_BYTES], &Body::Commit, 1, Lsn(8), 3, None);
        bytes[HEAD_BYTES..].copy_from_slice(content);
        bytes[offset::KIND] = kind;
        let length = bytes.len() as u32;
        put(&mut bytes, offset::LENGTH, &length.to_le_bytes());
        let sum = checksum(&bytes, 3);
        put(&mut bytes, offset::CHECKSUM, &sum.to_le_bytes());
        decode(&bytes, Lsn(8), 3)
    };
    assert!(matches!(sealed(4, &[]), Ok(Some(_))));
    let too_many = [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0];
    let no_page = [1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0];
    let beyond = [1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 255, 255, 255, 255];
    let cases: [(u8, &[u8]); 14] = [
        (0, &[]),
        (7, &[]),
        (7, &no_page),
        (7, &beyond),
        (8, &[0; 8]),
        (9, &[]),
        (10, &[1; 8]),
        (11, &[]),
        (4, &[0; 8]),
        (1, &[]),
        (1, &[1; 16]),
        (3, &[0; 4_096]),
        (3, &[0; 4_112]),
        (6, &too_many),
    ];
    for (kind, content) in cases {
        let read = sealed(kind, content);
        assert!(matches!(read, Err(LodeError::Corrupt { .. })), "{kind} {}", content.len());
    }
}

#[test]
fn a_record_is_none_where_it_does_not_belong() {
    let bytes = encoded(&Body::Commit, 1, Lsn(4_096), 1);
    assert!(decode(&bytes, Lsn(4_096), 1).unwrap().is_some());
    assert_eq!(decode(&bytes, Lsn(4_104), 1).unwrap(), None);
    assert_eq!(decode(&bytes, Lsn(4_096), 2).unwrap(), None);
    assert_eq!(decode(&bytes[..31], Lsn(4_096), 1).unwrap(), None);
    assert_eq!(decode(&[], Lsn(4_096), 1).unwrap(), None);
    assert_eq!(decode(&[0; RECORD_BYTES_MAX], Lsn(0), 1).unwrap(), None);
}

proptest! {
    #[test]
    fn encoded_values_are_decoded(
        body in body(), transaction: u64, lsn: u64, epoch: u64, behind in 0..40_usize,
    ) {
        let mut bytes = encoded(&body, transaction, Lsn(lsn), epoch);
        prop_assert!(bytes.len().is_multiple_of(8));
        bytes.resize(bytes.len() + behind, 0xee);
        let read = decode(&bytes, Lsn(lsn), epoch).unwrap();
        prop_assert_eq!(read, Some(Record { lsn: Lsn(lsn), transaction, body }));
    }

    #[test]
    fn a_flipped_bit_is_no_record(body in body(), at: prop::sample::Index, bit in 0..8_u32) {
        let mut bytes = encoded(&body, 5, Lsn(8), 2);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert_eq!(decode(&bytes, Lsn(8), 2).unwrap(), None);
    }

    #[test]
    fn any_bytes_decode_without_a_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..200),
        length in 0..160_u32,
        kind in 0..12_u8,
        sealed: bool,
    ) {
        let _ = decode(&bytes, Lsn(8), 2);
        // Such bytes hardly ever reach the body by chance: help them to a length and a sum.
        if bytes.len() >= HEAD_BYTES {
            put(&mut bytes, offset::LENGTH, &length.to_le_bytes());
            put(&mut bytes, offset::LSN, &8_u64.to_le_bytes());
            bytes[offset::KIND] = kind;
            if let Some(record) = bytes.get_mut(..length as usize)
                && sealed && record.len() >= HEAD_BYTES
            {
                let sum = checksum(record, 2);
                put(record, offset::CHECKSUM, &sum.to_le_bytes());
            }
            let _ = decode(&bytes, Lsn(8), 2);
        }
    }
}

#[test]
fn a_record_reports_how_far_the_log_was_durable() {
    let reported = |lsn, durable| {
        let mut bytes = [0; HEAD_BYTES];
        encode(&mut bytes, &Body::Commit, 1, Lsn(lsn), 1, durable);
        assert!(matches!(decode(&bytes, Lsn(lsn), 1), Ok(Some(_))));
        durable_before(&bytes)
    };
    for lsn in [8, 4_096, 1 << 40] {
        for unsynced in [0, 8, 4_000, ((1 << 24) - 2) * 8] {
            let durable = u64::checked_sub(lsn, unsynced).map(Lsn);
            assert_eq!(reported(lsn, durable), durable);
        }
        assert_eq!(reported(lsn, None), None);
    }
    assert_eq!(reported(1 << 40, Some(Lsn(8))), None, "further back than can be reported");
}
