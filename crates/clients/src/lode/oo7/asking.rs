//! A question or a change within the transaction that has begun, compiled for each kind of pages.

/// Ask within the transaction that reads, or the one that writes, or that one with what it has
/// mapped: compiled for the pages of each.
macro_rules! ask {
    ($self:ident, $doing:literal, |$files:ident, $pages:ident| $asked:expr) => {{
        let $files = $self.files.as_ref().ok_or_else(not_loaded)?;
        let mapping = $self.plain.as_ref().and_then(Plain::mapping);
        let answered = match (&$self.reader, &mut $self.writer, mapping) {
            (Some(reader), ..) => {
                let $pages = P::pages(reader);
                $asked
            }
            (None, Some(writer), Some(mapping)) => {
                let with = P::pages_with(writer, mapping);
                let $pages = &with.map_err(|error| ClientError::engine(ENGINE, $doing, error))?;
                $asked
            }
            (None, Some(writer), None) => {
                let $pages = &*P::pages_mut(writer);
                $asked
            }
            (None, None, _) => return Err(not_begun()),
        };
        answered.map_err(|failure| failure.reported($doing))
    }};
}

/// Change within the transaction that writes.
macro_rules! change {
    ($self:ident, $doing:literal, |$files:ident, $pages:ident| $asked:expr) => {{
        let $files = $self.files.as_ref().ok_or_else(not_loaded)?;
        let $pages = P::pages_mut($self.writer.as_mut().ok_or_else(not_begun)?);
        $asked.map_err(|failure| failure.reported($doing))
    }};
}
