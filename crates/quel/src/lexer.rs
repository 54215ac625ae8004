//! Characters to tokens, in one pass.

use crate::error::Fault;
use crate::tree::Span;

/// A token of the source text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A name or keyword, in lower case.
    Word(String),
    Integer(i64),
    Real(f64),
    /// A quoted text in pattern notation (see `tree::Expr::Text`).
    Text(String),
    /// The number behind `$`, from 1.
    Parameter(usize),
    /// An operator or a punctuation mark.
    Symbol(&'static str),
    /// The end of the source.
    End,
}

/// The highest number of a parameter.
pub(crate) const PARAMETERS_MAX: usize = 1_000;

/// Longest first, so that `**` is not read as two `*`.
const SYMBOLS: [&str; 17] =
    ["**", "!=", "<=", ">=", "(", ")", ",", ".", "=", "<", ">", "+", "-", "*", "/", ";", ":"];

/// The tokens with their places; the last is always `End`.
pub(crate) fn tokens(source: &str) -> Result<Vec<(Token, Span)>, Fault> {
    let mut lexer = Lexer { source, at: 0 };
    let mut found = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let start = lexer.at;
        let token = lexer.token()?;
        let done = token == Token::End;
        found.push((token, Span { start, end: lexer.at }));
        if done {
            return Ok(found);
        }
    }
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.source.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_blanks(&mut self) -> Result<(), Fault> {
        loop {
            self.at += self.rest().len() - self.rest().trim_start().len();
            if !self.rest().starts_with("/*") {
                return Ok(());
            }
            let Some(length) = self.rest().find("*/") else {
                let span = Span { start: self.at, end: self.at + 2 };
                return Err(Fault::new(span, "this comment is never closed").expecting("add `*/`"));
            };
            self.at += length + 2;
        }
    }

    fn token(&mut self) -> Result<Token, Fault> {
        match self.byte(0) {
            0 if self.at == self.source.len() => Ok(Token::End),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Ok(self.word()),
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_ascii_digit() => self.number(),
            quote @ (b'"' | b'\'') => self.text(quote),
            b'$' => self.parameter(),
            _ => self.symbol(),
        }
    }

    fn word(&mut self) -> Token {
        let start = self.at;
        while self.byte(0).is_ascii_alphanumeric() || self.byte(0) == b'_' {
            self.at += 1;
        }
        Token::Word(self.source[start..self.at].to_ascii_lowercase())
    }

    fn digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn number(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        let mut whole = true;
        self.digits();
        if self.byte(0) == b'.' && self.byte(1).is_ascii_digit() {
            whole = false;
            self.at += 1;
            self.digits();
        }
        let signed = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if matches!(self.byte(0), b'e' | b'E') && self.byte(1 + signed).is_ascii_digit() {
            whole = false;
            self.at += 1 + signed;
            self.digits();
        }
        let span = Span { start, end: self.at };
        if self.byte(0).is_ascii_alphabetic() || self.byte(0) == b'_' {
            return Err(Fault::new(span, "a name cannot begin with a digit")
                .expecting("expected a blank or an operator after the number"));
        }
        let digits = &self.source[start..self.at];
        if whole {
            digits.parse().map(Token::Integer).map_err(|_| {
                Fault::new(span, "this integer is too large")
                    .expecting(format!("the largest is {}", i64::MAX))
            })
        } else {
            match digits.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Token::Real(value)),
                _ => Err(Fault::new(span, "this number is too large")
                    .expecting(format!("the largest is {:e}", f64::MAX))),
            }
        }
    }

    fn parameter(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        self.at += 1;
        self.digits();
        let number = self.source[start + 1..self.at].parse().ok();
        let number = number.filter(|number| (1..=PARAMETERS_MAX).contains(number));
        number.map(Token::Parameter).ok_or_else(|| {
            Fault::new(Span { start, end: self.at }, "this is not a parameter")
                .expecting(format!("parameters are $1, $2 … up to ${PARAMETERS_MAX}"))
        })
    }

    fn text(&mut self, quote: u8) -> Result<Token, Fault> {
        let start = self.at;
        let mut value = String::new();
        let mut characters = self.source[start + 1..].char_indices();
        while let Some((at, character)) = characters.next() {
            if character == char::from(quote) {
                self.at = start + 1 + at + 1;
                return Ok(Token::Text(value));
            }
            if character != '\\' {
                value.push(character);
                continue;
            }
            let Some((_, escaped)) = characters.next() else { break };
            if matches!(escaped, '*' | '?' | '[' | ']' | '\\') {
                value.push('\\');
            }
            value.push(escaped);
        }
        let line = self.rest().find('\n').unwrap_or(self.rest().len());
        Err(Fault::new(Span { start, end: start + line }, "this text is never closed")
            .expecting(format!("add the closing {}", char::from(quote))))
    }

    fn symbol(&mut self) -> Result<Token, Fault> {
        if let Some(&symbol) = SYMBOLS.iter().find(|&&symbol| self.rest().starts_with(symbol)) {
            self.at += symbol.len();
            return Ok(Token::Symbol(symbol));
        }
        let character = self.rest().chars().next().unwrap_or(' ');
        let span = Span { start: self.at, end: self.at + character.len_utf8() };
        Err(Fault::new(span, format!("the character {character:?} has no meaning here")))
    }
}
