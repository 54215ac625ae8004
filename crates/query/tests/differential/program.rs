//! A random program, with what the oracle says of each of its statements.

use loadstone_quel::{Answer, Oracle};

use crate::draw::Draw;
use crate::outcome::Kind;
use crate::schema::{Relation, relations};
use crate::statement::{Command, Effect, command};

/// More combinations of tuples than the oracle may look at make a statement too slow to ask.
const COMBINATIONS_MAX: u64 = 150_000;

/// A program's numbers: for its relations, and for each of its statements.
pub type Numbers = (Vec<u16>, Vec<Vec<u16>>);

/// A statement and what it must come to.
pub struct Step {
    pub text: String,
    pub expected: Result<Expected, Kind>,
    /// Whether a plan decides if it fails: its conditions can.
    pub may_fail: bool,
}

/// The result of a statement where it does not fail.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// Rows for the client, or the number of tuples changed and no checksum; None for definitions.
    pub answer: Option<Answer>,
    /// A relation that it changed, and all its tuples then.
    pub changed: Option<(String, Answer)>,
}

/// Commands that make relations, and statements over them.
pub struct Program {
    pub setup: String,
    pub steps: Vec<Step>,
    /// The relations that it leaves, with their contents.
    pub left: Vec<(String, Answer)>,
}

impl Program {
    /// The program of these numbers.
    pub fn of(numbers: &Numbers) -> Self {
        let mut draw = Draw::new(&numbers.0);
        let (relations, setup) = relations(&mut draw);
        let mut writer = Writer {
            oracle: Oracle::new().with_combinations_max(COMBINATIONS_MAX),
            relations,
            text: setup.clone(),
            uniques: Vec::new(),
        };
        let steps = numbers.1.iter();
        let steps = steps.filter_map(|numbers| writer.step(&mut Draw::new(numbers))).collect();
        let names = writer.relations.iter().map(|one| one.name.clone());
        let left = names.map(|name| (name.clone(), writer.contents(&name))).collect();
        Self { setup, steps, left }
    }

    /// All of it, a text that anybody can run.
    pub fn text(&self) -> String {
        let steps = self.steps.iter().map(|step| match &step.expected {
            Ok(_) => format!("\n{}\n", step.text),
            Err(kind) => format!("\n/* {kind:?}:\n{}\n*/\n", step.text),
        });
        format!("{}{}", self.setup, steps.collect::<String>())
    }

    /// Its statements that change something, as one text without rows for the client.
    pub fn as_one_text(&self) -> String {
        let kept = self.steps.iter().filter(|step| match &step.expected {
            Ok(expected) => expected.answer.is_none() || expected.changed.is_some(),
            Err(_) => false,
        });
        let kept: Vec<&str> = kept.map(|step| step.text.as_str()).collect();
        format!("{}\n{}", self.setup, kept.join("\n"))
    }
}

/// Writes statement after statement.
struct Writer {
    oracle: Oracle,
    relations: Vec<Relation>,
    /// Everything so far that did not fail.
    text: String,
    /// Relations and attributes of which no two tuples may have the same value.
    uniques: Vec<(String, String)>,
}

impl Writer {
    fn ask(&self, more: &str) -> Result<Answer, (Kind, String)> {
        let text = format!("{}\n{more}", self.text);
        let reported = |error| (Kind::of_oracle(&error), error.to_string());
        self.oracle.answer(&text).map_err(reported)
    }

    fn contents(&self, relation: &str) -> Answer {
        let text = format!("range of t is {relation} retrieve (t.all)");
        self.ask(&text).unwrap_or_else(|(_, error)| panic!("{}\n{text}\n{error}", self.text))
    }

    /// One more; None where it would take too long.
    fn step(&mut self, draw: &mut Draw<'_>) -> Option<Step> {
        let Command { text, may_fail_in_conditions: may_fail, effect } =
            command(draw, &self.relations);
        let is_definition = matches!(effect, Effect::Stored { .. } | Effect::Gone(_));
        // The oracle answers no text that asks nothing.
        let asked = if is_definition { format!("{text} retrieve (x = 1)") } else { text.clone() };
        let expected = match self.ask(&asked) {
            Err((_, error)) if error.contains("combinations of tuples") => return None,
            Err((kind, _)) => Err(kind),
            Ok(answer) => self.keep(&text, effect, answer),
        };
        Some(Step { text, expected, may_fail })
    }

    /// Make what a statement does part of the program, unless a unique index forbids it.
    fn keep(&mut self, text: &str, effect: Effect, answer: Answer) -> Result<Expected, Kind> {
        let before = (self.text.len(), self.uniques.len());
        self.text = format!("{}\n{text}", self.text);
        let counted = Some(Answer { rows: answer.rows, checksum: 0 });
        let mut expected = Expected::default();
        match effect {
            Effect::None => {
                expected.answer = Some(answer);
                self.text.truncate(before.0);
            }
            Effect::Made(relation) => {
                let name = relation.name.clone();
                self.relations.retain(|one| one.name != name);
                self.uniques.retain(|(of, _)| *of != name);
                self.relations.push(Relation { rows: answer.rows, ..relation });
                expected = Expected { answer: counted, changed: Some((name, answer)) };
            }
            Effect::Changed { name, more_rows } => {
                let contents = self.contents(&name);
                for one in self.relations.iter_mut().filter(|one| one.name == name) {
                    one.rows += more_rows;
                }
                expected = Expected { answer: counted, changed: Some((name, contents)) };
            }
            Effect::Stored { name, unique } => {
                self.uniques.extend(unique.map(|attribute| (name, attribute)));
            }
            Effect::Gone(name) => {
                self.relations.retain(|one| one.name != name);
                self.uniques.retain(|(of, _)| *of != name);
            }
        }
        if self.uniques.iter().all(|(name, attribute)| self.is_unique(name, attribute)) {
            return Ok(expected);
        }
        self.text.truncate(before.0);
        self.uniques.truncate(before.1);
        Err(Kind::Duplicate)
    }

    /// Whether no two tuples of a relation have the same value, nulls aside.
    fn is_unique(&self, relation: &str, attribute: &str) -> bool {
        let rows = |unique: &str| {
            let value = format!("t.{attribute}");
            let text = format!(
                "range of t is {relation} retrieve {unique} ({value}) where {value} = {value}"
            );
            self.ask(&text).map(|answer| answer.rows).ok()
        };
        rows("") == rows("unique")
    }
}
