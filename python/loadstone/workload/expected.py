"""Answers that the user has looked at and stored: the file beside a workload that keeps them.

They are bound to the texts and the data that they are of. A label says that an answer is "as
stored": false if statement or data are others, so then they are refused.
"""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

from loadstone.errors import InputError
from loadstone.plan.workload import (
    DIVIDED,
    Accepted,
    Workload,
    WorkloadStatement,
    statement_fields,
)
from loadstone.record.model import Run
from loadstone.text.files import read_text, write_atomically
from loadstone.text.numbers import plural
from loadstone.text.shape import Most, shaped, strict_json

FILE = "expected.json"
FILE_BYTES_MAX = 1 << 24
AGAIN = "delete its entry or the file; and then: loadstone bless RECORD"
ABOUT = "the answers that `loadstone bless` stored, by statement and variation: rows and checksum"


@dataclasses.dataclass(frozen=True, slots=True)
class Stored:
    """A statement's: `of` says of which text and data."""

    of: Annotated[str, Most(64)]
    answers: tuple[tuple[Accepted, ...], ...]


def file_of(place: str) -> Path:
    """The file beside a workload, which is a folder or a TOML file."""
    path = Path(place)
    return path.with_suffix(f".{FILE}") if path.suffix == ".toml" else path / FILE


def with_stored(workload: Workload, place: str) -> Workload:
    """The workload with its stored answers, if there are any. Raises `InputError`."""
    file = file_of(place)
    if not file.exists():
        return workload
    try:
        stated = strict_json(read_text(file, FILE_BYTES_MAX, "the stored answers"))
    except InputError as error:
        raise InputError(f"the stored answers in {file}: {error.message}", hint=AGAIN) from error
    entries = stated.get("statements") if isinstance(stated, dict) else None
    stored = shaped(entries, dict[str, Stored], str(file))
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


def bless(run: Run) -> str:
    """Store the answers of a run beside its workload. Returns what was done. Raises
    `InputError`."""
    workload = run.plan.workload
    if workload is None or run.plan.sql:
        raise InputError(
            "only the answers of a workload in a folder are stored",
            hint="write a workload.toml: docs/workload.md",
        )
    file = file_of(run.plan.benchmark)
    if not file.parent.is_dir():
        raise InputError(
            f"there is no folder {file.parent} here",
            hint="call it from the folder in which the run was started",
        )
    stated = {one.operation: one for one in run.agreements if one.basis != DIVIDED}
    entries: dict[str, Any] = {
        one.name: {"of": _of(workload, one), "answers": stated[one.name].answers}
        for one in workload.statements
        if one.name in stated
    }
    if not entries:
        raise InputError("the record has no answer that could be stored")
    text = json.dumps({"about": ABOUT, "statements": entries}, indent=1) + "\n"
    write_atomically(file, text.encode())
    left = [one.name for one in workload.statements if one.name not in entries]
    without = f"; without {', '.join(left)}" if left else ""
    return f"{file}: the answers of {plural(len(entries), 'statement')}{without}"


def _of(workload: Workload, statement: WorkloadStatement) -> str:
    """A short name of a statement's text and of all data."""
    tables = [
        (table.name, [(one.name, one.type) for one in table.columns],
         [file.sha256 for file in table.files] + ([table.checksum] if table.sql else []))
        for table in workload.tables
    ]  # fmt: skip
    plain = statement_fields(dataclasses.replace(statement.as_planned(), expected=(), title=""))
    stated = json.dumps([plain, tables], sort_keys=True)
    return hashlib.sha256(stated.encode()).hexdigest()[:16]
