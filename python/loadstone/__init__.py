"""Loadstone runs the classic database benchmarks on today's engines and checks every answer."""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Resolve the version late: importing the package must cost nothing."""
    if name == "__version__":
        from loadstone._core import __version__

        return __version__
    raise AttributeError(f"module 'loadstone' has no attribute {name!r}")
