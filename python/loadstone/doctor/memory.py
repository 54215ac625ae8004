"""The memory of a run, and its pages."""

from collections.abc import Mapping

from loadstone.doctor.check import Check, Verdict, quantity
from loadstone.machine.facts import Fact
from loadstone.text.numbers import plural, size

AVAILABLE_BYTES_MIN = 2 << 30
"""Three engines with a cache of 256 MiB each, their relations in the page cache, the oracle."""


def memory(facts: Mapping[str, Fact]) -> Check:
    """Whether engines, page cache and oracle fit."""
    free_bytes = quantity(facts, "memory.available_bytes")
    if free_bytes is None:
        return Check("memory", Verdict.ABSENT, "not shown", "a run may swap unseen")
    usable_bytes = min(free_bytes, quantity(facts, "memory.limit_bytes") or free_bytes)
    value = f"{size(usable_bytes)} available"
    if facts.get("swap.used_bytes"):
        return Check(
            "memory",
            Verdict.LIMITED,
            f"{value}, swap in use",
            "pages of an engine may be on the disk",
            "free memory, then as root: swapoff -a",
        )
    if usable_bytes < AVAILABLE_BYTES_MIN:
        return Check(
            "memory",
            Verdict.LIMITED,
            value,
            "large scales will not stay in memory",
            "stay with small scales (--rows), or give the machine more memory",
        )
    return Check("memory", Verdict.OK, value, "enough for the default preset")


def huge_pages(facts: Mapping[str, Fact]) -> Check:
    """Whether an engine that requests huge pages gets them."""
    reserved = quantity(facts, "huge_pages.total")
    transparent = facts.get("transparent_huge_pages")
    if reserved is None and transparent is None:
        return Check("huge pages", Verdict.ABSENT, "not shown", "engines work with small pages")
    value = f"{transparent or 'none'}, {plural(int(reserved or 0), 'page')} reserved"
    if transparent == "always":
        return Check(
            "huge pages",
            Verdict.LIMITED,
            value,
            "given unasked: timings vary",
            "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        )
    if transparent == "madvise" or reserved:
        return Check("huge pages", Verdict.OK, value, "given to engines that request them")
    return Check(
        "huge pages",
        Verdict.LIMITED,
        value,
        "engines work with small pages",
        "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    )
