//! Titles and texts of documents and manuals: one line again and again, cut at the text's size.

/// Bytes of a title.
pub const TITLE_WIDTH: usize = 40;

/// Title of the document of a composite part.
pub fn document_title(composite: u32) -> String {
    format!("Composite Part {composite:08}")
}

/// Title of the manual of a module.
pub fn manual_title(module: u32) -> String {
    format!("Module         {module:08}")
}

/// Append the text of a document: `length` characters.
pub fn push_document(into: &mut Vec<u8>, composite: u32, length: usize) {
    let line = format!("I am the documentation for composite part #{composite:08}.\n");
    push_lines(into, line.as_bytes(), length);
}

/// Append the text of a manual: `length` characters.
pub fn push_manual(into: &mut Vec<u8>, module: u32, length: usize) {
    let line = format!("I am the manual for module #{module:08}.\n");
    push_lines(into, line.as_bytes(), length);
}

/// A cut behind a blank ends with a full stop: blanks at an end are those that follow a shorter
/// value of a column, which files drop.
fn push_lines(into: &mut Vec<u8>, line: &[u8], length: usize) {
    let start = into.len();
    into.extend(line.iter().cycle().take(length));
    if let Some(last) = into[start..].last_mut().filter(|last| **last == b' ') {
        *last = b'.';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &[u8]) -> usize {
        text.split(|byte| *byte == b'I').count() - 1
    }

    /// Sections 1 and 4: the lines' lengths, and the results of T4, T8 and T9.
    #[test]
    fn texts_are_those_of_the_specification() {
        for (length, found) in [(1_999, 38), (19_999, 378)] {
            let mut text = Vec::new();
            push_document(&mut text, 17, length);
            assert_eq!((text.len(), letters(&text)), (length, found));
            assert!(text.starts_with(b"I am the documentation for composite part #00000017.\nI"));
            assert_eq!(text[52], b'\n');
        }
        for (length, found) in [(99_999, 2_632), (999_999, 26_316)] {
            let mut text = Vec::new();
            push_manual(&mut text, 1, length);
            assert_eq!((text.len(), letters(&text)), (length, found));
            assert_eq!(text[37], b'\n');
            assert_ne!(text.first(), text.last());
        }
        assert_eq!(document_title(500), "Composite Part 00000500");
        assert_eq!(manual_title(1), "Module         00000001");
    }

    /// Else a file would have a text that is shorter than the length beside it.
    #[test]
    fn no_text_ends_with_a_blank_wherever_it_is_cut() {
        for length in 1..200 {
            let (mut document, mut manual) = (Vec::new(), Vec::new());
            push_document(&mut document, 17, length);
            push_manual(&mut manual, 1, length);
            for text in [document, manual] {
                assert_eq!(text.len(), length);
                assert_ne!(text.last(), Some(&b' '), "{length}");
            }
        }
    }
}
