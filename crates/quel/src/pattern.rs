//! Texts in pattern notation: `*` any characters, `?` one, `[a-z]` one of a set, `\` makes the
//! next an ordinary one. Case counts.

/// One element of a pattern.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Many,
    One,
    Set(Vec<(char, char)>),
    Byte(u8),
}

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    pieces: Vec<Piece>,
}

/// Whether a text in pattern notation holds a metacharacter that is not escaped.
pub fn is_pattern(text: &str) -> bool {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => _ = characters.next(),
            '*' | '?' | '[' => return true,
            _ => {}
        }
    }
    false
}

/// The ordinary text that the notation stands for where it is not a pattern.
pub fn literal(text: &str) -> String {
    let mut characters = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' { characters.next() } else { None };
        plain.push(escaped.unwrap_or(character));
    }
    plain
}

impl std::fmt::Display for Pattern {
    /// In pattern notation, quoted.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Many => text.push(b'*'),
                Piece::One => text.push(b'?'),
                Piece::Set(ranges) => {
                    let range = |(first, last): &(char, char)| {
                        if first == last { first.to_string() } else { format!("{first}-{last}") }
                    };
                    let inside: String = ranges.iter().map(range).collect();
                    text.extend(format!("[{inside}]").bytes());
                }
                Piece::Byte(byte) => {
                    if b"*?[\\".contains(byte) {
                        text.push(b'\\');
                    }
                    text.push(*byte);
                }
            }
        }
        write!(formatter, "\"{}\"", String::from_utf8_lossy(&text))
    }
}

impl Pattern {
    /// None where a set is empty or never closed.
    pub fn new(text: &str) -> Option<Self> {
        let mut pieces = Vec::new();
        let mut characters = text.trim_end_matches(' ').chars();
        while let Some(character) = characters.next() {
            match character {
                '*' if pieces.last() == Some(&Piece::Many) => {}
                '*' => pieces.push(Piece::Many),
                '?' => pieces.push(Piece::One),
                '[' => pieces.push(Piece::Set(set(&mut characters)?)),
                _ => {
                    let escaped = if character == '\\' { characters.next() } else { None };
                    let mut bytes = [0; 4];
                    let plain = escaped.unwrap_or(character).encode_utf8(&mut bytes);
                    pieces.extend(plain.bytes().map(Piece::Byte));
                }
            }
        }
        Some(Self { pieces })
    }

    /// Whether the whole text fits; its trailing blanks are already gone.
    ///
    /// After a mismatch only the last `*` needs to be tried again one character later, so the
    /// time is at most the product of both lengths, never exponential.
    pub fn matches(&self, text: &[u8]) -> bool {
        let (mut piece, mut at) = (0, 0);
        let mut retry = None;
        while at < text.len() {
            if let Some(Piece::Many) = self.pieces.get(piece) {
                piece += 1;
                retry = Some((piece, at));
                continue;
            }
            let step = self.pieces.get(piece).and_then(|piece| piece.step(&text[at..]));
            if let Some(length) = step {
                piece += 1;
                at += length;
            } else if let Some((after, from)) = retry {
                let from = from + character_length(text[from]);
                (piece, at) = (after, from);
                retry = Some((after, from));
            } else {
                return false;
            }
        }
        self.pieces[piece..].iter().all(|piece| *piece == Piece::Many)
    }
}

impl Piece {
    /// Bytes that this piece takes from the front of a text that is not empty.
    fn step(&self, text: &[u8]) -> Option<usize> {
        match self {
            Self::Many => Some(0),
            Self::Byte(byte) => (text[0] == *byte).then_some(1),
            Self::One => Some(character_length(text[0]).min(text.len())),
            Self::Set(ranges) => {
                let length = character_length(text[0]).min(text.len());
                let character = std::str::from_utf8(&text[..length]).ok()?.chars().next()?;
                let inside = |&(low, high): &(char, char)| low <= character && character <= high;
                ranges.iter().any(inside).then_some(length)
            }
        }
    }
}

fn character_length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

/// The ranges between `[` and `]`.
fn set(characters: &mut std::str::Chars<'_>) -> Option<Vec<(char, char)>> {
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        let low = match characters.next()? {
            ']' => return (!ranges.is_empty()).then_some(ranges),
            '\\' => characters.next()?,
            other => other,
        };
        let mut ahead = characters.clone();
        let is_range = ahead.next() == Some('-') && !matches!(ahead.next(), None | Some(']'));
        let mut high = low;
        if is_range {
            characters.next();
            high = match characters.next()? {
                '\\' => characters.next()?,
                other => other,
            };
        }
        ranges.push((low, high));
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, is_pattern, literal};

    fn fits(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).unwrap().matches(text.as_bytes())
    }

    #[test]
    fn metacharacters() {
        assert!(fits("G*", "Gxx") && fits("G*", "G") && !fits("G*", "xG") && !fits("G*", "gx"));
        assert!(fits("*G*", "xGx") && fits("*G*", "G") && !fits("*G*", "xx"));
        assert!(fits("a?c", "abc") && !fits("a?c", "ac") && fits("a?c", "aéc"));
        assert!(fits("[a-cx]1", "b1") && fits("[a-cx]1", "x1") && !fits("[a-cx]1", "d1"));
        assert!(fits("[a-]*", "-") && fits(r"[\]]", "]"));
        assert!(fits("*a*b", "xaxbxab") && !fits("*a*b", "xaxbxa"));
        assert!(Pattern::new("[abc").is_none() && Pattern::new("[]").is_none());
    }

    #[test]
    fn a_pattern_is_shown_as_it_was_written() {
        for text in ["G*", "a?c", "[a-cx]1", r"\*a*"] {
            assert_eq!(Pattern::new(text).unwrap().to_string(), format!("\"{text}\""));
        }
    }

    #[test]
    fn a_backslash_makes_ordinary() {
        assert!(fits(r"\*a*", "*ab") && !fits(r"\*a*", "xab"));
        assert!(!is_pattern(r"\*\?\[") && is_pattern(r"\\*"));
        assert_eq!(literal(r"\*\\a"), r"*\a");
    }

    #[test]
    fn many_stars_stay_fast() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!fits(&pattern, &"a".repeat(5000)));
    }

    #[test]
    fn trailing_blanks_of_a_pattern_do_not_count() {
        assert!(fits("G*  ", "Gx"));
    }
}
