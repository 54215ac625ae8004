//! The parts of the mirror, each by itself; `tests/transactions/mirror` has the whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::decision::{Decision, Knows, decide};
use super::disk::{Holds, MirroredDisk};
use super::gate::Gate;
use super::pair::Pair;
use super::state::{Claim, State, StateFile};
use super::{AtOnce, Wish};
use crate::disk::simulated::Simulation;
use crate::disk::tests::{behaves_like_a_model, ends_where_it_ends};
use crate::disk::{Disk, Memory};
use crate::page::PAGE_BYTES;
use crate::tactics::Mirroring;

const IDENTITY: [u8; 16] = *b"the same volume ";

#[expect(clippy::unnecessary_wraps, reason = "a copy may say nothing")]
fn said(claim: Claim, epoch: u64) -> Option<State> {
    Some(State { claim, epoch, identity: IDENTITY })
}

/// The table of `docs/lode-format.md`, each row with the copies in either order.
#[test]
fn what_the_copies_say_decides_as_it_is_drawn() {
    use Claim::{Alone, Both, Incomplete};
    let alone = |knows| Some((0, knows));
    let rows = [
        (said(Both, 4), said(Both, 3), alone(Knows::NotYet)),
        (said(Both, 4), said(Incomplete, 4), alone(Knows::NotYet)),
        (said(Both, 4), said(Incomplete, 3), alone(Knows::NotYet)),
        (said(Both, 4), said(Incomplete, 5), None),
        (said(Alone, 4), said(Both, 3), alone(Knows::Yes)),
        (said(Alone, 4), said(Both, 4), None),
        (said(Alone, 4), said(Incomplete, 4), alone(Knows::Yes)),
        (said(Alone, 4), said(Incomplete, 5), None),
        (said(Alone, 4), None, alone(Knows::Yes)),
        (said(Both, 5), said(Alone, 4), alone(Knows::NotYet)),
        (said(Both, 4), None, None),
        (said(Alone, 4), said(Alone, 9), None),
        (said(Incomplete, 4), said(Incomplete, 4), None),
        (said(Incomplete, 4), None, None),
    ];
    for (one, two, expected) in rows {
        for (states, side) in [([one, two], 0), ([two, one], 1)] {
            match (decide(&states), expected) {
                (Decision::Alone(chosen, knows), Some((_, right))) => {
                    assert_eq!((chosen, knows), (side, right), "{states:?}");
                }
                (Decision::Refused(why), None) => assert!(why.len() > 40, "{why}"),
                (found, _) => panic!("{states:?}: {found:?}"),
            }
        }
    }
    assert_eq!(decide(&[None, None]), Decision::Plain);
    assert_eq!(decide(&[said(Both, 2), said(Both, 2)]), Decision::InStep);
    let other = Some(State { claim: Both, epoch: 2, identity: [0; 16] });
    assert!(matches!(decide(&[said(Both, 2), other]), Decision::Refused(_)));
}

#[test]
fn a_state_that_is_written_is_read_and_one_of_its_pages_may_be_damaged() {
    let disk = Arc::new(Memory::new());
    let (mut file, found) = StateFile::open(Arc::clone(&disk) as Arc<dyn Disk>).unwrap();
    assert_eq!(found, None);
    let states = [(Claim::Both, 1), (Claim::Alone, 2), (Claim::Incomplete, 3), (Claim::Both, 4)];
    for (place, (claim, epoch)) in states.into_iter().enumerate() {
        let state = State { claim, epoch, identity: IDENTITY };
        file.write(&state).unwrap();
        let found = StateFile::open(Arc::clone(&disk) as Arc<dyn Disk>).unwrap().1;
        assert_eq!(found, Some(state));
        // As if this write had not arrived: the one before holds.
        let at = (place as u64 + 1) % 2 * PAGE_BYTES as u64;
        let mut page = [0; PAGE_BYTES];
        disk.read(at, &mut page).unwrap();
        disk.write(at + 24, &[77]).unwrap();
        let before = StateFile::open(Arc::clone(&disk) as Arc<dyn Disk>);
        match place {
            0 => assert!(before.is_err()),
            _ => assert_eq!(before.unwrap().1.unwrap().epoch, epoch - 1),
        }
        disk.write(at, &page).unwrap();
    }
}

fn mirrored(simulation: &Simulation, at_once: AtOnce) -> Arc<MirroredDisk> {
    let state = |name| Some(StateFile::open(Arc::new(simulation.disk(name))).unwrap().0);
    let states = [state("1-state"), state("2-state")];
    let pair = Arc::new(Pair::new(1, IDENTITY, states, Default::default()));
    let file = |name| Some(Arc::new(simulation.disk(name)) as Arc<dyn Disk>);
    let wish = Wish { policy: Mirroring::Idle, at_once, read_only: false };
    MirroredDisk::new(pair, [file("1"), file("2")], Holds::Records, wish)
}

#[test]
fn behaves_like_bytes_in_memory() {
    for at_once in [AtOnce::Never, AtOnce::Syncs, AtOnce::All] {
        let simulation = Simulation::new();
        let disk = mirrored(&simulation, at_once);
        behaves_like_a_model(&*disk, 1);
        ends_where_it_ends(&*disk);
        let image = simulation.killed();
        let [one, two] = ["1", "2"].map(|name| {
            let file = image.disk(name);
            let mut bytes = vec![0; file.len_bytes().unwrap() as usize];
            file.read(0, &mut bytes).unwrap();
            bytes
        });
        assert!(one == two, "{at_once:?}");
    }
}

/// Threads write and copy overlapping ranges; nobody is ever in a range with a copier.
#[test]
fn no_range_is_written_while_it_is_copied() {
    let gate = Gate::new();
    let (writers, copiers) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for at in 0..2_000 {
                    let writing = gate.write(at % 7..at % 7 + 4);
                    writers.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(copiers.load(Ordering::SeqCst), 0);
                    writers.fetch_sub(1, Ordering::SeqCst);
                    drop(writing);
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..2_000 {
                // Within every writer's range.
                let alone = gate.alone(0..11);
                copiers.fetch_add(1, Ordering::SeqCst);
                assert_eq!(writers.load(Ordering::SeqCst), 0);
                copiers.fetch_sub(1, Ordering::SeqCst);
                drop(alone);
            }
        });
    });
}
