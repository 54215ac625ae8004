//! Fields in a row, taken from bytes that may be anything.

/// The rest of a frame's content.
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) const fn of(content: &'a [u8]) -> Self {
        Self(content)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A u32 that is zero in this version.
    pub(super) fn zero(&mut self) -> Option<()> {
        (self.u32()? == 0).then_some(())
    }

    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self, count: usize) -> Option<String> {
        String::from_utf8(self.bytes(count)?.to_vec()).ok()
    }

    /// All that is left.
    pub(super) const fn rest(&mut self) -> &'a [u8] {
        let rest = self.0;
        self.0 = &[];
        rest
    }

    /// Nothing may be left over.
    pub(super) const fn end(&self) -> Option<()> {
        if self.0.is_empty() { Some(()) } else { None }
    }
}

pub(super) fn put_u32(into: &mut Vec<u8>, value: u32) {
    into.extend_from_slice(&value.to_le_bytes());
}

pub(super) fn put_u64(into: &mut Vec<u8>, value: u64) {
    into.extend_from_slice(&value.to_le_bytes());
}
