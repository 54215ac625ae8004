"""The contract of the Rust core (`crates/python`), checked against the binary by stubtest."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, final

from loadstone._core_lode import LodeBtree as LodeBtree
from loadstone._core_lode import LodeConnection as LodeConnection
from loadstone._core_lode import LodeDatabase as LodeDatabase
from loadstone._core_lode import LodeHash as LodeHash
from loadstone._core_lode import LodeHeap as LodeHeap
from loadstone._core_lode import LodeLinks as LodeLinks
from loadstone._core_lode import LodeObjects as LodeObjects
from loadstone._core_lode import LodeRemote as LodeRemote
from loadstone._core_lode import LodeRows as LodeRows
from loadstone._core_lode import LodeServer as LodeServer
from loadstone._core_lode import LodeStatement as LodeStatement
from loadstone._core_lode import LodeStatementServer as LodeStatementServer
from loadstone._core_lode import LodeTransaction as LodeTransaction
from loadstone._core_lode import __version__ as __version__
from loadstone._core_lode import allocator as allocator
from loadstone._core_lode import build_profile as build_profile
from loadstone._core_lode import lode_connect as lode_connect
from loadstone._core_lode import lode_mirror as lode_mirror
from loadstone._core_lode import lode_profiles as lode_profiles
from loadstone._core_lode import lode_tactics as lode_tactics
from loadstone._core_lode import lode_tactics_of as lode_tactics_of
from loadstone._core_users import Drawing as Drawing
from loadstone._core_users import StatementUsers as StatementUsers
from loadstone._core_users import Timeline as Timeline
from loadstone._core_users import UsersAsked as UsersAsked
from loadstone._core_users import drawn_values as drawn_values

__all__ = [
    "Client", "ClientError", "ClientGapError", "Drawing", "IdleStates", "LodeBtree",
    "LodeConnection", "LodeDatabase", "LodeHash", "LodeHeap", "LodeLinks", "LodeObjects",
    "LodeRemote", "LodeRows", "LodeServer", "LodeStatement", "LodeStatementServer",
    "LodeTransaction", "Meter", "Oo1Oracle", "Oo7Oracle", "Oracle", "QuelError", "RelationStream",
    "Sampler", "SpeedProbe", "StatementUsers", "Tally", "Timeline", "UsersAsked", "__version__",
    "allocator", "answer_of_rows", "answer_of_stream", "attributes", "build_profile",
    "built_and_late", "called_bytes", "clock_cost_ns", "clock_ns", "clock_resolution_ns", "cpu_ns",
    "disable_idle_states", "drawn_values", "effective_samples", "evict", "export",
    "growth_exponent", "intended_starts", "interval_of_median", "interval_of_paired_ratio",
    "io_bytes", "lode_connect", "lode_mirror", "lode_profiles", "lode_tactics", "lode_tactics_of",
    "mapped_bytes", "oo1_checksum", "oo1_client", "oo1_inputs", "oo1_measures", "oo7_checksum",
    "oo7_client", "oo7_engines", "oo7_inputs", "oo7_lacks", "oo7_measures", "oo7_rows", "outliers",
    "page_out", "pretouch", "processor_times", "quel_format", "quel_parse", "reads_past_calls",
    "relations", "resident_pages", "rvm_answer", "rvm_client", "rvm_engines", "rvm_inputs",
    "rvm_lacks", "rvm_measures", "schedule", "spin_ns", "versions_built_in",
]  # fmt: skip

# --- datasets -----------------------------------------------------------------------------
def relations(benchmark: str, edition: str) -> list[str]:
    """Names of an edition's relations, in the paper's order."""

def attributes(benchmark: str, edition: str, relation: str) -> list[tuple[str, str]]:
    """(name, type) of a relation in order; a type is `int2`, `int4`, `int8`, `char(N)`
    or `timestamp` (seconds, UTC)."""

def built_and_late(benchmark: str, edition: str, relation: str, rows: int) -> tuple[int, int]:
    """The number of rows that a relation is built of, and of its last ones, inserted later."""

@final
class RelationStream:
    """Rows `first .. first + count` of a relation as Arrow record batches, made on demand.

    `rows` is the scale n of the benchmark (the size of its large relations). Implements
    `__arrow_c_stream__`, so `pyarrow.RecordBatchReader.from_stream(stream)` reads it uncopied.
    """

    def __new__(
        cls, benchmark: str, edition: str, relation: str, rows: int, seed: int = 0, first: int = 0,
        count: int | None = None, batch_rows: int = 65536,
    ) -> Self: ...  # fmt: skip
    @property
    def row_count(self) -> int:
        """Rows this stream yields in all."""
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

def export(
    benchmark: str, edition: str, relation: str, rows: int, path: str, format: str,  # noqa: A002
    seed: int = 0, part: int = 1, part_count: int = 1, threads: int = 1, compression: str = "none",
    progress: Callable[[int], Any] | None = None,
) -> dict[str, int]:  # fmt: skip
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
        self, benchmark: str, edition: str, relation: str, rows: int, seed: int = 0,
        name: str | None = None,
    ) -> None:  # fmt: skip
        """Generate a relation and keep it in memory under `name` (default: its own)."""
    def answer(self, text: str) -> tuple[int, str]:
        """The expected (rows, checksum) of the program: of the rows that its last `retrieve`
        returns, or, after an append, replace or delete, (tuples changed, checksum of the whole
        relation afterwards). The oracle's own relations stay unchanged."""
    def contents(self, name: str) -> tuple[int, str]:
        """(rows, checksum) of a relation as generated."""

def answer_of_stream(stream: Any) -> tuple[int, str]:
    """(rows, checksum) of anything with `__arrow_c_stream__`; order does not matter."""

def answer_of_rows(rows: Iterable[Sequence[Any]]) -> tuple[int, str]:
    """(rows, checksum) of Python rows (int, float, str, Decimal, bool, None)."""

# --- clients ------------------------------------------------------------------------------

class ClientError(RuntimeError):
    """An engine's error, or a request that it cannot execute, in a client in Rust."""

class ClientGapError(ClientError):
    """The engine has no such measure or tactic: a gap, with its reason."""

def oo1_client(
    engine: str, database: str, tactics: Sequence[tuple[str, str]], parts: int, seed: int = 1,
    locality: bool = True, library: str | None = None,
) -> Client:  # fmt: skip
    """OO1's program. `database` is a path (sqlite, duckdb, lmdb, lode), a connection string
    (postgresql) or empty (memory, null); `library` the shared object that holds DuckDB."""

def oo1_measures() -> list[str]: ...
def versions_built_in() -> dict[str, str]:
    """The versions of the engines that are compiled into the core, by name: sqlite, lmdb."""

def oo7_client(
    engine: str, database: str, tactics: Sequence[tuple[str, str]], parts: int, fan_out: int = 3,
    seed: int = 1, library: str | None = None,
) -> Client:  # fmt: skip
    """OO7's program; `parts` are atomic, `fan_out` the number of connections that leave each."""

def oo7_engines() -> list[str]: ...
def oo7_lacks() -> list[tuple[str, str, str, str]]: ...  # engine, tactic, value, reason
def oo7_measures() -> list[str]: ...
def rvm_client(
    engine: str, database: str, tactics: Sequence[tuple[str, str]], accounts: int, seed: int = 1,
    library: str | None = None,
) -> Client:  # fmt: skip
    """As `oo1_client`."""

def rvm_engines() -> list[str]: ...
def rvm_lacks() -> list[tuple[str, str, str, str]]: ...
def rvm_measures() -> list[str]: ...
def rvm_inputs(accounts: int, seed: int, measure: str, iteration: int) -> list[tuple[int, int]]:
    """(teller, account) of the first ten transactions of a trial; empty for the audit."""

def rvm_answer(accounts: int, seed: int, measure: str, iteration: int) -> tuple[int, str]:
    """(transactions, checksum of all that is stored after them), by an evaluation in memory."""

@final
class Client:
    """A client program in Rust that calls one engine: see `oo1_client`, `oo7_client` and
    `rvm_client`. Raises `ClientGapError`, `ClientError`, and ValueError for an unknown engine,
    measure or tactic. Releases the interpreter while it works.
    """

    def load(self) -> int:
        """Create the database in place of any other; elapsed ns, indexes and commit
        included."""
    def measure(
        self, measure: str, iteration: int, servers: Sequence[int] = ...
    ) -> tuple[int, int, int, str, int, tuple[int | None, int | None, int | None], _Work]:
        """Run a measure once: (elapsed ns, of these the commit's, visits, checksum, calls made
        into the driver, (statements sent to the engine, round trips to a server, bytes that the
        engine appended to its log), work as `Meter.read` gives it). The iteration's number
        determines the inputs. Checking and undoing writes is in none of the figures. `servers`: the
        engine's processes."""
    def users(
        self, readers: int, writers: int, duration_ns: int, starts_ns: Sequence[int] | None = None,
        servers: Sequence[int] = ..., measures: tuple[str, str] | None = None,
    ) -> tuple[int, Tally, Tally, int, _Work]:  # fmt: skip
        """Concurrent users, each a thread with a driver of its own. A closed loop for that long, or
        an open one with requests due at `starts_ns` (offsets in ns, ascending; for each kind).
        OO1's readers look up, its writers insert, one part a request; OO7's execute one of M1 to M6
        each. All that was acknowledged must be there, and is taken back. Returns (elapsed ns, tally
        of the readers, tally of the writers, links or changes found, work as of `Meter.read`)."""
    def size_bytes(self) -> int:
        """Bytes that the database takes where it is kept, log included."""
    def terms(self) -> list[tuple[str, str]]:
        """The terms, read back from the engine."""

@final
class Oo1Oracle:
    """The expected answer of each measure of OO1, by a plain evaluation in memory."""

    def __new__(cls, parts: int, seed: int = 1, locality: bool = True) -> Self: ...
    def answer(self, measure: str, iteration: int) -> tuple[int, str] | None:
        """(visits, checksum); None for a rung of the ladder, which has no answer."""

@final
class Oo7Oracle:
    """The expected answer of each operation of OO7, by a plain evaluation in memory."""

    def __new__(cls, parts: int, fan_out: int = 3, seed: int = 1) -> Self: ...
    def answer(self, measure: str, iteration: int) -> tuple[int, str]:
        """(count, checksum)."""

def oo7_inputs(parts: int, fan_out: int, seed: int, measure: str, iteration: int) -> list[int]:
    """The input of an iteration of an operation: atomic parts (Q1, T7), composite parts with the
    documents of the titles (Q4), the base assemblies that get a new component (S1, S2); empty for
    the others. ValueError for a database that there is not."""

def oo7_rows(
    parts: int, fan_out: int, seed: int, relation: str, owner: int | None = None
) -> list[tuple[Any, ...]]:
    """The rows of a relation of OO7's database (as `crates/clients/src/oo7/sql.rs` names it and
    its columns), or those of one owner: the object itself, or the base assembly or composite part
    that they belong to. Composite parts beyond the database's last are those that S1 makes."""

def oo7_checksum(kind: str, rows: Iterable[Sequence[Any]]) -> tuple[int, str]:
    """(count, checksum) of what a client in Python saw, as the client in Rust counts it: `part`
    (id, type, date, x, y, document), `complex` and `base` (id, type, date), `pair` (part, title),
    `letters` (found, length), `ends` (first, last character); or of rows found stored, as
    `oo7_rows` has them, by the relation's name. ValueError for another kind."""

def oo1_inputs(parts: int, seed: int, locality: bool, measure: str, iteration: int) -> list[Any]:
    """The input of an iteration of a measure, for a client in Python: ids (look-up,
    group), one id (traversals), the first second and the one after the last (range), (from, to)
    (reference), (id, build) (update), (id, x, y, type, build, three times (to, length, type))
    (insert); empty for the others. Build times in seconds since 1970."""

def oo1_checksum(kind: str, rows: Iterable[Sequence[Any]]) -> tuple[int, str]:
    """(rows, checksum) of visited values, as the oracle counts them. `kind` is part or
    part-in-order (id, x, y, type), link (from, to, length, type) or point (x, y). But for
    part-in-order, sums modulo 2^64 of checksums are those of the rows together."""

# --- measure ------------------------------------------------------------------------------

def clock_ns() -> int:
    """Monotonic time (CLOCK_MONOTONIC) in ns, comparable between processes of this boot."""

def clock_resolution_ns() -> int:
    """Smallest non-zero difference seen between neighbouring clock reads."""

def clock_cost_ns() -> float:
    """Mean cost of one clock read."""

_Work = tuple[int | None, int | None, int | None, int | None, int | None, int | None]
"""(client's CPU ns, its threads, servers' CPU ns, their threads, bytes read, bytes written)."""

@final
class Meter:
    """Counts from its making to its reading what this process and its servers do; the time that
    the counting takes is in no figure."""

    def __new__(cls, servers: Sequence[int]) -> Self: ...
    def read(self) -> _Work | None:
        """The work since it was made; None the second time."""

_Count = tuple[bool, int, str, str, str, int]
"""(of a server, thread, object, function, entry to the kernel, samples); see sampling/places.rs."""
_Spent = tuple[bool, int, str, int, int | None]
"""(of a server, thread or process, its name, CPU ns, ns waited for a CPU)."""

@final
class Sampler:
    """Samples the CPU clock of all threads of this process and its servers, with what they start,
    until it is closed. `begin` and `end` stand around each stretch, `take` behind some of them; the
    thread that made it calls them. Where the system refuses, nothing is raised: `reason` says what
    is missing, and times of threads are reported still. ValueError: a frequency beyond 1 to 10,000;
    closed."""

    def __new__(cls, servers: Sequence[int], frequency_hz: int = 997) -> Self: ...
    @property
    def reason(self) -> str:
        """The missing samples, all or those in the kernel; empty if none is missing."""
    @property
    def samples_programs(self) -> bool: ...
    @property
    def samples_kernel(self) -> bool: ...
    def begin(self) -> None: ...
    def end(self, start_ns: int, end_ns: int) -> None:
        """The stretch was between these times of `clock_ns`."""
    def take(self) -> tuple[int, float | None, int, int, list[_Count], list[_Spent]]:
        """(CPU ns between two samples of a thread; the share of the threads' CPU time that samples
        stand for since the last taking, above 1 where they stand for more, None where the kernel is
        not sampled; ns of the stretches; samples lost; counts; threads)."""
    def pause(self) -> None:
        """No samples until `resume`; each thread keeps what it has of the time to its next one."""
    def resume(self) -> None:
        """Go on with nothing taken."""
    def close(self) -> None: ...

def cpu_ns(pid: int) -> int | None:
    """User + system CPU time of a process, its live children and those it waited for; None when
    it cannot be read."""

def io_bytes(pid: int) -> tuple[int, int] | None:
    """(read, written) bytes that a process and its live children moved to or from storage."""

def called_bytes(pid: int) -> int | None:
    """Bytes that calls to read returned to a process and its live children, wherever they came
    from: storage, the page cache, a pipe. Reading through a mapping makes no call."""

def reads_past_calls(pid: int) -> bool | None:
    """Whether a process or one of its live children holds an io_uring or a context of asynchronous
    calls, whose bytes `called_bytes` leaves out; None where that cannot be seen."""

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
    """(ratio, low, high) of pairs of the same work in one block: the median (Hodges-Lehmann) of
    their logarithms, with Wilcoxon's signed-rank interval, widened by autocorrelation
    (`effective_samples`); no bounds where so few pairs cannot give that confidence."""

def effective_samples(samples: Sequence[float]) -> float:
    """The number of independent samples that a sequence in time order is worth: n over its
    integrated autocorrelation time (Geyer's initial positive sequence), between 1 and n."""

def outliers(samples: Sequence[float]) -> list[int]:
    """Positions of samples beyond the quartiles by over three times their distance, in order.
    They are reported and never dropped. With fewer than four samples there are none."""

def growth_exponent(
    sizes: Sequence[float], times: Sequence[float]
) -> tuple[float, float | None] | None:
    """(slope, its standard error, if of more than two sizes) of log time over log size."""

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
        """The same of the time from actual start to end: what a closed loop would have reported."""
    @property
    def completed(self) -> int: ...
    @property
    def late(self) -> int: ...
    @property
    def skipped(self) -> int: ...
    def to_bytes(self) -> bytes:
        """The latency histogram in HdrHistogram's V2 deflate format."""

def spin_ns(iterations: int) -> int:
    """Time for that many dependent integer operations: the processor's speed, in a number that
    follows its frequency and what a hypervisor takes away."""

@final
class SpeedProbe:
    """A fixed piece of work like an engine's: a scan of 2 MB, a copy of what it selects, and a
    touch of 512 KiB of fresh memory."""

    def __new__(cls) -> Self: ...
    def run_ns(self) -> int:
        """The time it takes now: what neighbours on the same core or cache take is in it. Raises
        MemoryError where there is none left."""

def processor_times() -> tuple[int, int, int] | None:
    """(busy, idle, stolen) time of all processors since boot in ns (/proc/stat), None where the
    system does not report. Busy includes neither idle nor stolen time."""

def resident_pages(path: str) -> tuple[int, int, str]:
    """(resident, total, method) pages of a file in the page cache; method is `cachestat` or
    `mincore`. Raises OSError where neither can."""

def evict(path: str) -> None:
    """Write a file back (fsync), then ask the kernel to drop its clean pages. Raises OSError if
    refused."""

def mapped_bytes(pid: int, files: Sequence[str]) -> int:
    """Bytes of these files that a process has in its mappings of them: what it touched, and the
    pages that the kernel mapped beside. Raises OSError where that cannot be seen."""

def page_out(files: Sequence[str]) -> None:
    """Unmap the pages of these files from this process's shared mappings, and drop the clean ones.
    Nothing is lost. Raises OSError where the kernel refuses."""

@final
class IdleStates:
    """While open, idle CPUs stay out of deep sleep states. Also a context manager."""

    @property
    def held(self) -> bool:
        """Whether the wish is held now."""
    @property
    def reason(self) -> str:
        """Why it is not held; empty while it is."""
    def close(self) -> None:
        """Let the CPUs sleep again. Closing twice is harmless."""
    def __enter__(self) -> IdleStates: ...
    def __exit__(self, *exception: object) -> None: ...

def disable_idle_states() -> IdleStates:
    """Hold /dev/cpu_dma_latency at 0 where permitted; `held` says if it worked, `reason` why
    not."""

def pretouch(size_bytes: int) -> int:
    """Touch and free that much memory, so that the hypervisor backs it; returns elapsed ns. Raises
    MemoryError for more than the machine has available."""
