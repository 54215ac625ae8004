//! The parts of the mirror, each by itself; `tests/transactions/mirror` has the whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::decision::{Decision, Knows, decide};
use super::disk::{Holds, MirroredDisk};
use super::gate::Gate;
use super::pair::{Pair, Standing};
use super::state::{Claim, State, StateFile};
use super::{AtOnce, Wish};
use crate::disk::simulated::{Call, Failure, Image, Simulation};
use crate::disk::tests::{behaves_like_a_model, ends_where_it_ends};
use crate::disk::{Destination, Disk, Memory};
use crate::page::PAGE_BYTES;
use crate::tactics::Mirroring;

const IDENTITY: [u8; 16] = *b"the same volume ";

#[expect(clippy::unnecessary_wraps, reason = "a copy may say nothing")]
fn said(claim: Claim, epoch: u64) -> Option<State> {
    Some(State { claim, epoch, identity: IDENTITY })
}

/// The table of `docs/reference/lode-format.md`, each row with the copies in either order.
#[test]
fn states_of_the_copies_decide_as_drawn() {
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

/// Two copies in step, of which each says so in epoch 1.
fn pair_on(simulation: &Simulation) -> Pair {
    let state = |name| Some(StateFile::open(Arc::new(simulation.disk(name))).unwrap().0);
    let pair = Pair::new(1, IDENTITY, [state("1-state"), state("2-state")], Default::default());
    pair.say_again().unwrap();
    pair
}

/// The use that can be made of what a crash leaves.
fn decided(image: &Image) -> Decision {
    let states = ["1-state", "2-state"].map(|name| StateFile::open(image.disk(name)).unwrap().1);
    decide(&states)
}

fn next(call: Call) -> Failure {
    Failure::nth(Some(call), 1)
}

fn lost() -> std::io::Error {
    std::io::Error::other("it is broken")
}

/// The first copy's state arrives though its sync fails, so the second must not say the same: each
/// would say that the other had missed something.
#[test]
fn no_copy_says_that_it_is_alone_when_the_other_may_say_so() {
    for side in [0, 1] {
        let simulation = Simulation::new();
        let pair = pair_on(&simulation);
        simulation.fail(next(Call::Sync));
        assert!(pair.lose(side, &lost(), || true).is_err());
        assert!(pair.lose(1 - side, &lost(), || true).is_err());
        assert_eq!([0, 1].map(|side| pair.standing(side)), [Standing::Live; 2]);
        assert_eq!(decided(&simulation.killed()), Decision::Alone(1 - side, Knows::Yes));
        assert_eq!(decided(&simulation.image(&[])), Decision::InStep);
        // Who failed first can be let go of still, and then the other says so for good.
        pair.lose(side, &lost(), || true).unwrap();
        assert_eq!(decided(&simulation.image(&[])), Decision::Alone(1 - side, Knows::Yes));
    }
}

fn state_of(simulation: &Simulation, name: &'static str) -> StateFile {
    StateFile::open(Arc::new(simulation.disk(name))).unwrap().0
}

/// The copy that is in step cannot say so in a new epoch; the one that is filled again must not
/// name an epoch that nobody reached.
#[test]
fn a_copy_being_filled_names_no_epoch_that_the_other_does_not_say() {
    let simulation = Simulation::new();
    let pair = pair_on(&simulation);
    pair.lose(0, &lost(), || true).unwrap();
    pair.begin_filling(0, state_of(&simulation, "1-state")).unwrap();
    pair.start_filling(0);
    simulation.fail(next(Call::Write).for_ever());
    assert!(pair.end_filling(0).is_err());
    simulation.mend();
    assert_eq!(pair.standing(0), Standing::Gone);
    pair.begin_filling(0, state_of(&simulation, "1-state")).unwrap();
    for image in [simulation.killed(), simulation.image(&[])] {
        assert!(matches!(decided(&image), Decision::Alone(1, _)), "{:?}", decided(&image));
    }
}

/// The copy that was filled may say so though its sync failed; while the other cannot say that this
/// one is left behind, it is not.
#[test]
fn a_copy_that_may_say_it_was_filled_is_left_behind_only_when_the_other_says_so() {
    let simulation = Simulation::new();
    let pair = pair_on(&simulation);
    pair.lose(0, &lost(), || true).unwrap();
    pair.begin_filling(0, state_of(&simulation, "1-state")).unwrap();
    pair.start_filling(0);
    simulation.fail(Failure::nth(Some(Call::Sync), 2).for_ever());
    assert!(pair.end_filling(0).is_err());
    assert_eq!(pair.standing(0), Standing::Live);
    simulation.mend();
    assert!(pair.lose(1, &lost(), || true).is_err());
    pair.lose(0, &lost(), || true).unwrap();
    assert_eq!(decided(&simulation.image(&[])), Decision::Alone(1, Knows::Yes));
}

/// A disk in whose first sync, before it fails, something else happens.
struct Interrupted {
    below: Arc<dyn Disk>,
    meanwhile: std::sync::Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Disk for Interrupted {
    fn len_bytes(&self) -> std::io::Result<u64> {
        self.below.len_bytes()
    }
    fn read_into(&self, offset: u64, into: Destination<'_>) -> std::io::Result<()> {
        self.below.read_into(offset, into)
    }
    fn write(&self, offset: u64, from: &[u8]) -> std::io::Result<()> {
        self.below.write(offset, from)
    }
    fn sync(&self) -> std::io::Result<()> {
        let Some(meanwhile) = self.meanwhile.lock().unwrap().take() else {
            return self.below.sync();
        };
        meanwhile();
        Err(lost())
    }
    fn set_len(&self, len_bytes: u64) -> std::io::Result<()> {
        self.below.set_len(len_bytes)
    }
}

/// While the second copy, alone, fails to sync, the first is filled, and perhaps another thread
/// notices that the second has failed. What it could not sync, no later sync makes durable.
#[test]
fn a_sync_goes_on_with_the_copy_that_was_filled_meanwhile() {
    for is_noticed in [false, true] {
        let simulation = Simulation::new();
        let pair = Arc::new(pair_on(&simulation));
        pair.lose(0, &lost(), || true).unwrap();
        let state = state_of(&simulation, "1-state");
        let filled = Arc::clone(&pair);
        let meanwhile = move || {
            filled.begin_filling(0, state).unwrap();
            filled.start_filling(0);
            filled.end_filling(0).unwrap();
            if is_noticed {
                filled.lose(1, &lost(), || true).unwrap();
            }
        };
        let first: Arc<dyn Disk> = Arc::new(simulation.disk("1"));
        let meanwhile =
            std::sync::Mutex::new(Some(Box::new(meanwhile) as Box<dyn FnOnce() + Send>));
        let second: Arc<dyn Disk> =
            Arc::new(Interrupted { below: Arc::new(simulation.disk("2")), meanwhile });
        let wish = Wish { policy: Mirroring::Idle, at_once: AtOnce::Never, read_only: false };
        let disk =
            MirroredDisk::new(Arc::clone(&pair), [Some(first), Some(second)], Holds::Records, wish);
        disk.sync().unwrap();
        assert_eq!([0, 1].map(|side| pair.standing(side)), [Standing::Live, Standing::Gone]);
    }
}
