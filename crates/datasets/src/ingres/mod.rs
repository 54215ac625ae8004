//! The relation of the INGRES experiments of 1981: PARTS, in two widths.

pub mod edition_1981;
