//! Which survivals to try: all of them where they are few, the reporting ones where they are many.

use crate::disk::simulated::medium::Pending;
use crate::disk::simulated::{CrashOptions, Survival, Tear};
use crate::random::Random;

/// Writes of so many sectors are torn at every one of them, longer ones at a few.
const SECTORS_ALL_MAX: usize = 8;

/// Survivals of the pending changes, without order, some perhaps twice. All lost and all kept
/// are always among them.
pub(super) fn chosen(
    pending: &[Pending],
    options: &CrashOptions,
    random: &mut Random,
) -> Vec<Vec<Survival>> {
    let count = pending.len();
    let mut chosen = vec![vec![Survival::Lost; count]];
    if count == 0 {
        return chosen;
    }
    chosen.push(vec![Survival::Whole; count]);
    if count <= options.subsets_of_max {
        subsets(count, &mut chosen);
    } else {
        reporting(pending, &mut chosen);
    }
    if options.tears || options.garbage {
        torn(pending, options, random, &mut chosen);
    }
    for _ in 0..options.random_per_point {
        chosen.push(self::random(pending, options, random));
    }
    // Of too many, some, none of them likelier than another (Fisher and Yates); but the first two.
    if chosen.len() > options.images_per_point_max {
        for at in 2..chosen.len() {
            let other = at + random.below(chosen.len() - at);
            chosen.swap(at, other);
        }
        chosen.truncate(options.images_per_point_max.max(2));
    }
    chosen
}

fn whole_if(retained: bool) -> Survival {
    if retained { Survival::Whole } else { Survival::Lost }
}

fn subsets(count: usize, chosen: &mut Vec<Vec<Survival>>) {
    for retained in 1..(1_usize << count) - 1 {
        chosen.push((0..count).map(|at| whole_if(retained >> at & 1 == 1)).collect());
    }
}

/// One alone, all but one, all before one, and all of one file: the volume ahead of its log.
fn reporting(pending: &[Pending], chosen: &mut Vec<Vec<Survival>>) {
    for one in 0..pending.len() {
        let all = 0..pending.len();
        chosen.push(all.clone().map(|at| whole_if(at == one)).collect());
        chosen.push(all.clone().map(|at| whole_if(at != one)).collect());
        chosen.push(all.map(|at| whole_if(at < one)).collect());
    }
    let files = pending.iter().map(|pending| pending.file).max().unwrap_or(0);
    for file in 0..=files {
        chosen.push(pending.iter().map(|pending| whole_if(pending.file == file)).collect());
    }
}

/// Each write torn in every way, with all others kept, and with those after it lost.
fn torn(
    pending: &[Pending],
    options: &CrashOptions,
    random: &mut Random,
    chosen: &mut Vec<Vec<Survival>>,
) {
    for (one, change) in pending.iter().enumerate() {
        for tear in tears(change.sector_count(), options, random) {
            let mut survivals = vec![Survival::Whole; pending.len()];
            survivals[one] = Survival::Torn(tear);
            chosen.push(survivals.clone());
            if one + 1 < pending.len() {
                survivals[one + 1..].fill(Survival::Lost);
                chosen.push(survivals);
            }
        }
    }
}

fn tears(sectors: usize, options: &CrashOptions, random: &mut Random) -> Vec<Tear> {
    let mut tears = Vec::new();
    if options.tears && sectors > 1 {
        if sectors <= SECTORS_ALL_MAX {
            tears.extend((0..sectors).map(Tear::First));
        } else {
            tears.extend([0, 1, sectors / 2, sectors - 1].map(Tear::First));
        }
        tears.extend([1, sectors - 1].map(Tear::AllBut));
        tears.extend([0; 2].map(|_| Tear::Scattered(random.next())));
    }
    if options.garbage && sectors > 0 {
        tears.extend([0, sectors / 2, sectors - 1].map(Tear::Garbage));
    }
    tears
}

/// Survivals drawn at random: two of five lost, two kept, one torn.
pub(super) fn random(
    pending: &[Pending],
    options: &CrashOptions,
    random: &mut Random,
) -> Vec<Survival> {
    let draw = |change: &Pending| {
        let tears = tears(change.sector_count(), options, random);
        match random.below(if tears.is_empty() { 4 } else { 5 }) {
            0 | 1 => Survival::Lost,
            2 | 3 => Survival::Whole,
            _ => Survival::Torn(tears[random.below(tears.len())]),
        }
    };
    pending.iter().map(draw).collect()
}
