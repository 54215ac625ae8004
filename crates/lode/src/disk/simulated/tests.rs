//! Crashes, failures and full disks against what is known of them by hand.

use std::collections::BTreeSet;

use super::*;
use crate::disk::Memory;
use crate::disk::tests::{behaves_like_a_model, ends_where_it_ends};

fn read(disk: &dyn Disk) -> Vec<u8> {
    let mut bytes = vec![0; disk.len_bytes().unwrap() as usize];
    disk.read(0, &mut bytes).unwrap();
    bytes
}

/// The first byte of each sector: tests fill sectors with one byte.
fn sectors(image: &Image, name: &str) -> Vec<u8> {
    read(&*image.disk(name)).chunks(SECTOR_BYTES).map(|sector| sector[0]).collect()
}

fn written(fills: &[u8]) -> Vec<u8> {
    fills.iter().flat_map(|&fill| [fill; SECTOR_BYTES]).collect()
}

fn exhaustive() -> CrashOptions {
    CrashOptions { subsets_of_max: 10, images_per_point_max: usize::MAX, ..CrashOptions::new(1) }
}

#[test]
fn behaves_like_bytes_in_memory() {
    let simulation = Simulation::new();
    let disk = simulation.disk("volume");
    simulation.disk("log").write(0, &[9; 1000]).unwrap();
    behaves_like_a_model(&disk, 1);
    ends_where_it_ends(&disk);
    assert_eq!(read(&simulation.disk("log")), [9; 1000]);
}

#[test]
fn a_synced_image_and_a_killed_programs_files_are_what_was_written() {
    let simulation = Simulation::new();
    let disk = simulation.disk("volume");
    behaves_like_a_model(&disk, 1);
    let expected = read(&disk);
    assert_eq!(read(&*simulation.killed().disk("volume")), expected);
    let pending = simulation.pending_count();
    assert_eq!(read(&*simulation.image(&vec![Survival::Whole; pending]).disk("volume")), expected);
    disk.sync().unwrap();
    assert_eq!(simulation.pending_count(), 0);
    assert_eq!(read(&*simulation.image(&[]).disk("volume")), expected);
    let again = simulation.image(&[]).simulation();
    assert_eq!(read(&again.disk("volume")), expected);
    assert_eq!(again.pending_count(), 0);
}

#[test]
fn unsynced_writes_may_be_lost_in_part() {
    use Survival::{Lost, Torn, Whole};
    let simulation = Simulation::new();
    let (volume, log) = (simulation.disk("volume"), simulation.disk("log"));
    volume.write(0, &written(&[1, 1, 1])).unwrap();
    volume.sync().unwrap();
    volume.write(0, &written(&[2, 2])).unwrap();
    log.write(0, &written(&[3])).unwrap();
    volume.write(512, &written(&[4, 4, 4])).unwrap();
    for (survivals, expected, expected_log) in [
        ([Lost, Lost, Lost], vec![1, 1, 1], vec![]),
        ([Whole, Whole, Whole], vec![2, 4, 4, 4], vec![3]),
        ([Whole, Lost, Lost], vec![2, 2, 1], vec![]),
        ([Lost, Whole, Whole], vec![1, 4, 4, 4], vec![3]),
        ([Torn(Tear::First(1)), Lost, Lost], vec![2, 1, 1], vec![]),
        ([Torn(Tear::AllBut(1)), Lost, Lost], vec![1, 2, 1], vec![]),
        ([Lost, Lost, Torn(Tear::First(1))], vec![1, 4, 1, 0], vec![]),
        ([Lost, Torn(Tear::First(0)), Lost], vec![1, 1, 1], vec![0]),
    ] {
        let image = simulation.image(&survivals);
        assert_eq!(sectors(&image, "volume"), expected, "{survivals:?}");
        assert_eq!(sectors(&image, "log"), expected_log, "{survivals:?}");
    }
    log.sync().unwrap();
    let image = simulation.image(&[]);
    assert_eq!(sectors(&image, "volume"), [1, 1, 1]);
    assert_eq!(sectors(&image, "log"), [3]);
}

#[test]
fn a_tear_with_garbage_spoils_one_sector() {
    let simulation = Simulation::new();
    let disk = simulation.disk("log");
    disk.write(0, &written(&[1, 1, 1, 1])).unwrap();
    disk.sync().unwrap();
    disk.write(0, &written(&[2, 2, 2, 2])).unwrap();
    let bytes = read(&*simulation.image(&[Survival::Torn(Tear::Garbage(1))]).disk("log"));
    assert_eq!(bytes[..512], [2; 512]);
    assert!(bytes[512..1024] != [1; 512] && bytes[512..1024] != [2; 512]);
    assert_eq!(bytes[1024..], [1; 1024]);
}

#[test]
fn a_changed_length_is_not_durable_before_a_sync() {
    let simulation = Simulation::new();
    let disk = simulation.disk("log");
    disk.write(0, &written(&[1, 2, 3])).unwrap();
    disk.sync().unwrap();
    disk.set_len(512).unwrap();
    disk.set_len(1024).unwrap();
    assert_eq!(sectors(&simulation.killed(), "log"), [1, 0]);
    assert_eq!(sectors(&simulation.image(&[]), "log"), [1, 2, 3]);
    assert_eq!(sectors(&simulation.image(&[Survival::Whole]), "log"), [1]);
    disk.sync().unwrap();
    assert_eq!(sectors(&simulation.image(&[]), "log"), [1, 0]);
}

#[test]
fn the_nth_call_fails_once_or_for_ever() {
    let simulation = Simulation::new();
    let disk = simulation.disk("log");
    disk.set_len(4096).unwrap();
    simulation.fail(Failure::nth(Some(Call::Read), 2));
    simulation.fail(Failure::nth(None, 4).with(io::ErrorKind::PermissionDenied).for_ever());
    let mut byte = [0];
    disk.read(0, &mut byte).unwrap();
    disk.sync().unwrap();
    disk.read(0, &mut byte).unwrap_err();
    for refused in [disk.read(0, &mut byte), disk.write(0, &byte), disk.sync(), disk.set_len(0)] {
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
    assert_eq!(disk.len_bytes().unwrap(), 4096);
    simulation.mend();
    disk.sync().unwrap();
    assert_eq!(simulation.calls(Some(Call::Read)), 3);
    assert_eq!(simulation.calls(None), 9);
}

#[test]
fn a_failing_write_has_written_half() {
    let simulation = Simulation::new();
    let disk = simulation.disk("log");
    simulation.fail(Failure::nth(Some(Call::Write), 1));
    disk.write(0, &written(&[1, 1, 1, 1])).unwrap_err();
    assert_eq!(sectors(&simulation.killed(), "log"), [1, 1]);
    assert_eq!(simulation.pending_count(), 1);
}

#[test]
fn a_failing_sync_loses_writes_until_they_are_written_again() {
    let simulation = Simulation::new();
    let disk = simulation.disk("log");
    disk.write(0, &written(&[1, 1, 1])).unwrap();
    disk.sync().unwrap();
    disk.write(0, &written(&[2, 2, 2, 2])).unwrap();
    simulation.fail(Failure::nth(Some(Call::Sync), 1));
    disk.sync().unwrap_err();
    assert_eq!(sectors(&simulation.killed(), "log"), [2, 2, 2, 2]);
    // The next sync says that all is well, and knows of the file's length only.
    disk.sync().unwrap();
    assert_eq!(sectors(&simulation.image(&[Survival::Lost]), "log"), [1, 1, 1, 0]);
    assert_eq!(sectors(&simulation.image(&[Survival::Whole]), "log"), [2, 2, 2, 2]);
    disk.write(512, &written(&[3])).unwrap();
    disk.sync().unwrap();
    assert_eq!(sectors(&simulation.image(&[Survival::Lost]), "log"), [1, 3, 1, 0]);
    assert_eq!(sectors(&simulation.image(&[Survival::Whole]), "log"), [2, 3, 2, 2]);
    disk.set_len(1024).unwrap();
    disk.sync().unwrap();
    assert_eq!(sectors(&simulation.image(&[Survival::Whole]), "log"), [2, 3]);
    disk.write(0, &written(&[4])).unwrap();
    disk.sync().unwrap();
    assert_eq!(simulation.pending_count(), 0);
    assert_eq!(sectors(&simulation.image(&[]), "log"), [4, 3]);
}

#[test]
fn a_full_disk_takes_what_fits_and_keeps_what_it_has() {
    let simulation = Simulation::new();
    let (volume, log) = (simulation.disk("volume"), simulation.disk("log"));
    log.set_len(1024).unwrap();
    simulation.set_capacity_bytes(Some(3000));
    let full = volume.write(512, &written(&[1, 1, 1])).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    assert_eq!(sectors(&simulation.killed(), "volume"), [0, 1, 1]);
    assert_eq!(volume.set_len(2000).unwrap_err().kind(), io::ErrorKind::StorageFull);
    log.write(0, &[1; 1024]).unwrap();
    volume.write(0, &[1; 1536]).unwrap();
    // Less room than there is taken: what is there can still be written.
    simulation.set_capacity_bytes(Some(100));
    log.write(0, &[2; 1024]).unwrap();
    log.set_len(512).unwrap();
    assert_eq!(log.write(512, &[2]).unwrap_err().kind(), io::ErrorKind::StorageFull);
    simulation.set_capacity_bytes(None);
    log.set_len(1 << 20).unwrap();
}

#[test]
fn every_subset_of_three_writes_is_seen_once() {
    let simulation = Simulation::new();
    let (volume, log) = (simulation.disk("volume"), simulation.disk("log"));
    volume.write(0, &written(&[1, 1])).unwrap();
    volume.sync().unwrap();
    volume.write(0, &written(&[2])).unwrap();
    volume.write(512, &written(&[3])).unwrap();
    log.write(0, &written(&[4])).unwrap();
    simulation.record();
    let mut found = BTreeSet::new();
    for crash in simulation.trace().crashes(exhaustive()) {
        let state = (sectors(&crash.image, "volume"), sectors(&crash.image, "log"));
        assert!(found.insert(state), "twice: {crash}");
    }
    let mut expected = BTreeSet::new();
    for first in [1, 2] {
        for second in [1, 3] {
            for log in [vec![], vec![4]] {
                expected.insert((vec![first, second], log));
            }
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn an_image_is_given_again_when_more_has_been_promised() {
    let simulation = Simulation::new();
    simulation.record();
    simulation.disk("log").write(0, &[1]).unwrap();
    simulation.mark(1);
    let trace = simulation.trace();
    let all = trace.crashes(CrashOptions::new(1)).map(|crash| {
        let written = crash.image.disk("log").len_bytes().unwrap();
        (crash.mark, written)
    });
    assert_eq!(all.collect::<Vec<_>>(), [(None, 0), (None, 1), (Some(1), 0), (Some(1), 1)]);
}

#[test]
fn every_prefix_of_a_torn_page_is_seen() {
    let simulation = Simulation::new();
    simulation.record();
    let disk = simulation.disk("volume");
    disk.set_len(4096).unwrap();
    disk.sync().unwrap();
    disk.write(0, &[1; 4096]).unwrap();
    let found: BTreeSet<Vec<u8>> = simulation
        .trace()
        .crashes(exhaustive())
        .map(|crash| sectors(&crash.image, "volume"))
        .collect();
    for count in 0..=8 {
        assert!(found.contains(&(0..8).map(|at| u8::from(at < count)).collect::<Vec<u8>>()));
    }
    assert!(found.contains(&vec![0, 1, 1, 1, 1, 1, 1, 1]));
    assert!(found.contains(&Vec::new()));
}

/// A program that promises too early and one that promises in time: the crashes must report.
#[test]
fn a_promise_before_the_sync_is_found_out() {
    let broken = |sync_first: bool| {
        let simulation = Simulation::new();
        simulation.record();
        let disk = simulation.disk("log");
        for number in 1..=5_u8 {
            disk.write(u64::from(number - 1) * 512, &written(&[number])).unwrap();
            if sync_first {
                disk.sync().unwrap();
            }
            simulation.mark(u64::from(number));
        }
        let trace = simulation.trace();
        let breaks = |crash: &Crash| {
            let promised = crash.mark.unwrap_or(0) as usize;
            let found = sectors(&crash.image, "log");
            (0..promised).any(|at| found.get(at) != Some(&(at as u8 + 1)))
        };
        trace.crashes(CrashOptions::new(3)).any(|crash| breaks(&crash))
    };
    assert!(broken(false));
    assert!(!broken(true));
}

/// Many changes at once: a volume's pages and a log's blocks.
fn busy() -> Trace {
    let simulation = Simulation::new();
    let (volume, log) = (simulation.disk("volume"), simulation.disk("log"));
    volume.set_len(64 * 4096).unwrap();
    volume.sync().unwrap();
    simulation.record();
    for page in 0..12_u64 {
        log.write(page * 4096, &[page as u8 + 1; 4096]).unwrap();
        if page % 5 == 4 {
            log.sync().unwrap();
            simulation.mark(page);
        }
        volume.write(page * 3 * 4096, &[page as u8 + 1; 8192]).unwrap();
    }
    simulation.trace()
}

#[test]
fn of_many_changes_the_telling_subsets_are_seen() {
    let trace = busy();
    let options = CrashOptions { images_per_point_max: usize::MAX, ..CrashOptions::new(5) };
    let end = trace.event_count();
    let pages = |image: &Image| {
        let bytes = read(&*image.disk("volume"));
        (0..12).filter(|page| bytes[(page * 3 + 1) * 4096] > 0).count()
    };
    let mut ahead = BTreeSet::new();
    let mut one_missing = 0;
    for crash in trace.crashes(options) {
        ahead.insert((pages(&crash.image), crash.image.disk("log").len_bytes().unwrap() / 4096));
        if crash.point < end {
            continue;
        }
        let lost = crash.survivals.iter().filter(|&&survival| survival == Survival::Lost).count();
        let whole = !crash.survivals.iter().any(|survival| matches!(survival, Survival::Torn(_)));
        one_missing += usize::from(lost == 1 && whole);
    }
    assert!(ahead.contains(&(12, 10)), "the volume ahead of its log");
    assert!(ahead.contains(&(0, 12)), "the log ahead of the volume");
    // 12 pages, of which none is synced, and 2 blocks; without the last page it is what all kept
    // were a moment before.
    assert_eq!(one_missing, 13);
}

#[test]
fn the_same_seed_gives_the_same_crashes_and_each_can_be_seen_again() {
    let trace = busy();
    for garbage in [false, true] {
        let options = CrashOptions { garbage, ..CrashOptions::new(11) };
        let all: Vec<Crash> = trace.crashes(options).collect();
        let again: Vec<Crash> = trace.crashes(options).collect();
        assert_eq!(all.len(), again.len());
        for (one, two) in all.iter().zip(&again) {
            assert_eq!((one.point, &one.survivals), (two.point, &two.survivals));
            let image = trace.image(one.point, &one.survivals);
            assert_eq!(image.fingerprint(), one.image.fingerprint());
        }
        let points: BTreeSet<usize> = all.iter().map(|crash| crash.point).collect();
        assert!(points.len() > trace.event_count() - 4, "only two syncs and two marks add nothing");
        let other = CrashOptions { seed: 12, ..options };
        let differs =
            trace.crashes(other).zip(&all).any(|(one, two)| one.survivals != two.survivals);
        assert!(differs);
    }
}

#[test]
fn random_crashes_follow_their_seed() {
    let trace = busy();
    let mut points = BTreeSet::new();
    for seed in 0..200 {
        let options = CrashOptions::new(seed);
        let (one, two) = (trace.random_crash(&options), trace.random_crash(&options));
        assert_eq!((one.point, &one.survivals), (two.point, &two.survivals));
        assert_eq!(one.image.fingerprint(), two.image.fingerprint());
        points.insert(one.point);
    }
    assert!(points.len() > trace.event_count() * 9 / 10, "{}", points.len());
}

#[test]
fn an_image_is_not_changed_by_those_who_use_it() {
    let simulation = Simulation::new();
    simulation.disk("log").write(0, &[1; 100]).unwrap();
    let image = simulation.killed();
    let before = image.fingerprint();
    let memory: Arc<Memory> = image.disk("log");
    memory.write(50, &[2; 100]).unwrap();
    image.simulation().disk("log").set_len(0).unwrap();
    simulation.disk("log").set_len(0).unwrap();
    assert_eq!(image.fingerprint(), before);
    assert_eq!(read(&*image.disk("log")), [1; 100]);
    assert_eq!(image.disk("nothing").len_bytes().unwrap(), 0);
}
