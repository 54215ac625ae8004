//! Requests whose values are drawn anew for each: a value is a pure function of a start, which
//! follows from the workload's seed, and of the request's number. So the plan and the number say
//! which value it was, on every engine.

use std::fmt::Write;

use loadstone_datasets::splitmix::SplitMix64;

use super::program::{self, Word};
use super::value::above_low;
pub use super::value::{DrawError, Value};
pub use super::zipf::Zipf;

/// The way in which a value is drawn.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each variant describes its fields")]
pub enum Draw {
    /// A whole number from the first to the last, each as often.
    Uniform { start: u64, low: i64, high: i64 },
    /// The first most often.
    Zipf { start: u64, of: Zipf },
    /// The first, and so many more with each request.
    Sequence { first: i64, step: i64 },
    /// The place of one of so many values.
    Place { start: u64, count: u64 },
    /// A text with a random digit in place of each #.
    Pattern { start: u64, text: String },
    /// An expression over the values that were drawn before.
    Program { start: u64, words: Vec<Word> },
    /// A value that was drawn before, written without parentheses: within quotes.
    Within { place: usize },
}

impl Draw {
    /// An expression by its words; `drawn` is the number of values that are drawn before.
    pub fn program(start: u64, words: &[String], drawn: usize) -> Result<Self, DrawError> {
        let (mut depth, mut read) = (0, Vec::new());
        for text in words {
            let (word, after) = program::parse(text, depth, drawn)?;
            depth = after;
            read.push(word);
        }
        if depth == 1 {
            return Ok(Self::Program { start, words: read });
        }
        Err(DrawError(format!("an expression has one value, and not {depth}")))
    }

    /// The text of a request, where it is one.
    pub fn text(&self, number: u64) -> Option<String> {
        let Self::Pattern { start, text } = self else { return None };
        let mut own = SplitMix64::new(bits_of(*start, number).next());
        let mut digit = || char::from(b'0' + own.below(10) as u8);
        Some(text.chars().map(|letter| if letter == '#' { digit() } else { letter }).collect())
    }

    fn value(&self, number: u64, before: &[Value]) -> Result<Value, DrawError> {
        let bits = |start: u64| bits_of(start, number).next();
        Ok(match self {
            Self::Uniform { start, low, high } => {
                let span = u128::from(high.abs_diff(*low)) + 1;
                let above = (u128::from(bits(*start)) * span) >> 64;
                Value::Whole(above_low(*low, above as u64))
            }
            Self::Zipf { start, of } => {
                Value::Whole(of.at((bits(*start) >> 11) as f64 / (1_u64 << 53) as f64))
            }
            Self::Sequence { first, step } => {
                let after = i64::try_from(number).ok().and_then(|number| step.checked_mul(number));
                let value = after.and_then(|after| first.checked_add(after));
                Value::Whole(value.ok_or_else(|| DrawError("it is no bigint".to_owned()))?)
            }
            Self::Pattern { .. } => Value::Whole(0),
            Self::Place { start, count } => {
                let place = (u128::from(bits(*start)) * u128::from(*count)) >> 64;
                Value::Whole(place as i64)
            }
            Self::Within { place } => before[*place],
            Self::Program { start, words } => {
                // Of these bits each random number of the expression takes as many as it needs.
                let mut own = SplitMix64::new(bits(*start));
                program::value(words, before, &mut own)?
            }
        })
    }
}

/// The random bits of a request, whose first 64 are the number-th of a start.
const fn bits_of(start: u64, number: u64) -> SplitMix64 {
    SplitMix64::new(start.wrapping_add(number.wrapping_mul(SplitMix64::STEP)))
}

/// The values of all draws of a request.
pub fn values(draws: &[Draw], number: u64) -> Result<Vec<Value>, DrawError> {
    let mut found = Vec::with_capacity(draws.len());
    for draw in draws {
        let value = draw.value(number, &found)?;
        found.push(value);
    }
    Ok(found)
}

/// The values of a request and their literals, in memory that the next request takes over.
#[derive(Debug, Clone, Default)]
pub struct Drawn {
    values: Vec<Value>,
    literals: Vec<String>,
}

impl Drawn {
    /// A literal of each draw.
    pub fn literals(&self) -> &[String] {
        &self.literals
    }

    fn draw(&mut self, shape: &Shape, number: u64) -> Result<(), DrawError> {
        self.values.clear();
        self.literals.resize_with(shape.draws.len(), String::new);
        for ((draw, listed), literal) in
            shape.draws.iter().zip(&shape.literals).zip(&mut self.literals)
        {
            let value = draw.value(number, &self.values)?;
            self.values.push(value);
            literal.clear();
            match (value, draw) {
                (_, Draw::Pattern { .. }) => {
                    let text = draw.text(number).unwrap_or_default();
                    *literal = format!("'{}'", text.replace('\'', "''"));
                }
                (Value::Whole(place), Draw::Place { .. }) => {
                    let at = usize::try_from(place).expect("it is below their count");
                    literal.push_str(&listed[at]);
                }
                (_, Draw::Within { .. }) => literal.push_str(&value.plain()),
                _ => write!(literal, "{value}").expect("memory takes any text"),
            }
        }
        Ok(())
    }
}

/// A text with places for values: one more piece than there are places, each with its draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<String>,
    places: Vec<usize>,
    parameters: Vec<usize>,
    text: String,
}

impl Template {
    /// Of pieces and the draws between them.
    pub fn new(pieces: Vec<String>, places: Vec<usize>) -> Option<Self> {
        if pieces.len() != places.len() + 1 {
            return None;
        }
        let mut parameters: Vec<usize> = Vec::new();
        let mut text = pieces[0].clone();
        for (place, piece) in places.iter().zip(&pieces[1..]) {
            let number = parameters.iter().position(|known| known == place).unwrap_or_else(|| {
                parameters.push(*place);
                parameters.len() - 1
            });
            write!(text, "${}{piece}", number + 1).expect("memory takes any text");
        }
        Some(Self { pieces, places, parameters, text })
    }

    /// The text with numbered parameters, as `$1`, and the draw of each.
    pub fn with_parameters(&self) -> (&str, &[usize]) {
        (&self.text, &self.parameters)
    }

    /// The text with values as literals, of which each draw has one.
    pub fn filled(&self, literals: &[String]) -> String {
        let mut text = self.pieces[0].clone();
        for (place, piece) in self.places.iter().zip(&self.pieces[1..]) {
            text.push_str(&literals[*place]);
            text.push_str(piece);
        }
        text
    }
}

/// One kind of request: its texts, in order, and the values in them.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Its share of all requests, by the sum of all weights.
    pub weight: u64,
    /// The values, in the order of drawing.
    pub draws: Vec<Draw>,
    /// Of each draw of a list, its values as literals of the engine's; of others, none.
    pub literals: Vec<Vec<String>>,
    /// The texts.
    pub texts: Vec<Template>,
}

/// The requests of a loop, of which each is drawn by its number.
#[derive(Debug, Clone)]
pub struct Drawing {
    start: u64,
    shapes: Vec<Shape>,
}

impl Drawing {
    /// Of kinds of requests, of which one is drawn by weight. Refused where a list's values or a
    /// place's draw is missing.
    pub fn new(start: u64, shapes: Vec<Shape>) -> Option<Self> {
        let whole = |shape: &Shape| {
            let listed =
                shape.draws.iter().zip(&shape.literals).all(|(draw, literals)| match draw {
                    Draw::Place { count, .. } => *count > 0 && *count == literals.len() as u64,
                    _ => literals.is_empty(),
                });
            let places = shape.texts.iter().flat_map(|text| &text.places);
            let known = places.into_iter().all(|place| *place < shape.draws.len());
            listed && known && shape.weight > 0 && shape.draws.len() == shape.literals.len()
        };
        (!shapes.is_empty() && shapes.iter().all(whole)).then_some(Self { start, shapes })
    }

    /// The texts of a request.
    pub fn texts(&self, number: u64) -> Result<Vec<String>, DrawError> {
        let mut drawn = Drawn::default();
        let shape = self.request(number, &mut drawn)?;
        Ok(shape.texts.iter().map(|text| text.filled(&drawn.literals)).collect())
    }

    /// The shape of a request; the literals of its draws go to `drawn`.
    pub fn request(&self, number: u64, drawn: &mut Drawn) -> Result<&Shape, DrawError> {
        let shape = &self.shapes[self.shape(number)];
        drawn.draw(shape, number)?;
        Ok(shape)
    }

    /// The place of a request's shape.
    pub fn shape(&self, number: u64) -> usize {
        if self.shapes.len() == 1 {
            return 0;
        }
        let total: u128 = self.shapes.iter().map(|shape| u128::from(shape.weight)).sum();
        let bits = bits_of(self.start, number).next();
        let mut at = (u128::from(bits) * total) >> 64;
        for (place, shape) in self.shapes.iter().enumerate() {
            let weight = u128::from(shape.weight);
            if at < weight {
                return place;
            }
            at -= weight;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(draws: Vec<Draw>) -> Drawing {
        let pieces = vec!["a ".to_owned(), " b ".to_owned(), " c".to_owned()];
        let texts = vec![Template::new(pieces, vec![1, 0]).unwrap()];
        let literals = vec![Vec::new(); draws.len()];
        Drawing::new(1, vec![Shape { weight: 1, draws, literals, texts }]).unwrap()
    }

    #[test]
    fn values_stand_at_their_places_and_those_below_zero_in_parentheses() {
        let found = drawing(vec![
            Draw::Sequence { first: 5, step: -3 },
            Draw::Uniform { start: 7, low: 4, high: 4 },
        ]);
        assert_eq!(found.texts(1).unwrap(), ["a 4 b 2 c"]);
        let mut drawn = Drawn::default();
        let shape = found.request(1, &mut drawn).unwrap();
        assert_eq!(shape.texts[0].with_parameters(), ("a $1 b $2 c", &[1, 0][..]));
        // The next request's literals take the memory of the last, and nothing of its contents.
        found.request(2, &mut drawn).unwrap();
        assert_eq!(drawn.literals(), ["(-1)", "4"]);
        assert_eq!(found.texts(2).unwrap(), ["a 4 b (-1) c"]);
        assert!(found.texts(u64::MAX).is_err());
    }

    #[test]
    fn shapes_come_by_their_weights_and_the_same_again() {
        let shape = |weight, text: &str| {
            let texts = vec![Template::new(vec![text.to_owned()], Vec::new()).unwrap()];
            Shape { weight, draws: Vec::new(), literals: Vec::new(), texts }
        };
        let found = Drawing::new(3, vec![shape(9, "a"), shape(1, "b")]).unwrap();
        let texts: Vec<_> = (0..4_000).map(|n| found.texts(n).unwrap()[0].clone()).collect();
        let seldom = texts.iter().filter(|text| *text == "b").count();
        assert!((330..470).contains(&seldom), "{seldom}");
        assert_eq!(texts[77], found.texts(77).unwrap()[0]);
    }

    #[test]
    fn a_pattern_has_random_digits_and_all_else_of_it() {
        let pattern = Draw::Pattern { start: 9, text: "a##-#'".to_owned() };
        let texts: Vec<_> = (0..900).map(|n| pattern.text(n).unwrap()).collect();
        assert!(texts.iter().all(|text| text.len() == 6 && text.starts_with('a')));
        let first: std::collections::HashSet<_> = texts.iter().map(|text| &text[1..2]).collect();
        assert_eq!(first.len(), 10);
        let found = drawing(vec![pattern, Draw::Sequence { first: 1, step: 0 }]);
        let quoted = texts[3].replace(char::from(39), r"''");
        assert_eq!(found.texts(3).unwrap()[0], format!("a 1 b '{quoted}' c"));
    }

    #[test]
    fn both_ends_of_all_whole_numbers_are_drawn_without_an_overflow() {
        let whole = Draw::Uniform { start: 1, low: i64::MIN, high: i64::MAX };
        let found: Vec<_> = (0..64).map(|n| whole.value(n, &[]).unwrap()).collect();
        let below = found.iter().filter(|value| matches!(value, Value::Whole(..0))).count();
        assert!((16..48).contains(&below), "{below}");
    }

    #[test]
    fn an_expression_that_lacks_values_is_refused() {
        let program = |words: &[&str]| {
            Draw::program(1, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), 1)
        };
        assert!(program(&["1", ":0", "+(2"]).is_ok());
        for bad in [&["+(2"][..], &["1", "2"], &[":1"], &["x"], &["1", "random(1"], &[]] {
            assert!(program(bad).is_err(), "{bad:?}");
        }
    }
}
