"""The contract of a report format: a pure function from a record to bytes."""

from abc import ABC, abstractmethod
from typing import ClassVar

from loadstone.record.model import Run


class Report(ABC):
    """A report format. Registered by entry point `loadstone.reports`.

    A report sees the record and nothing else: no engine, no clock, no file, no network. Equal
    records give equal bytes.
    """

    suffix: ClassVar[str]
    """Of a file that holds it, with the dot."""
    printable: ClassVar[bool] = True
    """Whether `loadstone report` prints it by default; the others go to a file."""

    @abstractmethod
    def render(self, run: Run) -> bytes:
        """The whole report."""
