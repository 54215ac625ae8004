//! Functions: their names, what they take and what they yield.

use super::expression::{Block, Resolver};
use super::resolved::{Function, Term, Type};
use super::{Checked, existing};
use crate::error::Fault;
use crate::tree::{AggregateFunction, BinaryOperator, Expr, Name, Span};

const FUNCTIONS: [(&str, Function); 13] = [
    ("abs", Function::Abs),
    ("atan", Function::Atan),
    ("cos", Function::Cos),
    ("exp", Function::Exp),
    ("float4", Function::ToReal(4)),
    ("float8", Function::ToReal(8)),
    ("int1", Function::ToInteger(1)),
    ("int2", Function::ToInteger(2)),
    ("int4", Function::ToInteger(4)),
    ("int8", Function::ToInteger(8)),
    ("log", Function::Log),
    ("sin", Function::Sin),
    ("sqrt", Function::Sqrt),
];

impl Resolver<'_> {
    pub(super) fn call(
        &mut self,
        block: &mut Block,
        name: &Name,
        arguments: &[Expr],
    ) -> Checked<(Term, Type)> {
        match (name.text.as_str(), arguments) {
            ("mod", [left, right]) => {
                self.arithmetic(block, BinaryOperator::Modulo, (left, right), name.span)
            }
            // IDL: to a decimal float of so many digits; 0 requests the widest.
            ("bcdflt", [Expr::Integer { .. }, value]) => {
                self.function(block, Function::ToReal(8), value, name.span)
            }
            ("mod", _) => Err(wrong_arguments(name, "two integers: mod(a, b)")),
            ("bcdflt", _) => Err(wrong_arguments(name, "a precision and a number: bcdflt(0, x)")),
            (text, _) => {
                let Some(&(_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == text)
                else {
                    let mut names: Vec<_> = FUNCTIONS.iter().map(|(known, _)| *known).collect();
                    names.extend(["bcdflt", "mod"]);
                    names.extend(AggregateFunction::ALL.iter().map(|one| one.text()));
                    let message = format!("there is no function `{text}`");
                    return Err(Fault::new(name.span, message)
                        .expecting(existing("functions", names.into_iter())));
                };
                let [value] = arguments else { return Err(wrong_arguments(name, "one number")) };
                self.function(block, function, value, name.span)
            }
        }
    }

    fn function(
        &mut self,
        block: &mut Block,
        function: Function,
        argument: &Expr,
        span: Span,
    ) -> Checked<(Term, Type)> {
        let (argument, argument_type) = self.number(block, argument)?;
        let type_ = match function {
            Function::Abs => argument_type,
            Function::ToInteger(_) => Type::Integer,
            _ => Type::Real,
        };
        Ok((Term::Call { function, argument: Box::new(argument), span }, type_))
    }
}

fn wrong_arguments(name: &Name, expected: &str) -> Fault {
    Fault::new(name.span, format!("`{}` has the wrong arguments", name.text))
        .expecting(format!("it takes {expected}"))
}
