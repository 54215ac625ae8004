"""A database of lode by its path or its folder's: opened, or made; and removed again where it was
made in vain."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from loadstone.errors import InputError, LodeError
from loadstone.lode import Database, files_of, remove, tactics_of

IN_FOLDER = "relations.lode"
"""The database of a folder, as the engine of a benchmark names it."""


def tactics(words: Sequence[str]) -> dict[str, str]:
    """The tactics that are named, each word one or several joined by `&`. Raises `InputError`."""
    named = {part.partition("=")[0] for word in words for part in word.split("&")}
    try:
        return {name: value for name, value in tactics_of("&".join(words)) if name in named}
    except ValueError as error:
        hint = "loadstone tactics lode describes them; place, processor and volume are a run's"
        raise InputError(str(error), hint=hint) from None


def volume_at(path: Path) -> Path:
    """The database's file, of a path that may name the folder in which it is."""
    return path / IN_FOLDER if path.is_dir() else path


class Place:
    """A database that is open within the context, and can be opened anew with other tactics."""

    def __init__(self, path: Path, chosen: Mapping[str, str], *, read_only: bool = False) -> None:
        self.volume = volume_at(path)
        self.chosen = dict(chosen)
        self.read_only = read_only
        self._made = not any(file.exists() for file in files_of(self.volume))

    def __enter__(self) -> "Place":
        folder = self.volume.parent
        if self._made and self.read_only:
            raise InputError(
                f"there is no database {self.volume}",
                hint="name another, or leave out --read-only to make one",
            )
        if self._made and not folder.is_dir():
            raise InputError(
                f"cannot make {self.volume}: there is no folder {folder}",
                hint="make the folder first",
            )
        self.database = self._opened(self.chosen)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self._made and self._is_empty():
            self.database.abandon()
            remove(self.volume)
        self.database.close()

    def reopen(self, chosen: Mapping[str, str]) -> None:
        """Close it, and open it with these tactics beside those chosen before. Raises `LodeError`
        for one that cannot be; it is open as before then."""
        self.database.close()
        wanted = {**self.chosen, **chosen}
        try:
            self.database = self._opened(wanted)
        except (LodeError, ValueError):
            self.database = self._opened(self.chosen)
            raise
        self.chosen = wanted

    def _opened(self, chosen: Mapping[str, str]) -> Database:
        return Database(self.volume, "read" if self.read_only else "any", **chosen)

    def _is_empty(self) -> bool:
        try:
            return not self.database.relations()
        except LodeError:  # what it holds is not known
            return False
