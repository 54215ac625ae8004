"""The processors and their clock: how short a time can be measured, and what blurs it."""

from collections.abc import Mapping

from loadstone.doctor.check import Check, Verdict, quantity
from loadstone.machine.facts import Fact
from loadstone.machine.wake_up import RoundTrips
from loadstone.text.numbers import duration, times

RESOLUTION_NS_MAX = 1_000
"""A statement on an embedded engine takes a few microseconds: a coarser clock blurs it."""
COST_NS_MAX = 200
"""More than any clock takes that is read without a system call."""
LOAD_MAX = 0.5
"""Processors busy, for each that a run may use: beyond this other programs disturb the times."""
WORTH_HOLDING = 1.5
"""From this ratio on the round trips of one machine differ beyond their noise."""


def clock(facts: Mapping[str, Fact]) -> Check:
    """Whether the clock is fine and cheap enough for the shortest statements."""
    resolution_ns = quantity(facts, "clock.resolution_ns")
    cost_ns = quantity(facts, "clock.cost_ns")
    source = facts.get("clock.source") or "source unknown"
    if resolution_ns is None or cost_ns is None:
        return Check("clock", Verdict.ABSENT, "cannot be measured", "no time is reliable")
    value = f"{duration(resolution_ns)} steps, {duration(cost_ns)} read, {source}"
    if resolution_ns <= RESOLUTION_NS_MAX and cost_ns <= COST_NS_MAX:
        return Check("clock", Verdict.OK, value, "a microsecond can be measured")
    return Check(
        "clock",
        Verdict.LIMITED,
        value,
        "microseconds are blurred",
        "choose a clock that is read without a system call: boot with clocksource=tsc",
    )


def processors(facts: Mapping[str, Fact]) -> Check:
    """Whether engine and harness have a processor each, and no other program is at work."""
    usable = quantity(facts, "cpu.count_usable") or 1.0
    share = min(usable, quantity(facts, "cpu.quota") or usable)
    load = quantity(facts, "load_average")
    value = f"{share:g} usable" + ("" if load is None else f", load {load:g}")
    if share < 2:
        return Check(
            "processors",
            Verdict.LIMITED,
            value,
            "a server and its client alternate",
            "give the machine or the container two processors",
        )
    if load is not None and load > LOAD_MAX * share:
        return Check(
            "processors",
            Verdict.LIMITED,
            value,
            "other programs will disturb the times",
            "end other programs, and wait until the load is down",
        )
    return Check("processors", Verdict.OK, value, "engine and harness have one each")


def governor(facts: Mapping[str, Fact]) -> Check:
    """Whether the frequency is constant."""
    name = facts.get("cpu.governor")
    if name is None:
        return Check("governor", Verdict.ABSENT, "not shown", "interleaving compensates drift")
    if name == "performance":
        return Check("governor", Verdict.OK, str(name), "the frequency is constant")
    return Check(
        "governor",
        Verdict.LIMITED,
        str(name),
        "the frequency follows the load",
        "as root: cpupower frequency-set -g performance",
    )


def virtualisation(facts: Mapping[str, Fact]) -> Check:
    """Whether a hypervisor may keep blocks or take time unseen."""
    below, container = facts.get("virtualisation"), facts.get("container")
    value = ", ".join(str(each) for each in (below, container) if each not in (None, "none"))
    if below is None:
        return Check(
            "virtualisation", Verdict.ABSENT, value or "not shown", "a hypervisor may be below"
        )
    if below == "none":
        return Check(
            "virtualisation", Verdict.OK, value or "none", "no hypervisor caches or takes time"
        )
    return Check(
        "virtualisation",
        Verdict.LIMITED,
        value,
        "a hypervisor's cache and load: unseen",
        "claims about the disk itself need a bare machine; cold means this memory",
    )


def idle_states(facts: Mapping[str, Fact], *, held: bool, reason: str, exists: bool) -> Check:
    """Whether a run can disable idle states; `exists`: there is a device to ask."""
    driver = facts.get("idle_states.driver") or "driver unknown"
    if held:
        return Check("idle states", Verdict.OK, f"can be disabled ({driver})", "runs disable them")
    if exists:
        return Check(
            "idle states",
            Verdict.LIMITED,
            f"not permitted ({driver})",
            "idle processors wake late in runs",
            reason,
        )
    return Check(
        "idle states",
        Verdict.ABSENT,
        f"no /dev/cpu_dma_latency ({driver})",
        "idle processors wake late in runs",
        "in a container, pass the device through; elsewhere boot with idle=poll to compare",
    )


def wake_up(trips: RoundTrips | None) -> Check:
    """The cost of waking an idle processor in each message between a client and a server."""
    if trips is None:
        return Check(
            "wake-up", Verdict.ABSENT, "cannot be measured", "late wake-ups will go unnoticed"
        )
    if trips.held_ns is None:
        return Check(
            "wake-up",
            Verdict.LIMITED,
            f"{duration(trips.idle_ns)} a round trip",
            "queries to a server include it",
            "compare servers with embedded engines on long operations only, or see idle states",
        )
    value = f"{duration(trips.idle_ns)} a round trip, held {duration(trips.held_ns)}"
    ratio = trips.idle_ns / trips.held_ns
    meaning = f"sleep makes it {times(ratio)}: runs hold it off"
    if ratio < WORTH_HOLDING:
        meaning = "disabling them made no difference"
    return Check("wake-up", Verdict.OK, value, meaning)
