//! Appending, writing and syncing.

use std::io;
use std::ops::Range;

use super::blocks::{BLOCK_BYTES, Blocks, block_of};
use super::record::{self, Body, RECORD_BYTES_MAX};
use super::state::{State, error_of};
use super::tail::Piece;
use super::{Log, Lsn, Sync};
use crate::error::{LodeError, Result};
use crate::sync::MutexGuard;

/// Zeros are written, and what was there is written again, in pieces of this.
const CLEAR_BYTES: usize = 1 << 20;

const _: () = assert!(CLEAR_BYTES.is_multiple_of(BLOCK_BYTES));

impl Log {
    /// Append a record, in memory. It is durable once [`Log::make_durable`] has returned for its
    /// position. [`LodeError::Full`] if the file can grow no more: then nothing was appended.
    pub fn append(&self, body: &Body, transaction: u64) -> Result<Lsn> {
        let record_bytes = body.record_bytes();
        if record_bytes > RECORD_BYTES_MAX {
            return Err(LodeError::TooLong {
                what: "a log record",
                bytes: record_bytes,
                bytes_max: RECORD_BYTES_MAX,
            });
        }
        let mut state = self.lock();
        loop {
            state.check()?;
            if state.tail.fits(record_bytes) {
                break;
            }
            state = if state.busy {
                self.wait(state)?
            } else {
                let end = state.tail.end();
                self.lead(state, end, false)?
            };
        }
        self.rewrite_opened(&mut state)?;
        self.provide(&mut state, record_bytes as u64)?;
        let (lsn, epoch) = (state.tail.end(), state.header.epoch);
        let durable = Some(state.durable);
        record::encode(state.tail.push(record_bytes), body, transaction, lsn, epoch, durable);
        state.counters.records += 1;
        state.counters.record_bytes += record_bytes as u64;
        Ok(lsn)
    }

    /// Take care that this many bytes of records can be appended without asking the disk for room.
    /// A caller that keeps enough for the records of a rollback and a checkpoint is stopped by a
    /// full disk in the middle of neither.
    pub fn make_space(&self, record_bytes: u64) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        self.provide(&mut state, record_bytes)
    }

    /// Return when the record at `lsn`, and so all before it, is durable. At once if it is.
    pub fn make_durable(&self, lsn: Lsn, sync: Sync) -> Result<()> {
        let mut state = self.lock();
        assert!(lsn < state.tail.end(), "only what was appended can become durable");
        // A record lies before the end of what was synced if and only if all of it does.
        while state.durable <= lsn {
            state.check()?;
            state = if state.busy {
                self.wait(state)?
            } else {
                let end = match sync {
                    Sync::Own => state.end_of(lsn),
                    Sync::Group => state.tail.end(),
                };
                self.lead(state, end, true)?
            };
        }
        Ok(())
    }

    /// Hand everything to the disk, without a sync: it outlives this process, not the machine.
    pub fn write_out(&self) -> Result<()> {
        let mut state = self.lock();
        let end = state.tail.end();
        while state.written < end {
            state.check()?;
            state = if state.busy { self.wait(state)? } else { self.lead(state, end, false)? };
        }
        Ok(())
    }

    /// The lock, when everything appended is durable and nobody writes.
    pub(super) fn all_durable(&self) -> Result<MutexGuard<'_, State>> {
        let mut state = self.lock();
        loop {
            state.check()?;
            let end = state.tail.end();
            state = if state.busy {
                self.wait(state)?
            } else if state.durable < end {
                self.lead(state, end, true)?
            } else {
                return Ok(state);
            };
        }
    }

    /// Write the tail up to a record's end and perhaps sync, while others append: only when nobody
    /// else does.
    fn lead<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        end: Lsn,
        sync: bool,
    ) -> Result<MutexGuard<'a, State>> {
        let piece = (state.written < end).then(|| state.tail.take(end));
        let header = state.header;
        let zeros = match &piece {
            Some(piece) => {
                let behind = header.offset_of(piece.start) + piece.len_bytes as u64;
                self.to_fill(&mut state, behind)
            }
            None => 0..0,
        };
        state.busy = true;
        drop(state);
        let written = piece.as_ref().map_or(Ok(()), |piece: &Piece| {
            self.disk
                .write(header.offset_of(piece.start), &piece.blocks[..piece.len_bytes])
                .and_then(|()| self.write_zeros(zeros))
        });
        let synced = if sync && written.is_ok() { self.disk.sync() } else { Ok(()) };

        let mut state = self.lock();
        state.busy = false;
        self.idle.notify_all();
        state.counters.syncs += u64::from(sync);
        if let Some(piece) = piece {
            state.counters.writes += 1;
            state.counters.written_bytes += piece.len_bytes as u64;
            state.tail.give_back(piece);
        }
        written.map_err(|error| state.fail("writing the log", &error))?;
        synced.map_err(|error| state.fail("syncing the log", &error))?;
        state.written = state.written.max(end);
        if sync {
            state.durable = state.written;
        }
        Ok(state)
    }

    /// The part of the file behind a piece that is to be filled with zeros when the piece is
    /// written: room that was never written costs the first sync of each part a change of the file
    /// system's own. The rest of the step of growth is enough, so that a long transaction, whose
    /// records take one step after another, does not write them all twice.
    fn to_fill(&self, state: &mut State, behind: u64) -> Range<u64> {
        let step_end = behind.next_multiple_of(self.sizes.growth_bytes).min(state.file_bytes);
        let from = behind.max(state.filled_bytes).min(step_end);
        state.filled_bytes = state.filled_bytes.max(step_end);
        from..step_end
    }

    /// Let the file have room for this many bytes more, so that a full disk is known before
    /// anything is promised.
    pub(super) fn provide(&self, state: &mut State, record_bytes: u64) -> Result<()> {
        let needed = state.header.offset_of(state.tail.end()).saturating_add(record_bytes);
        if needed <= state.file_bytes {
            return Ok(());
        }
        let Some(file_bytes) = needed.checked_next_multiple_of(self.sizes.growth_bytes) else {
            return Err(LodeError::Full { what: "the log" });
        };
        if let Err(error) = self.disk.set_len(file_bytes) {
            return Err(match error_of("making the log longer", error) {
                full @ LodeError::Full { .. } => full,
                LodeError::Io { source, .. } => state.fail("making the log longer", &source),
                other => other,
            });
        }
        state.file_bytes = file_bytes;
        state.counters.growths += 1;
        Ok(())
    }

    fn write_zeros(&self, part: Range<u64>) -> io::Result<()> {
        if part.is_empty() {
            return Ok(());
        }
        let zeros = Blocks::zeroed(CLEAR_BYTES.min((part.end - part.start) as usize));
        let mut offset = part.start;
        while offset < part.end {
            let bytes = (part.end - offset).min(zeros.len() as u64);
            self.disk.write(offset, &zeros[..bytes as usize])?;
            offset += bytes;
        }
        Ok(())
    }

    /// Make durable what the log consisted of when it was opened, once: what is read may never
    /// have reached the disk, because a process was killed before its sync, or a sync failed, which
    /// no later one makes good. For recovery, before it changes what these records mend; the
    /// first append does it, too.
    pub fn rewrite(&self) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        self.rewrite_opened(&mut state)
    }

    /// The header first, and durably: as long as an older one may come back, so must the records
    /// that it stands before. Then the records, and nothing behind them: a crash may have cut the
    /// log off before records that reached the disk all the same, and appended ones might grow up
    /// to exactly where one of those begins, and it would be read as their successor.
    fn rewrite_opened(&self, state: &mut State) -> Result<()> {
        if !state.remains {
            return Ok(());
        }
        let header = state.header;
        let (from, end) = (header.offset_of(header.checkpoint), header.offset_of(state.written));
        state
            .slots
            .rewrite(&*self.disk)
            .and_then(|()| self.rewrite_records(from, end, state.file_bytes))
            .map_err(|error| state.fail("writing what was in the log again", &error))?;
        state.counters.syncs += 2;
        state.remains = false;
        Ok(())
    }

    fn rewrite_records(&self, from: u64, end: u64, file_bytes: u64) -> io::Result<()> {
        let mut blocks = Blocks::zeroed(CLEAR_BYTES);
        let mut from = block_of(from);
        while from < file_bytes {
            let bytes = (file_bytes - from).min(CLEAR_BYTES as u64) as usize;
            let piece = &mut blocks[..bytes];
            self.disk.read(from, piece)?;
            let behind_at = end.saturating_sub(from).min(bytes as u64) as usize;
            let behind = &mut piece[behind_at..];
            if behind_at > 0 || behind.iter().any(|&byte| byte != 0) {
                behind.fill(0);
                self.disk.write(from, piece)?;
            }
            from += bytes as u64;
        }
        self.disk.sync()
    }
}
