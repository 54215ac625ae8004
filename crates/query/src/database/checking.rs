//! A text's commands held against the catalog, only where no plan is kept of them.

use std::sync::Arc;

use loadstone_quel::check::Checker;
use loadstone_quel::check::resolved::Step;

use super::statement::Statement;
use crate::catalog::Catalog;
use crate::error::Result;
use crate::execution::Parameter;

/// Checks the commands of a text in order, as far as somebody asks.
pub(super) struct Checking<'a> {
    statement: &'a Statement,
    begun: Arc<Catalog>,
    parameters: &'a [Parameter],
    checker: Option<Checker>,
    next: usize,
}

impl<'a> Checking<'a> {
    pub fn new(
        statement: &'a Statement,
        begun: &Arc<Catalog>,
        parameters: &'a [Parameter],
    ) -> Self {
        Self { statement, begun: Arc::clone(begun), parameters, checker: None, next: 0 }
    }

    /// A command's checked step; those before it are checked first. None is requested twice.
    ///
    /// # Errors
    ///
    /// The error of one of them.
    pub fn step(&mut self, command: usize) -> Result<Step> {
        let Self { statement, begun, parameters, checker, next } = self;
        let checker = checker.get_or_insert_with(|| statement.checker(begun, parameters));
        loop {
            let outcome = checker.statement(&statement.program[*next]);
            let step = outcome.map_err(|fault| fault.meaning(&statement.text))?;
            *next += 1;
            if *next > command {
                return Ok(step);
            }
        }
    }

    /// Check what is left, if anything was checked: a text whose plans were all found was right
    /// when they were made, to its end.
    ///
    /// # Errors
    ///
    /// As of [`Checking::step`].
    pub fn finish(mut self) -> Result<()> {
        match self.statement.program.len().checked_sub(1) {
            Some(last) if self.checker.is_some() && self.next <= last => self.step(last).map(drop),
            _ => Ok(()),
        }
    }
}
