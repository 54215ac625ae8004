//! Ends of pipelines. Rows are staged, some hundred of them, and handed over together: sorters,
//! hash tables and aggregates take many at once.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use loadstone_quel::check::resolved::Type;
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::Span;

use super::value::{Computed, Content};
use super::{FIXED, SHARED, Staged, Translator, field};
use crate::execution::Packed;
use crate::execution::compiled::code::{Argument, End, Form, Key};
use crate::execution::compiled::context::{Cell, Fed, Routine};
use crate::expression::Expr;
use crate::plan::{Sink, Update};
use crate::tuple::Layout;

/// Rows that are staged at most, as many as a batch of a source has.
const ROWS_MAX: usize = 1024;
/// Bytes of staged tuples that stay in the processor's second cache.
const BYTES_MAX: usize = 128 << 10;

/// The form of the rows staged for a sink.
pub(super) fn end(pipeline: &crate::plan::Pipeline, by: Option<&Layout>) -> End {
    let Sink::Aggregate { updates, .. } = &pipeline.sink else {
        let bytes = Packed::of(&pipeline.sink).map_or(0, |form| form.layout.bytes);
        let rows_max = (BYTES_MAX / bytes.max(1)).clamp(1, ROWS_MAX);
        return End { rows_max, form: Form::Tuples { bytes } };
    };
    let key = match by.map(|by| (&by.fields[..], by.bytes)) {
        None | Some(([], _)) => Key::None,
        Some(([one], _)) if is_plain_integer(one) => Key::Integer,
        Some((_, bytes)) => Key::Tuple { bytes },
    };
    let argument = |update: &Update| Argument {
        aggregate: update.aggregate,
        is_integer: is_integer(&update.argument),
        is_conditional: update.condition.is_some(),
    };
    let updates = updates.iter().map(argument).collect();
    End { rows_max: ROWS_MAX, form: Form::Aggregation { key, updates } }
}

fn is_plain_integer(field: &crate::tuple::Field) -> bool {
    matches!(field.kind, Kind::Integer { .. }) && field.null_at.is_none()
}

/// Whether what is staged may point to texts in tuples.
pub(super) fn holds_texts(end: &End) -> bool {
    match &end.form {
        Form::Tuples { .. } => false,
        Form::Aggregation { updates, .. } => updates.iter().any(|update| !update.is_integer),
    }
}

/// Whether an expression is an integer that is never null.
fn is_integer(expr: &Expr) -> bool {
    match expr {
        Expr::Integer(_) | Expr::RecordId { .. } | Expr::Parameter { type_: Type::Integer, .. } => {
            true
        }
        Expr::Column { field, .. } | Expr::Scalar { field, .. } => is_plain_integer(field),
        Expr::Negate { operand, .. } => is_integer(operand),
        Expr::Arithmetic { operator, left, right, .. } => {
            *operator != loadstone_quel::tree::BinaryOperator::Power
                && is_integer(left)
                && is_integer(right)
        }
        _ => false,
    }
}

impl Translator<'_, '_> {
    /// Stages the row for the sink.
    pub(super) fn sink(&mut self, sink: &Sink, end: &End, by: Option<&Layout>) {
        let [rows, ..] = self.staged[..] else { unreachable!("the end was opened before") };
        let staged = self.builder.use_var(rows.count);
        let out = self.fixed(field!(out));
        match (&end.form, sink) {
            (Form::Tuples { bytes }, sink) => {
                let tuple = self.behind(out, staged, *bytes);
                let Packed { values, layout, span } =
                    Packed::of(sink).expect("a sink that gets tuples says which");
                self.pack(&values, &layout, span, tuple);
            }
            (
                Form::Aggregation { key, updates: arguments },
                Sink::Aggregate { by: exprs, updates, .. },
            ) => {
                self.key(*key, exprs, by, (out, staged));
                let mut conditional = 1;
                for (number, (update, argument)) in updates.iter().zip(arguments).enumerate() {
                    self.feed((number, conditional), update, *argument, staged);
                    conditional += usize::from(argument.is_conditional);
                }
            }
            (Form::Aggregation { .. }, _) => {
                unreachable!("only the sink of an aggregation stages arguments")
            }
        }
        let staged = self.builder.ins().iadd_imm_s(staged, 1);
        self.builder.def_var(rows.count, staged);
        let is_full = self.builder.ins().icmp_imm_s(IntCC::Equal, staged, end.rows_max as i64);
        let full = self.block();
        self.builder.ins().brif(is_full, full, &[], self.next, &[]);
        self.builder.switch_to_block(full);
        self.flush();
    }

    /// Counts rows, and those that count for each conditional update, from where the function
    /// before left off.
    pub(super) fn open_end(&mut self, end: &End) {
        let mut places = vec![(self.context, field!(staged))];
        if let Form::Aggregation { updates: arguments, .. } = &end.form {
            let updates = self.fixed(field!(updates));
            let count = std::mem::offset_of!(Fed, count);
            let offset = |number: usize| (number * size_of::<Fed>() + count) as i32;
            let conditional = arguments.iter().enumerate().filter(|(_, one)| one.is_conditional);
            places.extend(conditional.map(|(number, _)| (updates, offset(number))));
        }
        for (base, offset) in places {
            let before = self.builder.ins().load(types::I64, SHARED, base, offset);
            let count = self.builder.declare_var(types::I64);
            self.builder.def_var(count, before);
            self.staged.push(Staged { count, base, offset });
        }
    }

    /// Puts the counts of what is staged where Rust sees them.
    pub(super) fn keep_staged(&mut self) {
        for Staged { count, base, offset } in self.staged.clone() {
            let count = self.builder.use_var(count);
            self.builder.ins().store(SHARED, count, base, offset);
        }
    }

    /// Hands what is staged over; afterwards nothing is.
    pub(super) fn flush(&mut self) {
        self.keep_staged();
        let failed = self.call(Routine::Flush, &[self.context]);
        self.stop_if(failed);
        let zero = self.word(0);
        for Staged { count, .. } in self.staged.clone() {
            self.builder.def_var(count, zero);
        }
    }

    /// The address so many things behind another.
    fn behind(&mut self, start: Value, count: Value, bytes: usize) -> Value {
        let offset = self.builder.ins().imul_imm_s(count, bytes as i64);
        self.builder.ins().iadd(start, offset)
    }

    /// The by-values, at the place of the row.
    fn key(
        &mut self,
        key: Key,
        exprs: &[Expr],
        by: Option<&Layout>,
        (out, staged): (Value, Value),
    ) {
        match (key, by) {
            (Key::Integer, _) => {
                let value = self.compute(&exprs[0]);
                let place = self.behind(out, staged, size_of::<i64>());
                if let Content::Integer(value) = value.content {
                    self.builder.ins().store(SHARED, value, place, 0);
                }
            }
            (Key::Tuple { bytes }, Some(by)) => {
                let tuple = self.behind(out, staged, bytes);
                for (expr, field) in exprs.iter().zip(&by.fields) {
                    let value = self.compute(expr);
                    let value = self.with_one_zero(value);
                    self.write(value, field, (bytes, Span::default()), tuple);
                }
            }
            _ => {}
        }
    }

    /// A zero has one form, so that equal by-values have equal bytes: adding a positive zero turns
    /// the negative one into it.
    fn with_one_zero(&mut self, value: Computed) -> Computed {
        let Content::Real(real) = value.content else { return value };
        let zero = self.builder.ins().f64const(0.0);
        let content = Content::Real(self.builder.ins().fadd(real, zero));
        Computed { content, ..value }
    }

    /// Feed the row to an aggregate.
    fn feed(
        &mut self,
        (number, conditional): (usize, usize),
        update: &Update,
        argument: Argument,
        staged: Value,
    ) {
        let updates = self.fixed(field!(updates));
        let start = (number * size_of::<Fed>()) as i32;
        let after = self.block();
        if let Some(condition) = &update.condition {
            let counts = self.block();
            self.branch_if(condition, counts, after);
            self.builder.switch_to_block(counts);
        }
        let value = self.compute(&update.argument);
        let values_at = start + std::mem::offset_of!(Fed, values) as i32;
        let values = self.builder.ins().load(types::I64, FIXED, updates, values_at);
        match value.content {
            Content::Integer(integer) if argument.is_integer => {
                let place = self.behind(values, staged, size_of::<i64>());
                self.builder.ins().store(SHARED, integer, place, 0);
            }
            _ => {
                let place = self.behind(values, staged, size_of::<Cell>());
                self.put(value, place);
            }
        }
        if argument.is_conditional {
            let rows_at = start + std::mem::offset_of!(Fed, rows) as i32;
            let rows = self.builder.ins().load(types::I64, FIXED, updates, rows_at);
            let counter = self.staged[conditional].count;
            let count = self.builder.use_var(counter);
            let place = self.behind(rows, count, size_of::<u16>());
            self.builder.ins().istore16(SHARED, staged, place, 0);
            let count = self.builder.ins().iadd_imm_s(count, 1);
            self.builder.def_var(counter, count);
        }
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }
}
