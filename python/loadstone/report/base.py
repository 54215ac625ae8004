"""The contract of a report format: a pure function from a record to bytes."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from loadstone.errors import InputError
from loadstone.record.model import Run


class Report(ABC):
    """A report format. Registered by entry point `loadstone.reports`.

    A report sees the record and nothing else: no engine, no clock, no file, no network. Equal
    records give equal bytes.
    """

    suffix: ClassVar[str]
    """Of a file that holds it, with the dot."""
    mark: ClassVar[re.Pattern[bytes] | None] = None
    """Found at the beginning or the end of every file of this format, and of no other: only a file
    that bears it is replaced. None: nothing is."""
    printable: ClassVar[bool] = True
    """Whether `loadstone report` prints it by default; the others go to a file."""

    @abstractmethod
    def render(self, run: Run) -> bytes:
        """The whole report."""

    def render_chapters(self, runs: Sequence[Run]) -> bytes:
        """The whole report of a record of several benchmarks."""
        raise InputError(
            f"this format has no form for a record of {len(runs)} benchmarks",
            hint="loadstone report RECORD --format html, md, csv, json or parquet",
        )

    def of(self, runs: Sequence[Run]) -> bytes:
        """The whole report of a record's benchmarks."""
        return self.render(runs[0]) if len(runs) == 1 else self.render_chapters(runs)
