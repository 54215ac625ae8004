//! Commands.

use super::Parser;
use crate::error::Fault;
use crate::lexer::Token;
use crate::schema::Kind;
use crate::tree::{AttributeType, Expr, Name, Statement, Target};

/// Storage structures of INGRES; a leading `c` compresses.
const STRUCTURES: [&str; 11] = [
    "btree",
    "cbtree",
    "chash",
    "cheap",
    "cheapsort",
    "cisam",
    "hash",
    "heap",
    "heapsort",
    "isam",
    "truncated",
];

impl Parser {
    pub(super) fn statement(&mut self) -> Result<Statement, Fault> {
        if self.accept_symbol(";") {
            return Ok(Statement::Go);
        }
        let Token::Word(word) = self.peek() else { return Err(self.expected_statement()) };
        let parse = match word.as_str() {
            "range" => Self::range,
            "retrieve" => Self::retrieve,
            "append" => Self::append,
            "replace" => Self::replace,
            "delete" => Self::delete,
            "create" => Self::create,
            "index" => Self::ingres_index,
            "modify" => Self::modify,
            "destroy" => Self::destroy,
            "go" => |_: &mut Self| Ok(Statement::Go),
            _ => return Err(self.expected_statement()),
        };
        self.advance();
        parse(self)
    }

    fn expected_statement(&self) -> Fault {
        self.unexpected(
            "a command: range of, retrieve, append, replace, delete, create, index, modify, \
             destroy or go",
        )
    }

    fn range(&mut self) -> Result<Statement, Fault> {
        self.expect_word("of")?;
        let variable = self.name("a range variable, as in `range of t is tenthoustup`")?;
        self.expect_word("is")?;
        let relation = self.name("the relation that the variable ranges over")?;
        Ok(Statement::Range { variable, relation })
    }

    fn retrieve(&mut self) -> Result<Statement, Fault> {
        let unique = self.accept_word("unique");
        let into = if self.accept_word("into") || matches!(self.peek(), Token::Word(_)) {
            Some(self.name("the relation to retrieve into, or `(`")?)
        } else {
            None
        };
        let targets = self.targets()?;
        Ok(Statement::Retrieve { unique, into, targets, filter: self.filter()? })
    }

    fn append(&mut self) -> Result<Statement, Fault> {
        self.accept_word("to");
        let relation = self.name("the relation to append to")?;
        let targets = self.targets()?;
        Ok(Statement::Append { relation, targets, filter: self.filter()? })
    }

    fn replace(&mut self) -> Result<Statement, Fault> {
        let variable = self.name("the range variable whose tuples are replaced")?;
        let targets = self.targets()?;
        Ok(Statement::Replace { variable, targets, filter: self.filter()? })
    }

    fn delete(&mut self) -> Result<Statement, Fault> {
        let variable = self.name("the range variable whose tuples are deleted")?;
        Ok(Statement::Delete { variable, filter: self.filter()? })
    }

    fn create(&mut self) -> Result<Statement, Fault> {
        let unique = self.accept_word("unique");
        let clustered = self.accept_word("clustered");
        let indexed = clustered || self.accept_word("nonclustered");
        if unique || indexed || self.is_word("index") {
            self.expect_word("index")?;
            self.expect_word("on")?;
            let relation = self.name("the relation to index")?;
            return Ok(Statement::Index { clustered, relation, attributes: self.names()?, unique });
        }
        let relation = self.name("the name of the new relation, or an index")?;
        self.expect_symbol("(", "`(` before the attributes")?;
        let attributes = self.list(Self::attribute_type)?;
        self.expect_symbol(")", "`,` or `)`")?;
        Ok(Statement::Create { relation, attributes })
    }

    fn attribute_type(&mut self) -> Result<AttributeType, Fault> {
        let name = self.any_name("an attribute, as in `word = c30`")?;
        self.accept_symbol("=");
        let span = self.span();
        let type_name = self.any_name("a type: i1, i2, i4, i8, f4, f8, or c and a width")?;
        if Kind::of_type_name(&type_name.text).is_none() {
            return Err(Fault::new(span, format!("`{}` is not a type", type_name.text))
                .expecting("expected i1, i2, i4, i8, f4, f8, or c and a width from 1 to 65535"));
        }
        Ok(AttributeType { name, type_name })
    }

    /// `index on relation is name (attributes)`; the tree does not keep the name, because each
    /// engine gives its indexes names of its own.
    fn ingres_index(&mut self) -> Result<Statement, Fault> {
        self.expect_word("on")?;
        let relation = self.name("the relation to index")?;
        self.expect_word("is")?;
        self.name("the name of the index")?;
        let attributes = self.names()?;
        Ok(Statement::Index { clustered: false, relation, attributes, unique: false })
    }

    fn modify(&mut self) -> Result<Statement, Fault> {
        let relation = self.name("the relation to reorganise")?;
        self.expect_word("to")?;
        let known = matches!(self.peek(), Token::Word(word) if STRUCTURES.contains(&word.as_str()));
        if !known {
            let structures = STRUCTURES.join(", ");
            return Err(self.unexpected(&format!("a storage structure: {structures}")));
        }
        let structure = self.any_name("a storage structure")?;
        let key = if self.accept_word("on") {
            self.list(|parser| parser.any_name("an attribute of the key"))?
        } else {
            Vec::new()
        };
        Ok(Statement::Modify { relation, structure, key })
    }

    fn destroy(&mut self) -> Result<Statement, Fault> {
        let relations = self.list(|parser| parser.name("the relation to destroy"))?;
        Ok(Statement::Destroy { relations })
    }

    fn names(&mut self) -> Result<Vec<Name>, Fault> {
        self.expect_symbol("(", "`(` before the attributes")?;
        let names = self.list(|parser| parser.any_name("an attribute"))?;
        self.expect_symbol(")", "`,` or `)`")?;
        Ok(names)
    }

    fn targets(&mut self) -> Result<Vec<Target>, Fault> {
        self.expect_symbol("(", "`(` before the target list")?;
        let targets = self.list(Self::target)?;
        self.expect_symbol(")", "an operator, `,` or `)`")?;
        Ok(targets)
    }

    fn target(&mut self) -> Result<Target, Fault> {
        let is_word = matches!(self.peek(), Token::Word(_));
        if is_word && self.symbol_ahead(1, "=") {
            let name = Some(self.any_name("a name for the target")?);
            self.advance();
            return Ok(Target::Named { name, value: self.expression()? });
        }
        let all = matches!(self.peek_ahead(2), Token::Word(word) if word == "all");
        if is_word && self.symbol_ahead(1, ".") && all {
            let variable = self.name("a range variable")?;
            self.advance();
            self.advance();
            return Ok(Target::All { variable });
        }
        let start = self.span();
        let value = self.expression()?;
        if !matches!(value, Expr::Attribute { .. }) {
            let span = start.to(self.tokens[self.at - 1].1);
            return Err(Fault::new(span, "a computed target needs a name")
                .expecting("expected `name = value`, as in `(smallest = min(t.unique2))`"));
        }
        Ok(Target::Named { name: None, value })
    }

    fn filter(&mut self) -> Result<Option<Expr>, Fault> {
        if self.accept_word("where") { Ok(Some(self.expression()?)) } else { Ok(None) }
    }
}
