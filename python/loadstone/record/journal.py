"""The rollback journal that a killed run left beside its record, applied to a copy of the bytes.

A record may come from anybody, and so may a journal beside it. SQLite, given both, would roll the
file back in place, and would remove any file whose name a crafted journal holds. Here nothing is
written, and a journal that names a file is refused. The format is that of
https://sqlite.org/fileformat.html, section 3, "The Rollback Journal"; only whole records with a
right checksum are used.
"""

import struct

from loadstone.errors import RecordError

FILE_BYTES_MAX = 1 << 30
"""Of a record: it is read as a whole."""
MAGIC = bytes.fromhex("d9d505f920a163d7")
_HEADER = struct.Struct(">8sIIIII")
_ALL = 0xFFFFFFFF
"""In the place of a count: as many as the file holds."""
_PENDING_BYTE = 0x40000000
"""The page it lies on is never in a journal."""
_PAGES = frozenset(1 << power for power in range(9, 17))
_PAGE_BYTES_DEFAULT = 4096
_SECTORS = frozenset(1 << power for power in range(5, 17))


def is_sqlite(journal: bytes) -> bool:
    """Whether SQLite left it: empty, of zeros, or with a header.

    Until SQLite syncs a journal, zeros stand for the magic number and the count of pages, though
    the rest of the header and pages follow: a kill leaves that behind in most transactions.
    """
    if not journal.strip(b"\0"):
        return True
    if not journal.startswith((MAGIC, bytes(12))):
        return False
    if len(journal) < _HEADER.size:
        return True  # cut off by a full disk
    *_, sector_bytes, page_bytes = _HEADER.unpack_from(journal)
    return sector_bytes in _SECTORS and page_bytes in _PAGES


def names_a_file(journal: bytes) -> bool:
    """Whether it belongs to a transaction over several files, which no record is written in:
    SQLite would remove the file that it names."""
    return journal.endswith(MAGIC) and len(journal) > _HEADER.size


def rolled_back(data: bytes, journal: bytes) -> bytes:
    """The content before the transaction that the journal belongs to, as SQLite would restore it.

    Raises `RecordError` where the journal is none of ours.
    """
    if names_a_file(journal):
        raise RecordError("its journal names another file, which no record's journal does")
    content = bytearray(data)
    offset, page_bytes, sector_bytes, pages = 0, 0, 512, 0
    while offset + max(sector_bytes, _HEADER.size) <= len(journal):
        magic, count, nonce, first_pages, sector, page = _HEADER.unpack_from(journal, offset)
        if magic != MAGIC:
            break
        if offset == 0:
            page = page or _page_bytes(data)
            if page not in _PAGES or sector not in _SECTORS:
                break
            page_bytes, sector_bytes, pages = page, sector, first_pages
            _resize(content, pages * page_bytes)
        offset += sector_bytes
        if count == _ALL:
            count = (len(journal) - sector_bytes) // (page_bytes + 8)
        taken, whole = _take(content, journal, offset, count, nonce, page_bytes, pages)
        if not whole:
            break
        offset += taken
        offset += -offset % sector_bytes
    return bytes(content)


def _page_bytes(data: bytes) -> int:
    """Of the file itself, which a journal with 0 in its place means (SQLite before 3.5.8)."""
    page_bytes = data[16] << 8 | data[17] << 16 if len(data) >= 100 else 0
    return page_bytes if page_bytes in _PAGES else _PAGE_BYTES_DEFAULT


def _resize(content: bytearray, size_bytes: int) -> None:
    if size_bytes > FILE_BYTES_MAX:
        raise RecordError("its journal makes it larger than a record may be")
    del content[size_bytes:]
    content.extend(bytes(size_bytes - len(content)))


def _take(
    content: bytearray, journal: bytes, offset: int, count: int, nonce: int, page_bytes: int,
    pages: int,
) -> tuple[int, bool]:  # fmt: skip
    """Put back a segment's pages. Returns how many bytes that took, and whether all were whole."""
    size = page_bytes + 8
    locked = _PENDING_BYTE // page_bytes + 1
    for place in range(count):
        start = offset + place * size
        if start + size > len(journal):
            return place * size, False
        number = int.from_bytes(journal[start : start + 4])
        if number in (0, locked):
            return place * size, False
        if number > pages:
            continue
        page = journal[start + 4 : start + 4 + page_bytes]
        if int.from_bytes(journal[start + size - 4 : start + size]) != _checksum(page, nonce):
            return place * size, False
        end = number * page_bytes
        content[end - page_bytes : end] = page
    return count * size, True


def _checksum(page: bytes, nonce: int) -> int:
    return (nonce + sum(page[place] for place in range(len(page) - 200, 0, -200))) & 0xFFFFFFFF
