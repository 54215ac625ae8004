//! The functions of an ELF file, by its own addresses.
//!
//! Reads the file and maps nothing: a file that is cut short meanwhile is an error then, and not
//! the end of the process.

use std::fs::File;
use std::io;
use std::path::Path;

use gimli::{BaseAddresses, EhFrameHdr, NativeEndian, UnwindSection};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, ReadCache, ReadRef, elf};

/// Larger ones are no program's: no engine's library has a tenth of that.
const FILE_BYTES_MAX: u64 = 4 << 30;

/// The functions of a file.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Parts of the file that are loaded as code.
    segments: Vec<Segment>,
    /// By address, each address once.
    functions: Vec<Function>,
    /// Jumps to other files.
    stubs: Vec<(u64, u64)>,
    /// Functions that are chosen when the file is loaded, by the processor found.
    pub chosen: Vec<String>,
    /// The place where each function begins and ends, for those that have no name.
    frames: Option<Frames>,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

#[derive(Debug, Clone)]
struct Function {
    address: u64,
    end: u64,
    name: String,
}

/// The tables by which an exception finds a function.
#[derive(Debug)]
struct Frames {
    index: Vec<u8>,
    index_address: u64,
    entries: Vec<u8>,
    entries_address: u64,
}

/// The symbol at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'a> {
    /// A function with a name, as the linker knows it.
    Function(&'a str),
    /// A jump to another file.
    Stub,
    /// A function without one, and its neighbours that have: the linker keeps what was one source
    /// file together.
    Between(Option<&'a str>, Option<&'a str>),
}

impl Symbols {
    /// Of a file on disk.
    pub fn of(path: &Path) -> io::Result<Self> {
        let file = crate::open_regular(path)?;
        if file.metadata()?.len() > FILE_BYTES_MAX {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        Self::read(&ReadCache::<File>::new(file)).map_err(io::Error::other)
    }

    /// Of the bytes of a file.
    fn read<'data, R: ReadRef<'data>>(data: R) -> object::Result<Self> {
        let file = ElfFile64::<object::Endianness, R>::parse(data)?;
        let segments = segments(&file);
        let mut stubs = Vec::new();
        for section in file.sections() {
            if section.name().is_ok_and(|name| name.starts_with(".plt")) {
                stubs.push((section.address(), section.address().saturating_add(section.size())));
            }
        }
        let mut functions = Vec::new();
        let mut chosen = Vec::new();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let (Ok(name), false) = (symbol.name(), symbol.is_undefined()) else { continue };
            let object::SymbolFlags::Elf { st_info, .. } = symbol.flags() else { continue };
            let kind = st_info.st_type();
            if kind == elf::STT_GNU_IFUNC {
                chosen.push(name.to_owned());
            } else if kind == elf::STT_FUNC && !name.is_empty() {
                let address = symbol.address();
                let end = address.saturating_add(symbol.size());
                functions.push(Function { address, end, name: name.to_owned() });
            }
        }
        chosen.sort_unstable();
        chosen.dedup();
        let mut symbols =
            Self { segments, functions, stubs, chosen, frames: frames(&file).ok().flatten() };
        symbols.order();
        Ok(symbols)
    }

    /// Add a function whose address was found in another way; its end is looked up.
    pub fn add(&mut self, name: &str, address: u64) {
        let end = self.frames.as_ref().and_then(|frames| frames.end(address));
        let end = end.unwrap_or(address + 1);
        self.functions.push(Function { address, end, name: name.to_owned() });
    }

    /// Put functions in order, once all are known. Of several names of one address the best known
    /// is kept: with a size, without an underscore in front, the shortest.
    pub fn order(&mut self) {
        self.functions.sort_by(|one, other| {
            let rank = |function: &Function| {
                let hidden = function.name.starts_with('_') && !function.name.starts_with("_Z");
                (function.address, function.end == function.address, hidden, function.name.len())
            };
            rank(one).cmp(&rank(other)).then_with(|| one.name.cmp(&other.name))
        });
        self.functions.dedup_by_key(|function| function.address);
        // Hand-written assembly gives no sizes: such a function ends where the next begins, which
        // `at` finds first, or with the code.
        for function in self.functions.iter_mut().filter(|it| it.end == it.address) {
            let end = self.segments.iter().find_map(|segment| segment.end(function.address));
            function.end = end.unwrap_or(function.end);
        }
    }

    /// The address that a byte of the file is linked at, if it is code.
    pub fn address(&self, offset: u64) -> Option<u64> {
        self.segments.iter().find_map(|segment| {
            let into = offset.checked_sub(segment.offset)?;
            (into < segment.size).then(|| segment.address.checked_add(into)).flatten()
        })
    }

    /// The symbol at an address of the file.
    pub fn at(&self, address: u64) -> Found<'_> {
        let after = self.functions.partition_point(|function| function.address <= address);
        let before = self.functions[..after].last();
        if let Some(function) = before.filter(|function| address < function.end) {
            return Found::Function(&function.name);
        }
        if self.stubs.iter().any(|&(start, end)| (start..end).contains(&address)) {
            return Found::Stub;
        }
        Found::Between(
            before.map(|function| function.name.as_str()),
            self.functions.get(after).map(|function| function.name.as_str()),
        )
    }
}

impl Segment {
    fn end(&self, address: u64) -> Option<u64> {
        let end = self.address.saturating_add(self.size);
        (self.address..end).contains(&address).then_some(end)
    }
}

impl Frames {
    /// The end of the function at an address.
    fn end(&self, address: u64) -> Option<u64> {
        let bases = BaseAddresses::default()
            .set_eh_frame_hdr(self.index_address)
            .set_eh_frame(self.entries_address);
        let index = EhFrameHdr::new(&self.index, NativeEndian).parse(&bases, 8).ok()?;
        let entries = gimli::EhFrame::new(&self.entries, NativeEndian);
        let get = |section: &gimli::EhFrame<_>, bases: &BaseAddresses, offset| {
            section.cie_from_offset(bases, offset)
        };
        let entry = index.table()?.fde_for_address(&entries, &bases, address, get).ok()?;
        Some(entry.end_address())
    }
}

fn segments<'data, R: ReadRef<'data>>(
    file: &ElfFile64<'data, object::Endianness, R>,
) -> Vec<Segment> {
    let executable = |flags| match flags {
        object::SegmentFlags::Elf { p_flags, .. } => p_flags.contains(elf::PF_X),
        _ => false,
    };
    let code = file.segments().filter(|segment| executable(segment.flags()));
    code.map(|segment| {
        let (offset, size) = segment.file_range();
        Segment { offset, size, address: segment.address() }
    })
    .collect()
}

fn frames<'data, R: ReadRef<'data>>(
    file: &ElfFile64<'data, object::Endianness, R>,
) -> object::Result<Option<Frames>> {
    let sections = [".eh_frame_hdr", ".eh_frame"].map(|name| file.section_by_name(name));
    let [Some(index), Some(entries)] = sections else { return Ok(None) };
    Ok(Some(Frames {
        index: index.data()?.to_vec(),
        index_address: index.address(),
        entries: entries.data()?.to_vec(),
        entries_address: entries.address(),
    }))
}

#[cfg(test)]
mod tests {
    use super::{Found, Symbols};

    /// The parts of a small file for a fixed address: 0x1000 bytes of code from `CODE` on.
    const CODE: u64 = 0x40_1000;
    const NAMES: &[u8] = b"\0first\0__first_alias\0assembly\0last\0chosen\0data\0";
    const SECTION_NAMES: &[u8] = b"\0.text\0.plt\0.symtab\0.strtab\0.shstrtab\0";

    /// As `elf(5)` has them: header, one segment, symbols, names, sections.
    fn elf() -> Vec<u8> {
        let symbols: Vec<u8> = [
            symbol("", 0, 0, 0),
            symbol("__first_alias", 2, CODE + 0x100, 0x40),
            symbol("first", 2, CODE + 0x100, 0x40),
            symbol("assembly", 2, CODE + 0x200, 0),
            symbol("last", 2, CODE + 0x300, 0x10),
            symbol("chosen", 10, CODE + 0x400, 0x10),
            symbol("data", 1, CODE + 0x500, 0x10),
        ]
        .concat();
        let symbols_at = 64 + 56;
        let names_at = symbols_at + symbols.len();
        let section_names_at = names_at + NAMES.len();
        let sections_at = section_names_at + SECTION_NAMES.len();
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(16, 0);
        file.extend([2, 0, 62, 0, 1, 0, 0, 0]);
        words(&mut file, &[CODE, 64, sections_at as u64]);
        file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 6, 0, 5, 0]);
        // PT_LOAD, readable and executable, from the file's offset 0x1000.
        words(&mut file, &[1 | 5 << 32, 0x1000, CODE, CODE, 0x1000, 0x1000, 0x1000]);
        file.extend(&symbols);
        file.extend(NAMES);
        file.extend(SECTION_NAMES);
        let mut section = |name: u32, kind: u64, at: [u64; 3], link: u64, entry: u64| {
            let heading = u64::from(name) | kind << 32;
            let [address, offset, size] = at;
            words(&mut file, &[heading, 0, address, offset, size, link, 1, entry]);
        };
        section(0, 0, [0; 3], 0, 0);
        section(1, 1, [CODE, 0x1000, 0x1000], 0, 0);
        section(7, 1, [CODE + 0x800, 0x1800, 0x20], 0, 0);
        section(12, 2, [0, symbols_at as u64, symbols.len() as u64], 4, 24);
        section(20, 3, [0, names_at as u64, NAMES.len() as u64], 0, 0);
        section(28, 3, [0, section_names_at as u64, SECTION_NAMES.len() as u64], 0, 0);
        file
    }

    fn words(file: &mut Vec<u8>, words: &[u64]) {
        file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    fn symbol(name: &str, kind: u8, address: u64, size: u64) -> Vec<u8> {
        let wanted = [b"\0", name.as_bytes(), b"\0"].concat();
        let place = NAMES.windows(wanted.len()).position(|window| window == wanted);
        let name = if name.is_empty() { 0 } else { place.expect("it stands there") as u32 + 1 };
        let mut symbol = name.to_le_bytes().to_vec();
        symbol.extend([kind, 0, u8::from(kind != 0), 0]);
        words(&mut symbol, &[address, size]);
        symbol
    }

    #[test]
    fn an_address_belongs_to_the_function_around_it() {
        let mut symbols = Symbols::read(elf().as_slice()).expect("whole");
        let at = |symbols: &Symbols, offset: u64| match symbols.at(CODE + offset) {
            Found::Function(name) => name.to_owned(),
            Found::Stub => "stub".to_owned(),
            Found::Between(before, after) => format!("{before:?} {after:?}"),
        };
        assert_eq!(at(&symbols, 0x100), "first");
        assert_eq!(at(&symbols, 0x13f), "first");
        assert_eq!(at(&symbols, 0x140), "Some(\"first\") Some(\"assembly\")");
        assert_eq!(at(&symbols, 0x2ff), "assembly", "one without a size ends at the next");
        assert_eq!(at(&symbols, 0x0), "None Some(\"first\")");
        assert_eq!(at(&symbols, 0x500), "Some(\"last\") None", "data is no function");
        assert_eq!(at(&symbols, 0x810), "stub");
        assert_eq!(symbols.chosen, ["chosen"]);
        symbols.add("chosen", CODE + 0x600);
        symbols.order();
        assert_eq!(at(&symbols, 0x600), "chosen");
    }

    #[test]
    fn a_byte_of_the_file_has_the_address_it_was_linked_at() {
        let symbols = Symbols::read(elf().as_slice()).expect("whole");
        assert_eq!(symbols.address(0x1100), Some(CODE + 0x100));
        assert_eq!(symbols.address(0xfff), None);
        assert_eq!(symbols.address(0x2000), None);
    }

    #[test]
    fn a_file_cut_short_or_damaged_anywhere_ends_nothing() {
        let file = elf();
        for end in 0..file.len() {
            if let Ok(symbols) = Symbols::read(&file[..end]) {
                let _ = symbols.at(CODE + 0x100);
            }
        }
        for place in 0..file.len() {
            for damage in [0x00, 0x01, 0x7f, 0xff] {
                let mut damaged = file.clone();
                damaged[place] ^= damage;
                if let Ok(symbols) = Symbols::read(damaged.as_slice()) {
                    let _ = (symbols.at(CODE + 0x100), symbols.at(u64::MAX), symbols.address(0));
                }
            }
        }
    }

    #[test]
    fn a_file_without_code_is_an_error() {
        let error = Symbols::of("/dev/zero".as_ref()).expect_err("a device");
        assert_eq!(error.raw_os_error(), Some(22));
        Symbols::of("/proc/version".as_ref()).expect_err("a text");
        Symbols::of("/nowhere".as_ref()).expect_err("nothing");
    }
}
