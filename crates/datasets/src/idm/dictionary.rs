//! The dictionary of test 5: 24,001 words in their order, with their lengths.
//!
//! The paper gives the number of words, "over 2,200" of them with s, and one word. Ours are made: a
//! first letter, three that count up, and others up to the word's length.

use std::sync::Arc;

use crate::attribute::{Attribute, AttributeType};
use crate::columns::{Column, Relation};
use crate::source::{Cursor, Source};
use crate::splitmix::mix;

const WORDS: u64 = 24_001;
const WORD_WIDTH: usize = 30;
const LETTERS: u64 = 26;
/// The number of words that begin with s, and where s stands among the letters.
const WITH_S: u64 = 2_210;
const S: u64 = 18;

/// A word of the queries, in the place of the one that begins like it, and its length: not the true
/// one, which the query is to set.
const KNOWN: (u64, u64, &str, i16) = (3, 494, "databasemanagementsystem", 10);

/// `word` and `length`.
pub fn attributes() -> Vec<Attribute> {
    vec![
        Attribute { name: "word".to_owned(), kind: AttributeType::Char(WORD_WIDTH) },
        Attribute { name: "length".to_owned(), kind: AttributeType::Int2 },
    ]
}

/// The dictionary; another seed has other words.
pub fn open(seed: u64) -> Arc<dyn Source> {
    Arc::new(Dictionary { attributes: attributes(), seed: mix(seed) })
}

struct Dictionary {
    attributes: Vec<Attribute>,
    seed: u64,
}

/// The number of words that begin with a letter.
fn words_with(letter: u64) -> u64 {
    if letter == S {
        return WITH_S;
    }
    let (others, place) = (LETTERS - 1, letter - u64::from(letter > S));
    let rest = WORDS - WITH_S;
    rest / others + u64::from(place < rest % others)
}

impl Dictionary {
    /// The word of a row, and its length.
    fn entry(&self, row: u64) -> (Vec<u8>, i16) {
        let (mut letter, mut number) = (0, row);
        while number >= words_with(letter) {
            number -= words_with(letter);
            letter += 1;
        }
        if (letter, number) == (KNOWN.0, KNOWN.1) {
            return (KNOWN.2.as_bytes().to_vec(), KNOWN.3);
        }
        let mut random = mix(self.seed.wrapping_add(row));
        let length = 4 + random % 6 + (random >> 32) % 6;
        let counted = [letter, number / (LETTERS * LETTERS), number / LETTERS, number];
        let mut word: Vec<u8> = counted.map(|part| b'a' + (part % LETTERS) as u8).to_vec();
        while (word.len() as u64) < length {
            random = mix(random);
            word.push(b'a' + (random % LETTERS) as u8);
        }
        (word, length as i16)
    }
}

impl Source for Dictionary {
    fn name(&self) -> &'static str {
        "dictionary"
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn rows(&self) -> u64 {
        WORDS
    }

    fn cursor(self: Arc<Self>, first: u64) -> Box<dyn Cursor> {
        Box::new(DictionaryCursor { dictionary: self, position: first })
    }
}

struct DictionaryCursor {
    dictionary: Arc<Dictionary>,
    position: u64,
}

impl Cursor for DictionaryCursor {
    fn position(&self) -> u64 {
        self.position
    }

    fn read(&mut self, count: usize, into: &mut Relation) {
        for row in self.position..self.position + count as u64 {
            let (mut word, length) = self.dictionary.entry(row);
            word.resize(WORD_WIDTH, b' ');
            for (_, column) in &mut into.columns {
                match column {
                    Column::Text { bytes, .. } => bytes.extend_from_slice(&word),
                    Column::Int16(values) => values.push(length),
                    _ => unreachable!("attributes() declares char and int2 only"),
                }
            }
        }
        self.position += count as u64;
    }
}
