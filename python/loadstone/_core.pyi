"""The contract of the Rust core (`crates/python`), checked against the binary by stubtest."""

from collections.abc import Callable, Sequence
from typing import Any, Self, final

__version__: str
build_profile: str

__all__ = [
    "Awake",
    "Oracle",
    "QuelError",
    "RelationStream",
    "__version__",
    "answer_of_rows",
    "answer_of_stream",
    "attributes",
    "build_profile",
    "clock_cost_ns",
    "clock_ns",
    "clock_resolution_ns",
    "cpu_ns",
    "evict",
    "export",
    "growth_exponent",
    "hold_awake",
    "interval_of_median",
    "interval_of_ratio",
    "io_bytes",
    "pretouch",
    "quel_format",
    "quel_parse",
    "relations",
    "resident_pages",
    "schedule",
]

# --- datasets -----------------------------------------------------------------------------

def relations(benchmark: str, edition: str) -> list[str]:
    """Names of an edition's relations, in the paper's order."""

def attributes(benchmark: str, edition: str, relation: str) -> list[tuple[str, str]]:
    """(name, type) of a relation in order; a type is `int2`, `int4`, `int8` or `char(N)`."""

@final
class RelationStream:
    """Rows `first .. first + count` of a relation as Arrow record batches, made on demand.

    `rows` is the scale n of the benchmark (the size of its large relations). Implements
    `__arrow_c_stream__`, so `pyarrow.RecordBatchReader.from_stream(stream)` reads it uncopied.
    """

    def __new__(
        cls,
        benchmark: str,
        edition: str,
        relation: str,
        rows: int,
        seed: int = 0,
        first: int = 0,
        count: int | None = None,
        batch_rows: int = 65536,
    ) -> Self: ...
    @property
    def row_count(self) -> int:
        """Rows this stream yields in all."""
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

def export(
    benchmark: str,
    edition: str,
    relation: str,
    rows: int,
    path: str,
    format: str,  # noqa: A002
    seed: int = 0,
    part: int = 1,
    part_count: int = 1,
    threads: int = 1,
    compression: str = "none",
    progress: Callable[[int], Any] | None = None,
) -> dict[str, int]:
    """Write part `part` of `part_count` (1-based) of a relation to `path`, by way of a temporary
    name beside it. `format`: csv, parquet, arrow. `progress` gets rows done so far, a few times a
    second; an exception it raises (Ctrl-C) stops the export and removes the temporary file.
    Returns rows, bytes, and elapsed_ns."""

# --- quel ---------------------------------------------------------------------------------

class QuelError(ValueError):
    """The text is not QUEL, or means nothing; the message shows line, caret and expectation."""

def quel_parse(text: str) -> str:
    """The program's tree as JSON: a list of statements (see crates/quel/src/tree.rs)."""

def quel_format(tree: str) -> str:
    """The canonical QUEL text of a JSON tree."""

@final
class Oracle:
    """Expected answers, evaluated naively over generated relations; shares no code with engines."""

    def __new__(cls) -> Self: ...
    def add(
        self,
        benchmark: str,
        edition: str,
        relation: str,
        rows: int,
        seed: int = 0,
        name: str | None = None,
    ) -> None:
        """Generate a relation and keep it in memory under `name` (default: its own)."""
    def answer(self, text: str) -> tuple[int, str]:
        """(rows, checksum) that the program must give: of the rows that its last `retrieve`
        returns, or, after an append, replace or delete, (tuples changed, checksum of the whole
        relation as it is afterwards). The oracle's own relations stay as they were."""
    def contents(self, name: str) -> tuple[int, str]:
        """(rows, checksum) of a relation as generated."""

def answer_of_stream(stream: Any) -> tuple[int, str]:
    """(rows, checksum) of anything with `__arrow_c_stream__`; order does not matter."""

def answer_of_rows(rows: Sequence[Sequence[Any]]) -> tuple[int, str]:
    """(rows, checksum) of Python rows (int, float, str, Decimal, bool, None)."""

# --- measure ------------------------------------------------------------------------------

def clock_ns() -> int:
    """Monotonic time (CLOCK_MONOTONIC) in ns, comparable between processes of this boot."""

def clock_resolution_ns() -> int:
    """Smallest non-zero difference seen between neighbouring clock reads."""

def clock_cost_ns() -> float:
    """Mean cost of one clock read."""

def cpu_ns(pid: int) -> int | None:
    """User + system CPU time of a process, its live children and those it waited for; None when
    it cannot be read."""

def io_bytes(pid: int) -> tuple[int, int] | None:
    """(read, written) bytes that a process and its live children moved to or from storage."""

def schedule(seed: int, variants: int, rounds: int) -> list[list[int]]:
    """`rounds` random orders of `variants` numbers; the same seed gives the same orders."""

def interval_of_median(
    samples: Sequence[float], confidence: float = 0.95
) -> tuple[float, float | None, float | None]:
    """(median, low, high): distribution-free, by order statistics. The bounds are None where so
    few samples cannot give that confidence."""

def interval_of_ratio(
    numerator: Sequence[float],
    denominator: Sequence[float],
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[float, float | None, float | None]:
    """(ratio of medians, low, high): percentile bootstrap, resampling each side, seeded."""

def growth_exponent(
    sizes: Sequence[float], times: Sequence[float]
) -> tuple[float, float | None] | None:
    """(slope, standard error) of log time over log size by least squares; the error is None with
    two sizes, the whole None with fewer."""

def resident_pages(path: str) -> tuple[int, int, str]:
    """(resident, total, method) pages of a file in the page cache; method is `cachestat` or
    `mincore`. Raises OSError where neither can tell."""

def evict(path: str) -> None:
    """Write a file back (fsync), then ask the kernel to drop its clean pages. Raises OSError if
    refused."""

@final
class Awake:
    """While open, idle CPUs stay out of deep sleep states. Also a context manager."""

    @property
    def held(self) -> bool:
        """Whether the wish is held now."""
    @property
    def reason(self) -> str:
        """Why it is not held; empty while it is."""
    def close(self) -> None:
        """Let the CPUs sleep again. Closing twice is harmless."""
    def __enter__(self) -> Awake: ...
    def __exit__(self, *exception: object) -> None: ...

def hold_awake() -> Awake:
    """Hold /dev/cpu_dma_latency at 0 where permitted; `held` says if it worked, `reason` why
    not."""

def pretouch(size_bytes: int) -> int:
    """Touch and free that much memory, so that the host backs it; returns elapsed ns. Raises
    MemoryError for more than the machine has available."""
