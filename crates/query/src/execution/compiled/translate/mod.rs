//! Pipelines to machine code, in the way of `HyPer` (T. Neumann: Efficiently compiling efficient
//! query plans for modern hardware, PVLDB 2011): one function for each source, which takes its
//! rows in a loop and each of them through all steps up to the sink, or to the next inner source.
//! Between two steps values stay in registers.

mod condition;
mod number;
mod pack;
mod sink;
mod step;
mod value;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, InstBuilder, MemFlagsData, Signature, Type, Value, types,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Variable};
use loadstone_measure::clock::now_ns;

use super::code::{Begin, Code, End, Parts, Report, Way};
use super::context::{FOUND, Routine, STOPPED, Word};
use super::machine::Assembler;
use super::site::Site;
use crate::error::Result;
use crate::plan::{Pipeline, Source, Step};
use crate::tuple::Layout;

/// Compiles a pipeline for a way of its rows. `by` is the layout of the by-values of the
/// aggregation that it feeds.
///
/// # Errors
///
/// [`crate::QueryError::Tactic`] where there can be no machine code.
pub(super) fn compile(pipeline: &Pipeline, by: Option<&Layout>, way: &Way) -> Result<Code> {
    let started = now_ns();
    let (mut assembler, mut parts) = (Assembler::new()?, Parts::default());
    let end = sink::end(pipeline, by);
    let (mut source, mut first, mut outer) = (&pipeline.source, way.begin.step(), Vec::new());
    if way.begin != Begin::Source {
        (source, outer) = (&Source::Once, handed(pipeline, first));
    }
    let mut is_counted = !matches!(way.begin, Begin::At(_));
    loop {
        let is_loop = |step: &Step| matches!(step, Step::Loop(_));
        let last = pipeline.steps[first..].iter().position(is_loop).map(|at| first + at);
        let steps = &pipeline.steps[first..last.unwrap_or(pipeline.steps.len())];
        let mut filled = outer.clone();
        assembler.define(|builder, config| {
            let mut function = Translator::new(builder, &mut parts, pipeline.slots.len(), way);
            if last.is_none() {
                function.open_end(&end);
            }
            function.begin(source, &outer);
            if is_counted {
                function.count_row(first);
            }
            for (at, step) in steps.iter().enumerate() {
                function.step(first + at, step);
                function.count_row(first + at + 1);
            }
            match last.map(|at| &pipeline.steps[at]) {
                Some(Step::Loop(inner)) => function.inner(inner),
                _ => function.sink(&pipeline.sink, &end, by),
            }
            filled = function.filled();
            function.end(config, &end);
        })?;
        let Some(Step::Loop(inner)) = last.map(|at| &pipeline.steps[at]) else { break };
        (source, first, outer) = (inner, last.map_or(0, |at| at + 1), filled);
        is_counted = true;
    }
    let machine = assembler.finish()?;
    let called = parts.routines.iter().filter_map(|routine| routine.name());
    let mut called: Vec<_> = called.collect();
    called.dedup();
    let report = Report { elapsed_ns: now_ns() - started, called };
    Ok(Code { begin: way.begin, machine, parts, end, report })
}

/// Of tuples, which no Rust reads or writes while a function looks at them; not aligned.
const TUPLE: MemFlagsData = MemFlagsData::new().with_notrap();

/// Of what stays the same while a function runs.
const FIXED: MemFlagsData = MemFlagsData::trusted().with_readonly().with_can_move();

/// Of the context's changing parts.
const SHARED: MemFlagsData = MemFlagsData::trusted();

/// The offset of a field of the context.
macro_rules! field {
    ($field:ident) => {
        std::mem::offset_of!($crate::execution::compiled::context::Context, $field) as i32
    };
}
use field;

/// A slot's tuple in a function.
#[derive(Clone, Copy)]
struct Slot {
    tuple: Value,
    /// The place where the record id lies, where there is one.
    id: Option<Value>,
    /// Whether a function before this one filled it.
    is_outer: bool,
}

/// Writes one function.
struct Translator<'f, 'p> {
    builder: FunctionBuilder<'f>,
    parts: &'p mut Parts,
    way: &'p Way,
    /// The address of the [`super::context::Context`].
    context: Value,
    slots: Vec<Option<Slot>>,
    /// The place where a row goes that is dropped or done with.
    next: Block,
    /// The place where all rows are done with.
    done: Block,
    /// The place where a source leads of which only the first row counts.
    found: Block,
    /// The place where an error leads.
    stopped: Block,
    comparisons: Variable,
    hash_probes: Variable,
    /// The place where the function leads to the sink: what it counts for that, each with its place
    /// in memory.
    staged: Vec<Staged>,
}

/// A count of what is staged. It stays in a register between two calls of the sink.
#[derive(Clone, Copy)]
struct Staged {
    count: Variable,
    /// The address.
    base: Value,
    offset: i32,
}

impl<'f, 'p> Translator<'f, 'p> {
    fn new(
        mut builder: FunctionBuilder<'f>,
        parts: &'p mut Parts,
        slots: usize,
        way: &'p Way,
    ) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let context = builder.block_params(entry)[0];
        let [done, found, stopped] = [0; 3].map(|_| builder.create_block());
        builder.set_cold_block(stopped);
        let zero = builder.ins().iconst(types::I64, 0);
        let [comparisons, hash_probes] = [0; 2].map(|_| {
            let counter = builder.declare_var(types::I64);
            builder.def_var(counter, zero);
            counter
        });
        let slots = vec![None; slots];
        let (next, staged) = (done, Vec::new());
        Self {
            builder,
            parts,
            way,
            context,
            slots,
            next,
            done,
            found,
            stopped,
            comparisons,
            hash_probes,
            staged,
        }
    }

    /// The loop over the rows of a source; the slots that outer functions have filled.
    fn begin(&mut self, source: &Source, outer: &[(usize, bool)]) {
        let entry = self.builder.current_block().expect("a function begins with a block");
        let &[_, tuples, ids, count] = self.builder.block_params(entry) else {
            unreachable!("a function has four parameters")
        };
        let frame = self.fixed(field!(frame));
        for (slot, has_id) in outer.iter().copied().chain(merged(source)) {
            let tuple = self.builder.ins().load(types::I64, FIXED, frame, 16 * slot as i32);
            let id = has_id.then(|| self.builder.ins().iadd_imm_s(frame, 16 * slot as i64 + 8));
            self.slots[slot] = Some(Slot { tuple, id, is_outer: true });
        }
        let at = self.each(count);
        if let Some((slot, has_id)) = filled(source) {
            let offset = self.builder.ins().ishl_imm_s(at, 3);
            let place = self.builder.ins().iadd(tuples, offset);
            let tuple = self.builder.ins().load(types::I64, SHARED, place, 0);
            let id = has_id.then(|| self.builder.ins().iadd(ids, offset));
            self.slots[slot] = Some(Slot { tuple, id, is_outer: false });
        }
        if let Source::First { condition, .. } = source {
            if let Some(condition) = condition {
                let holds = self.block();
                self.branch_if(condition, holds, self.next);
                self.builder.switch_to_block(holds);
            }
            // Wherever this row ends, no other comes.
            self.next = self.found;
        }
    }

    /// A loop from 0 up to a number, in whose body the builder is then; the number at hand.
    fn each(&mut self, count: Value) -> Value {
        let [head, body, next] = [0; 3].map(|_| self.builder.create_block());
        let counter = self.builder.declare_var(types::I64);
        let zero = self.builder.ins().iconst(types::I64, 0);
        self.builder.def_var(counter, zero);
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(next);
        let at = self.builder.use_var(counter);
        let following = self.builder.ins().iadd_imm_s(at, 1);
        self.builder.def_var(counter, following);
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        let at = self.builder.use_var(counter);
        let is_inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, at, count);
        self.builder.ins().brif(is_inside, body, &[], self.next, &[]);
        self.next = next;
        self.builder.switch_to_block(body);
        at
    }

    /// The ends of the function.
    fn end(mut self, config: TargetFrontendConfig, end: &End) {
        self.builder.ins().jump(self.next, &[]);
        for (block, status) in [(self.done, 0), (self.found, FOUND), (self.stopped, STOPPED)] {
            self.builder.switch_to_block(block);
            self.leave(end, status);
        }
        self.builder.seal_all_blocks();
        self.builder.finalize(config);
    }

    /// Ends the function with that answer.
    fn leave(&mut self, end: &End, status: u64) {
        if status != STOPPED && !self.staged.is_empty() && sink::holds_texts(end) {
            // The texts lie in tuples that go when this function has ended.
            self.flush();
        }
        self.keep_staged();
        for (counter, offset) in
            [(self.comparisons, field!(comparisons)), (self.hash_probes, field!(hash_probes))]
        {
            let more = self.builder.use_var(counter);
            let before = self.builder.ins().load(types::I64, SHARED, self.context, offset);
            let sum = self.builder.ins().iadd(before, more);
            self.builder.ins().store(SHARED, sum, self.context, offset);
        }
        let status = self.builder.ins().iconst(types::I64, status as i64);
        self.builder.ins().return_(&[status]);
    }

    /// The slots that are filled by now, and whether they have record ids.
    fn filled(&self) -> Vec<(usize, bool)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(at, slot)| slot.map(|slot| (at, slot.id.is_some()))).collect()
    }

    /// A part of the context that stays.
    fn fixed(&mut self, offset: i32) -> Value {
        self.builder.ins().load(types::I64, FIXED, self.context, offset)
    }

    fn word(&mut self, value: usize) -> Value {
        self.builder.ins().iconst(types::I64, value as i64)
    }

    /// One more in a counter.
    fn count(&mut self, counter: Variable) {
        let before = self.builder.use_var(counter);
        let after = self.builder.ins().iadd_imm_s(before, 1);
        self.builder.def_var(counter, after);
    }

    /// One more row that the source (0) or a step (its number and one) let through, where that is
    /// wanted.
    fn count_row(&mut self, place: usize) {
        if !self.way.counts_steps {
            return;
        }
        let counts = self.fixed(field!(step_rows));
        let before = self.builder.ins().load(types::I64, SHARED, counts, 8 * place as i32);
        let after = self.builder.ins().iadd_imm_s(before, 1);
        self.builder.ins().store(SHARED, after, counts, 8 * place as i32);
    }

    /// Goes on in a new block, which the caller reaches by a branch.
    fn block(&mut self) -> Block {
        self.builder.create_block()
    }

    /// Goes on only where the value is not zero; drops the row otherwise.
    fn drop_unless(&mut self, holds: Value) {
        let kept = self.block();
        self.builder.ins().brif(holds, kept, &[], self.next, &[]);
        self.builder.switch_to_block(kept);
    }

    /// Goes on unless the value is not zero, which is an error that a routine has kept.
    fn stop_if(&mut self, failed: Value) {
        let going = self.block();
        self.builder.ins().brif(failed, self.stopped, &[], going, &[]);
        self.builder.switch_to_block(going);
    }

    /// Goes on unless the value is not zero, which is an error of a site for these operands.
    fn fault_if(&mut self, failed: Value, site: Site, left: Value, right: Option<Value>) {
        let (cold, going) = (self.block(), self.block());
        self.builder.set_cold_block(cold);
        self.builder.ins().brif(failed, cold, &[], going, &[]);
        self.builder.switch_to_block(cold);
        let number = self.parts.sites.len();
        self.parts.sites.push(site);
        let number = self.word(number);
        let left = self.bits(left);
        let right = right.map_or(left, |right| self.bits(right));
        self.call(Routine::Fault, &[self.context, number, left, right]);
        self.builder.ins().jump(self.stopped, &[]);
        self.builder.switch_to_block(going);
    }

    /// A number's bits as an integer.
    fn bits(&mut self, value: Value) -> Value {
        if self.builder.func.dfg.value_type(value) == types::F64 {
            return self.builder.ins().bitcast(types::I64, MemFlagsData::new(), value);
        }
        value
    }

    /// Calls a routine, by its address in the context.
    fn call(&mut self, routine: Routine, arguments: &[Value]) -> Value {
        self.parts.routines.insert(routine);
        let word = |word: &Word| -> Type {
            match word {
                Word::Integer => types::I64,
                Word::Real => types::F64,
            }
        };
        let (parameters, result) = routine.signature();
        let mut signature = Signature::new(self.builder.func.signature.call_conv);
        signature.params.extend(parameters.iter().map(|one| AbiParam::new(word(one))));
        signature.returns.push(AbiParam::new(word(&result)));
        let signature = self.builder.import_signature(signature);
        let routines = self.fixed(field!(routines));
        let address = self.builder.ins().load(types::I64, FIXED, routines, 8 * routine as i32);
        let call = self.builder.ins().call_indirect(signature, address, arguments);
        self.builder.inst_results(call)[0]
    }
}

/// The slots of rows that come to a step, and whether they have record ids.
fn handed(pipeline: &Pipeline, step: usize) -> Vec<(usize, bool)> {
    let mut slots: Vec<_> = filled(&pipeline.source).into_iter().collect();
    slots.extend(merged(&pipeline.source));
    for one in &pipeline.steps[..step] {
        match one {
            Step::Filter(_) => {}
            Step::Loop(source) => slots.extend(filled(source)),
            Step::Probe { slot, .. } | Step::ProbeGroups { slot, .. } => slots.push((*slot, false)),
            Step::Distinct { slot, .. } => slots = vec![(*slot, false)],
        }
    }
    slots
}

/// The slot that a source fills from its batch, and whether it has record ids.
fn filled(source: &Source) -> Option<(usize, bool)> {
    match source {
        Source::First { source, .. } => filled(source),
        Source::Once | Source::Merge { .. } => None,
        Source::Scan { slot, .. }
        | Source::Range { slot, .. }
        | Source::Lookup { slot, .. }
        | Source::End { slot, .. } => Some((*slot, true)),
        Source::Temporary { slot, .. } | Source::Groups { slot, .. } => Some((*slot, false)),
    }
}

/// The slots that a merge fills: each pair is a batch of one row, which lies in the frame.
fn merged(source: &Source) -> impl Iterator<Item = (usize, bool)> {
    let count = if matches!(source, Source::Merge { .. }) { 2 } else { 0 };
    (0..count).map(|slot| (slot, false))
}
