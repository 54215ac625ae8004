//! The errors of a text, each with its line, a caret and what was expected.

use crate::tree::Span;
use std::fmt;

/// Why a text has no tree, no meaning or no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuelError {
    /// The text is not QUEL.
    #[error("{0}")]
    Syntax(Report),
    /// The text is QUEL, but speaks of things that do not exist or do not fit together.
    #[error("{0}")]
    Meaning(Report),
    /// The program means something that the oracle cannot compute, or should not.
    #[error("{0}")]
    Evaluation(Report),
    /// A tree given as JSON is not a tree of the language.
    #[error("{0}")]
    Tree(String),
}

/// A located message; its `Display` is several lines long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The error.
    pub message: String,
    /// The right text, or the names that exist.
    pub expected: Option<String>,
    /// Line of the first wrong character, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// The part of that line to show.
    excerpt: String,
    /// Characters of the excerpt before the caret.
    caret_start: usize,
    /// Carets to draw.
    caret_count: usize,
}

/// Characters of a source line that a message shows at most.
const EXCERPT_WIDTH: usize = 90;

impl Report {
    fn new(fault: Parts, source: &str) -> Self {
        let start = floor_boundary(source, fault.span.start);
        let end = floor_boundary(source, fault.span.end).max(start);
        let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = source[start..].find('\n').map_or(source.len(), |at| start + at);
        let before = source[line_start..start].chars().count();
        let width = source[start..end.min(line_end)].chars().count();
        // A line of a megabyte is shown by the part around the caret only.
        let skipped = if before + 1 > EXCERPT_WIDTH { before - EXCERPT_WIDTH / 2 } else { 0 };
        let line = &source[line_start..line_end];
        let shown = line.chars().skip(skipped).take(EXCERPT_WIDTH);
        let excerpt: String = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
        let caret_start = before - skipped;
        let room = EXCERPT_WIDTH.saturating_sub(caret_start).max(1);
        Self {
            message: fault.message,
            expected: fault.expected,
            line: source[..start].matches('\n').count() + 1,
            column: before + 1,
            excerpt,
            caret_start,
            caret_count: width.clamp(1, room),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", self.excerpt)?;
        let (space, caret) = (" ".repeat(self.caret_start), "^".repeat(self.caret_count));
        write!(f, "{margin} | {space}{caret}")?;
        if let Some(expected) = &self.expected {
            write!(f, "\n{margin} = {expected}")?;
        }
        Ok(())
    }
}

/// An error before it knows its source text. One pointer wide, so that results stay small.
#[derive(Debug)]
pub struct Fault(Box<Parts>);

#[derive(Debug)]
struct Parts {
    span: Span,
    message: String,
    expected: Option<String>,
}

impl Fault {
    /// A message about that place.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self(Box::new(Parts { span, message: message.into(), expected: None }))
    }

    /// The same with what would be right.
    #[must_use]
    pub fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.0.expected = Some(expected.into());
        self
    }

    /// Points at `span` where nothing more exact is known.
    #[must_use]
    pub fn or_at(mut self, span: Span) -> Self {
        if self.0.span.end == 0 {
            self.0.span = span;
        }
        self
    }

    /// As an error of a text that is not QUEL.
    pub fn syntax(self, source: &str) -> QuelError {
        QuelError::Syntax(Report::new(*self.0, source))
    }

    /// As an error of a text that means nothing.
    pub fn meaning(self, source: &str) -> QuelError {
        QuelError::Meaning(Report::new(*self.0, source))
    }

    /// As an error of a program that cannot be computed.
    pub fn evaluation(self, source: &str) -> QuelError {
        QuelError::Evaluation(Report::new(*self.0, source))
    }
}

/// The last character boundary at or before `at`: spans of hand-made trees may be anything.
fn floor_boundary(source: &str, at: usize) -> usize {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}
