"""The contract of the Rust core (`crates/python`), checked against the binary by stubtest."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, final

__version__: str
build_profile: str

__all__ = [
    "Awake",
    "Host",
    "HostError",
    "HostGapError",
    "Oo1Oracle",
    "Oracle",
    "QuelError",
    "RelationStream",
    "Tally",
    "__version__",
    "answer_of_rows",
    "answer_of_stream",
    "attributes",
    "build_profile",
    "clock_cost_ns",
    "clock_ns",
    "clock_resolution_ns",
    "cpu_ns",
    "effective_samples",
    "evict",
    "export",
    "growth_exponent",
    "hold_awake",
    "host_engines",
    "host_measures",
    "intended_starts",
    "interval_of_median",
    "interval_of_paired_ratio",
    "io_bytes",
    "oo1_checksum",
    "oo1_inputs",
    "outliers",
    "pretouch",
    "processor_times",
    "quel_format",
    "quel_parse",
    "relations",
    "resident_pages",
    "schedule",
    "spin_ns",
]

# --- datasets -----------------------------------------------------------------------------

def relations(benchmark: str, edition: str) -> list[str]:
    """Names of an edition's relations, in the paper's order."""

def attributes(benchmark: str, edition: str, relation: str) -> list[tuple[str, str]]:
    """(name, type) of a relation in order; a type is `int2`, `int4`, `int8`, `char(N)`
    or `timestamp` (seconds, UTC)."""

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

# --- hosts --------------------------------------------------------------------------------

class HostError(RuntimeError):
    """What an engine answered to a calling program in Rust, or could not."""

class HostGapError(HostError):
    """The engine has no such measure or tactic: a gap, with its reason."""

def host_engines() -> list[str]:
    """The engines that a host in Rust speaks to (crates/hosts)."""

def host_measures() -> list[str]:
    """The names of OO1's measures and of the rungs of its cost ladder."""

@final
class Host:
    """A calling program in Rust with one engine at the other side of its seam.

    `database` is a path (sqlite, duckdb, lmdb), a connection string (postgresql) or empty (memory,
    null); `library` the shared object that holds DuckDB. Raises `HostGapError`, `HostError`, and
    ValueError for an unknown engine, measure or tactic. Releases the interpreter while it works.
    """

    def __new__(
        cls,
        engine: str,
        database: str,
        tactics: Sequence[tuple[str, str]],
        parts: int,
        seed: int = 1,
        locality: bool = True,
        library: str | None = None,
    ) -> Self: ...
    def load(self) -> int:
        """Create the OO1 database in place of any other; elapsed ns, indexes and commit
        included."""
    def measure(self, measure: str, iteration: int) -> tuple[int, int, int, str, int]:
        """Run a measure once: (elapsed ns, of these the commit's, visits, checksum, calls made
        into the client). The iteration's number draws the inputs. What it wrote is taken back."""
    def users(
        self, measure: str, users: int, duration_ns: int, starts_ns: Sequence[int] | None = None
    ) -> tuple[int, Tally]:
        """Many users at once, each a thread with a client of its own: `lookup` or `insert`, one
        part a request. A closed loop for that long, or an open one with requests due at
        `starts_ns` (offsets in ns, ascending). Inserted links are checked both ways and taken
        back. Returns (elapsed ns, tally of all users)."""
    def size_bytes(self) -> int:
        """Bytes that the database takes where it is kept, log included."""
    def terms(self) -> list[tuple[str, str]]:
        """What the engine says about itself, read back from it."""

@final
class Oo1Oracle:
    """What each measure of OO1 must have seen, by a plain evaluation in memory."""

    def __new__(cls, parts: int, seed: int = 1, locality: bool = True) -> Self: ...
    def answer(self, measure: str, iteration: int) -> tuple[int, str] | None:
        """(visits, checksum); None for a rung of the ladder, which has no answer."""

def oo1_inputs(parts: int, seed: int, locality: bool, measure: str, iteration: int) -> list[Any]:
    """What an iteration of a measure works on, for a calling program in Python: ids (look-up,
    group), one id (traversals), the first second and the one after the last (range), (from, to)
    (reference), (id, build) (update), (id, x, y, type, build, three times (to, length, type))
    (insert); empty for the others. Build times in seconds since 1970."""

def oo1_checksum(kind: str, rows: Iterable[Sequence[Any]]) -> tuple[int, str]:
    """(rows, checksum) of what a program saw, as the oracle counts it. `kind` is part or
    part-in-order (id, x, y, type), link (from, to, length, type) or point (x, y). But for
    part-in-order, sums modulo 2^64 of checksums are those of the rows together."""

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

def interval_of_paired_ratio(
    numerator: Sequence[float], denominator: Sequence[float], confidence: float = 0.95
) -> tuple[float, float | None, float | None]:
    """(ratio, low, high) of pairs: equal positions are the same work in the same block. The middle
    (Hodges-Lehmann) of the logarithms of the pairs' ratios, with the interval of Wilcoxon's signed
    ranks, widened by autocorrelation (`effective_samples`). The bounds are None where so few pairs
    cannot give that confidence."""

def effective_samples(samples: Sequence[float]) -> float:
    """How many independent samples a sequence in time order is worth: n over its integrated
    autocorrelation time (Geyer's initial positive sequence), between 1 and n."""

def outliers(samples: Sequence[float]) -> list[int]:
    """Positions of samples beyond the quartiles by over three times their distance, in order.
    They are reported and never dropped. With fewer than four samples there are none."""

def growth_exponent(
    sizes: Sequence[float], times: Sequence[float]
) -> tuple[float, float | None] | None:
    """(slope, standard error) of log time over log size by least squares; the error is None with
    two sizes, the whole None with fewer."""

def intended_starts(
    seed: int, rate_per_s: float, duration_ns: int, model: str = "poisson"
) -> list[int]:
    """Offsets in ns, ascending, at which an open loop's requests are due: `poisson` (exponential
    gaps) or `uniform` (equal gaps). They depend on nothing that happens."""

@final
class Tally:
    """Latencies of one loop in auto-resizing HDR histograms (3 significant digits).

    Latency counts from the intended start, lag is how late a request was begun. A closed loop has
    no intention: give `started` for `intended`.
    """

    def __new__(cls) -> Self: ...
    def add(self, intended_ns: int, started_ns: int, ended_ns: int) -> None:
        """One request. Late is one that began after it was due by more than 1 ms."""
    def skip(self) -> None:
        """A request that was due and never begun."""
    def merge(self, other: Tally) -> None:
        """Add another user's tally to this one."""
    def latency_ns(self, percentile: float) -> int | None:
        """The latency (from the intended start) that this percentage stays under; None if empty."""
    def lag_ns(self, percentile: float) -> int | None:
        """The same of the lag."""
    def service_ns(self, percentile: float) -> int | None:
        """The same of the time from actual start to end: what a closed loop would have told."""
    @property
    def completed(self) -> int: ...
    @property
    def late(self) -> int: ...
    @property
    def skipped(self) -> int: ...
    def to_bytes(self) -> bytes:
        """The latency histogram in HdrHistogram's V2 deflate format."""

def spin_ns(turns: int) -> int:
    """Time for that many dependent integer operations: the processor's speed, in a number that
    follows its frequency and what the host takes away."""

def processor_times() -> tuple[int, int, int] | None:
    """(busy, idle, stolen) time of all processors since boot in ns (/proc/stat), None where the
    system does not tell. Busy includes neither idle nor stolen time."""

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
