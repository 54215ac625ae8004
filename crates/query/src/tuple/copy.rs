//! Copies of short tuples.

/// Copy bytes to as many others. To call a function for so few costs more than to copy them: both
/// ends are, by as many bytes as fit, which may overlap.
///
/// # Panics
///
/// If the lengths differ.
#[inline]
pub fn copy_tuple(from: &[u8], into: &mut [u8]) {
    assert_eq!(from.len(), into.len(), "a tuple is copied to room of its length");
    match from.len() {
        4..8 => copy_ends::<4>(from, into),
        8..16 => copy_ends::<8>(from, into),
        16..32 => copy_ends::<16>(from, into),
        32..=64 => copy_ends::<32>(from, into),
        _ => into.copy_from_slice(from),
    }
}

#[inline]
fn copy_ends<const BYTES: usize>(from: &[u8], into: &mut [u8]) {
    let (first, last) = (from.first_chunk::<BYTES>(), from.last_chunk::<BYTES>());
    if let (Some(first), Some(into)) = (first, into.first_chunk_mut()) {
        *into = *first;
    }
    if let (Some(last), Some(into)) = (last, into.last_chunk_mut()) {
        *into = *last;
    }
}

#[cfg(test)]
mod tests {
    use super::copy_tuple;

    #[test]
    fn a_copy_has_every_byte_and_changes_no_other() {
        for length in 0..200 {
            let from: Vec<u8> = (1..=length).collect();
            let mut into = vec![0; usize::from(length) + 2];
            let end = into.len() - 1;
            copy_tuple(&from, &mut into[1..end]);
            assert_eq!((into[0], into[end]), (0, 0), "{length} bytes");
            assert_eq!(into[1..end], from, "{length} bytes");
        }
    }
}
