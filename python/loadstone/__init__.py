"""Loadstone runs the classic database benchmarks on today's engines and checks every answer.

For programs: `measure`, `study`, `read` and `compare`, described in `docs/how-to/python.md`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loadstone._core import __version__
    from loadstone.api import (
        Comparison,
        Difference,
        LoadstoneError,
        Record,
        compare,
        measure,
        read,
        study,
    )

__all__ = [
    "Comparison", "Difference", "LoadstoneError", "Record", "__version__", "compare", "measure",
    "read", "study",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Resolve names late: importing the package must cost nothing."""
    if name == "__version__":
        from loadstone._core import __version__

        return __version__
    if name in __all__:
        from loadstone import api

        return getattr(api, name)
    raise AttributeError(f"module 'loadstone' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names that a program may use."""
    return [*__all__]
