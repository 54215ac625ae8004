//! Whole measures in few statements: by arrays, by pipelines, by one recursive query, by a
//! procedure in the server, as the tactic `statement` says.

use super::queries::Style;
use super::{ASKING, PostgreSql, Reader, failed, int};
use crate::error::ClientError;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::part::Part;
use crate::oo1::sql::{Hop, Query};
use crate::oo1::visits::Visits;
use crate::postgresql::statement::Value;

impl PostgreSql {
    pub(super) fn find_many(
        &mut self,
        ids: &[u32],
        visits: &mut Visits,
    ) -> Result<(), ClientError> {
        let before = visits.count;
        if self.choices.statement == Style::Pipeline {
            self.pipeline(Query::Find, ids, |part| visits.part(&part))?;
        } else {
            let numbers: Vec<i32> = ids.iter().map(|id| id.cast_signed()).collect();
            let wanted = [Value::Ints(&numbers)];
            self.parts(Query::FindBatch, &wanted, |part| visits.part(&part))?;
        }
        // Which one is missing, the look-ups one by one would report; the count says that one is.
        let found = visits.count - before;
        if found == ids.len() as u64 {
            return Ok(());
        }
        let what = format!("{found} parts for {} ids", ids.len());
        Err(ClientError::Malformed { engine: Self::ENGINE, what })
    }

    pub(super) fn traverse(
        &mut self,
        start: u32,
        depth: u32,
        direction: Direction,
        visits: &mut Visits,
    ) -> Result<(), ClientError> {
        if !matches!(self.choices.statement, Style::Pipeline | Style::Batch) {
            let bounds = [int(start), int(depth)];
            let query = Query::traversal(direction);
            return self.parts(query, &bounds, |part| visits.part(&part));
        }
        let (_, part) = self.find(start)?;
        visits.part(&part);
        let mut level = vec![start];
        for _ in 0..depth {
            let mut next = Vec::with_capacity(3 * level.len());
            let visit = |part: Part| {
                visits.part(&part);
                next.push(part.id);
            };
            if self.choices.statement == Style::Pipeline {
                self.pipelined_level(&level, direction, visit)?;
            } else {
                let numbers: Vec<i32> = level.iter().map(|id| id.cast_signed()).collect();
                self.parts(Query::level(direction), &[Value::Ints(&numbers)], visit)?;
            }
            level = next;
        }
        Ok(())
    }

    fn pipelined_level(
        &mut self,
        level: &[u32],
        direction: Direction,
        visit: impl FnMut(Part),
    ) -> Result<(), ClientError> {
        let step = Query::step(direction);
        if self.choices.hop == Hop::Join {
            return self.pipeline(step, level, visit);
        }
        let mut ends = Vec::with_capacity(3 * level.len());
        for &id in level {
            self.queue(step, &[int(id)])?;
        }
        let push = |mut row: super::Row<'_>| ends.push(row.int() as u32);
        self.session.finish(push).map_err(failed(ASKING))?;
        self.pipeline(Query::Find, &ends, visit)
    }

    /// A statement for each id, all sent before an answer is read.
    fn pipeline(
        &mut self,
        query: Query,
        ids: &[u32],
        visit: impl FnMut(Part),
    ) -> Result<(), ClientError> {
        for &id in ids {
            self.queue(query, &[int(id)])?;
        }
        let mut reader = Reader::new(visit);
        self.session.finish(|row| reader.part(row)).map_err(failed(ASKING))?;
        reader.done()
    }
}
