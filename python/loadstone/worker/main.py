"""The worker process: owns one engine, executes the runner's requests, and times them.

    python -m loadstone.worker.main SEAM REQUESTS REPLIES BOARD WANTED    (inherited descriptors)

Requests come one at a time; each gets one reply, errors included. The worker ends when its
requests end, for any reason, and then removes its engine's data. By WANTED the runner says that it
wants a reply no more (see `cut_short`).
"""

import os
import signal
import sys
from collections.abc import Iterator

from loadstone.errors import LoadstoneError, ProtocolError
from loadstone.protocol.deadline import Board
from loadstone.protocol.messages import Failed, Reply
from loadstone.protocol.wire import numbered, to_line, to_request
from loadstone.worker.cut_short import CutShort
from loadstone.worker.requests import Requests


def requests_of(seam: str) -> type[Requests]:
    """The requests of a worker of this seam; imports nothing of the other."""
    if seam == "clients":
        from loadstone.worker.client_requests import ClientRequests

        return ClientRequests
    from loadstone.worker.statement_requests import StatementRequests

    return StatementRequests


def serve(seam: str, requests: int, replies: int, board: int, wanted: int) -> None:
    """Answer requests until they end."""
    mark = Board(board).mark
    process = requests_of(seam)(mark)
    cut_short = CutShort(wanted, process.interrupt)
    try:
        for line in _lines(requests):
            number, sent = numbered(line)
            reply: Reply
            try:
                request = to_request(sent)
                with cut_short.request(number, request):
                    reply = process.answer(request)
            except LoadstoneError as error:
                reply = Failed(type(error).__name__, error.message, error.hint)
            except Exception as error:  # noqa: BLE001 - whatever an engine throws is a result
                reply = Failed("", f"{type(error).__name__}: {error}")
            if isinstance(reply, Failed):
                mark("end")  # of a statement that raised; the next request has its own time
            data = memoryview(to_line(number, reply))
            while data:
                data = data[os.write(replies, data) :]
    except BrokenPipeError:
        pass  # the runner is gone, in the middle of a request
    except ProtocolError as error:
        sys.exit(error.message)  # there is no number to answer to: the runner sees these last words
    finally:
        process.remove()


def _lines(descriptor: int) -> Iterator[bytes]:
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        buffer = b""
        while chunk := stream.read(1 << 20):
            buffer += chunk
            while b"\n" in buffer:
                line, _, buffer = buffer.partition(b"\n")
                yield line


def main() -> None:
    """The process's entry."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.argv[1], *map(int, sys.argv[2:]))


if __name__ == "__main__":
    main()
