//! Steps: rows that are dropped, that grow by a slot, and that multiply.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::value::Content;
use super::{FIXED, SHARED, Slot, Translator, field};
use crate::execution::compiled::code::Begin;
use crate::execution::compiled::context::{Place, Routine};
use crate::expression::Expr;
use crate::plan::{Source, Step};

impl Translator<'_, '_> {
    /// Lets the row through a step, whose number in the pipeline is `at`.
    pub(super) fn step(&mut self, at: usize, step: &Step) {
        match step {
            Step::Filter(condition) => self.keep(condition),
            Step::Probe { slot, keys, .. } => self.probe(at, *slot, keys),
            Step::ProbeGroups { slot, keys, .. } => {
                self.count(self.hash_probes);
                let cells = self.put_all(keys.iter());
                let (number, cells) = (self.word(at), self.cell(cells));
                let tuple = self.call(Routine::Group, &[self.context, number, cells]);
                self.drop_unless(tuple);
                self.fill(*slot, tuple);
            }
            Step::Distinct { pack, slot } => {
                let buffers = self.fixed(field!(buffers));
                let tuple = self.builder.ins().load(types::I64, FIXED, buffers, 8 * at as i32);
                self.pack(&pack.values, &pack.layout, pack.span, tuple);
                self.count(self.hash_probes);
                let number = self.word(at);
                let is_new = self.call(Routine::Distinct, &[self.context, number, tuple]);
                let failed = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, is_new, 0);
                self.stop_if(failed);
                self.drop_unless(is_new);
                self.slots.fill(None);
                self.fill(*slot, tuple);
            }
            // Its rows are those of the next function, which counts them.
            Step::Loop(_) => {}
        }
    }

    /// A tuple without a record id.
    fn fill(&mut self, slot: usize, tuple: Value) {
        self.slots[slot] = Some(Slot { tuple, id: None, is_outer: false });
    }

    /// One row for each entry with the keys.
    fn probe(&mut self, at: usize, slot: usize, keys: &[Expr]) {
        // A row that was put aside was counted then.
        if self.way.begin != Begin::At(at) {
            self.count(self.hash_probes);
        }
        if self.way.aside.contains(&at) {
            self.show_row();
        }
        let number = self.word(at);
        let found = match keys {
            [key] => {
                let key = self.compute(key);
                if let Content::Integer(value) = key.content {
                    if let Some(null) = key.null {
                        // A null equals nothing.
                        let is_known = self.builder.ins().icmp_imm_s(IntCC::Equal, null, 0);
                        self.drop_unless(is_known);
                    }
                    self.call(Routine::ProbeInteger, &[self.context, number, value])
                } else {
                    let cell = self.cells(1);
                    let cell = self.cell(cell);
                    self.put(key, cell);
                    self.call(Routine::Probe, &[self.context, number, cell])
                }
            }
            keys => {
                let cells = self.put_all(keys.iter());
                let cells = self.cell(cells);
                self.call(Routine::Probe, &[self.context, number, cells])
            }
        };
        let failed = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, found, 0);
        self.stop_if(failed);
        let matches = self.builder.ins().load(types::I64, SHARED, self.context, field!(matches));
        let entry = self.each(found);
        let place = self.builder.ins().ishl_imm_s(entry, 3);
        let place = self.builder.ins().iadd(matches, place);
        let tuple = self.builder.ins().load(types::I64, SHARED, place, 0);
        self.fill(slot, tuple);
    }

    /// Has an inner source run for the row: what it reads of the row goes into memory.
    pub(super) fn inner(&mut self, source: &Source) {
        let number = self.parts.bounds.len() + 1;
        let first = self.put_all(bounds(source).into_iter());
        self.parts.bounds.push(first);
        self.show_row();
        let number = self.word(number);
        let failed = self.call(Routine::Loop, &[self.context, number]);
        self.stop_if(failed);
    }

    /// Puts the row into the frame, where others find it.
    fn show_row(&mut self) {
        let frame = self.fixed(field!(frame));
        for (slot, filled) in self.slots.clone().into_iter().enumerate() {
            let Some(filled) = filled.filter(|filled| !filled.is_outer) else { continue };
            let place = (slot * size_of::<Place>()) as i32;
            self.builder.ins().store(SHARED, filled.tuple, frame, place);
            if let Some(id) = filled.id {
                let id = self.builder.ins().load(types::I64, SHARED, id, 0);
                self.builder.ins().store(SHARED, id, frame, place + 8);
            }
        }
    }
}

/// The values of the row that a source must know: a key, or a lower and an upper bound.
fn bounds(source: &Source) -> Vec<&Expr> {
    match source {
        Source::First { source, .. } => bounds(source),
        Source::Lookup { key, .. } => vec![key],
        Source::Range { low, high, .. } => low.iter().chain(high).map(|(bound, _)| bound).collect(),
        _ => Vec::new(),
    }
}
