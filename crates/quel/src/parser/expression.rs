//! Values and conditions, by precedence climbing.

use super::{MAX_DEPTH, Parser};
use crate::error::Fault;
use crate::lexer::Token;
use crate::tree::{
    AggregateFunction, BinaryOperator, Expr, NOT_PRECEDENCE, Name, SIGN_PRECEDENCE, UnaryOperator,
};

/// An expression and the depth of its tree. Left-deep chains grow the tree without recursion, so
/// the depth has to be carried along.
type Measured = (Expr, usize);

impl Parser {
    pub(super) fn expression(&mut self) -> Result<Expr, Fault> {
        Ok(self.climb(0, 0)?.0)
    }

    /// An expression whose operators bind at least as tightly as `least`.
    fn climb(&mut self, least: u8, level: usize) -> Result<Measured, Fault> {
        let (mut left, mut depth) = self.operand(least, level)?;
        let mut compared = false;
        while let Some(operator) = self.binary_operator() {
            if operator.precedence() < least {
                break;
            }
            if operator.compares() && compared {
                return Err(Fault::new(self.span(), "comparisons do not chain")
                    .expecting("join two comparisons with `and`"));
            }
            compared = operator.compares();
            let span = self.advance();
            let (right, right_depth) = self.climb(operator.right_precedence(), level + 1)?;
            depth = self.deeper(depth.max(right_depth))?;
            left = Expr::Binary { operator, left: Box::new(left), right: Box::new(right), span };
        }
        Ok((left, depth))
    }

    fn deeper(&self, depth: usize) -> Result<usize, Fault> {
        if depth >= MAX_DEPTH { Err(self.too_deep()) } else { Ok(depth + 1) }
    }

    fn too_deep(&self) -> Fault {
        Fault::new(self.span(), "the expression is nested too deeply")
            .expecting(format!("at most {MAX_DEPTH} levels of operators and parentheses"))
    }

    fn binary_operator(&self) -> Option<BinaryOperator> {
        let text = match self.peek() {
            Token::Word(word) => word.as_str(),
            Token::Symbol(symbol) => symbol,
            _ => return None,
        };
        Some(match text {
            "and" => BinaryOperator::And,
            "or" => BinaryOperator::Or,
            "=" => BinaryOperator::Equal,
            "!=" => BinaryOperator::NotEqual,
            "<" => BinaryOperator::Less,
            "<=" => BinaryOperator::LessOrEqual,
            ">" => BinaryOperator::Greater,
            ">=" => BinaryOperator::GreaterOrEqual,
            "+" => BinaryOperator::Add,
            "-" => BinaryOperator::Subtract,
            "*" => BinaryOperator::Multiply,
            "/" => BinaryOperator::Divide,
            "**" => BinaryOperator::Power,
            "mod" => BinaryOperator::Modulo,
            _ => return None,
        })
    }

    fn operand(&mut self, least: u8, level: usize) -> Result<Measured, Fault> {
        if level > MAX_DEPTH {
            return Err(self.too_deep());
        }
        if self.is_symbol("-") && least <= SIGN_PRECEDENCE {
            return self.unary(UnaryOperator::Negate, SIGN_PRECEDENCE, level);
        }
        if self.is_word("not") && least <= NOT_PRECEDENCE {
            return self.unary(UnaryOperator::Not, NOT_PRECEDENCE, level);
        }
        self.primary(level)
    }

    fn unary(
        &mut self,
        operator: UnaryOperator,
        precedence: u8,
        level: usize,
    ) -> Result<Measured, Fault> {
        let span = self.advance();
        let (operand, depth) = self.climb(precedence, level + 1)?;
        let depth = self.deeper(depth)?;
        Ok((Expr::Unary { operator, operand: Box::new(operand), span }, depth))
    }

    fn primary(&mut self, level: usize) -> Result<Measured, Fault> {
        let span = self.span();
        let leaf = match self.peek() {
            Token::Integer(value) => Expr::Integer { value: *value, span },
            Token::Real(value) => Expr::Real { value: *value, span },
            Token::Text(value) => Expr::Text { value: value.clone(), span },
            Token::Parameter(number) => Expr::Parameter { number: *number, span },
            Token::Symbol("(") => {
                self.advance();
                let inner = self.climb(0, level + 1)?;
                self.expect_symbol(")", "an operator or `)`")?;
                return Ok(inner);
            }
            Token::Word(_) if self.symbol_ahead(1, "(") || self.mod_call() => {
                return self.call(level);
            }
            Token::Word(_) => self.attribute()?,
            _ => return Err(self.expected_operand()),
        };
        if !matches!(leaf, Expr::Attribute { .. }) {
            self.advance();
        }
        Ok((leaf, 1))
    }

    fn expected_operand(&self) -> Fault {
        self.unexpected("an attribute such as t.unique2, a constant, a function, `not` or `(`")
    }

    fn attribute(&mut self) -> Result<Expr, Fault> {
        if matches!(self.peek(), Token::Word(word) if super::RESERVED.contains(&word.as_str())) {
            return Err(self.expected_operand());
        }
        let variable = self.name("a range variable")?;
        self.expect_symbol(".", "`.` and an attribute after the range variable")?;
        if self.is_word("all") {
            return Err(Fault::new(self.span(), "`.all` stands only by itself in a target list")
                .expecting("expected one attribute"));
        }
        let name = self.any_name("an attribute of the range variable")?;
        Ok(Expr::Attribute { variable, name })
    }

    /// `mod` is an operator and, where an operand is wanted, the name of a function.
    fn mod_call(&self) -> bool {
        self.is_word("mod") && self.symbol_ahead(1, "(")
    }

    fn call(&mut self, level: usize) -> Result<Measured, Fault> {
        let is_mod = self.mod_call();
        let function = if is_mod {
            self.any_name("a function")?
        } else if matches!(self.peek(), Token::Word(w) if super::RESERVED.contains(&w.as_str())) {
            return Err(self.expected_operand());
        } else {
            self.name("a function")?
        };
        self.advance();
        let aggregate = AggregateFunction::ALL.into_iter().find(|a| a.text() == function.text);
        if let Some(aggregate) = aggregate {
            return self.aggregate(aggregate, &function, level);
        }
        let mut depth = 0;
        let mut arguments = Vec::new();
        if !self.is_symbol(")") {
            arguments = self.measured_list(level, &mut depth)?;
        }
        self.expect_symbol(")", "an operator, `,` or `)`")?;
        Ok((Expr::Call { function, arguments }, self.deeper(depth)?))
    }

    fn aggregate(
        &mut self,
        function: AggregateFunction,
        name: &Name,
        level: usize,
    ) -> Result<Measured, Fault> {
        let (argument, mut depth) = self.climb(0, level + 1)?;
        let mut by = Vec::new();
        if self.accept_word("by") {
            by = self.measured_list(level, &mut depth)?;
        }
        let mut filter = None;
        if self.accept_word("where") {
            let (condition, filter_depth) = self.climb(0, level + 1)?;
            depth = depth.max(filter_depth);
            filter = Some(Box::new(condition));
        }
        self.expect_symbol(")", "an operator, `by`, `where` or `)`")?;
        let (argument, span) = (Box::new(argument), name.span);
        Ok((Expr::Aggregate { function, argument, by, filter, span }, self.deeper(depth)?))
    }

    fn measured_list(&mut self, level: usize, depth: &mut usize) -> Result<Vec<Expr>, Fault> {
        self.list(|parser| {
            let (item, item_depth) = parser.climb(0, level + 1)?;
            *depth = (*depth).max(item_depth);
            Ok(item)
        })
    }
}
