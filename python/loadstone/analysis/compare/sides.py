"""The two sides of a comparison: one variant of a record beside one of another, or of the same."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.errors import InputError
from loadstone.plan.role import Role
from loadstone.plan.variant import engine_of, is_aa_control, release_of
from loadstone.record.changed_answers import Side
from loadstone.record.model import Run


@dataclass(frozen=True, slots=True)
class Match:
    """A and B."""

    a: Side
    b: Side

    @property
    def name(self) -> str:
        """The way in which people see it: one name where both sides have the same."""
        a, b = self.a.variant, self.b.variant
        return a if a == b else f"{b} over {a}"

    @property
    def same_engine(self) -> bool:
        """Whether both sides are the same engine, at whatever version."""
        return engine_of(self.a.variant) == engine_of(self.b.variant)

    @property
    def other_release(self) -> bool:
        """Whether another release or build of one engine was requested: what differs by that is
        the object of the comparison."""
        a, b = (release_of(side.variant) for side in (self.a, self.b))
        return self.same_engine and a != b

    @property
    def repeated(self) -> bool:
        """Whether it is one variant in two records, where a new version is what one looks for."""
        return self.a.variant == self.b.variant

    @property
    def of_aa_control(self) -> bool:
        """Whether an A/A control is requested: then what differs is the noise itself."""
        return is_aa_control(self.a.variant) or is_aa_control(self.b.variant)


def matches(
    baseline: Run, other: Run | None, variants: tuple[str, str] | None
) -> tuple[Match, ...]:
    """The sides to compare. Without `variants`: every variant that both records have, but the
    harness and the A/A controls. Raises `InputError` where that leaves nothing to ask."""
    if variants is not None:
        names = ("the record",) * 2 if other is None else ("record A", "record B")
        match = Match(
            _side(baseline, variants[0], names[0]), _side(other or baseline, variants[1], names[1])
        )
        if other is None and match.repeated:
            raise InputError(
                f"{match.name} is compared with itself",
                hint="name two variants, or a second record",
            )
        return (match,)
    if other is None:
        raise InputError(
            "one record, and nothing to compare it with",
            hint="name a second record, or two of its variants: --variants "
            + " ".join(f"'{name}'" for name in _competitors(baseline)[:2]),
        )
    common = [name for name in _competitors(baseline) if name in _competitors(other)]
    if not common:
        raise InputError(
            f"the records have no variant in common: A has {_listed(baseline)}; "
            f"B has {_listed(other)}",
            hint="name the two to compare: --variants A-VARIANT B-VARIANT",
        )
    return tuple(Match(Side(baseline, name), Side(other, name)) for name in common)


def _side(run: Run, variant: str, record: str) -> Side:
    """A variant by its name, or by its engine's where the record has one variant of that."""
    if variant in _variants(run):
        return Side(run, variant)
    short = [n for n in _variants(run) if engine_of(n) == variant and not is_aa_control(n)]
    if len(short) > 1:
        raise InputError(
            f"{record} has {len(short)} variants of {variant!r}",
            hint=f"name one of them: {', '.join(map(repr, short))}",
        )
    if not short:
        raise InputError(f"{record} has no variant {variant!r}", hint=f"it has: {_listed(run)}")
    return Side(run, short[0])


def _variants(run: Run) -> Sequence[str]:
    return tuple(dict.fromkeys((*run.plan.variants, *(cell.variant for cell in run.plan.cells))))


def _competitors(run: Run) -> Sequence[str]:
    """All but what measures the harness or the instrument's noise."""
    return [
        name
        for name in _variants(run)
        if not is_aa_control(name) and run.plan.role_of(name) is not Role.OVERHEAD
    ]


def _listed(run: Run) -> str:
    return ", ".join(_variants(run))
