"""MANGOS (UCB/ERL M81/62, 1981, section 5) with the costs of today.

    python selfbench/messages.py              what a message costs here, by the way it takes
    python selfbench/messages.py RECORD       and what the paper's formula makes of a run's queries

A message is half of an exchange: one side wakes the other and sleeps until it is answered, which is
a message and a task switch each way. Ways: a call; another thread of the process, through a queue;
another process, through a pipe, a Unix socket, or a byte in shared memory on which both spin, which
wakes nobody and takes two processors. Both ends are Python, whose own part `a call` shows.

The record is of `loadstone run ingres` with an engine that is a server. The paper saves, of each
query, its messages times the difference of their costs, and so do we: two messages a statement, at
the price of a socket less that of a call. Reads save nothing more: they switch tasks only where
nothing is cached.
"""

import argparse
import mmap
import os
import queue
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from loadstone import record
from loadstone._core import clock_ns, interval_of_median
from loadstone.machine.wake_up import round_trip_ns

EXCHANGES = 300
"""Of one round, by one way."""
MESSAGES = 2
"""Of a statement: it goes, and its answer comes."""
PIPE_ECHO = "import os\nwhile word := os.read(0, 1):\n    os.write(1, word)\n"
SPIN_ECHO = (
    "import mmap, sys\n"
    "shared = mmap.mmap(int(sys.argv[1]), 4096)\n"
    "while (seen := shared[0]) != 3:\n"
    "    if seen == 1:\n"
    "        shared[0] = 2\n"
)


def function() -> float:
    """A call that does nothing."""

    def nothing(word: bytes) -> bytes:
        return word

    begin_ns = clock_ns()
    for _ in range(EXCHANGES):
        nothing(b"?")
    return (clock_ns() - begin_ns) / EXCHANGES


@contextmanager
def thread() -> Iterator[Callable[[], float]]:
    """A thread that answers each word of a queue."""
    there: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    back: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def answer() -> None:
        while word := there.get():
            back.put(word)

    worker = threading.Thread(target=answer)
    worker.start()

    def exchange() -> None:
        there.put(b"?")
        back.get()

    yield lambda: _exchanges_ns(exchange)
    there.put(b"")
    worker.join()


@contextmanager
def pipe() -> Iterator[Callable[[], float]]:
    """A process that echoes bytes over a pair of pipes."""
    command = [sys.executable, "-I", "-S", "-c", PIPE_ECHO]
    echo = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    with echo as process:
        there, back = process.stdin, process.stdout
        if there is None or back is None:
            raise SystemExit("no pipes to the echo")

        def exchange() -> None:
            os.write(there.fileno(), b"?")
            os.read(back.fileno(), 1)

        exchange()
        yield lambda: _exchanges_ns(exchange)
        there.close()


@contextmanager
def shared_memory() -> Iterator[Callable[[], float]]:
    """A process that spins on a byte."""
    descriptor = os.memfd_create("loadstone-messages")
    os.ftruncate(descriptor, 4096)
    command = [sys.executable, "-I", "-S", "-c", SPIN_ECHO, str(descriptor)]
    with mmap.mmap(descriptor, 4096) as shared:
        process = subprocess.Popen(command, pass_fds=(descriptor,))

        def exchange() -> None:
            shared[0] = 1
            while shared[0] != 2:
                pass

        exchange()
        yield lambda: _exchanges_ns(exchange)
        shared[0] = 3
        process.wait()
    os.close(descriptor)


def unix_socket() -> float:
    """A process that echoes bytes over a Unix socket."""
    return round_trip_ns(*socket.socketpair(), EXCHANGES)


def _exchanges_ns(exchange: Callable[[], None]) -> float:
    """Median of an exchange."""
    found = []
    for _ in range(EXCHANGES):
        begin_ns = clock_ns()
        exchange()
        found.append(clock_ns() - begin_ns)
    return float(median(found))


def messages_ns(rounds: int) -> dict[str, tuple[float, float | None, float | None]]:
    """Way -> the median of its messages over the rounds, with its interval, in ns. One thread and
    two processes stay; what spins is started for each of its blocks, since it takes a processor."""
    draw = random.Random(1981)
    found: dict[str, list[float]] = {}
    with ExitStack() as stack:
        ways = {
            "a call": function,
            "a thread": stack.enter_context(thread()),
            "a pipe": stack.enter_context(pipe()),
            "a Unix socket": unix_socket,
            "shared memory, spinning": _spun,
        }
        for number in range(rounds + 1):
            for name in draw.sample(list(ways), len(ways)):
                each_ns = ways[name]() / (1 if name == "a call" else 2)
                if number:
                    found.setdefault(name, []).append(each_ns)
        return {name: interval_of_median(found[name]) for name in ways}


def _spun() -> float:
    with shared_memory() as exchange:
        return exchange()


def saved(path: Path, message_ns: float) -> None:
    """The formula's prediction for a record's warm queries on servers: their samples have the
    server's CPU time."""
    run = record.read(path)
    for result in run.results:
        served = any(sample.server_cpu_ns is not None for sample in result.samples)
        if result.cell.temperature != "warm" or not served:
            continue
        elapsed_ns = median(sample.elapsed_ns for sample in result.samples)
        share = MESSAGES * message_ns / elapsed_ns
        place = f"{result.cell.operation} at {result.cell.rows:,} on {result.cell.variant}"
        print(f"{place:60} {elapsed_ns / 1e3:10,.0f} us  {share:6.1%} of it in messages")


def main() -> None:
    """Measure, and estimate where a record is given."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("record", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    found = messages_ns(arguments.rounds)
    for name, (typical, low, high) in found.items():
        bounds = "" if low is None or high is None else f" ({low / 1e3:,.3g} to {high / 1e3:,.3g})"
        print(f"{name:25} {typical / 1e3:8,.3g}{bounds} us a message")
    if arguments.record is not None:
        saved(arguments.record, found["a Unix socket"][0] - found["a call"][0])


if __name__ == "__main__":
    main()
