//! The first two pages: what the volume is, twice, so that one copy is whole at any moment.

use std::path::Path;

use crate::aligned_page::AlignedPage;
use crate::disk::Disk;
use crate::error::{LodeError, Result};
use crate::page::{self, HEADER_BYTES, PAGE_BYTES, PageBytes, PageKind, PageNumber};

/// The format that this program reads and writes.
pub const VERSION: u32 = 2;

/// The number of pages at the volume's start that are superblocks.
pub const COPIES: PageNumber = 2;

const MAGIC: &[u8; 8] = b"LODESTNE";

/// Offsets of the fields behind the page's header.
pub mod offset {
    /// 8 bytes: `LODESTNE`.
    pub const MAGIC: usize = 32;
    /// u32: the format's version.
    pub const VERSION: usize = 40;
    /// u32: bytes of a page.
    pub const PAGE_BYTES: usize = 44;
    /// u32: pages of an extent.
    pub const EXTENT_PAGES: usize = 48;
    /// u64: which copy is newer.
    pub const GENERATION: usize = 56;
    /// 16 bytes: random.
    pub const IDENTITY: usize = 64;
}

const _: () = assert!(offset::MAGIC == HEADER_BYTES && offset::GENERATION.is_multiple_of(8));

/// The facts that do not change while a volume lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Superblock {
    /// Pages of an extent.
    pub extent_pages: u32,
    /// Counts the times that a superblock was written.
    pub generation: u64,
    /// Names the volume; its log names it too.
    pub identity: [u8; 16],
}

/// Both places, as direct disks want memory.
#[repr(align(4096))]
struct AlignedCopies([PageBytes; COPIES as usize]);

/// One of the two places, as it was found.
enum Copy {
    Whole(Superblock),
    OtherVersion(u32),
    Corrupt,
    Foreign,
}

/// The salt that a volume of that identity mixes record tags with.
pub(crate) const fn salt(identity: [u8; 16]) -> u64 {
    u128::from_le_bytes(identity) as u64
}

impl Superblock {
    /// Write a new volume's superblock in both places.
    pub fn create(disk: &dyn Disk, extent_pages: u32, identity: [u8; 16]) -> Result<Self> {
        let first = Self { extent_pages, generation: 1, identity };
        let second = Self { generation: 2, ..first };
        first.write(disk, 0)?;
        second.write(disk, 1)?;
        Ok(second)
    }

    /// The newer of the whole copies. A copy that is not whole is written anew where `mend`.
    ///
    /// # Errors
    ///
    /// [`LodeError::NotADatabase`], [`LodeError::Version`] or [`LodeError::Corrupt`], depending on
    /// what is there; the disk's own.
    pub fn open(disk: &dyn Disk, path: &Path, mend: bool) -> Result<Self> {
        let len_bytes = disk.len_bytes().map_err(|source| LodeError::io("opening", source))?;
        if len_bytes < u64::from(COPIES) * PAGE_BYTES as u64 {
            // Only what holds nothing may be said to be removed.
            let cure = match len_bytes {
                0 => "if making it was cut short, remove it and its log, and make it anew",
                _ => "name another file",
            };
            let how = format!("it has {len_bytes} bytes; {cure}");
            return Err(LodeError::NotADatabase { path: path.to_owned(), how });
        }
        let copies = Self::read(disk)?;
        let whole = copies.iter().filter_map(|copy| match copy {
            Copy::Whole(superblock) => Some(*superblock),
            _ => None,
        });
        let Some(newest) = whole.max_by_key(|superblock| superblock.generation) else {
            return Err(Self::why_none(&copies, path));
        };
        for (place, copy) in copies.iter().enumerate() {
            if mend && !matches!(copy, Copy::Whole(_)) {
                newest.write(disk, place as PageNumber)?;
            }
        }
        Ok(newest)
    }

    fn why_none(copies: &[Copy; COPIES as usize], path: &Path) -> LodeError {
        let versions = copies.iter().find_map(|copy| match copy {
            Copy::OtherVersion(version) => Some(*version),
            _ => None,
        });
        if let Some(found) = versions {
            return LodeError::Version { found, known: VERSION };
        }
        if copies.iter().any(|copy| matches!(copy, Copy::Corrupt)) {
            return LodeError::corrupt_page(0, "neither copy of the superblock is whole");
        }
        let how = "it does not begin as one; name another file".to_owned();
        LodeError::NotADatabase { path: path.to_owned(), how }
    }

    fn write(&self, disk: &dyn Disk, place: PageNumber) -> Result<()> {
        let mut bytes = Box::new(AlignedPage::zeros());
        self.encode(&mut bytes, place);
        disk.write(u64::from(place) * PAGE_BYTES as u64, &bytes[..])
            .and_then(|()| disk.sync())
            .map_err(|source| LodeError::io("writing the superblock", source))
    }

    /// Both copies, by one call.
    fn read(disk: &dyn Disk) -> Result<[Copy; COPIES as usize]> {
        let mut pages = Box::new(AlignedCopies([[0; PAGE_BYTES]; COPIES as usize]));
        disk.read(0, pages.0.as_flattened_mut())
            .map_err(|source| LodeError::io("reading the superblock", source))?;
        let [first, second] = &pages.0;
        Ok([Self::decode(first, 0), Self::decode(second, 1)])
    }

    fn encode(&self, bytes: &mut PageBytes, place: PageNumber) {
        bytes[page::offset::KIND] = PageKind::Superblock as u8;
        bytes[offset::MAGIC..][..MAGIC.len()].copy_from_slice(MAGIC);
        page::put_u32(bytes, offset::VERSION, VERSION);
        page::put_u32(bytes, offset::PAGE_BYTES, PAGE_BYTES as u32);
        page::put_u32(bytes, offset::EXTENT_PAGES, self.extent_pages);
        page::put_u64(bytes, offset::GENERATION, self.generation);
        bytes[offset::IDENTITY..][..self.identity.len()].copy_from_slice(&self.identity);
        page::seal(bytes, place);
    }

    fn decode(bytes: &PageBytes, place: PageNumber) -> Copy {
        if &bytes[offset::MAGIC..][..MAGIC.len()] != MAGIC {
            return Copy::Foreign;
        }
        if page::check(bytes, place).is_err() {
            return Copy::Corrupt;
        }
        let version = page::u32_at(bytes, offset::VERSION);
        if version != VERSION {
            return Copy::OtherVersion(version);
        }
        let extent_pages = page::u32_at(bytes, offset::EXTENT_PAGES);
        let page_bytes = page::u32_at(bytes, offset::PAGE_BYTES);
        let sensible = extent_pages.is_power_of_two() && (4..=64).contains(&extent_pages);
        if !sensible || page_bytes != PAGE_BYTES as u32 {
            return Copy::Corrupt;
        }
        let mut identity = [0; 16];
        identity.copy_from_slice(&bytes[offset::IDENTITY..][..16]);
        let generation = page::u64_at(bytes, offset::GENERATION);
        Copy::Whole(Self { extent_pages, generation, identity })
    }
}
