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

fn push_lines(into: &mut Vec<u8>, line: &[u8], length: usize) {
    into.extend(line.iter().cycle().take(length));
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
}
