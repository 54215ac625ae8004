"""The requests common to all systems under test: from its start to its removal.

Statements are executed by an `Engine` (`base.py`), loops by a calling program (`clients/`). A
system never sees a clock, a plan or a record. All its data lies in its scratch folder or in a
schema it created and marked.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from loadstone.engines import data_files
from loadstone.engines.capabilities import UrlUse
from loadstone.engines.configured import Configured
from loadstone.errors import InputError
from loadstone.owner import checked_owner
from loadstone.text.zone import UTC

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant

TABLES, READ_ONLY = "tables", "as they stand, opened to be read only"
"""A term of an engine that reads a user's own tables, and what it reads back then."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether an engine starts on this machine, in words that fit on one line of a screen."""

    name: str
    """What was tried."""
    works: bool | None
    """None where it was not tried."""
    found: str
    consequence: str
    """What that means for a run."""
    remedy: str = ""
    """What to do; empty where it works."""


class System(Configured, ABC):
    """A system under test, from start to removal: the requests common to all.

    One instance per worker process; not shared between threads. Errors: every method raises
    `EngineError` with the system's own message, never with a secret; `UnsupportedError` for a
    declared gap.
    """

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        """Keep the request; touch nothing. `scratch` is an existing folder that this engine alone
        may fill; `owner` (the run's id, `[a-z0-9]+`) marks its objects elsewhere."""
        self.variant = variant
        self.scratch = scratch
        self.owner = checked_owner(owner)
        self.as_it_stands = False
        """Whether it only reads the user's own tables, in the database that the URL names. Then
        `start` opens it so that the engine itself refuses a write, and raises `EngineError` where
        that is not read back."""
        self.timezone = UTC
        """The zone in which it reads and writes times: that of its sessions and, where it has none,
        of its process."""
        self.users_text = False
        """Whether the statements are the user's own. A query among them must not write, not even by
        a function in the user's database."""
        self.has_predecessor = False
        """Whether an earlier worker may have left data of the run: then `remove` must not succeed
        without reaching the database."""

    @property
    @final
    def second_disk(self) -> Path | None:
        """The folder on a disk of its own that `volume=two-disks` gives, for a second copy."""
        folder = self.scratch.with_name(f"{self.scratch.name}.second")
        return folder if folder.is_mount() else None

    @final
    def switch(self, variant: "Variant") -> None:
        """Become another variant on the loaded data, as after a fresh start with it. It may stop,
        and lose its cache. After an error the system is stopped, and can be switched to yet another
        variant. Raises `InputError` where the variant needs other data."""
        self.check(variant)
        if not self.same_data(self.variant, variant):
            raise InputError(
                f"{variant.name} needs other data than {self.variant.name} has loaded",
                hint="load its relations anew, in a scratch folder of its own",
            )
        before, self.variant = self.variant, variant
        self._switch(before)

    def _switch(self, before: "Variant") -> None:
        """Change from the values of `before` to those of `variant`, which `switch` has set. An
        engine overrides it where less than a restart is enough."""
        del before
        self.stop()
        self.start()

    @final
    def tactic(self, name: str) -> str:
        """The variant's value of a tactic."""
        return self.tactic_of(self.variant, name)

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Versions of the engine and its driver, without starting anything."""
        return {}

    @abstractmethod
    def start(self) -> None:
        """Start the engine on the present contents of its scratch folder or schema, or on nothing;
        set every tactic. Called again after `stop` and after a crash."""

    @abstractmethod
    def stop(self) -> Sequence[int]:
        """Stop it so that nothing of it stays in memory. Returns the process ids that must now be
        dead (empty for an embedded engine)."""

    @abstractmethod
    def terms(self) -> Mapping[str, str]:
        """The terms of the comparison, read back from the engine: keys `version`, `isolation`,
        `durability`, `cache` (bytes), `parallelism`; every other tactic by its name and in its
        words, so that the wanted and the present value can be compared; and the engine's own
        settings as `setting.NAME`. `unknown` where a server cannot report one."""

    @abstractmethod
    def size_bytes(self) -> int:
        """Bytes that our tables and indexes take."""

    def folders(self) -> Sequence[Path]:
        """The folders that hold our data and nothing of others. Of a user's database its files,
        where it has files on this machine."""
        if self.variant.url is not None:
            return ()
        second = self.second_disk
        return (self.scratch,) if second is None else (self.scratch, second)

    def not_data(self) -> Mapping[Path, str]:
        """Files and folders below `folders` that hold no data which a sample reads, each with the
        reason: lock files that every opening makes anew, what is written and never read."""
        return {self.rows_file: "answers: a sample writes them and reads none"}

    @property
    @final
    def rows_file(self) -> Path:
        """The place where a worker writes the rows of an answer that go to a file, in place of the
        last."""
        return self.scratch / "rows.txt"

    @final
    def files(self) -> Sequence[Path]:
        """Files that hold our data: they must leave the page cache before a cold sample, and be out
        of it when the clock starts. All below `folders` but `not_data`, so that none is forgotten.
        Answers whether started or stopped; empty if they are on a server that is not ours.
        """
        return data_files.below(self.folders(), self.not_data())

    @property
    @final
    def can_stop(self) -> bool:
        """Whether `stop` ends everything that could hold our data in memory. False for a server
        that is not ours, where `stop` only disconnects: no cell can be cold there."""
        elsewhere = self.capabilities.url is UrlUse.SERVER and self.variant.url is not None
        return self.capabilities.stoppable and not elsewhere

    def processes(self) -> Sequence[int]:
        """Server processes whose CPU time and device reads belong to the engine (their children
        included); empty for an embedded engine, whose work is the worker's own."""
        return ()

    @abstractmethod
    def remove(self) -> None:
        """Remove everything we made and release everything we hold. Safe to call twice, after a
        failure, and without `start`."""
