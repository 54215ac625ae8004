"""The worker process: owns one engine, executes the runner's requests, holds the stopwatch.

    python -m loadstone.worker.main SEAM REQUESTS REPLIES BOARD    (three inherited descriptors)

Requests come one at a time; each gets one reply, errors included. The worker ends when its
requests end, however the runner came to its end, and then removes what its engine made.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

from loadstone.errors import LoadstoneError
from loadstone.protocol.deadline import Board
from loadstone.worker.requests import Requests


def requests_of(seam: str) -> type[Requests]:
    """The requests of a worker of this seam; imports nothing of the other."""
    if seam == "clients":
        from loadstone.worker.client_requests import ClientRequests

        return ClientRequests
    from loadstone.worker.statement_requests import StatementRequests

    return StatementRequests


def serve(seam: str, requests: int, replies: int, board: int) -> None:
    """Answer requests until they end."""

    def send(message: dict[str, Any]) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(replies, data) :]

    process = requests_of(seam)(Board(board).mark)
    try:
        for request in _lines(requests):
            name, number = request.pop("request"), request.pop("number")
            try:
                reply = {"reply": "done", **getattr(process, name)(**request)}
            except LoadstoneError as error:
                kind = type(error).__name__
                reply = {"reply": "error", "kind": kind, "message": error.message,
                         "hint": error.hint}  # fmt: skip
            except Exception as error:  # noqa: BLE001 - whatever an engine throws is a result
                reply = {"reply": "error", "message": f"{type(error).__name__}: {error}"}
            send({**reply, "number": number})
    except BrokenPipeError:
        pass  # the runner is gone, in the middle of a request
    finally:
        process.remove()


def _lines(descriptor: int) -> Iterator[dict[str, Any]]:
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        buffer = b""
        while chunk := stream.read(1 << 20):
            buffer += chunk
            while b"\n" in buffer:
                line, _, buffer = buffer.partition(b"\n")
                yield json.loads(line)


def main() -> None:
    """The process's entry."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.argv[1], *map(int, sys.argv[2:]))


if __name__ == "__main__":
    main()
