"""The operations of a benchmark, read from a file of QUEL programs.

The file begins with a comment on itself. Then each operation has a heading of two lines, a comment,

    name | query | physical design, storage structure that it is about | presets
    title

and below it its program. A comment `group: NAME` opens a group, and `undo` stands above the program
that takes back the operation before it.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from loadstone.benchmarks.base import Operation
from loadstone.quel import tree

_COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation as the file has it; `undo` is empty where nothing is to be taken back."""

    name: str
    query: str
    design: str
    storage: str
    presets: frozenset[str]
    title: str
    group: str
    text: str
    undo: str

    @property
    def destination(self) -> str:
        """The place where the program's result goes: `relation`, `client`, or `update`."""
        (*_, statement) = tree.parse(self.text)
        if statement["kind"] != "retrieve":
            return "update"
        return "relation" if statement["into"] else "client"

    def operation(
        self, texts: tuple[str, ...], undo: tuple[str, ...] = (), destination: str = ""
    ) -> Operation:
        """The operation whose variations are `texts`; `destination` if not the program's."""
        found = destination or self.destination
        return Operation(
            name=self.name,
            title=self.title,
            group=self.group,
            query=self.query,
            design=self.design,
            storage=self.storage,
            destination=found,
            concurrent_users=found == "client",
            texts=texts,
            undo=undo,
            presets=self.presets,
        )


def entries_of(file: Path) -> tuple[Entry, ...]:
    """The operations of a file, in its order."""
    pieces = _COMMENT.split(file.read_text("utf-8"))
    entries: list[Entry] = []
    group = ""
    # Comment and program alternate; the first two pieces are the start and the preamble.
    for comment, text in zip(pieces[3::2], pieces[4::2], strict=True):
        heading = comment.strip()
        if heading.startswith("group:"):
            group = heading.removeprefix("group:").strip()
        elif heading.startswith("undo"):
            entries.append(replace(entries.pop(), undo=text.strip()))
        else:
            entries.append(_heading(heading, group, text.strip()))
    return tuple(entries)


def _heading(heading: str, group: str, text: str) -> Entry:
    first, _, title = heading.partition("\n")
    name, query, place, presets = (part.strip() for part in first.split("|"))
    design, _, storage = place.partition(", ")
    words = " ".join(title.split())
    return Entry(name, query, design, storage, frozenset(presets.split()), words, group, text, "")
