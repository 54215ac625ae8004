//! Values: where each comes from, and of which type it is.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type as Word, Value, types};
use loadstone_quel::check::resolved::Type;
use loadstone_quel::schema::Kind;

use super::{FIXED, SHARED, TUPLE, Translator, field};
use crate::execution::compiled::context::{Cell, INTEGER, NULL, REAL, TEXT};
use crate::expression::Expr;
use crate::tuple::Field;

/// A value in registers.
#[derive(Clone, Copy)]
pub(super) struct Computed {
    pub content: Content,
    /// Not zero where it is null; None where it never is. A null's content means nothing.
    pub null: Option<Value>,
}

/// The values that a value is made of.
#[derive(Clone, Copy)]
pub(super) enum Content {
    Integer(Value),
    Real(Value),
    /// The place where a text begins, and its length, maybe with trailing blanks.
    Text {
        start: Value,
        bytes: Value,
        width: Option<usize>,
    },
}

impl Translator<'_, '_> {
    /// Computes an expression of any type; a condition is 1 or 0.
    pub(super) fn compute(&mut self, expr: &Expr) -> Computed {
        match expr {
            Expr::Integer(value) => {
                let value = self.builder.ins().iconst(types::I64, *value);
                Computed { content: Content::Integer(value), null: None }
            }
            Expr::Real(value) => {
                let value = self.builder.ins().f64const(*value);
                Computed { content: Content::Real(value), null: None }
            }
            Expr::Text(_) => self.constant(expr, Type::Text, false),
            Expr::Parameter { type_, .. } => self.constant(expr, *type_, false),
            Expr::Scalar { field, .. } => {
                self.constant(expr, type_of(field.kind), field.null_at.is_some())
            }
            Expr::Column { slot, field } => self.column(*slot, field),
            Expr::RecordId { slot } => {
                let id = self.slots[*slot].and_then(|slot| slot.id);
                let id = id.expect("only a stored relation's tuples have record ids");
                let id = self.builder.ins().load(types::I64, SHARED, id, 0);
                Computed { content: Content::Integer(id), null: None }
            }
            Expr::Negate { operand, span } => self.negate(operand, *span),
            Expr::Arithmetic { operator, left, right, span } => {
                self.arithmetic(*operator, left, right, *span)
            }
            Expr::Call { function, argument, span } => self.function(*function, argument, *span),
            condition => self.truth(condition),
        }
    }

    /// A value that is known before the pipeline starts: the code takes it from the context, and
    /// so serves for every one.
    fn constant(&mut self, expr: &Expr, type_: Type, may_be_null: bool) -> Computed {
        let known = self.parts.constants.iter().position(|one| one == expr);
        let number = known.unwrap_or_else(|| {
            self.parts.constants.push(expr.clone());
            self.parts.constants.len() - 1
        });
        let constants = self.fixed(field!(constants));
        let builder = &mut self.builder;
        let mut part = |word: Word, offset: usize| {
            let offset = (number * size_of::<Cell>() + offset) as i32;
            builder.ins().load(word, FIXED, constants, offset)
        };
        let bits = std::mem::offset_of!(Cell, bits);
        let content = match type_ {
            Type::Integer | Type::Truth => Content::Integer(part(types::I64, bits)),
            Type::Real => Content::Real(part(types::F64, bits)),
            Type::Text => Content::Text {
                start: part(types::I64, bits),
                bytes: part(types::I64, std::mem::offset_of!(Cell, bytes)),
                width: None,
            },
        };
        let tag = may_be_null.then(|| part(types::I64, std::mem::offset_of!(Cell, tag)));
        let null = tag.map(|tag| self.builder.ins().icmp_imm_s(IntCC::Equal, tag, NULL as i64));
        Computed { content, null }
    }

    fn column(&mut self, slot: usize, field: &Field) -> Computed {
        let tuple = self.slots[slot].expect("a step fills a slot before others read it").tuple;
        let offset = field.offset as i32;
        let content = match field.kind {
            Kind::Integer { bytes } => {
                let word = integer_of(bytes);
                let value = self.builder.ins().load(word, TUPLE, tuple, offset);
                Content::Integer(match bytes {
                    1 | 2 | 4 => self.builder.ins().sextend(types::I64, value),
                    _ => value,
                })
            }
            Kind::Real { bytes: 4 } => {
                let value = self.builder.ins().load(types::F32, TUPLE, tuple, offset);
                Content::Real(self.builder.ins().fpromote(types::F64, value))
            }
            Kind::Real { .. } => {
                Content::Real(self.builder.ins().load(types::F64, TUPLE, tuple, offset))
            }
            Kind::Text { width } => {
                let start = self.builder.ins().iadd_imm_s(tuple, field.offset as i64);
                let bytes = self.word(width);
                Content::Text { start, bytes, width: Some(width) }
            }
        };
        let null =
            field.null_at.map(|at| self.builder.ins().load(types::I8, TUPLE, tuple, at as i32));
        Computed { content, null }
    }

    /// Whether either is null.
    pub(super) fn either(&mut self, left: Option<Value>, right: Option<Value>) -> Option<Value> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.builder.ins().bor(left, right)),
            (one, other) => one.or(other),
        }
    }

    /// The value that `make` computes where its operands are not null; else nothing is computed.
    pub(super) fn unless_null(
        &mut self,
        null: Option<Value>,
        word: Word,
        make: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let Some(null) = null else { return make(self) };
        let (known, joined) = (self.block(), self.block());
        let result = self.builder.declare_var(word);
        let nothing = match word {
            types::F64 => self.builder.ins().f64const(0.0),
            _ => self.builder.ins().iconst(word, 0),
        };
        self.builder.def_var(result, nothing);
        self.builder.ins().brif(null, joined, &[], known, &[]);
        self.builder.switch_to_block(known);
        let value = make(self);
        self.builder.def_var(result, value);
        self.builder.ins().jump(joined, &[]);
        self.builder.switch_to_block(joined);
        self.builder.use_var(result)
    }

    /// So many cells of their own.
    pub(super) fn cells(&mut self, count: usize) -> usize {
        self.parts.cells += count;
        self.parts.cells - count
    }

    /// The address of a cell.
    pub(super) fn cell(&mut self, number: usize) -> Value {
        let cells = self.fixed(field!(cells));
        self.builder.ins().iadd_imm_s(cells, (number * size_of::<Cell>()) as i64)
    }

    /// Puts a value into the cell at an address.
    pub(super) fn put(&mut self, value: Computed, cell: Value) {
        let (tag, bits, bytes) = match value.content {
            Content::Integer(value) => (INTEGER, value, None),
            Content::Real(value) => (REAL, value, None),
            Content::Text { start, bytes, .. } => (TEXT, start, Some(bytes)),
        };
        let mut tag = self.builder.ins().iconst(types::I64, tag as i64);
        if let Some(null) = value.null {
            let nothing = self.builder.ins().iconst(types::I64, NULL as i64);
            tag = self.builder.ins().select(null, nothing, tag);
        }
        self.builder.ins().store(SHARED, tag, cell, std::mem::offset_of!(Cell, tag) as i32);
        self.builder.ins().store(SHARED, bits, cell, std::mem::offset_of!(Cell, bits) as i32);
        if let Some(bytes) = bytes {
            let offset = std::mem::offset_of!(Cell, bytes) as i32;
            self.builder.ins().store(SHARED, bytes, cell, offset);
        }
    }

    /// Computes expressions into cells side by side; the first one's number.
    pub(super) fn put_all<'e>(&mut self, exprs: impl Iterator<Item = &'e Expr>) -> usize {
        let exprs: Vec<_> = exprs.collect();
        let first = self.cells(exprs.len());
        for (at, expr) in exprs.into_iter().enumerate() {
            let value = self.compute(expr);
            let cell = self.cell(first + at);
            self.put(value, cell);
        }
        first
    }
}

/// An integer's type in memory.
pub(super) fn integer_of(bytes: usize) -> Word {
    match bytes {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    }
}

fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::Integer { .. } => Type::Integer,
        Kind::Real { .. } => Type::Real,
        Kind::Text { .. } => Type::Text,
    }
}
