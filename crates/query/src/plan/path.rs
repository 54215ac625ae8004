//! The way in which the tuples of one relation are reached, and how many of them conditions leave.

use std::collections::BTreeSet;

use loadstone_quel::check::resolved::{Term, Type};
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::BinaryOperator;

use super::Access;
use super::known::{Statistics, Stored};
use crate::expression::Expr;
use crate::tactics::Optimizer;
use crate::tuple::{compare_mixed, width};

/// The part of the tuples that an equality leaves where nothing is known of the values.
const EQUAL_PART: f64 = 0.01;

/// The part that one bound leaves where nothing is known of the values.
const BOUND_PART: f64 = 1.0 / 3.0;

/// The part that any other condition leaves.
const OTHER_PART: f64 = 1.0 / 3.0;

/// The costs of reading, in nanoseconds with all pages in memory: one tuple of a scan, one page,
/// the way to a key, and a tuple on a page of its own.
mod ns {
    pub(super) const TUPLE: f64 = 5.0;
    pub(super) const PAGE: f64 = 100.0;
    pub(super) const DESCENT: f64 = 400.0;
    pub(super) const FETCH: f64 = 150.0;
}

/// An access of a relation by conditions on its attributes.
#[derive(Debug, Clone)]
pub(super) struct Path<'t> {
    pub access: Access,
    pub keys: Keys<'t>,
    /// The positions of the conditions that it takes care of.
    pub used: Vec<usize>,
    /// The part of the tuples that these leave.
    pub part: f64,
}

/// Which keys an access gives.
#[derive(Debug, Clone)]
pub(super) enum Keys<'t> {
    /// One.
    Equal(&'t Term),
    /// Those between two bounds, and whether a bound is included.
    Between(Option<(&'t Term, bool)>, Option<(&'t Term, bool)>),
}

/// An attribute compared with something that does not depend on its tuple.
#[derive(Debug, Clone, Copy)]
pub(super) struct Simple<'t> {
    pub column: usize,
    pub operator: BinaryOperator,
    pub value: &'t Term,
}

/// A condition as an attribute of that slot against a value without that slot.
pub(super) fn simple(condition: &Term, slot: usize) -> Option<Simple<'_>> {
    let Term::Compare { operator, left, right } = condition else { return None };
    let own = |term: &Term| match term {
        Term::Column { slot: of, column } if *of == slot => Some(*column),
        _ => None,
    };
    let is_free = |term: &Term| term.slots() & (1 << slot) == 0;
    if let Some(column) = own(left).filter(|_| is_free(right)) {
        return Some(Simple { column, operator: *operator, value: right });
    }
    let column = own(right).filter(|_| is_free(left))?;
    Some(Simple { column, operator: turned(*operator), value: left })
}

fn turned(operator: BinaryOperator) -> BinaryOperator {
    use BinaryOperator as B;
    match operator {
        B::Less => B::Greater,
        B::LessOrEqual => B::GreaterOrEqual,
        B::Greater => B::Less,
        B::GreaterOrEqual => B::LessOrEqual,
        same => same,
    }
}

/// Whether an index on an attribute of that kind finds a value of that type. Of the integers only a
/// constant that is also a real does so among reals: any other would be rounded to its neighbour.
pub(super) fn fits(kind: Kind, value: &Term, type_: Type) -> bool {
    match (kind, type_) {
        (Kind::Integer { .. }, Type::Integer)
        | (Kind::Real { .. }, Type::Real)
        | (Kind::Text { .. }, Type::Text) => true,
        (Kind::Real { .. }, Type::Integer) => {
            matches!(value, Term::Integer(value) if compare_mixed(*value, *value as f64).is_eq())
        }
        _ => false,
    }
}

/// One relation, and the conditions on it alone.
pub(super) struct Choice<'s, 't> {
    pub stored: &'s Stored,
    /// The conditions, each as an attribute against a value where it is one and its types agree.
    pub conditions: Vec<(&'t Term, Option<Simple<'t>>)>,
}

impl<'t> Choice<'_, 't> {
    /// The part of the tuples that all conditions leave.
    pub fn part(&self) -> f64 {
        let mut part = 1.0;
        let mut bounded = Vec::new();
        for (condition, simple) in &self.conditions {
            match simple {
                Some(simple) if is_bound(simple.operator) => {
                    if !bounded.contains(&simple.column) {
                        bounded.push(simple.column);
                        part *= self.between(simple.column).2;
                    }
                }
                _ => part *= self.part_of(condition, simple.as_ref()),
            }
        }
        part
    }

    fn part_of(&self, condition: &Term, simple: Option<&Simple<'t>>) -> f64 {
        match (condition, simple) {
            (_, Some(Simple { column, operator: BinaryOperator::Equal, .. })) => {
                self.equal_part(*column)
            }
            (_, Some(Simple { column, operator: BinaryOperator::NotEqual, .. })) => {
                1.0 - self.equal_part(*column)
            }
            (Term::Match { negated: false, .. }, _) => 0.1,
            _ => OTHER_PART,
        }
    }

    /// The part of the tuples with one value of an attribute.
    pub fn equal_part(&self, column: usize) -> f64 {
        match self.stored.statistics.get(column) {
            Some(known) => 1.0 / known.distinct.max(1.0),
            None => EQUAL_PART.max(1.0 / self.stored.rows.max(1.0)).min(1.0),
        }
    }

    /// The first lower and the first upper bound of an attribute, by position, and the part of the
    /// tuples between all of them.
    fn between(&self, column: usize) -> (Option<usize>, Option<usize>, f64) {
        let (mut low, mut high) = (None, None);
        let (mut low_part, mut high_part) = (0.0_f64, 1.0_f64);
        let mut unknown = 1.0;
        let statistics = self.stored.statistics.get(column);
        for (position, (_, simple)) in self.conditions.iter().enumerate() {
            let Some(simple) = simple.as_ref().filter(|simple| simple.column == column) else {
                continue;
            };
            let is_low = match simple.operator {
                BinaryOperator::Greater | BinaryOperator::GreaterOrEqual => true,
                BinaryOperator::Less | BinaryOperator::LessOrEqual => false,
                _ => continue,
            };
            let first = if is_low { &mut low } else { &mut high };
            first.get_or_insert(position);
            let is_behind =
                matches!(simple.operator, BinaryOperator::Greater | BinaryOperator::LessOrEqual);
            match statistics.and_then(|known| place(known, simple.value, is_behind)) {
                Some(place) if is_low => low_part = low_part.max(place),
                Some(place) => high_part = high_part.min(place),
                None => unknown *= BOUND_PART,
            }
        }
        let part = (high_part - low_part).max(1.0 / self.stored.rows.max(1.0));
        (low, high, part.min(1.0) * unknown)
    }

    /// The access that an optimizer takes; None for a scan.
    pub fn path(&self, optimizer: Optimizer) -> Option<Path<'t>> {
        let candidates = self.paths();
        match optimizer {
            Optimizer::Off => None,
            Optimizer::Rules => candidates.into_iter().next(),
            Optimizer::Cost => {
                let best = candidates
                    .into_iter()
                    .min_by(|one, other| self.cost(one).total_cmp(&self.cost(other)))?;
                (self.cost(&best) < self.scan_cost()).then_some(best)
            }
        }
    }

    /// Every access that fits, in the order of preference of INGRES' one-variable query processor:
    /// an equality on the relation's own organisation, one on a secondary index, a range on the
    /// organisation, a range on a secondary index.
    fn paths(&self) -> Vec<Path<'t>> {
        let own = self.stored.organisation.clone().into_iter();
        let second = self.stored.indexes.iter().map(|&attribute| Access::Index { attribute });
        let accesses: Vec<Access> = own.chain(second).collect();
        let equal = accesses.iter().filter_map(|access| self.equal(access));
        let ranges = accesses.iter().filter_map(|access| self.range(access));
        equal.chain(ranges).collect()
    }

    fn equal(&self, access: &Access) -> Option<Path<'t>> {
        let column = access.attribute();
        let fitting = |simple: &Simple<'_>| {
            simple.column == column && simple.operator == BinaryOperator::Equal
        };
        let position =
            self.conditions.iter().position(|(_, simple)| simple.as_ref().is_some_and(fitting))?;
        let value = self.conditions[position].1.as_ref()?.value;
        let part = self.equal_part(column);
        Some(Path { access: access.clone(), keys: Keys::Equal(value), used: vec![position], part })
    }

    fn range(&self, access: &Access) -> Option<Path<'t>> {
        if matches!(access, Access::Hashed { .. }) {
            return None;
        }
        let (low, high, part) = self.between(access.attribute());
        let used: Vec<usize> = low.into_iter().chain(high).collect();
        if used.is_empty() {
            return None;
        }
        let bound = |position: Option<usize>| {
            let simple = self.conditions[position?].1.as_ref()?;
            let is_included = matches!(
                simple.operator,
                BinaryOperator::LessOrEqual | BinaryOperator::GreaterOrEqual
            );
            Some((simple.value, is_included))
        };
        let keys = Keys::Between(bound(low), bound(high));
        Some(Path { access: access.clone(), keys, used, part })
    }

    /// The cost of a scan. By columns it reads those of the conditions, and of what else the query
    /// wants, which is not known here, no more than that.
    pub fn scan_cost(&self) -> f64 {
        let own = self.conditions.iter().map(|(_, simple)| simple.as_ref());
        let own: Option<BTreeSet<usize>> = own.map(|one| Some(one?.column)).collect();
        let pages = match own {
            Some(own) if self.stored.by_columns && !own.is_empty() => {
                let fields =
                    own.iter().map(|&column| width(self.stored.layout.fields[column].kind));
                let part = fields.sum::<usize>() as f64 / self.stored.layout.bytes.max(1) as f64;
                self.stored.pages * part.min(1.0)
            }
            _ => self.stored.pages,
        };
        pages * ns::PAGE + self.stored.rows * ns::TUPLE
    }

    /// The cost of an access.
    pub fn cost(&self, path: &Path<'_>) -> f64 {
        access_cost(self.stored, &path.access, path.part)
    }
}

/// The cost of reaching that part of a relation's tuples.
pub(super) fn access_cost(stored: &Stored, access: &Access, part: f64) -> f64 {
    let rows = stored.rows * part;
    // By columns a tuple is in its chunk's header and a page of each attribute.
    let pages = 1.0 + stored.layout.fields.len() as f64;
    let fetch = if stored.by_columns { pages * ns::PAGE } else { ns::FETCH };
    match access {
        Access::Clustered { .. } => {
            ns::DESCENT + stored.pages * part * ns::PAGE + rows * 2.0 * ns::TUPLE
        }
        Access::Hashed { .. } => ns::FETCH + rows * fetch,
        Access::Index { .. } => ns::DESCENT + rows * fetch,
    }
}

fn is_bound(operator: BinaryOperator) -> bool {
    operator.compares() && !matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual)
}

/// The place where a constant stands between the least and the greatest value, from 0 to 1: the
/// part of the values before it, itself among them if `is_behind`.
fn place(known: &Statistics, value: &Term, is_behind: bool) -> Option<f64> {
    let (least, greatest) = known.range.as_ref()?;
    let part = |value: f64, least: f64, greatest: f64| {
        ((value - least) / (greatest - least).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    };
    Some(match (least, greatest, value) {
        (Expr::Integer(least), Expr::Integer(greatest), Term::Integer(value)) => {
            let value = *value as f64 + f64::from(u8::from(is_behind));
            part(value, *least as f64, *greatest as f64 + 1.0)
        }
        (Expr::Integer(least), Expr::Integer(greatest), Term::Real(value)) => {
            part(*value, *least as f64, *greatest as f64)
        }
        (Expr::Real(least), Expr::Real(greatest), Term::Real(value)) => {
            part(*value, *least, *greatest)
        }
        (Expr::Real(least), Expr::Real(greatest), Term::Integer(value)) => {
            part(*value as f64, *least, *greatest)
        }
        (Expr::Text(least), Expr::Text(greatest), Term::Text(value)) => {
            let same = least.iter().zip(greatest).take_while(|(one, other)| one == other).count();
            let [least, greatest, value] =
                [least, greatest, value].map(|text| fraction(text, same));
            part(value, least, greatest)
        }
        _ => return None,
    })
}

/// A text behind the bytes that all share, as a number from 0 to 1: a few bytes to the base 256.
fn fraction(text: &[u8], same: usize) -> f64 {
    let bytes = text.iter().skip(same).chain(std::iter::repeat(&b' ')).take(6);
    bytes
        .fold((0.0, 1.0 / 256.0), |(sum, weight), &byte| {
            (sum + f64::from(byte) * weight, weight / 256.0)
        })
        .0
}
