//! Tokens to tree, by recursive descent: `statement` reads commands, `expression` what is in them.

mod expression;
mod statement;

use crate::error::{Fault, QuelError};
use crate::lexer::{Token, tokens};
use crate::tree::{Name, Span, Statement};

/// The largest depth of a tree, and of nested parentheses. It keeps any text from exhausting the
/// stack here or in a reader of the JSON.
pub const MAX_DEPTH: usize = 256;

/// Words that cannot name a relation, a range variable or a function. (They can name an
/// attribute, which always stands after a point, before `=` or in a list of its own.)
pub(crate) const RESERVED: [&str; 25] = [
    "all",
    "and",
    "append",
    "by",
    "clustered",
    "create",
    "delete",
    "destroy",
    "go",
    "index",
    "into",
    "is",
    "mod",
    "modify",
    "nonclustered",
    "not",
    "of",
    "on",
    "or",
    "range",
    "replace",
    "retrieve",
    "to",
    "unique",
    "where",
];

/// The statements of a QUEL or IDL text. Takes time linear in its length.
pub fn parse(source: &str) -> Result<Vec<Statement>, QuelError> {
    Ok(parse_placed(source)?.into_iter().map(|(statement, _)| statement).collect())
}

/// The same, each with its place in the text.
pub fn parse_placed(source: &str) -> Result<Vec<(Statement, Span)>, QuelError> {
    program(source).map_err(|fault| fault.syntax(source))
}

fn program(source: &str) -> Result<Vec<(Statement, Span)>, Fault> {
    let mut parser = Parser { tokens: tokens(source)?, at: 0 };
    let mut statements = Vec::new();
    while *parser.peek() != Token::End {
        let start = parser.span();
        let statement = parser.statement()?;
        statements.push((statement, start.to(parser.tokens[parser.at - 1].1)));
    }
    Ok(statements)
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.peek_ahead(0)
    }

    fn peek_ahead(&self, count: usize) -> &Token {
        // The last token is `End`, and stays so however far one looks.
        &self.tokens[(self.at + count).min(self.tokens.len() - 1)].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        self.symbol_ahead(0, symbol)
    }

    fn symbol_ahead(&self, count: usize, symbol: &str) -> bool {
        matches!(self.peek_ahead(count), Token::Symbol(found) if *found == symbol)
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn accept_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Fault> {
        if self.accept_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    fn expect_symbol(&mut self, symbol: &str, what: &str) -> Result<Span, Fault> {
        if self.is_symbol(symbol) { Ok(self.advance()) } else { Err(self.unexpected(what)) }
    }

    /// A relation, range variable or function: any word that is not reserved.
    fn name(&mut self, what: &str) -> Result<Name, Fault> {
        match self.peek() {
            Token::Word(word) if RESERVED.contains(&word.as_str()) => {
                let message = format!("`{word}` is a word of the language");
                Err(Fault::new(self.span(), message).expecting(format!("expected {what}")))
            }
            Token::Word(_) => self.any_name(what),
            _ => Err(self.unexpected(what)),
        }
    }

    /// An attribute: any word at all.
    fn any_name(&mut self, what: &str) -> Result<Name, Fault> {
        let Token::Word(word) = self.peek() else { return Err(self.unexpected(what)) };
        let text = word.clone();
        Ok(Name { text, span: self.advance() })
    }

    /// `item, item, …`
    fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut items = vec![item(self)?];
        while self.accept_symbol(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Integer(value) => format!("the number {value}"),
            Token::Real(value) => format!("the number {value:?}"),
            Token::Text(_) => "a text".to_owned(),
            Token::Parameter(number) => format!("the parameter ${number}"),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end of the text".to_owned(),
        };
        Fault::new(self.span(), format!("{found} cannot stand here"))
            .expecting(format!("expected {expected}"))
    }
}
