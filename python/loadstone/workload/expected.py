"""Answers that the user has looked at and stored: the file beside a workload that keeps them.

They are bound to the texts and the data that they are of. A label says that an answer is "as
stored": false if statement or data are others, so then they are refused.
"""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from loadstone.errors import InputError
from loadstone.plan.workload import (
    DIVIDED,
    STORED,
    Accepted,
    Workload,
    WorkloadStatement,
    plain_fields,
)
from loadstone.record.model import Run
from loadstone.text.files import read_text, write_atomically
from loadstone.text.numbers import plural
from loadstone.text.shape import shaped, strict_json

FILE = "expected.json"
FILE_BYTES_MAX = 1 << 24
AGAIN = "delete its entry or the file; and then: loadstone bless RECORD"
ABOUT = "the answers that `loadstone bless` stored, by statement and variation: rows and checksum"


@dataclasses.dataclass(frozen=True, slots=True)
class Stored:
    """A statement's: `of` says of which text and data. `first_rows` are for people, of each
    variation."""

    of: Annotated[str, Meta(max_length=64)]
    answers: tuple[tuple[Accepted, ...], ...]
    first_rows: tuple[tuple[str, ...], ...] = ()


def file_of(place: str) -> Path:
    """The file beside a workload, which is a folder or a TOML file."""
    path = Path(place)
    return path.with_suffix(f".{FILE}") if path.suffix == ".toml" else path / FILE


def with_stored(workload: Workload, place: str) -> Workload:
    """The workload with its stored answers, if there are any. Raises `InputError`."""
    file = file_of(place)
    if not file.exists():
        return workload
    stored = _stored_in(file)
    found = []
    for one in workload.statements:
        own = stored.get(one.name)
        if own is not None and own.of != _of(workload, one):
            raise InputError(
                f"{file}: the answer of {one.name} is stored of another text, or other data",
                hint=AGAIN,
            )
        if own is not None and not (own.answers and all(own.answers)):
            raise InputError(f"{file}: {one.name} has no answer to each variation", hint=AGAIN)
        found.append(dataclasses.replace(one, expected=own.answers) if own else one)
    return dataclasses.replace(workload, statements=tuple(found))


def _stored_in(file: Path) -> dict[str, Stored]:
    """What a file holds, by statement. Raises `InputError`."""
    try:
        stated = strict_json(read_text(file, FILE_BYTES_MAX, "the stored answers"))
    except InputError as error:
        raise InputError(f"the stored answers in {file}: {error.message}", hint=AGAIN) from error
    entries = stated.get("statements") if isinstance(stated, dict) else None
    found: dict[str, Stored] = shaped(entries, dict[str, Stored], str(file))
    return found


def bless(run: Run, *, replace: bool = False) -> str:
    """Store the answers of a run beside its workload, and leave those of other statements as they
    are. An answer that contradicts the stored one takes its place only to `replace` it. Returns
    what was done. Raises `InputError`."""
    workload = run.plan.workload
    if workload is None or run.plan.sql:
        raise InputError(
            "only the answers of a workload in a folder are stored",
            hint="write a workload.toml: docs/reference/workload.md",
        )
    file = file_of(run.plan.benchmark)
    if not file.parent.is_dir():
        raise InputError(
            f"there is no folder {file.parent} here",
            hint="call it from the folder in which the run was started",
        )
    entries = {
        one.name: entry
        for one in workload.statements
        if (entry := _entry(run, workload, one)) is not None
    }
    if not entries:
        raise InputError("the record has no answer that could be stored")
    stored = _stored_in(file) if file.exists() else {}
    contrary = [
        f"{name}: {_words(stored[name])} is stored, {_words(entry)} is in the record"
        for name, entry in entries.items()
        if name in stored and _contradict(stored[name], entry)
    ]
    if contrary and not replace:
        raise InputError(
            f"{file} holds another answer: {'; '.join(contrary)}",
            hint="look which is right; to replace the stored one: loadstone bless --replace RECORD",
        )
    plain = {name: dataclasses.asdict(entry) for name, entry in (stored | entries).items()}
    text = json.dumps({"about": ABOUT, "statements": plain}, indent=1) + "\n"
    write_atomically(file, text.encode(), hint="make it and its folder writable")
    left = [one.name for one in workload.statements if one.name not in entries]
    without = f"; without {', '.join(left)}" if left else ""
    replaced = "".join(f"\nreplaced: {each}" for each in contrary)
    return f"{file}: the answers of {plural(len(entries), 'statement')}{without}{replaced}"


def _entry(run: Run, workload: Workload, statement: WorkloadStatement) -> Stored | None:
    """What a run's record has to store of a statement; None where its answer is disputed."""
    basis = next((one for one in run.agreements if one.operation == statement.name), None)
    if basis is None or basis.basis == DIVIDED:
        return None
    answers = basis.answers
    shown: dict[int, tuple[str, ...]] = {}
    for variation in range(len(answers)):
        given = [one for one in run.given
                 if (one.operation, one.variation) == (statement.name, variation)]  # fmt: skip
        own = [one for one in given if (one.tuples, one.checksum) in answers[variation]]
        if basis.basis == STORED and not own and len({one.kind for one in given}) == 1:
            # All that were asked agree, and not with what was stored then.
            accepted = tuple(dict.fromkeys((one.tuples, one.checksum) for one in given))
            answers = (*answers[:variation], accepted, *answers[variation + 1 :])
            own = given
        shown[variation] = own[0].first_rows if own else ()
    return Stored(_of(workload, statement), answers, tuple(shown.values()))


def _contradict(stored: Stored, other: Stored) -> bool:
    """Whether two answers to one text over the same data have no way to give them in common."""
    both = zip(stored.answers, other.answers, strict=False)
    return stored.of == other.of and any(set(one).isdisjoint(of_it) for one, of_it in both)


def _words(entry: Stored) -> str:
    """The answer to the first variation, for people."""
    (tuples, checksum), *_ = entry.answers[0]
    rows = ", ".join(entry.first_rows[0]) if entry.first_rows else ""
    return f"{plural(tuples, 'row')}: {rows or f'checksum {checksum}'}"


def _of(workload: Workload, statement: WorkloadStatement) -> str:
    """A short name of a statement's text and of all data."""
    tables = [
        (table.name, [(one.name, one.type) for one in table.columns],
         [file.sha256 for file in table.files] + ([table.checksum] if table.sql else []))
        for table in workload.tables
    ]  # fmt: skip
    plain = plain_fields(dataclasses.replace(statement.as_planned(), expected=(), title=""))
    stated = json.dumps([plain, tables], sort_keys=True)
    return hashlib.sha256(stated.encode()).hexdigest()[:16]
