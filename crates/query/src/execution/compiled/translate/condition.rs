//! Conditions: branches, one way each for true, false and open by a null.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use loadstone_quel::tree::BinaryOperator;

use super::Translator;
use super::value::{Computed, Content};
use crate::execution::compiled::context::Routine;
use crate::expression::Expr;

/// The place where a condition leads.
#[derive(Clone, Copy)]
struct Ways {
    holds: Block,
    fails: Block,
    open: Block,
}

impl Translator<'_, '_> {
    /// Goes on only with rows for which a condition is true. The first part of an `and` that is
    /// not drops the row, also where a null leaves it open.
    pub(super) fn keep(&mut self, condition: &Expr) {
        let parts = if let Expr::And(parts) = condition {
            parts.as_slice()
        } else {
            std::slice::from_ref(condition)
        };
        for part in parts {
            let holds = self.block();
            let (fails, open) = (self.next, self.next);
            self.branch(part, Ways { holds, fails, open });
            self.builder.switch_to_block(holds);
        }
    }

    /// Goes to one block where a condition is true, and to another where it is not.
    pub(super) fn branch_if(&mut self, condition: &Expr, holds: Block, fails: Block) {
        self.branch(condition, Ways { holds, fails, open: fails });
    }

    /// A condition as a value: 1, 0, or null.
    pub(super) fn truth(&mut self, condition: &Expr) -> Computed {
        let [holds, fails, open, joined] = [0; 4].map(|_| self.block());
        let (value, null) =
            (self.builder.declare_var(types::I64), self.builder.declare_var(types::I8));
        self.branch(condition, Ways { holds, fails, open });
        for (block, is_true, is_null) in [(holds, 1, 0), (fails, 0, 0), (open, 0, 1)] {
            self.builder.switch_to_block(block);
            let is_true = self.builder.ins().iconst(types::I64, is_true);
            self.builder.def_var(value, is_true);
            let is_null = self.builder.ins().iconst(types::I8, is_null);
            self.builder.def_var(null, is_null);
            self.builder.ins().jump(joined, &[]);
        }
        self.builder.switch_to_block(joined);
        let (value, null) = (self.builder.use_var(value), self.builder.use_var(null));
        Computed { content: Content::Integer(value), null: Some(null) }
    }

    fn branch(&mut self, condition: &Expr, ways: Ways) {
        match condition {
            Expr::Not(operand) => {
                self.branch(operand, Ways { holds: ways.fails, fails: ways.holds, ..ways });
            }
            Expr::And(parts) => self.parts_of(parts, ways, false),
            Expr::Or(parts) => self.parts_of(parts, ways, true),
            Expr::Compare { operator, left, right } => {
                self.count(self.comparisons);
                self.compare(*operator, left, right, ways);
            }
            Expr::Match { text, pattern, negated } => {
                self.count(self.comparisons);
                let text = self.compute(text);
                self.open_if(text.null, ways.open);
                let Content::Text { start, bytes, .. } = text.content else {
                    self.builder.ins().jump(ways.open, &[]);
                    return;
                };
                let number = self.parts.patterns.len();
                self.parts.patterns.push(pattern.clone());
                let number = self.word(number);
                let fits = self.call(Routine::Match, &[self.context, number, start, bytes]);
                let (yes, no) =
                    if *negated { (ways.fails, ways.holds) } else { (ways.holds, ways.fails) };
                self.builder.ins().brif(fits, yes, &[], no, &[]);
            }
            // No other expression is a condition: the check of the program saw to it.
            _ => _ = self.builder.ins().jump(ways.open, &[]),
        }
    }

    /// Parts of which the first `decisive` one decides; one that is open leaves the whole open if
    /// none decides.
    fn parts_of(&mut self, parts: &[Expr], ways: Ways, decisive: bool) {
        let (decided, undecided) =
            if decisive { (ways.holds, ways.fails) } else { (ways.fails, ways.holds) };
        let is_open = self.builder.declare_var(types::I8);
        let zero = self.builder.ins().iconst(types::I8, 0);
        self.builder.def_var(is_open, zero);
        for part in parts {
            let (following, open) = (self.block(), self.block());
            let (holds, fails) = if decisive { (decided, following) } else { (following, decided) };
            self.branch(part, Ways { holds, fails, open });
            self.builder.switch_to_block(open);
            let one = self.builder.ins().iconst(types::I8, 1);
            self.builder.def_var(is_open, one);
            self.builder.ins().jump(following, &[]);
            self.builder.switch_to_block(following);
        }
        let is_open = self.builder.use_var(is_open);
        self.builder.ins().brif(is_open, ways.open, &[], undecided, &[]);
    }

    /// Leaves where a value is null.
    fn open_if(&mut self, null: Option<Value>, open: Block) {
        let Some(null) = null else { return };
        let known = self.block();
        self.builder.ins().brif(null, open, &[], known, &[]);
        self.builder.switch_to_block(known);
    }

    /// Both sides are computed before either's null counts: an error must show.
    fn compare(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr, ways: Ways) {
        use Content::{Integer as I, Real as R, Text as T};
        let (left, right) = (self.compute(left), self.compute(right));
        let null = self.either(left.null, right.null);
        self.open_if(null, ways.open);
        let holds = match (left.content, right.content) {
            (I(left), I(right)) => self.builder.ins().icmp(integers(operator), left, right),
            (R(left), R(right)) => self.builder.ins().fcmp(reals(operator), left, right),
            (I(left), R(right)) => {
                let order = self.call(Routine::CompareMixed, &[left, right]);
                self.builder.ins().icmp_imm_s(integers(operator), order, 0)
            }
            (R(left), I(right)) => {
                let order = self.call(Routine::CompareMixed, &[right, left]);
                let zero = self.word(0);
                self.builder.ins().icmp(integers(operator), zero, order)
            }
            (T { start, bytes, .. }, T { start: other, bytes: other_bytes, .. }) => {
                let texts = [start, bytes, other, other_bytes];
                let order = self.call(Routine::CompareTexts, &texts);
                self.builder.ins().icmp_imm_s(integers(operator), order, 0)
            }
            // The check of the program lets no text be compared with a number.
            _ => {
                self.builder.ins().jump(ways.open, &[]);
                return;
            }
        };
        self.builder.ins().brif(holds, ways.holds, &[], ways.fails, &[]);
    }
}

fn integers(operator: BinaryOperator) -> IntCC {
    match operator {
        BinaryOperator::Equal => IntCC::Equal,
        BinaryOperator::NotEqual => IntCC::NotEqual,
        BinaryOperator::Less => IntCC::SignedLessThan,
        BinaryOperator::LessOrEqual => IntCC::SignedLessThanOrEqual,
        BinaryOperator::Greater => IntCC::SignedGreaterThan,
        _ => IntCC::SignedGreaterThanOrEqual,
    }
}

fn reals(operator: BinaryOperator) -> FloatCC {
    match operator {
        BinaryOperator::Equal => FloatCC::Equal,
        BinaryOperator::NotEqual => FloatCC::NotEqual,
        BinaryOperator::Less => FloatCC::LessThan,
        BinaryOperator::LessOrEqual => FloatCC::LessThanOrEqual,
        BinaryOperator::Greater => FloatCC::GreaterThan,
        _ => FloatCC::GreaterThanOrEqual,
    }
}
