"""The kinds of values that are kept in a record and sent over the pipe, as annotations.

A number's bounds and a text's pattern are msgspec's, so that every door checks them. A text's
length is the record's alone: it cuts a `Cut` text that is longer, and refuses other long ones.
"""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from loadstone.text.shape import matching, one_of


@dataclass(frozen=True, slots=True)
class Letters:
    """The greatest length of a text in a record; its writer refuses a longer one."""

    most: int


class Cut(Letters):
    """A text from outside: any characters but NUL, cut to the length when it is written."""


class Printable(Letters):
    """A name: one line of characters that can be printed."""


class Json(Letters):
    """A value that a record keeps as a JSON text of so many letters."""


STATUSES = ("ok", "failed", "gap", "disturbed", "invalid", "censored", "spared")

Id = Annotated[int, Meta(ge=1, le=2**53)]
Ordinal = Annotated[int, Meta(ge=0, le=10**9)]
Times = Annotated[int, Meta(ge=1, le=10**9)]
Count = Annotated[int, Meta(ge=0, le=10**15)]
Scale = Annotated[int, Meta(ge=1, le=10**12)]
Ns = Annotated[int, Meta(ge=0, le=10**18)]
"""Some 31 years."""
MeasuredNs = Annotated[int, Meta(ge=1, le=10**18)]
"""A time that figures are made of: a clock too coarse for it counts as 1 ns."""
Share = Annotated[float, Meta(ge=0, le=1)]
Finite = Annotated[float, Meta(ge=-1.7976931348623157e308, le=1.7976931348623157e308)]
Duration = Annotated[int, Meta(ge=0, le=10**18)] | Annotated[float, Meta(ge=0, le=1e18)]

Name = Annotated[str, Printable(200)]
VariantName = Annotated[str, Printable(4_000)]
Words = Annotated[str, Cut(2_000)]
Message = Annotated[str, Cut(1 << 16)]
LongText = Annotated[str, Cut(1 << 20)]
Fact = Annotated[str, Cut(1 << 16)] | int | Finite
Status = Annotated[str, one_of(STATUSES)]
Digest = Annotated[str, matching("[0-9a-f]{0,64}", "up to 64 hexadecimal digits")]
At = Annotated[
    str,
    matching(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(\+00:00|Z)",
        "a time in UTC as ISO 8601 has it",
    ),
]
