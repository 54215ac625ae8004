//! Relations as a program may speak of them: their attributes, and how each is stored.

use std::collections::BTreeMap;

/// The way in which an attribute is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A signed integer.
    Integer {
        /// 1, 2, 4 or 8.
        bytes: usize,
    },
    /// A floating-point number.
    Real {
        /// 4 or 8.
        bytes: usize,
    },
    /// A text, padded with blanks.
    Text {
        /// Its length at most, in bytes.
        width: usize,
    },
}

impl Kind {
    /// The kind that `i4`, `f8`, `c30` … of a `create` names.
    pub fn of_type_name(name: &str) -> Option<Self> {
        match name {
            "i1" => Some(Self::Integer { bytes: 1 }),
            "i2" => Some(Self::Integer { bytes: 2 }),
            "i4" => Some(Self::Integer { bytes: 4 }),
            "i8" => Some(Self::Integer { bytes: 8 }),
            "f4" => Some(Self::Real { bytes: 4 }),
            "f8" => Some(Self::Real { bytes: 8 }),
            _ => {
                let digits = name.strip_prefix('c')?;
                let width: u16 = digits.parse().ok().filter(|width| *width > 0)?;
                Some(Self::Text { width: width.into() })
            }
        }
    }
}

/// One attribute of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Its name in lower case.
    pub name: String,
    /// The way in which it is stored.
    pub kind: Kind,
}

/// The relations that a program may speak of, by name in lower case.
pub type Catalogue = BTreeMap<String, Vec<Attribute>>;
