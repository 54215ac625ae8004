//! `page_changes [ROUNDS]`: nanoseconds of changes and of reads of pages in memory, each kind of
//! file alone, without waiting for a disk. Prints the least of the rounds, so that two builds can
//! be compared when they alternate.

use std::error::Error;
use std::hint::black_box;
use std::io::{Write, stdout};
use std::sync::Arc;

use loadstone_measure::clock::now_ns;
use lode::internals::disk::Memory;
use lode::{Btree, Database, Hash, Heap, RecordId, Writing};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Records of each file.
const COUNT: u64 = 20_000;

/// Repetitions that are timed together: so few that most are done before another process runs. The
/// median of them is reported.
const SLICE: u64 = 500;

fn main() -> Outcome<()> {
    let rounds = std::env::args().nth(1).map_or(Ok(5), |text| text.parse::<usize>())?;
    let mut least: Vec<(&str, f64)> = Vec::new();
    for _ in 0..rounds {
        for (at, (name, ns)) in round()?.into_iter().enumerate() {
            match least.get_mut(at) {
                Some((_, known)) => *known = known.min(ns),
                None => least.push((name, ns)),
            }
        }
    }
    for (name, ns) in least {
        writeln!(stdout(), "{name}\t{ns:.1}")?;
    }
    Ok(())
}

/// A number in a fixed disorder.
const fn mixed(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

/// Runs an act for each number, under the clock, and keeps the median cost by name.
type Each<'a> = dyn FnMut(&'static str, &mut dyn FnMut(u64) -> Outcome<()>) -> Outcome<()> + 'a;

fn reads(
    each: &mut Each<'_>,
    writing: &Writing,
    (heap, tree, hash): (&Heap, &Btree, &Hash),
    ids: &[RecordId],
) -> Outcome<()> {
    each("btree: look up", &mut |number| {
        black_box(tree.get(writing, &mixed(number).to_be_bytes(), |value| value.u64(0))?);
        Ok(())
    })?;
    each("hash: look up", &mut |number| {
        black_box(hash.get_one(writing, number)?);
        Ok(())
    })?;
    each("heap: get", &mut |number| {
        black_box(heap.get(writing, ids[(mixed(number) % COUNT) as usize])?);
        Ok(())
    })?;
    each("heap: read 4 fields", &mut |number| {
        let id = ids[(mixed(number) % COUNT) as usize];
        let seen = heap.read(writing, id, |view, at, _| {
            u64::from(view.u32(at)) + u64::from(view.u16(at + 4)) + view.u64(at + 8)
        });
        black_box(seen?);
        Ok(())
    })?;
    Ok(())
}

fn round() -> Outcome<Vec<(&'static str, f64)>> {
    let tactics = "durability=none&checkpoint=1GiB&cache=256MiB".parse()?;
    let database = Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics)?;
    let mut costs = Vec::new();
    let mut writing = database.writing();
    let heap = Heap::create(&mut writing, 100)?;
    let tree = Btree::create(&mut writing, 101)?;
    let hash = Hash::open(Hash::create(&mut writing, 102)?);
    let mut each = |name, act: &mut dyn FnMut(u64) -> Outcome<()>| -> Outcome<()> {
        let mut slices = Vec::new();
        for first in (0..COUNT).step_by(SLICE as usize) {
            let start = now_ns();
            (first..first + SLICE).try_for_each(&mut *act)?;
            slices.push((now_ns() - start) as f64 / SLICE as f64);
        }
        slices.sort_by(f64::total_cmp);
        costs.push((name, slices[slices.len() / 2]));
        Ok(())
    };
    let mut ids = Vec::new();
    each("heap: insert 100 bytes", &mut |number| {
        ids.push(heap.insert(&mut writing, &[number as u8; 100], None)?);
        Ok(())
    })?;
    each("heap: change 8 bytes in place", &mut |number| {
        let id = ids[(mixed(number) % COUNT) as usize];
        Ok(heap.change_range(&mut writing, id, 8..16, |bytes| bytes[0] ^= 1)?)
    })?;
    each("heap: change a record in place", &mut |number| {
        let id = ids[(mixed(number) % COUNT) as usize];
        Ok(heap.change(&mut writing, id, |bytes| bytes[8..16].reverse())?)
    })?;
    each("heap: replace by as many bytes", &mut |number| {
        Ok(heap.update(&mut writing, ids[number as usize], &[number as u8; 100])?)
    })?;
    each("heap: replace by more and by fewer", &mut |number| {
        let id = ids[(mixed(number) % COUNT) as usize];
        Ok(heap.update(&mut writing, id, &[7; 140][..60 + (number % 80) as usize])?)
    })?;
    each("btree: insert in order", &mut |number| {
        tree.put(&mut writing, &number.to_be_bytes(), &number.to_le_bytes())?;
        Ok(())
    })?;
    let other = Btree::create(&mut writing, 103)?;
    each("btree: insert at random", &mut |number| {
        other.put(&mut writing, &mixed(number).to_be_bytes(), &number.to_le_bytes())?;
        Ok(())
    })?;
    each("btree: put another value", &mut |number| {
        other.put(&mut writing, &mixed(number).to_be_bytes(), &(!number).to_le_bytes())?;
        Ok(())
    })?;
    each("hash: insert", &mut |number| Ok(hash.insert(&mut writing, number, !number)?))?;
    reads(&mut each, &writing, (&heap, &other, &hash), &ids)?;
    writing.commit()?;
    Ok(costs)
}
