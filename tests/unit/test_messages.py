"""The messages of the pipe: every message arrives as it was sent, and nothing else passes for
one."""

import dataclasses
import json
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import EngineError, ProtocolError, UnsupportedError
from loadstone.protocol import messages, parts, pipe
from loadstone.protocol.messages import REPLIES, REQUESTS, Failed, Reply, reply_of
from loadstone.protocol.wire import fitting, numbered, to_line, to_reply, to_request
from loadstone.worker.client_requests import ClientRequests
from loadstone.worker.statement_requests import StatementRequests

LETTERS = st.characters(codec=None)
"""Halves of surrogate pairs, too: a path may hold a byte that is no UTF-8."""
PLAIN = {
    str: st.text(LETTERS, max_size=5),
    bytes: st.binary(max_size=5),
    int: st.integers(),
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
    NoneType: st.none(),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type that a message may have."""
    if get_origin(hint) is Annotated:
        return within(*get_args(hint))
    if hint in PLAIN:
        return PLAIN[hint]
    arguments = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return st.one_of(*map(values, arguments))
    if get_origin(hint) in (dict, Mapping):
        return st.dictionaries(*map(values, arguments), max_size=2)
    if get_origin(hint) is tuple and arguments[-1] is ...:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if get_origin(hint) is tuple:
        return st.tuples(*map(values, arguments))
    return st.builds(hint, **{name: values(each) for name, each in fields_of(hint).items()})


def within(kind: Any, *bounds: Any) -> st.SearchStrategy[Any]:
    """Values of a type that its bounds allow."""
    for bound in (one for one in bounds if isinstance(one, msgspec.Meta)):
        if bound.pattern is not None:
            return st.from_regex(bound.pattern)
        if kind is int:
            return st.integers(bound.ge, bound.le)
        if kind is float:
            return st.floats(bound.ge if bound.gt is None else bound.gt, bound.le,
                             exclude_min=bound.gt is not None)  # fmt: skip
    return values(kind)


def fields_of(kind: Any) -> dict[str, Any]:
    names = (
        [field.name for field in dataclasses.fields(kind)]
        if dataclasses.is_dataclass(kind)
        else kind.__struct_fields__
    )
    hints = get_type_hints(kind, include_extras=True)
    return {name: hints[name] for name in names}


MESSAGES = st.one_of(*map(values, (*REQUESTS, *REPLIES)))


def taken(sent: Any) -> Any:
    return to_reply(sent) if "reply" in sent else to_request(sent)


@given(MESSAGES, st.integers(0))
def test_every_message_arrives_as_it_was_sent(message: Any, number: int) -> None:
    line = to_line(number, message)
    assert line.isascii()
    assert line.index(b"\n") == len(line) - 1
    arrived, sent = numbered(line)
    assert arrived == number
    assert taken(sent) == message
    assert type(taken(sent)) is type(message)


def objects(sent: Any) -> list[dict[str, Any]]:
    """Those of a message that have fields of ours: maps with free keys have none."""
    if isinstance(sent, list):
        return [found for each in sent for found in objects(each)]
    return [sent, *objects(list(sent.values()))] if isinstance(sent, dict) and sent else []


FREE = {"terms", "versions", "figures", "translated", "latency_ns", "lag_ns", "service_ns"}


def without_free_maps(sent: Any) -> Any:
    """A message whose maps with free keys are empty."""
    if isinstance(sent, dict):
        return {key: {} if key in FREE else without_free_maps(each) for key, each in sent.items()}
    return [*map(without_free_maps, sent)] if isinstance(sent, list) else sent


@given(MESSAGES, st.data())
def test_an_unknown_field_is_refused_wherever_it_stands(message: Any, data: Any) -> None:
    sent = without_free_maps(numbered(to_line(1, message))[1])
    assert taken(sent) is not None
    data.draw(st.sampled_from(objects(sent)))["more"] = 1
    with pytest.raises(ProtocolError, match="unknown field `more`"):
        taken(sent)


@given(MESSAGES, st.data())
def test_a_value_of_another_type_is_refused_wherever_it_stands(message: Any, data: Any) -> None:
    sent = without_free_maps(numbered(to_line(1, message))[1])
    inside = data.draw(st.sampled_from(objects(sent)))
    inside[data.draw(st.sampled_from(sorted(inside)))] = [[[]]]
    with pytest.raises(ProtocolError, match=r"not a (request|reply)"):
        taken(sent)


@pytest.mark.parametrize("line", [b"", b"nothing", b"1", b"[1]", b"{}", b'["1", {}]', b"\xff"])
def test_a_line_that_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError, match=r"no JSON|without a number"):
        numbered(line)


@pytest.mark.parametrize(
    "sent", [None, 1, [], {}, {"request": "Nothing"}, {"request": "\udc80"}, {"reply": "Done"}]
)
def test_a_line_that_is_no_request_is_refused(sent: Any) -> None:
    with pytest.raises(ProtocolError, match="not a request"):
        to_request(json.loads(json.dumps(sent)))


@pytest.mark.parametrize("seam", [StatementRequests, ClientRequests])
def test_each_request_has_exactly_one_handler_of_its_types(seam: Any) -> None:
    handlers = seam(lambda kind: None).handlers()
    assert set(handlers) == set(REQUESTS)
    for kind, handler in handlers.items():
        if handler.__name__ != "<lambda>":
            hints = get_type_hints(handler)
            assert hints == {"request": kind, "return": reply_of(kind)}
            continue
        assert not fields_of(kind), f"{kind.__name__} has fields that nobody reads"


def test_each_reply_is_some_requests() -> None:
    assert {*map(reply_of, REQUESTS), Failed} == set(REPLIES)


def test_a_reply_to_another_request_is_refused() -> None:
    with pytest.raises(ProtocolError, match="Loaded is no reply to Restart"):
        fitting(messages.Restart(), messages.Loaded(1, 1))
    done = messages.Done()
    assert fitting(messages.Restart(), done) is done


@pytest.mark.parametrize(
    ("name", "kind"),
    [("UnsupportedError", UnsupportedError), ("ProtocolError", ProtocolError),
     ("EngineError", EngineError), ("NotInstalledError", EngineError), ("", EngineError)],
)  # fmt: skip
def test_a_failure_is_raised_as_it_was(name: str, kind: type[Exception]) -> None:
    error = pipe._error_from(Failed(name, "why", "do this"))
    assert type(error) is kind
    assert (error.message, error.hint) == ("why", "do this")


def test_messages_do_not_change_once_made() -> None:
    for kind in (*REQUESTS, *REPLIES, Reply, parts.Block, parts.Variation):
        config: Any = kind.__struct_config__
        assert config.frozen
        assert config.forbid_unknown_fields
    assert issubclass(parts.Part, msgspec.Struct)
