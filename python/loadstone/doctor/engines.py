"""Which engines can be measured, and whether those that can be tried start as this user.

Knows no engine by name: each says of itself what there is to say.
"""

from pathlib import Path

from loadstone import registry
from loadstone._core import clock_ns
from loadstone.doctor.check import Check, Verdict
from loadstone.engines import abilities
from loadstone.engines.capabilities import UrlUse
from loadstone.engines.system import Probe
from loadstone.errors import EngineError, NotInstalledError
from loadstone.plan.variant import Variant
from loadstone.text.numbers import duration

VERDICTS = {True: Verdict.OK, None: Verdict.LIMITED, False: Verdict.ABSENT}
"""By whether what was tried works; None: not tried."""
MISSING = "not installed"
"""The beginning of the version of what is not here."""
USABLE = "usable"
UNUSABLE = "cannot be measured"
"""The consequences that all engines share."""


def engines() -> list[Check]:
    """One check for each engine that gives answers; the last one if none is usable."""
    found = [check for name in registry.engine_names() if (check := engine(name))]
    if any(check.verdict is Verdict.OK for check in found):
        return found
    none = Check(
        "engines", Verdict.ABSENT, "none is usable", "no run is possible",
        "install one: see loadstone engines", EngineError,
    )  # fmt: skip
    return [*found, none]


def engine(name: str) -> Check | None:
    """Whether an engine is installed with what it needs; None for those that calibrate."""
    try:
        kind = registry.load_engine(name)
    except EngineError as error:
        reported = f"{error.message}; {error.hint}"
        return Check(name, Verdict.ABSENT, "not installed", UNUSABLE, reported)
    if not kind.capabilities.answers:
        return None
    try:
        if kind.capabilities.url is UrlUse.NONE:
            kind.check(Variant(name))
    except NotInstalledError as error:
        reported = f"{error.message}; {error.hint}"
        return Check(name, Verdict.ABSENT, "not installed", UNUSABLE, reported)
    found = kind.versions()
    versions = ", ".join(f"{what} {number}" for what, number in found.items())
    if all(number.startswith(MISSING) for number in found.values()):
        # Also of one that takes a URL: it has no driver either.
        return Check(name, Verdict.ABSENT, "not installed", UNUSABLE, versions)
    return Check(name, Verdict.OK, versions, USABLE)


def starts(scratch: Path) -> list[Check]:
    """Whether engines start here, as they report it; each in a folder of its own, as each variant
    of a run has one: `loadstone clean` ends processes that a killed examination left in it."""
    found = []
    for name in registry.engine_names():
        known = engine(name)
        if known is None or known.verdict is Verdict.ABSENT:
            continue  # It has its check already, with what to do.
        kind = registry.load_engine(name)
        begin_ns = clock_ns()
        probe = abilities.probe(kind, _home(scratch, name))
        if probe is not None:
            found.append(_checked(probe, clock_ns() - begin_ns))
    return found


def _checked(probe: Probe, elapsed_ns: int) -> Check:
    value = f"{probe.found} in {duration(elapsed_ns)}" if probe.works else probe.found
    return Check(probe.name, VERDICTS[probe.works], value, probe.consequence, probe.remedy)


def _home(scratch: Path, name: str) -> Path:
    home = scratch / f"{name}-tried"
    home.mkdir()
    # A server's own account must be able to pass through.
    home.chmod(0o711)
    return home
