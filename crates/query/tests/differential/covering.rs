//! Combinations of tactics in which every pair of values meets, or every three: a covering design
//! (Cohen, Dalal, Fredman and Patton, "The AETG System", IEEE TSE 1997: greedy, with candidates).
//! Names and values come from what the tactics say of themselves, so that a new one is covered when
//! it is there.

use std::collections::BTreeSet;

use lode::tactics::Description;
use lode_query::tactics::{self, Tactics};

use crate::random::Random;

/// Storage in which no file is read: what opens files changes nothing, and small caches are quick
/// to make.
const BASE: [(&str, &str); 2] = [("cache", "1MiB"), ("extent", "4")];

/// Tactics of the machine rather than of pages in memory.
const OF_THE_MACHINE: [&str; 3] = ["disk", "mirror", "hugepages"];

/// Of a tactic that is a number, those of these that it takes.
const NUMBERS: [&str; 6] = ["1", "2", "4", "256KiB", "1MiB", "16MiB"];

/// So many fillings of a row are compared, or tried before a set of values counts as refused.
const CANDIDATES: usize = 40;

/// A tactic and the values that are combined.
#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub values: Vec<String>,
}

/// Values that are to meet: for each its parameter and its position there.
type Meeting = Vec<(usize, usize)>;

/// The parameters to combine.
pub fn parameters() -> Vec<Parameter> {
    let storage = lode::tactics::all().into_iter();
    // The storage's numbers are sizes, for which the storage has tests of its own.
    let storage = storage.filter(|one| one.values.len() > 1 && !OF_THE_MACHINE.contains(&one.name));
    let described = tactics::all().into_iter().chain(storage);
    described.map(|one| Parameter { name: one.name, values: values(&one) }).collect()
}

/// The values of a tactic, the default first. Where one stands for numbers, some of those.
fn values(tactic: &Description) -> Vec<String> {
    let name = tactic.name;
    let shown = |value: &str| {
        let tactics = Tactics::of([(name, value)]).ok()?;
        tactics.pairs().into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    };
    let default = Tactics::default().pairs().into_iter();
    let mut values: Vec<String> =
        default.filter(|(known, _)| *known == name).map(|(_, value)| value).collect();
    let described = tactic.values.iter().map(|value| (value.name, shown(value.name)));
    let has_numbers = described.clone().any(|(_, value)| value.is_none());
    let numbers = NUMBERS.iter().filter(|_| has_numbers).map(|number| (*number, shown(number)));
    for (_, value) in described.chain(numbers) {
        values.extend(value.filter(|value| !values.contains(value)));
    }
    values
}

/// Rows of a covering design, and the meetings that no row can have because tactics exclude them.
pub struct Design {
    pub rows: Vec<Tactics>,
    pub refused: Vec<String>,
}

/// Rows in which any `strength` values meet, but for those that tactics refuse together.
pub fn design(strength: usize) -> Design {
    let parameters = parameters();
    let mut open = meetings(&parameters, strength);
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    let mut random = Random::new(1997);
    // The defaults come first: of several failures the one under them is reported.
    while let Some(wanted) = open.first().cloned() {
        let default = rows.is_empty().then(|| vec![0; parameters.len()]);
        let row = default.or_else(|| best_row(&parameters, &open, &wanted, &mut random));
        let Some(row) = row else {
            open.remove(&wanted);
            refused.push(shown(&parameters, &wanted));
            continue;
        };
        open.retain(|meeting| !meets(&row, meeting));
        rows.extend(tactics_of(&parameters, &row));
    }
    rows.extend(alone(&parameters));
    Design { rows, refused }
}

/// The values that set other tactics, with nothing named beside them, which would undo that.
fn alone(parameters: &[Parameter]) -> Vec<Tactics> {
    let with = |more: &[(&str, &str)]| {
        Tactics::of(BASE.into_iter().chain(more.iter().copied())).expect("one value goes alone")
    };
    let default = with(&[]).pairs();
    let values = parameters.iter().flat_map(|one| one.values.iter().map(|value| (one.name, value)));
    let rows = values.map(|(name, value)| (name, with(&[(name, value)])));
    let sets_others = |(name, row): &(&str, Tactics)| {
        row.pairs().iter().zip(&default).any(|(pair, default)| pair != default && pair.0 != *name)
    };
    rows.filter(sets_others).map(|(_, row)| row).collect()
}

/// The row with these values that covers most, of some.
fn best_row(
    parameters: &[Parameter],
    open: &BTreeSet<Meeting>,
    wanted: &Meeting,
    random: &mut Random,
) -> Option<Vec<usize>> {
    let mut best: Option<(usize, Vec<usize>)> = None;
    for _ in 0..CANDIDATES {
        let mut row: Vec<usize> =
            parameters.iter().map(|one| random.below(one.values.len())).collect();
        for &(parameter, value) in wanted {
            row[parameter] = value;
        }
        if tactics_of(parameters, &row).is_none() {
            continue;
        }
        let covered = open.iter().filter(|meeting| meets(&row, meeting)).count();
        if best.as_ref().is_none_or(|(most, ..)| covered > *most) {
            best = Some((covered, row));
        }
    }
    best.map(|(_, row)| row)
}

/// The tactics of a row; None where they exclude each other.
fn tactics_of(parameters: &[Parameter], row: &[usize]) -> Option<Tactics> {
    let chosen = parameters.iter().zip(row).map(|(one, &at)| (one.name, one.values[at].as_str()));
    Tactics::of(BASE.into_iter().chain(chosen)).ok()
}

fn meets(row: &[usize], meeting: &Meeting) -> bool {
    meeting.iter().all(|&(parameter, value)| row[parameter] == value)
}

fn shown(parameters: &[Parameter], meeting: &Meeting) -> String {
    let pairs = meeting.iter().map(|&(parameter, value)| {
        let one = &parameters[parameter];
        format!("{}={}", one.name, one.values[value])
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// All sets of so many values of different parameters.
fn meetings(parameters: &[Parameter], strength: usize) -> BTreeSet<Meeting> {
    let mut meetings: Vec<Meeting> = vec![Vec::new()];
    for (parameter, one) in parameters.iter().enumerate() {
        let longer =
            meetings.iter().filter(|meeting| meeting.len() < strength).flat_map(|meeting| {
                (0..one.values.len()).map(move |value| {
                    let mut longer = meeting.clone();
                    longer.push((parameter, value));
                    longer
                })
            });
        let longer: Vec<Meeting> = longer.collect();
        meetings.extend(longer);
    }
    meetings.into_iter().filter(|meeting| meeting.len() == strength).collect()
}

#[test]
fn every_two_values_meet_or_are_refused() {
    let Design { rows, refused } = design(2);
    let of_each = parameters();
    let pairs: Vec<Vec<(&str, String)>> = rows.iter().map(Tactics::pairs).collect();
    for (at, one) in of_each.iter().enumerate() {
        for other in &of_each[at + 1..] {
            for value in &one.values {
                for second in &other.values {
                    let wanted = [(one.name, value.clone()), (other.name, second.clone())];
                    let is_met =
                        pairs.iter().any(|row| wanted.iter().all(|pair| row.contains(pair)));
                    let shown = format!("{}={value}&{}={second}", one.name, other.name);
                    assert!(is_met || refused.contains(&shown), "{shown} is in no row");
                }
            }
        }
    }
    // All pairs of the present tactics take as many rows as the largest two have pairs, and not
    // many more.
    assert!(rows.len() < 150, "{} rows", rows.len());
}
