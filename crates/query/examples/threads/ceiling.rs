//! The bound of the rows below: threads that share nothing but the machine. Two processors of a
//! virtual machine may be two threads of one core, which buys less than twice the work.

use std::hint::black_box;
use std::thread;

use loadstone_measure::clock::now_ns;
use loadstone_measure::counters::cpu_ns;

use super::wisconsin::Outcome;

/// Rounds of eight independent sums and products: more than one core's units take at once.
const ROUNDS_IN_REGISTERS: u64 = 32 << 20;
const CHAINS: usize = 8;
const WORDS_PER_CACHE: usize = (256 << 10) / size_of::<u64>();
const PASSES_OVER_CACHE: usize = 2_048;
/// 512 MiB, beyond a core's own caches.
const WORDS_PER_MEMORY: usize = (512 << 20) / size_of::<u64>();
/// Places at which one thread reads at once, so that it does not wait for one line after another.
const STREAMS: usize = 16;
const WORDS_PER_LINE: usize = 64 / size_of::<u64>();

/// Work that can be split among any number of threads without anything shared.
#[derive(Clone, Copy)]
pub enum Kind {
    Registers,
    Cache,
    Memory,
    /// One word of each line of memory, at many places at once.
    Lines,
}

pub const KINDS: [(&str, Kind); 4] = [
    ("ceiling: registers", Kind::Registers),
    ("ceiling: caches", Kind::Cache),
    ("ceiling: memory", Kind::Memory),
    ("ceiling: its lines", Kind::Lines),
];

/// Memory that the kinds of work read.
pub struct Memory(Vec<u64>);

impl Memory {
    pub fn new() -> Self {
        Self((0..WORDS_PER_MEMORY as u64).collect())
    }
}

/// The time of the whole work split among some threads, and the processor's, in ns.
pub fn elapsed(kind: Kind, memory: &Memory, threads: usize) -> Outcome<(f64, f64)> {
    let cpu = || cpu_ns(std::process::id()).ok_or("the kernel shows no processor time");
    let (started, cpu_before) = (now_ns(), cpu()?);
    thread::scope(|scope| {
        for number in 1..threads {
            scope.spawn(move || part(kind, memory, number, threads));
        }
        part(kind, memory, 0, threads);
    });
    Ok(((now_ns() - started) as f64, (cpu()? - cpu_before) as f64))
}

/// The share of one of the threads.
fn part(kind: Kind, Memory(words): &Memory, number: usize, threads: usize) {
    match kind {
        Kind::Registers => {
            let mut chains: [u64; CHAINS] = black_box([number as u64; CHAINS]);
            for round in 0..ROUNDS_IN_REGISTERS / threads as u64 {
                for chain in &mut chains {
                    *chain = chain.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(round);
                }
            }
            black_box(chains);
        }
        Kind::Cache => {
            let own = &words[number * WORDS_PER_CACHE..][..WORDS_PER_CACHE];
            for _ in 0..PASSES_OVER_CACHE / threads {
                black_box(sum(black_box(own)));
            }
        }
        Kind::Memory => {
            let own = words.len() / threads;
            black_box(sum(&words[number * own..][..own]));
        }
        Kind::Lines => {
            let own = words.len() / threads;
            let streams = words[number * own..][..own].chunks_exact(own / STREAMS);
            let streams: Vec<&[u64]> = streams.collect();
            let mut found = 0_u64;
            for at in (0..own / STREAMS).step_by(WORDS_PER_LINE) {
                for stream in &streams {
                    found = found.wrapping_add(stream[at]);
                }
            }
            black_box(found);
        }
    }
}

fn sum(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}
