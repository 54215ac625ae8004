//! Arithmetic, and functions of numbers. What cannot be computed is found out by the processor's
//! own means; why it cannot, [`Site`] says.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use loadstone_quel::check::resolved::Function;
use loadstone_quel::tree::{BinaryOperator, Span};

use super::Translator;
use super::value::{Computed, Content};
use crate::execution::compiled::context::Routine;
use crate::execution::compiled::site::Site;
use crate::expression::Expr;

/// 2^63, the first real behind all integers of 64 bits.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

impl Translator<'_, '_> {
    /// A number as a real.
    pub(super) fn as_real(&mut self, content: Content) -> Value {
        match content {
            Content::Real(value) => value,
            Content::Integer(value) => self.builder.ins().fcvt_from_sint(types::F64, value),
            // The check of the program lets no text come here.
            Content::Text { .. } => self.builder.ins().f64const(0.0),
        }
    }

    pub(super) fn negate(&mut self, operand: &Expr, span: Span) -> Computed {
        let Computed { content, null } = self.compute(operand);
        let content = match content {
            Content::Integer(value) => {
                Content::Integer(self.unless_null(null, types::I64, |this| {
                    this.fault_if_least(value, Site::Negate(span));
                    this.builder.ins().ineg(value)
                }))
            }
            other => {
                let value = self.as_real(other);
                Content::Real(self.builder.ins().fneg(value))
            }
        };
        Computed { content, null }
    }

    fn fault_if_least(&mut self, value: Value, site: Site) {
        let is_least = self.builder.ins().icmp_imm_s(IntCC::Equal, value, i64::MIN);
        self.fault_if(is_least, site, value, None);
    }

    /// If the left side is null, the right one's error shows all the same.
    pub(super) fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Computed {
        let (left, right) = (self.compute(left), self.compute(right));
        let null = self.either(left.null, right.null);
        let content =
            match (left.content, right.content) {
                (Content::Integer(left), Content::Integer(right))
                    if operator != BinaryOperator::Power =>
                {
                    Content::Integer(self.unless_null(null, types::I64, |this| {
                        this.integers(operator, left, right, span)
                    }))
                }
                (left, right) => {
                    let (left, right) = (self.as_real(left), self.as_real(right));
                    Content::Real(self.unless_null(null, types::F64, |this| {
                        this.reals(operator, left, right, span)
                    }))
                }
            };
        Computed { content, null }
    }

    fn integers(
        &mut self,
        operator: BinaryOperator,
        left: Value,
        right: Value,
        span: Span,
    ) -> Value {
        let site = Site::Integers(operator, span);
        let (result, overflow) = match operator {
            BinaryOperator::Add => self.builder.ins().sadd_overflow(left, right),
            BinaryOperator::Subtract => self.builder.ins().ssub_overflow(left, right),
            BinaryOperator::Multiply => self.builder.ins().smul_overflow(left, right),
            BinaryOperator::Divide => {
                let is_zero = self.builder.ins().icmp_imm_s(IntCC::Equal, right, 0);
                let is_least = self.builder.ins().icmp_imm_s(IntCC::Equal, left, i64::MIN);
                let is_minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, right, -1);
                let overflow = self.builder.ins().band(is_least, is_minus_one);
                let failed = self.builder.ins().bor(is_zero, overflow);
                self.fault_if(failed, site, left, Some(right));
                return self.builder.ins().sdiv(left, right);
            }
            _ => {
                let is_zero = self.builder.ins().icmp_imm_s(IntCC::Equal, right, 0);
                self.fault_if(is_zero, site, left, Some(right));
                // By 1 instead of -1, whose rest is 0 as well: the least integer's quotient would
                // overflow.
                let is_minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, right, -1);
                let one = self.builder.ins().iconst(types::I64, 1);
                let right = self.builder.ins().select(is_minus_one, one, right);
                return self.builder.ins().srem(left, right);
            }
        };
        self.fault_if(overflow, site, left, Some(right));
        result
    }

    fn reals(&mut self, operator: BinaryOperator, left: Value, right: Value, span: Span) -> Value {
        let site = Site::Reals(operator, span);
        let result = match operator {
            BinaryOperator::Add => self.builder.ins().fadd(left, right),
            BinaryOperator::Subtract => self.builder.ins().fsub(left, right),
            BinaryOperator::Multiply => self.builder.ins().fmul(left, right),
            // Nothing finite comes of a division by zero.
            BinaryOperator::Divide => self.builder.ins().fdiv(left, right),
            _ => self.call(Routine::Power, &[left, right]),
        };
        let infinite = self.not_finite(result);
        self.fault_if(infinite, site, left, Some(right));
        result
    }

    /// Whether a real is infinite or no number.
    pub(super) fn not_finite(&mut self, value: Value) -> Value {
        let infinity = if self.builder.func.dfg.value_type(value) == types::F32 {
            self.builder.ins().f32const(f32::INFINITY)
        } else {
            self.builder.ins().f64const(f64::INFINITY)
        };
        let size = self.builder.ins().fabs(value);
        self.builder.ins().fcmp(FloatCC::UnorderedOrGreaterThanOrEqual, size, infinity)
    }

    pub(super) fn function(&mut self, function: Function, argument: &Expr, span: Span) -> Computed {
        let Computed { content, null } = self.compute(argument);
        let content = match (function, content) {
            (Function::Abs, Content::Integer(value)) => {
                Content::Integer(self.unless_null(null, types::I64, |this| {
                    this.fault_if_least(value, Site::Absolute(span));
                    this.builder.ins().iabs(value)
                }))
            }
            (Function::ToInteger(bytes), Content::Integer(value)) => {
                Content::Integer(self.unless_null(null, types::I64, |this| {
                    this.narrow(value, bytes, Site::Narrow(bytes, span), value)
                }))
            }
            (Function::ToInteger(bytes), other) => {
                let value = self.as_real(other);
                Content::Integer(
                    self.unless_null(null, types::I64, |this| this.truncate(value, bytes, span)),
                )
            }
            (_, other) => {
                let value = self.as_real(other);
                Content::Real(self.unless_null(null, types::F64, |this| {
                    this.function_of_real(function, value, span)
                }))
            }
        };
        Computed { content, null }
    }

    /// An integer that fits so many bytes; else the site's error for its operand.
    fn narrow(&mut self, value: Value, bytes: usize, site: Site, operand: Value) -> Value {
        if let Some(fits) = self.fits(value, bytes) {
            let fails = self.builder.ins().icmp_imm_s(IntCC::Equal, fits, 0);
            self.fault_if(fails, site, operand, None);
        }
        value
    }

    /// Whether an integer fits so many bytes; None where every one does.
    pub(super) fn fits(&mut self, value: Value, bytes: usize) -> Option<Value> {
        let shift = 64 - 8 * bytes as i64;
        (shift > 0).then(|| {
            let up = self.builder.ins().ishl_imm_s(value, shift);
            let down = self.builder.ins().sshr_imm_s(up, shift);
            self.builder.ins().icmp(IntCC::Equal, down, value)
        })
    }

    fn truncate(&mut self, value: Value, bytes: usize, span: Span) -> Value {
        let site = Site::Truncate(bytes, span);
        let whole = self.builder.ins().trunc(value);
        let [low, high] = [-BEYOND, BEYOND].map(|end| self.builder.ins().f64const(end));
        let too_small = self.builder.ins().fcmp(FloatCC::LessThan, whole, low);
        let too_large = self.builder.ins().fcmp(FloatCC::GreaterThanOrEqual, whole, high);
        let failed = self.builder.ins().bor(too_small, too_large);
        self.fault_if(failed, site, value, None);
        let integer = self.builder.ins().fcvt_to_sint_sat(types::I64, whole);
        self.narrow(integer, bytes, site, value)
    }

    fn function_of_real(&mut self, function: Function, value: Value, span: Span) -> Value {
        let result = match function {
            Function::Abs => return self.builder.ins().fabs(value),
            Function::ToReal(4) => {
                let narrow = self.builder.ins().fdemote(types::F32, value);
                self.builder.ins().fpromote(types::F64, narrow)
            }
            Function::ToReal(_) | Function::ToInteger(_) => return value,
            Function::Sqrt => self.builder.ins().sqrt(value),
            Function::Atan => self.call(Routine::Atan, &[value]),
            Function::Cos => self.call(Routine::Cos, &[value]),
            Function::Exp => self.call(Routine::Exp, &[value]),
            Function::Log => self.call(Routine::Log, &[value]),
            Function::Sin => self.call(Routine::Sin, &[value]),
        };
        let infinite = self.not_finite(result);
        self.fault_if(infinite, Site::Call(function, span), value, None);
        result
    }
}
