"""Messages as lines and back: one JSON array a line, `[number, message]`, in plain ASCII.

The standard library's JSON, because a path or an engine's message may hold what UTF-8 cannot (half
of a surrogate pair), and what was sent must arrive. The types are held by msgspec.
"""

import json
import struct
from typing import Any, TypeVar, cast

import msgspec

from loadstone.errors import ProtocolError
from loadstone.protocol.messages import ANY_REPLY, ANY_REQUEST, Reply, Request, reply_of
from loadstone.text.shape import unknown_key

R = TypeVar("R", bound=Reply)
UNWANTED = struct.Struct("=Q")
"""The number of a request that is unwanted by now, as it goes down a pipe of its own."""
HINT = "this is a defect of Loadstone, not of the engine: please report it"


def to_line(number: int, message: Request[Any] | Reply) -> bytes:
    """A message as a line. A reply has the number of its request."""
    return json.dumps([number, msgspec.to_builtins(message)]).encode() + b"\n"


def numbered(line: bytes) -> tuple[int, Any]:
    """The number of a message, and what was sent as the message. Raises `ProtocolError`."""
    try:
        value = json.loads(line)
    except ValueError:
        raise ProtocolError("a message that is no JSON", hint=HINT) from None
    match value:
        case [int(number), message]:
            return number, message
    raise ProtocolError("a message without a number", hint=HINT)


def to_request(sent: Any) -> Request[Any]:
    """Raises `ProtocolError` unless it is a request, to the last field."""
    return cast("Request[Any]", _converted(sent, ANY_REQUEST, "request"))


def to_reply(sent: Any) -> Reply:
    """Raises `ProtocolError` unless it is a reply, to the last field."""
    return cast("Reply", _converted(sent, ANY_REPLY, "reply"))


def fitting(request: Request[R], reply: Reply) -> R:
    """A reply as that to this request. Raises `ProtocolError` where it is another's."""
    kind = reply_of(type(request))
    if not isinstance(reply, kind):
        raise ProtocolError(
            f"{type(reply).__name__} is no reply to {type(request).__name__}", hint=HINT
        )
    return reply


def _converted(sent: Any, kind: Any, what: str) -> Any:
    try:
        message = msgspec.convert(sent, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise ProtocolError(f"not a {what}: {error}", hint=HINT) from None
    if unknown := unknown_key(sent, type(message), "$"):
        place, key, _ = unknown
        raise ProtocolError(f"not a {what}: unknown field `{key}` - at `{place}`", hint=HINT)
    return message
