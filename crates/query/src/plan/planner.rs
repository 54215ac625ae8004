//! A plan that is being made.

use loadstone_quel::check::resolved::Step as Statement;

use super::Plan;
use super::scene::Scene;
use crate::tactics::Tactics;

/// The state on which all that makes a statement's plan works.
pub(super) struct Planner<'a> {
    pub statement: &'a Statement,
    pub tactics: &'a Tactics,
    pub scene: Scene<'a>,
    pub plan: Plan,
}
