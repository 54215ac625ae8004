"""The requests common to all systems under test: from its start to its removal.

Statements are executed by an `Engine` (`base.py`), loops by a calling program (`clients/`). A
system never sees a clock, a plan or a record. All its data lies in its scratch folder or in a
schema it created and marked.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from loadstone.engines import data_files
from loadstone.engines.capabilities import Capabilities, UrlUse
from loadstone.engines.tactic import Level, Tactic, declared
from loadstone.errors import InputError, UnknownTacticError
from loadstone.owner import checked_owner
from loadstone.plan.release import VENV, Release
from loadstone.plan.variant import SETTING, listed
from loadstone.text.zone import UTC

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant

OF_EVERY_SYSTEM = declared(Path(__file__).with_name("every_system.toml"))
"""The tactics that the worker switches, whatever the engine."""
ON_BTRFS = ("one-disk", "mirrored", "mirrored-shared")
"""The values of `volume` with that file system. Its direct reads into memory that was not touched
before go through the cache (seen on Linux 6.18), so that they would not be what they are called."""

TABLES, READ_ONLY = "tables", "as they stand, opened to be read only"
"""A term of an engine that reads a user's own tables, and what it reads back then."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of trying whether an engine starts on this machine, in words that fit on one line
    of a screen."""

    name: str
    """Of what was tried."""
    works: bool | None
    """None where it was not tried."""
    found: str
    consequence: str
    """Its meaning for a run."""
    remedy: str = ""
    """The remedy; empty where it works."""


class System(ABC):
    """A system under test, from start to removal: the requests common to all.

    One instance per worker process; not shared between threads. Errors: every method raises
    `EngineError` with the system's own message, never with a secret; `UnsupportedError` for a
    declared gap.
    """

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        """Keep the request; touch nothing. `scratch` is an existing folder that this engine alone
        may fill; `owner` (the run's id, `[a-z0-9]+`) marks its objects elsewhere."""
        self.variant = variant
        self.scratch = scratch
        self.owner = checked_owner(owner)
        self.as_it_stands = False
        """Whether it reads the user's own tables in the database that the URL names, and writes
        nothing there: then it opens the database so that a write is refused, by the engine. Set
        before `start`, which raises `EngineError` where that is not read back."""
        self.timezone = UTC
        """The zone in which it reads and writes times: that of its sessions and, where it has none,
        of its process."""
        self.users_text = False
        """Whether the statements are the user's own. In a database of theirs, where functions of
        theirs may be, a query among them is executed so that it cannot write."""
        self.heir = False
        """Whether earlier workers may have left data of the run: then `remove` may not report
        success without reaching the database."""

    @property
    def second_disk(self) -> Path | None:
        """The folder on a disk of its own that `volume=two-disks` gives, for a second copy."""
        folder = self.scratch.with_name(f"{self.scratch.name}.second")
        return folder if folder.is_mount() else None

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """Raise `InputError` if a variant names a tactic or a value that is not declared, or a
        user's database that the engine cannot work in."""
        if variant.url is not None and cls.capabilities.url is UrlUse.NONE:
            raise InputError(
                f"{cls.name} cannot work in a database of yours",
                hint=f"leave out the URL: --on {cls.name}",
            )
        if variant.release:
            cls.check_release(variant.release)
        of_ours = sorted({name for name, _ in variant.tactics} & OF_EVERY_SYSTEM.keys())
        if variant.url is not None and of_ours:
            raise InputError(
                f"{cls.name}: {listed(of_ours)} cannot be set for a database of yours",
                hint="leave out the URL, and it is measured in a database of ours",
            )
        for name, value in variant.tactics:
            if name.startswith(SETTING):
                cls.check_setting(variant, name.removeprefix(SETTING), value)
            else:
                cls.tactic_of(variant, name)
        twice = [name for name, _ in variant.tactics if f"{SETTING}{name}" in dict(variant.tactics)]
        if twice:
            raise InputError(
                f"{cls.name}: {twice[0]} is named as a tactic and as a setting of the engine's own",
                hint=f"leave out {twice[0]}=…, or {SETTING}{twice[0]}=…",
            )
        if "bandwidth" in of_ours and cls.tactic_of(variant, "volume") == "scratch":
            raise InputError(
                f"{cls.name}: bandwidth limits disks of ours, and there are none",
                hint="request disks too: volume=one-disk, or volume=mirrored",
            )

        asked = cls.asked(variant)
        if asked.get("disk", "").startswith("direct") and asked["volume"] in ON_BTRFS:
            raise InputError(
                f"{cls.name}: btrfs reads through its cache also with disk=direct",
                hint="request disk=buffered; or for volume=two-disks, which is on ext4",
            )

    @classmethod
    def check_release(cls, release: Release) -> None:
        """Raise `InputError` if that release or build cannot be had; what takes the network to
        know, its installation says."""
        if cls.capabilities.distribution and release.is_package:
            if release.environment and not Path(release.environment).is_dir():
                raise InputError(
                    f"there is no folder {release.environment}",
                    hint=f"name a Python environment that has {cls.capabilities.distribution}",
                )
            return
        hint = (
            f"write {cls.name}@NUMBER or {cls.name}@{VENV}/PATH"
            if cls.capabilities.distribution
            else ""
        )
        raise InputError(
            f"{cls.name} cannot be another release or build here: {release}",
            hint=hint
            or f"leave it out: --on {cls.name}; loadstone engines lists the ones that can",
        )

    @classmethod
    def tactics(cls) -> Mapping[str, Tactic]:
        """All that can be switched, by name: what it declares, and what every system has."""
        return {**cls.capabilities.tactics, **OF_EVERY_SYSTEM}

    @classmethod
    def check_setting(cls, variant: "Variant", name: str, value: str) -> None:
        """Raise `InputError` for a setting, `set.NAME=VALUE`, that is known to be refused; what
        only the engine can determine, `start` does."""
        del variant
        if cls.capabilities.settings is not None:
            cls.capabilities.settings.check(name, value)
            return
        raise InputError(
            f"{cls.name} takes no settings by name here: {SETTING}{name[:40]}",
            hint=f"it can switch: {listed(cls.tactics())}",
        )

    @classmethod
    def level_of(cls, name: str) -> Level:
        """The least that another value takes, of a tactic or a setting (`set.NAME`)."""
        if name.startswith(SETTING):
            is_of_data = (
                cls.capabilities.settings
                and name.removeprefix(SETTING) in cls.capabilities.settings.of_data
            )
            return Level.LOAD if is_of_data else Level.START
        return cls.tactic_named(name).level

    @classmethod
    def tactic_named(cls, name: str) -> Tactic:
        """The tactic of that name. Raises `InputError` where there is none."""
        tactic = cls.tactics().get(name)
        if tactic is None:
            raise UnknownTacticError(
                cls.name, name[:40], f"{listed(cls.tactics())}{cls._or_a_setting(name)}"
            )
        return tactic

    @classmethod
    def _or_a_setting(cls, name: str) -> str:
        """The end of a hint: the name of a setting of the engine's own, where it takes any."""
        if cls.capabilities.settings is None:
            return ""
        return f"; or write {SETTING}{name[:40]} for a setting of the engine's own"

    @classmethod
    def tactic_of(cls, variant: "Variant", name: str) -> str:
        """The value a variant requests a tactic, or its declared default."""
        tactic = cls.tactic_named(name)
        asked = variant.tactic(name, tactic.default)
        return tactic.checked(asked, cls.name, elsewhere=variant.url is not None)

    @classmethod
    def asked(cls, variant: "Variant") -> Mapping[str, str]:
        """Each tactic's value for a variant: the one that it names, or the default."""
        defaults = {name: tactic.default for name, tactic in cls.tactics().items()}
        return defaults | dict(variant.tactics)

    @classmethod
    def same_data(cls, one: "Variant", other: "Variant") -> bool:
        """Whether what is loaded under one variant serves the other, too: the same database, and no
        tactic of level `load` differs. Raises `InputError` for a tactic that there is not."""
        if (one.engine, one.url) != (other.engine, other.url):
            return False
        before, after = cls.asked(one), cls.asked(other)
        differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return all(cls.level_of(name) is not Level.LOAD for name in differing)

    def switch(self, variant: "Variant") -> None:
        """Make the system that variant, on the data that it has: afterwards all is as after a fresh
        start. It may stop, and forget what it had in memory. Where it fails the system is stopped,
        and can be switched to another variant. Raises `InputError` where the data do not serve."""
        self.check(variant)
        if not self.same_data(self.variant, variant):
            raise InputError(
                f"{variant.name} needs other data than {self.variant.name} has loaded",
                hint="load its relations anew, in a scratch folder of its own",
            )
        before, self.variant = self.variant, variant
        self._switch(before)

    def _switch(self, before: "Variant") -> None:
        """Take the values of `variant`, which `switch` has set, after those of `before`. An engine
        overrides it where less than a restart is enough."""
        del before
        self.stop()
        self.start()

    def tactic(self, name: str) -> str:
        """The value of a tactic that is requested of this engine, or its default."""
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
        `durability`, `cache` (bytes), `parallelism`; every other tactic under its own name and in
        its own words, so that asked and set can be compared; and the engine's own settings as
        `setting.NAME`. For a server that cannot report one, `unknown`."""

    @abstractmethod
    def size_bytes(self) -> int:
        """Bytes that our tables and indexes take."""

    def folders(self) -> Sequence[Path]:
        """The folders that hold our data and nothing of others; none of a user's database."""
        if self.variant.url is not None:
            return ()
        second = self.second_disk
        return (self.scratch,) if second is None else (self.scratch, second)

    def not_data(self) -> Mapping[Path, str]:
        """Files and folders below `folders` that hold no data which a sample reads, each with the
        reason: lock files that every opening makes anew, what is written and never read."""
        return {self.rows_file: "answers: a sample writes them and reads none"}

    @property
    def rows_file(self) -> Path:
        """The place where a worker writes the rows of an answer that go to a file, in place of the
        last."""
        return self.scratch / "rows.txt"

    def files(self) -> Sequence[Path]:
        """Files that hold our data: they must leave the page cache before a cold sample, and be out
        of it when the clock starts. All below `folders` but `not_data`, so that none is forgotten;
        only data elsewhere, in a user's file, are for an engine to list.

        Answers whether started or stopped; empty if they are on a server that is not ours.
        """
        return data_files.below(self.folders(), self.not_data())

    def relation_files(self) -> Sequence[Path]:
        """Those of `files` that hold our relations and indexes and nothing else, for an engine that
        keeps its catalogs in other files and reads all through the page cache: its reads of our
        data then show there. Empty if data and catalogs share a file."""
        return ()

    def cached_bytes(self) -> int | None:
        """Bytes of our relations in the engine's own memory, where it counts its pages by the file
        that each is of; None where it does not: then they are bounded from outside. Asked once it
        is open, and must bring in none itself."""
        return None

    def header_bytes(self) -> int:
        """Bytes of `files` that every opening must read and that hold no tuple by the file's
        format: headers, the start of the catalog. All other bytes that opening reads count as
        data."""
        return 0

    @property
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
