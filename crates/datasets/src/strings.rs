//! The papers' texts of 52 letters.

/// Letters of every text attribute.
pub const TEXT_WIDTH: usize = 52;

const BASE_1993: u32 = 26;

/// Two base-26 digits at once: a division a pair instead of one a letter.
const PAIRS: [[u8; 2]; (BASE_1993 * BASE_1993) as usize] = pairs();

const fn pairs() -> [[u8; 2]; (BASE_1993 * BASE_1993) as usize] {
    let mut table = [[0; 2]; (BASE_1993 * BASE_1993) as usize];
    let mut index = 0;
    while index < table.len() {
        table[index] = [b'A' + (index / 26) as u8, b'A' + (index % 26) as u8];
        index += 1;
    }
    table
}

/// 1993: `number` in base 26 (A is 0) as seven letters, then 45 x's. Up to 26^7 - 1.
pub fn text_1993(number: u32) -> [u8; TEXT_WIDTH] {
    const PAIR: u32 = BASE_1993 * BASE_1993;
    let mut text = [b'x'; TEXT_WIDTH];
    let (rest, last) = (number / PAIR, number % PAIR);
    let (rest, third) = (rest / PAIR, rest % PAIR);
    let (first, second) = (rest / PAIR, rest % PAIR);
    text[0] = b'A' + first as u8;
    text[1..3].copy_from_slice(&PAIRS[second as usize]);
    text[3..5].copy_from_slice(&PAIRS[third as usize]);
    text[5..7].copy_from_slice(&PAIRS[last as usize]);
    text
}

/// 1993: four letters that follow the row number, then 48 x's.
pub fn text_cyclic_1993(row: u64) -> [u8; TEXT_WIDTH] {
    let mut text = [b'x'; TEXT_WIDTH];
    text[..4].fill(CYCLE[(row % 4) as usize]);
    text
}

/// 1983: the 22 letters A to V at places 1, 27 and 52, the first running fastest; x between.
/// Up to 22^3 - 1.
pub fn text_1983(number: u32) -> [u8; TEXT_WIDTH] {
    let letter = |digit: u32| b'A' + (digit % 22) as u8;
    significant_1983([letter(number), letter(number / 22), letter(number / 484)])
}

/// 1983: one of four letters, three times, following the row number.
pub fn text_cyclic_1983(row: u64) -> [u8; TEXT_WIDTH] {
    significant_1983([CYCLE[(row % 4) as usize]; 3])
}

const CYCLE: [u8; 4] = *b"AHOV";

fn significant_1983(letters: [u8; 3]) -> [u8; TEXT_WIDTH] {
    let mut text = [b'x'; TEXT_WIDTH];
    (text[0], text[26], text[51]) = (letters[0], letters[1], letters[2]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: [u8; TEXT_WIDTH]) -> String {
        String::from_utf8(text.to_vec()).unwrap()
    }

    #[test]
    fn texts_of_1993_as_published() {
        for (number, letters) in [
            (0, "AAAAAAA"),
            (25, "AAAAAAZ"),
            (26, "AAAAABA"),
            (8800, "AAAANAM"),
            (5513, "AAAAIEB"),
            (2001, "AAAACYZ"),
            (999_999_999, "DGEHTYL"),
        ] {
            assert_eq!(shown(text_1993(number)), format!("{letters}{}", "x".repeat(45)));
        }
        for (row, letter) in [(0, "A"), (1, "H"), (2, "O"), (3, "V"), (2001, "H")] {
            let expected = format!("{}{}", letter.repeat(4), "x".repeat(48));
            assert_eq!(shown(text_cyclic_1993(row)), expected);
        }
    }

    #[test]
    fn texts_of_1983_as_printed() {
        let text = shown(text_1983(999));
        assert_eq!(text, format!("J{}B{}C", "x".repeat(25), "x".repeat(24)));
        let text = shown(text_cyclic_1983(2));
        assert_eq!(text, format!("O{}O{}O", "x".repeat(25), "x".repeat(24)));
    }

    /// The paper of 1983, section 3.1: both printed string selections keep 1 % of 10,000 tuples.
    #[test]
    fn string_ranges_of_1983_select_one_percent() {
        let at =
            |a: char, b: char, c: char| format!("{a}{}{b}{}{c}", "x".repeat(25), "x".repeat(24));
        let texts: Vec<String> = (0..10_000).map(|number| shown(text_1983(number))).collect();
        let below = at('A', 'E', 'Q');
        assert_eq!(texts.iter().filter(|text| **text < below).count(), 100);
        let (low, high) = (at('B', 'G', 'E'), at('B', 'L', 'A'));
        assert_eq!(texts.iter().filter(|text| low < **text && **text < high).count(), 100);
    }
}
