//! Random expressions as text, of which it is known whether they can fail.

use crate::draw::Draw;
use crate::schema::{Form, Relation};

/// Of an integer that 64 bits hold.
const BITS_MAX: u32 = 62;

/// A sum of tuples has so many bits more than one of them; of products, too.
const SUM_BITS: u32 = 20;

/// Reals of so few binary digits add up exactly.
const EXACT_BITS: u32 = 30;

/// A range variable and what it ranges over.
#[derive(Clone)]
pub struct Variable<'r> {
    pub name: String,
    pub relation: &'r Relation,
}

/// An expression.
pub struct Value {
    pub text: String,
    pub form: Form,
}

/// Makes expressions over some range variables.
pub struct Expressions<'e, 'r, 'n> {
    pub draw: &'e mut Draw<'n>,
    pub variables: Vec<Variable<'r>>,
    /// A variable that only aggregates mention.
    pub inner: Option<Variable<'r>>,
    /// Whether operators may be used that fail for some values.
    pub may_fail: bool,
    /// The number of aggregates that there may still be.
    pub aggregates_left: usize,
}

impl Expressions<'_, '_, '_> {
    /// An attribute of that kind, if there is one.
    fn attribute(&mut self, fits: impl Fn(&Form) -> bool) -> Option<Value> {
        let all: Vec<Value> = self
            .variables
            .iter()
            .flat_map(|variable| {
                let of = |name: &str| format!("{}.{name}", variable.name);
                let fitting = variable.relation.attributes.iter().filter(|one| fits(&one.form));
                fitting.map(move |one| Value { text: of(&one.name), form: one.form })
            })
            .collect();
        if all.is_empty() {
            return None;
        }
        let at = self.draw.below(all.len());
        all.into_iter().nth(at)
    }

    /// Any attribute, if there is a variable.
    pub fn any_attribute(&mut self) -> Option<Value> {
        self.attribute(|_| true)
    }

    /// An integer, and below which power of 2 it is.
    pub fn integer(&mut self, depth: usize) -> (String, u32) {
        let kinds = if depth == 0 { 3 } else { 8 + 4 * usize::from(self.may_fail) };
        match self.draw.below(kinds) {
            0 | 1 => match self.attribute(|form| matches!(form, Form::Integer { .. })) {
                Some(Value { text, form: Form::Integer { bits } }) => (text, bits),
                _ => self.constant(),
            },
            2 => self.constant(),
            3 | 4 => {
                let ((left, left_bits), (right, right_bits)) = self.two_integers(depth);
                let operator = self.draw.of(&["+", "-"]);
                (format!("({left} {operator} {right})"), left_bits.max(right_bits) + 1)
            }
            5 => {
                let ((left, left_bits), (right, right_bits)) = self.two_integers(depth);
                if left_bits + right_bits <= BITS_MAX {
                    (format!("({left} * {right})"), left_bits + right_bits)
                } else {
                    (format!("(mod({left}, 1000) * mod({right}, 1000))"), 20)
                }
            }
            6 => {
                let (value, bits) = self.integer(depth - 1);
                let by = self.draw.between(1, 9);
                match self.draw.below(3) {
                    0 => (format!("({value} / {by})"), bits),
                    1 => (format!("mod({value}, {by})"), 4),
                    _ if bits > BITS_MAX => (format!("abs(mod({value}, 99))"), 7),
                    _ => (format!("(-abs({value}))"), bits),
                }
            }
            7 => self.integer_of_tuples(depth),
            _ => {
                let ((left, _), (right, _)) = (self.integer(depth - 1), self.integer(depth - 1));
                let text = match self.draw.below(4) {
                    0 => format!("({left} / {right})"),
                    1 => format!("mod({left}, {right})"),
                    2 => format!("int1({left})"),
                    _ => format!("({left} * ({right} + 9223372036854775800))"),
                };
                (text, 63)
            }
        }
    }

    fn integer_attribute(&mut self) -> String {
        let found = self.attribute(|form| matches!(form, Form::Integer { .. }));
        found.map_or_else(|| "3".to_owned(), |value| value.text)
    }

    fn constant(&mut self) -> (String, u32) {
        match self.draw.below(16) {
            15 => ("(-9223372036854775807 - 1)".to_owned(), 63),
            14 => ("9223372036854775807".to_owned(), 63),
            13 => ("(-1)".to_owned(), 1),
            12 | 11 => ("1000000007".to_owned(), 30),
            10 => ("(-4)".to_owned(), 3),
            value => (value.to_string(), 4),
        }
    }

    /// Two integers whose sum fits.
    fn two_integers(&mut self, depth: usize) -> ((String, u32), (String, u32)) {
        let mut one = || {
            let (text, bits) = self.integer(depth - 1);
            if bits >= BITS_MAX { (format!("mod({text}, 1000)"), 10) } else { (text, bits) }
        };
        (one(), one())
    }

    fn integer_of_tuples(&mut self, depth: usize) -> (String, u32) {
        if self.aggregates_left == 0 {
            return self.constant();
        }
        let function = self.draw.of(&["count", "countu", "any", "min", "max", "sum", "sumu"]);
        self.aggregate(|inner| {
            let (mut value, mut bits) = inner.integer(depth.min(1));
            if function.starts_with("sum") && bits + SUM_BITS > BITS_MAX {
                (value, bits) = (format!("mod({value}, 1000)"), 10);
            }
            let bits = match function {
                "min" | "max" => bits,
                "sum" | "sumu" => bits + SUM_BITS,
                _ => SUM_BITS,
            };
            (function, value, bits)
        })
    }

    /// A real, and whether it has few binary digits.
    pub fn real(&mut self, depth: usize) -> (String, bool) {
        let kinds = if depth == 0 { 3 } else { 8 + 4 * usize::from(self.may_fail) };
        match self.draw.below(kinds) {
            0 | 1 => match self.attribute(|form| matches!(form, Form::Real { .. })) {
                Some(Value { text, form: Form::Real { is_exact } }) => (text, is_exact),
                _ => (format!("{}.25", self.draw.below(9)), true),
            },
            2 => (format!("{}.5", self.draw.below(100)), true),
            3 | 4 => {
                // Of two operands only the first may be a sum, or sums of sums grow.
                let ((left, left_exact), (right, right_exact)) =
                    (self.real(depth - 1), self.real(0));
                let operator = self.draw.of(&["+", "-"]);
                (format!("({left} {operator} {right})"), left_exact && right_exact)
            }
            5 => {
                let (value, bits) = self.integer(depth - 1);
                (format!("float8({value})"), bits <= EXACT_BITS)
            }
            6 => {
                let (value, _) = self.real(depth - 1);
                let text = match self.draw.below(5) {
                    0 => format!("({value} / {}.0)", self.draw.between(1, 9)),
                    1 => format!("({value} * 0.1)"),
                    2 => format!("sqrt(abs({value}))"),
                    3 => format!("atan({value})"),
                    _ => format!("sin({value})"),
                };
                (text, false)
            }
            7 => self.real_of_tuples(depth),
            _ => {
                let ((left, _), (right, _)) = (self.real(depth - 1), self.real(0));
                let text = match self.draw.below(4) {
                    0 => format!("({left} / {right})"),
                    1 => format!("log({left})"),
                    2 => format!("({left} ** {right})"),
                    _ => format!("exp({left} * 1000.0)"),
                };
                (text, false)
            }
        }
    }

    fn real_of_tuples(&mut self, depth: usize) -> (String, bool) {
        if self.aggregates_left == 0 {
            return ("1.5".to_owned(), true);
        }
        let function = self.draw.of(&["min", "max", "avg", "avgu", "sum", "sumu"]);
        self.aggregate(|inner| {
            let (mut value, is_exact) = inner.real(depth.min(1));
            if !is_exact && !matches!(function, "min" | "max") {
                // A sum must not depend on the order of the tuples.
                let (other, is_exact) = inner.real(0);
                value = if is_exact { other } else { "2.5".to_owned() };
            }
            (function, value, matches!(function, "min" | "max") && is_exact)
        })
    }

    /// An aggregate; `of` gives the function, its argument and what is known of the result.
    fn aggregate<T>(
        &mut self,
        of: impl FnOnce(&mut Expressions<'_, '_, '_>) -> (&'static str, String, T),
    ) -> (String, T) {
        self.aggregates_left -= 1;
        let mut variables = self.variables.clone();
        if let Some(inner) = &self.inner
            && (variables.is_empty() || self.draw.one_in(2))
        {
            variables = vec![inner.clone()];
        }
        // Of several variables the aggregate has one or two, which keeps products small.
        while variables.len() > 2 || (variables.len() == 2 && self.draw.below(3) < 2) {
            let at = self.draw.below(variables.len());
            variables.remove(at);
        }
        let mut inner = Expressions {
            draw: &mut *self.draw,
            variables,
            inner: self.inner.clone(),
            may_fail: self.may_fail,
            aggregates_left: usize::from(self.aggregates_left > 0),
        };
        let (function, argument, known) = of(&mut inner);
        let mut text = format!("{function}({argument}");
        // An end of an index may answer it: of a whole relation, and without anything else.
        if matches!(function, "min" | "max") && inner.draw.one_in(2) {
            return (format!("{text})"), known);
        }
        let keys = inner.draw.below(3);
        let left = std::mem::take(&mut inner.aggregates_left);
        let keys: Vec<String> = (0..keys).filter_map(|_| inner.key()).collect();
        if !keys.is_empty() {
            text = format!("{text} by {}", keys.join(", "));
        }
        inner.aggregates_left = left;
        // Which tuples a condition is tried for is a plan's to decide, here as elsewhere.
        inner.may_fail = false;
        if inner.draw.one_in(3) && !inner.variables.is_empty() {
            text = format!("{text} where {}", inner.condition(1));
        }
        (format!("{text})"), known)
    }

    /// A term that may stand behind `by`.
    fn key(&mut self) -> Option<String> {
        if self.draw.one_in(5) {
            return Some(self.integer(1).0).filter(|text| text.contains('.'));
        }
        self.any_attribute().map(|value| value.text)
    }

    /// A text.
    pub fn text(&mut self) -> String {
        match self.draw.below(4) {
            0..3 => match self.attribute(|form| *form == Form::Text) {
                Some(value) => value.text,
                None => "\"ab\"".to_owned(),
            },
            _ => format!("\"{}\"", self.draw.of(&["ab", "", "B", "a b  ", "aé"])),
        }
    }

    /// A value of any type.
    pub fn value(&mut self, depth: usize) -> Value {
        match self.draw.below(6) {
            0..2 => {
                if let Some(value) = self.any_attribute() {
                    return value;
                }
                let (text, bits) = self.constant();
                Value { text, form: Form::Integer { bits } }
            }
            2 | 3 => {
                let (text, bits) = self.integer(depth);
                Value { text, form: Form::Integer { bits } }
            }
            4 => {
                let (text, is_exact) = self.real(depth);
                Value { text, form: Form::Real { is_exact } }
            }
            _ => Value { text: self.text(), form: Form::Text },
        }
    }

    /// A condition.
    pub fn condition(&mut self, depth: usize) -> String {
        let kinds = if depth == 0 { 5 } else { 9 };
        let operators = ["=", "<", ">=", "!=", "<=", ">"];
        match self.draw.below(kinds) {
            0 | 1 => {
                let may_fail = self.may_fail;
                let left = if may_fail { self.integer(2).0 } else { self.integer_attribute() };
                let operator = self.draw.of(&operators);
                format!("{left} {operator} {}", self.integer(0).0)
            }
            2 => {
                let left = self.number(depth.min(1));
                format!("{left} {} {}", self.draw.of(&operators), self.number(depth.min(1)))
            }
            3 => {
                let (left, right) = (self.text(), self.text());
                format!("{left} {} {right}", self.draw.of(&operators))
            }
            4 => {
                let text = self.text();
                let pattern = self.draw.of(&["a*", "?", "[a-b]*", "*b*", "a?b", "*", "\\*a*"]);
                format!("{text} {} \"{pattern}\"", self.draw.of(&["=", "!="]))
            }
            5 | 6 => format!("({} and {})", self.condition(depth - 1), self.condition(depth - 1)),
            7 => format!("({} or {})", self.condition(depth - 1), self.condition(depth - 1)),
            _ => format!("not ({})", self.condition(depth - 1)),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        if self.draw.one_in(3) { self.real(depth).0 } else { self.integer(depth).0 }
    }

    /// An equality of two different variables' attributes.
    pub fn join(&mut self, one: usize, other: usize) -> String {
        let kind = self.draw.below(8);
        let all = self.variables.clone();
        let sides = [one, other].map(|at| {
            self.variables = vec![all[at].clone()];
            match kind {
                0..3 => format!("{}.k", all[at].name),
                3..6 => self.integer_attribute(),
                6 => self.text(),
                _ => self.number(1),
            }
        });
        self.variables = all;
        sides.join(" = ")
    }
}
