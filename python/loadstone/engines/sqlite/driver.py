"""APSW as the adapter calls it: its wheels before SQLite 3.43.2 have some calls by older names
alone, and those before 3.42 have no call for pragmas."""

from typing import Any

import apsw

from loadstone.engines.capabilities import quoted


class _Older(apsw.Connection):
    """A connection of an earlier wheel."""

    def set_busy_timeout(self, milliseconds: int) -> None:
        self.setbusytimeout(milliseconds)

    def total_changes(self) -> int:
        return int(self.totalchanges())

    def pragma(self, name: str, value: Any = None, *, schema: str | None = None) -> Any:
        """The first value of the first row; None where there is none."""
        del schema
        setting = "" if value is None else f"({_written(value)})"
        rows = self.execute(f"PRAGMA {quoted(name)}{setting}").fetchall()
        return rows[0][0] if rows else None


def _written(value: object) -> str:
    if isinstance(value, bool | int):
        return str(int(value))
    return "'" + str(value).replace("'", "''") + "'"


_apsw: Any = apsw
Connection: type[apsw.Connection] = (
    apsw.Connection if hasattr(apsw.Connection, "set_busy_timeout") else _Older
)
sqlite_version = getattr(_apsw, "sqlite_lib_version", None) or _apsw.sqlitelibversion
apsw_version = getattr(_apsw, "apsw_version", None) or _apsw.apswversion
