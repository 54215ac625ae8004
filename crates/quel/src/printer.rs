//! Tree to canonical text: one statement a line, lower case, no parenthesis that the parser does
//! not need.

use crate::error::QuelError;
use crate::lexer::PARAMETERS_MAX;
use crate::parser::RESERVED;
use crate::tree::{Expr, NOT_PRECEDENCE, Name, SIGN_PRECEDENCE, Statement, Target, UnaryOperator};

/// The canonical text. Parsing it gives the same tree again.
///
/// Trees that come from the parser always have one; a tree made by hand may hold a name that
/// cannot be written, or a computed target without a name: those are errors.
pub fn print(program: &[Statement]) -> Result<String, QuelError> {
    let mut printer = Printer { text: String::new() };
    for statement in program {
        printer.statement(statement)?;
        printer.text.push('\n');
    }
    Ok(printer.text)
}

type Printed = Result<(), QuelError>;

struct Printer {
    text: String,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// A relation, range variable or function.
    fn name(&mut self, before: &str, name: &Name) -> Printed {
        if RESERVED.contains(&name.text.as_str()) {
            return Err(QuelError::Tree(format!("`{}` is a word of the language", name.text)));
        }
        self.any_name(before, name)
    }

    /// An attribute, which may be called like a keyword.
    fn any_name(&mut self, before: &str, name: &Name) -> Printed {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let digit_first = name.text.starts_with(|c: char| c.is_ascii_digit());
        if name.text.is_empty() || digit_first || !name.text.chars().all(word) {
            let message = format!("{:?} cannot be written as a name", name.text);
            return Err(QuelError::Tree(message));
        }
        self.put(before);
        self.put(&name.text);
        Ok(())
    }

    fn full_list<T>(&mut self, items: &[T], item: impl Fn(&mut Self, &T) -> Printed) -> Printed {
        if items.is_empty() {
            return Err(QuelError::Tree("a statement's list cannot be empty".to_owned()));
        }
        self.list(items, item)
    }

    fn list<T>(&mut self, items: &[T], item: impl Fn(&mut Self, &T) -> Printed) -> Printed {
        for (at, one) in items.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            item(self, one)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Printed {
        match statement {
            Statement::Range { variable, relation } => {
                self.name("range of ", variable)?;
                self.name(" is ", relation)
            }
            Statement::Retrieve { unique, into, targets, filter } => {
                self.put(if *unique { "retrieve unique" } else { "retrieve" });
                if let Some(relation) = into {
                    self.name(" into ", relation)?;
                }
                self.targets_and_filter(targets, filter.as_ref())
            }
            Statement::Append { relation, targets, filter } => {
                self.name("append to ", relation)?;
                self.targets_and_filter(targets, filter.as_ref())
            }
            Statement::Replace { variable, targets, filter } => {
                self.name("replace ", variable)?;
                self.targets_and_filter(targets, filter.as_ref())
            }
            Statement::Delete { variable, filter } => {
                self.name("delete ", variable)?;
                self.filter(filter.as_ref())
            }
            Statement::Go => {
                self.put("go");
                Ok(())
            }
            _ => self.definition(statement),
        }
    }

    fn definition(&mut self, statement: &Statement) -> Printed {
        match statement {
            Statement::Create { relation, attributes } => {
                self.name("create ", relation)?;
                self.put(" (");
                self.full_list(attributes, |printer, attribute| {
                    printer.any_name("", &attribute.name)?;
                    printer.any_name(" = ", &attribute.type_name)
                })?;
                self.put(")");
                Ok(())
            }
            Statement::Index { clustered, relation, attributes, unique } => {
                self.put(if *unique { "create unique " } else { "create " });
                self.put(if *clustered { "clustered index" } else { "nonclustered index" });
                self.name(" on ", relation)?;
                self.put(" (");
                self.full_list(attributes, |printer, name| printer.any_name("", name))?;
                self.put(")");
                Ok(())
            }
            Statement::Modify { relation, structure, key } => {
                self.name("modify ", relation)?;
                self.any_name(" to ", structure)?;
                if !key.is_empty() {
                    self.put(" on ");
                }
                self.list(key, |printer, name| printer.any_name("", name))
            }
            Statement::Destroy { relations } => {
                self.put("destroy ");
                self.full_list(relations, |printer, name| printer.name("", name))
            }
            _ => Ok(()),
        }
    }

    fn targets_and_filter(&mut self, targets: &[Target], filter: Option<&Expr>) -> Printed {
        self.put(" (");
        self.full_list(targets, Self::target)?;
        self.put(")");
        self.filter(filter)
    }

    fn filter(&mut self, filter: Option<&Expr>) -> Printed {
        let Some(condition) = filter else { return Ok(()) };
        self.put(" where ");
        self.expression(condition, 0)
    }

    fn target(&mut self, target: &Target) -> Printed {
        match target {
            Target::All { variable } => {
                self.name("", variable)?;
                self.put(".all");
                Ok(())
            }
            Target::Named { name: Some(name), value } => {
                self.any_name("", name)?;
                self.put(" = ");
                self.expression(value, 0)
            }
            Target::Named { name: None, value: value @ Expr::Attribute { .. } } => {
                self.expression(value, 0)
            }
            Target::Named { name: None, .. } => {
                Err(QuelError::Tree("a computed target needs a name".to_owned()))
            }
        }
    }

    /// `least`: the precedence below which the place demands parentheses.
    fn expression(&mut self, expr: &Expr, least: u8) -> Printed {
        if precedence(expr) >= least {
            return self.bare_expression(expr);
        }
        self.put("(");
        self.bare_expression(expr)?;
        self.put(")");
        Ok(())
    }

    fn bare_expression(&mut self, expr: &Expr) -> Printed {
        match expr {
            Expr::Integer { value, .. } => self.put(&value.to_string()),
            Expr::Real { value, .. } if value.is_finite() => self.put(&format!("{value:?}")),
            Expr::Real { value, .. } => {
                return Err(QuelError::Tree(format!("{value} cannot be written as a number")));
            }
            Expr::Text { value, .. } => self.text(value),
            Expr::Parameter { number, .. } if (1..=PARAMETERS_MAX).contains(number) => {
                self.put(&format!("${number}"));
            }
            Expr::Parameter { number, .. } => {
                return Err(QuelError::Tree(format!("there is no parameter ${number}")));
            }
            Expr::Attribute { variable, name } => {
                self.name("", variable)?;
                self.attribute_name(name)?;
            }
            Expr::Unary { operator: UnaryOperator::Not, operand, .. } => {
                self.put("not ");
                self.expression(operand, NOT_PRECEDENCE)?;
            }
            Expr::Unary { operator: UnaryOperator::Negate, operand, .. } => {
                self.put("-");
                self.expression(operand, SIGN_PRECEDENCE)?;
            }
            Expr::Binary { operator, left, right, .. } => {
                self.expression(left, operator.left_precedence())?;
                self.put(" ");
                self.put(operator.text());
                self.put(" ");
                self.expression(right, operator.right_precedence())?;
            }
            Expr::Call { .. } | Expr::Aggregate { .. } => self.call(expr)?,
        }
        Ok(())
    }

    fn attribute_name(&mut self, name: &Name) -> Printed {
        if name.text == "all" {
            return Err(QuelError::Tree("an attribute cannot be called `all`".to_owned()));
        }
        self.any_name(".", name)
    }

    fn call(&mut self, expr: &Expr) -> Printed {
        match expr {
            Expr::Call { function, arguments } => {
                if function.text == "mod" {
                    self.any_name("", function)?;
                } else {
                    self.name("", function)?;
                }
                self.put("(");
                self.list(arguments, |printer, argument| printer.expression(argument, 0))?;
            }
            Expr::Aggregate { function, argument, by, filter, .. } => {
                self.put(function.text());
                self.put("(");
                self.expression(argument, 0)?;
                if !by.is_empty() {
                    self.put(" by ");
                }
                self.list(by, |printer, item| printer.expression(item, 0))?;
                self.filter(filter.as_deref())?;
            }
            _ => return Ok(()),
        }
        self.put(")");
        Ok(())
    }

    fn text(&mut self, value: &str) {
        self.put("\"");
        let mut characters = value.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '"' => self.put("\\\""),
                '\\' => {
                    // Before anything but a metacharacter it is a backslash of its own, which
                    // the parser has doubled already.
                    let meta = |next: &char| matches!(next, '*' | '?' | '[' | ']' | '\\');
                    self.text.push('\\');
                    self.text.push(characters.next_if(meta).unwrap_or('\\'));
                }
                other => self.text.push(other),
            }
        }
        self.put("\"");
    }
}

fn precedence(expr: &Expr) -> u8 {
    match expr {
        Expr::Binary { operator, .. } => operator.precedence(),
        Expr::Unary { operator: UnaryOperator::Not, .. } => NOT_PRECEDENCE,
        Expr::Unary { operator: UnaryOperator::Negate, .. } => SIGN_PRECEDENCE,
        // A negative constant of a hand-made tree is written with a sign.
        Expr::Integer { value, .. } if *value < 0 => SIGN_PRECEDENCE,
        Expr::Real { value, .. } if value.is_sign_negative() => SIGN_PRECEDENCE,
        _ => 9,
    }
}
