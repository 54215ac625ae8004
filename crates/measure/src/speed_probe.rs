//! The speed of the machine now for work like an engine's: the time of a miniature of it.

use std::hint::black_box;

use loadstone_datasets::splitmix::SplitMix64;

use crate::clock;
use crate::memory::{self, MemoryError};

const RECORD_BYTES: usize = 208;
const RECORDS: usize = 10_000;
/// Fields that are stepped over before the one that is compared, as a row of variable length asks.
const FIELDS: usize = 8;
/// One record in so many is kept.
const KEPT_ONE_IN: u8 = 64;
/// The memory of a small result's pages.
const FRESH_BYTES: usize = 512 << 10;

/// A small table in memory. Running the probe scans it, copies what is selected, and
/// touches fresh pages: branches, a processor's shared caches, the kernel's memory.
///
/// A dependent chain (`spin`) sees the clock frequency alone. What a neighbour on the same core or
/// the same cache takes is not in it, and slows an engine's statements by half and more.
pub struct SpeedProbe {
    records: Vec<u8>,
    kept: Vec<u8>,
}

impl SpeedProbe {
    /// The same table every time.
    #[must_use]
    pub fn new() -> Self {
        let mut random = SplitMix64::new(1983);
        let mut records = Vec::with_capacity(RECORDS * RECORD_BYTES);
        while records.len() < RECORDS * RECORD_BYTES {
            records.extend_from_slice(&random.next().to_le_bytes());
        }
        Self { records, kept: Vec::new() }
    }

    /// Time in ns of the work. Fails where there is no memory for a small result.
    pub fn run_ns(&mut self) -> Result<u64, MemoryError> {
        let start_ns = clock::now_ns();
        self.scan();
        memory::pretouch(FRESH_BYTES)?;
        Ok(clock::now_ns() - start_ns)
    }

    /// Select some of the records and copy them. Returns how many.
    fn scan(&mut self) -> usize {
        self.kept.clear();
        for record in black_box(&self.records).chunks_exact(RECORD_BYTES) {
            let mut at = 0;
            for _ in 0..FIELDS {
                at += 1 + usize::from(record[at] & 15);
            }
            if record[at] < u8::MAX / KEPT_ONE_IN {
                self.kept.extend_from_slice(record);
            }
        }
        black_box(&self.kept).len() / RECORD_BYTES
    }
}

impl Default for SpeedProbe {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{RECORDS, SpeedProbe};

    #[test]
    fn the_same_work_is_done_each_time() {
        let mut probe = SpeedProbe::new();
        let kept = probe.scan();
        assert!(kept > 0 && kept < RECORDS / 10, "{kept} of {RECORDS} records kept");
        assert_eq!(probe.scan(), kept);
        assert_eq!(SpeedProbe::new().scan(), kept);
    }

    #[test]
    fn a_speed_probe_takes_the_time_of_its_work() {
        // No machine looks at eight bytes, each found by the one before, in less than 8 cycles of
        // 10 GHz: in less time the scan was optimised away.
        let scan_ns_min = RECORDS as u64 * 8 / 10;
        assert!(SpeedProbe::new().run_ns().expect("half a mebibyte") > scan_ns_min);
    }
}
