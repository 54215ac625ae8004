//! `profile`: the tactics of a whole system of the papers under one name, each value with its
//! reason. What such a system had and lode has not is reported beside them, never left out
//! silently.

use lode::tactics::describe::{Tactic, named_tactic};

use crate::error::Result;

named_tactic! {
    /// **What it does.** Sets the tactics that re-create a system of the papers, or of today. A
    /// tactic that is named beside it has the value named; all others are as by default.
    /// **What it buys.** The papers' systems side by side on one machine, one disk and one code:
    /// what is left between them are their mechanisms.
    /// **What it costs.** What the values cost that it sets: `loadstone tactics lode profile`
    /// lists them, with the reason of each, and what the system had besides.
    /// **What a crash can lose.** Nothing: no profile sets `durability`, so that all are compared
    /// on equal terms.
    /// **Do not combine with.** Nothing.
    /// **Source.** Stonebraker and others, "Performance Enhancements to a Relational Database
    /// System", UCB/ERL M81/62, 1981; Bitton, DeWitt and Turbyfill, "Benchmarking Database Systems:
    /// A Systematic Approach", VLDB 1983.
    "profile" Profile {
        /// The defaults, and what is named.
        None = "none",
        /// University INGRES of 1983: decomposition, interpreted, the system's buffers.
        UIngres = "u-ingres",
        /// Commercial INGRES of 1983: complete plans, and buffers of its own.
        CIngres = "c-ingres",
        /// The IDM 500 of 1983 without its accelerator: indexes, else nested loops.
        IdmNodac = "idm-nodac",
        /// The IDM 500 of 1983 with its accelerator.
        IdmDac = "idm-dac",
        /// INGRES of 1981 with expressions compiled for each command.
        DcIngres = "dc-ingres",
        /// INGRES of 1981 with a file system of its own, which reads a track at a time.
        FsIngres = "fs-ingres",
        /// INGRES of 1981 with its two hottest routines in microcode, which lode cannot have.
        MIngres = "m-ingres",
        /// A system of today that stores rows.
        ModernRow = "modern-row",
        /// A system of today that stores columns.
        ModernColumn = "modern-column",
    }
}

/// A tactic's value in a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The tactic.
    pub tactic: &'static str,
    /// Its value.
    pub value: &'static str,
    /// Why that one, with the source.
    pub why: &'static str,
}

/// A mechanism that a system had, and no tactic of lode has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// The lack: a mechanism, or a tactic's value.
    pub what: &'static str,
    /// The way of lode instead.
    pub instead: &'static str,
}

const fn set(tactic: &'static str, value: &'static str, why: &'static str) -> Setting {
    Setting { tactic, value, why }
}

const fn lacks(what: &'static str, instead: &'static str) -> Missing {
    Missing { what, instead }
}

const INTERPRETED: Setting = set(
    "execution",
    "interpreted",
    "queries are executed in an interpretative fashion (1983, 2.1.1); the two routines of 1981 \
     (M81/62, Table 3)",
);
const RULES: Setting = set(
    "optimizer",
    "rules",
    "an index wherever one fits, as the one-variable query processor chose (4.1BSD, \
     ovqp/strategy.c)",
);
const SUBSTITUTION: Setting = set(
    "join",
    "substitution",
    "decomposition, with a copy of the inner relation hashed first (1983, 4.2; 4.1BSD decomp)",
);
const NO_ACCELERATOR: Setting =
    set("accelerator", "off", "software on a general purpose processor");
const SYSTEM_FILES: Setting =
    set("disk", "buffered", "files of the operating system, which buffers them (1983, 2.1.1)");
const LRU: Setting =
    set("replacement", "lru", "what 4.1BSD does with the pages it buffers (1983, 2.1.1)");
const ONE_MEGABYTE: Setting = set(
    "cache",
    "1048576",
    "not printed; none of the systems had more than a megabyte (1983, 3.4)",
);
const PAGE_BY_PAGE: Setting = set(
    "readahead",
    "off",
    "the operating system's own, which prefetches the next page of a file (M81/62, 4.3)",
);
const SORTED_DUPLICATES: Setting =
    set("distinct", "sort", "duplicates are brought together by a sort (1983, 4.3)");
const SORTED_GROUPS: Setting = set(
    "aggregate",
    "sort",
    "partitions in a temporary relation that is sorted by them (Epstein, UCB/ERL M79/8, 1979)",
);
const HASHED_INDEX: Missing = lacks(
    "dense hashed secondary indexes, which serve no range (1983, 4.1)",
    "a B-tree, which does",
);
const PAGES: Missing = lacks("pages of 1,024 bytes", "pages of 4,096 bytes");

impl Profile {
    /// The values that it sets.
    pub fn settings(self) -> Vec<Setting> {
        let ingres = [
            INTERPRETED,
            SUBSTITUTION,
            RULES,
            NO_ACCELERATOR,
            SYSTEM_FILES,
            LRU,
            ONE_MEGABYTE,
            PAGE_BY_PAGE,
            SORTED_DUPLICATES,
            SORTED_GROUPS,
        ];
        let changed: &[Setting] = match self {
            Self::None => return Vec::new(),
            Self::ModernRow => return MODERN_ROW.to_vec(),
            Self::ModernColumn => return MODERN_COLUMN.to_vec(),
            Self::UIngres => &[],
            Self::MIngres => &[TUNED],
            Self::CIngres => &C_INGRES,
            Self::IdmNodac => &IDM,
            Self::IdmDac => &IDM_DAC,
            Self::DcIngres => &[COMPILED],
            Self::FsIngres => &FS_INGRES,
        };
        let of = |tactic: &str| changed.iter().find(|one| one.tactic == tactic);
        let mut settings: Vec<Setting> =
            ingres.iter().map(|one| *of(one.tactic).unwrap_or(one)).collect();
        if matches!(self, Self::IdmNodac | Self::IdmDac) {
            // How the IDM brought a partition's tuples together is not published.
            settings.retain(|one| *one != SORTED_GROUPS);
        }
        let is_new = |one: &&Setting| ingres.iter().all(|each| each.tactic != one.tactic);
        settings.extend(changed.iter().filter(is_new));
        settings
    }

    /// The mechanisms that the system had besides, and lode has not.
    pub fn missing(self) -> Vec<Missing> {
        match self {
            Self::None | Self::ModernRow => Vec::new(),
            Self::ModernColumn => vec![
                lacks("compressed columns (Abadi, Madden and Ferreira 2006)", "values as they are"),
                lacks("the least and greatest value of each chunk (Moerkotte 1998)", "every chunk"),
            ],
            Self::UIngres => vec![HASHED_INDEX, PAGES],
            Self::DcIngres => vec![
                lacks("plain evaluation of target lists (M81/62, 2.1)", "compiled ones, too"),
                PAGES,
            ],
            Self::FsIngres => {
                vec![lacks("a raw disk without a file system (M81/62, 4.1)", "a file"), PAGES]
            }
            Self::MIngres => vec![
                lacks(
                    "getsymbol and interpret in microcode: 2.3 % less time, 6.9 % at most, by \
                     estimate (M81/62, Table 4)",
                    "both in machine code: no processor of today lets a user write microcode",
                ),
                PAGES,
            ],
            Self::CIngres => vec![
                lacks("200K bytes to sort in (1983, 2.1.2)", "memory by the machine's size"),
                lacks(
                    "the slower aggregate functions of version 2.0 (1983, 4.4)",
                    "those of university INGRES",
                ),
                HASHED_INDEX,
                lacks("pages of 2,048 bytes", "pages of 4,096 bytes"),
            ],
            Self::IdmNodac | Self::IdmDac => vec![
                lacks("a channel to the client's computer", "a call in the client's process"),
                lacks("pages of 2,048 bytes", "pages of 4,096 bytes"),
            ],
        }
    }

    /// The profile of that name.
    ///
    /// # Errors
    ///
    /// [`lode::LodeError::Tactic`] for one that there is not.
    pub fn named(name: &str) -> Result<Self> {
        Ok(Self::parse(name)?)
    }
}

/// Every profile, by name.
pub fn profiles() -> impl Iterator<Item = (&'static str, &'static str, Profile)> {
    let named = Profile::VALUES.iter().skip(1);
    named.map(|value| {
        let profile = Profile::parse(value.name).expect("a tactic reads its own values");
        (value.name, value.about, profile)
    })
}

const COMPILED: Setting = set(
    "execution",
    "closures",
    "each command's expressions become specialised operators, types known, constants computed once \
     (M81/62, 2.1)",
);

const TUNED: Setting = set(
    "simd",
    "on",
    "instructions of the processor that do more at a time, as microcode did (M81/62, Table 4); \
     they serve execution=vectorised, and with interpreted only an accelerator",
);

const C_INGRES: [Setting; 4] = [
    set(
        "join",
        "index-merge",
        "sort-merge joins in the main (1983, 4.2), and an index where one serves (1983, Tables 5 \
         and 6)",
    ),
    set(
        "optimizer",
        "rules",
        "complete plans, which failed to see when an index should not be used (1983, 2.1.2, 4.1)",
    ),
    set("replacement", "random", "a random replacement policy (1983, 2.1.2)"),
    set("cache", "819200", "800K bytes of buffers (1983, 2.1.2)"),
];

const DIRECT: Setting =
    set("disk", "direct", "no general purpose operating system between (1983, 2.2)");
const IDM_JOIN: Setting =
    set("join", "index", "an index where there is one, else simple nested loops (1983, 4.2)");
const IDM_CACHE: Setting = set("cache", "1048576", "one megabyte of buffers (1983, 2.2)");
const IDM_EXECUTION: Setting = set(
    "execution",
    "interpreted",
    "not published; the database processor simulates what the accelerator would do",
);

const IDM_RULES: Setting =
    set("optimizer", "rules", "an index wherever there was one (1983, Tables 2, 5 and 6)");
const IDM_REPLACEMENT: Setting = set("replacement", "lru", "not published");
const IDM_PAGES: Setting = set("readahead", "off", "not published");

const IDM: [Setting; 7] =
    [IDM_EXECUTION, IDM_JOIN, IDM_RULES, DIRECT, IDM_REPLACEMENT, IDM_CACHE, IDM_PAGES];

const IDM_DAC: [Setting; 8] = [
    IDM_EXECUTION,
    IDM_JOIN,
    IDM_RULES,
    set("accelerator", "on", "the board that holds tuples against a qualification (1983, 2.2)"),
    DIRECT,
    IDM_REPLACEMENT,
    IDM_CACHE,
    IDM_PAGES,
];

const FS_INGRES: [Setting; 3] = [
    set("disk", "direct", "read into the user's memory past the file system (M81/62, 4.1)"),
    set("extent", "4", "16 blocks of 1,024 bytes, a track, as pages of 4,096 (M81/62, 4.1)"),
    set("readahead", "on", "a whole track when a relation is processed sequentially (M81/62, 4.1)"),
];

const MODERN_ROW: [Setting; 4] = [
    set("execution", "vectorised", "a thousand rows at a time (Boncz and others 2005)"),
    set("join", "auto", "hash joins and indexes, by cost"),
    set("optimizer", "cost", "by statistics (Selinger and others 1979)"),
    set("accelerator", "on", "conditions evaluated where the tuples lie"),
];

const MODERN_COLUMN: [Setting; 5] = [
    set("execution", "vectorised", "a thousand values at a time (Boncz and others 2005)"),
    set("layout", "columns", "a scan reads what the query names (Copeland and Khoshafian 1985)"),
    set("join", "auto", "hash joins and indexes, by cost"),
    set("optimizer", "cost", "by statistics (Selinger and others 1979)"),
    set("accelerator", "on", "conditions on their own columns, before any other is read"),
];
