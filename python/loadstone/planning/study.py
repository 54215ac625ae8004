"""From a study's choices to its combinations: which tactics are switched, and the variants."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from loadstone.engines.system import System
from loadstone.errors import InputError
from loadstone.plan.choices import FACTORIAL
from loadstone.plan.study import Combination, Study, Switch
from loadstone.plan.variant import SETTING, Variant, in_bytes
from loadstone.studies.design import PARTS_MAX, first_design

SWITCHES_MAX = 64
FACTORIAL_MAX = 6
"""Switches of a full factorial: 64 combinations."""
ALL = "all"
"""The value of `--vary` that stands for every tactic with another value."""


def study_of(
    base: Variant,
    engine: type[System],
    vary: Sequence[str],
    design: str,
    lacking: Collection[str] = (),
) -> tuple[Study, tuple[Variant, ...]]:
    """The study of one variant's engine, and the variants of its combinations in their order.
    `vary` as `Choices.vary`; `lacking` are tactics that its release cannot switch. Raises
    `InputError`."""
    found = tuple(_switches(base, engine, vary))
    switches = tuple(one for one in found if one.tactic not in lacking)
    named = [
        one.tactic for one in found if one.tactic in lacking and tuple(vary) not in ((), (ALL,))
    ]
    if named:
        raise InputError(
            f"{base.name} cannot switch {', '.join(named)}",
            hint="leave that out of --vary, or study another release",
        )
    if not switches:
        raise InputError(
            f"{base.name} has nothing to switch",
            hint=f"loadstone tactics {base.engine} lists what it can switch; name it with --vary",
        )
    _check_count(switches, design)
    study = Study(
        switches,
        (),
        screened=design != FACTORIAL and sum(not s.further for s in switches) > PARTS_MAX,
        steered=True,
    )
    made = []
    for flipped in _flipped(study, design):
        variant = combined(base, engine, study, flipped)
        engine.check(variant)
        made.append((Combination(variant.name, flipped), variant))
    return (
        replace(study, combinations=tuple(combination for combination, _ in made)),
        tuple(variant for _, variant in made),
    )


def combined(base: Variant, engine: type[System], study: Study, flipped: Sequence[str]) -> Variant:
    """The variant of a study's engine with these switches, by key, at their other value, all others
    at base."""
    start = _with(base, {switch.tactic: switch.base for switch in study.switches}, engine)
    others = {one.tactic: one.other for one in study.switches if one.key in flipped}
    return _with(start, others, engine)


def _check_count(switches: Sequence[Switch], design: str) -> None:
    names = [switch.tactic for switch in switches if not switch.further]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(
            f"{twice} is varied twice", hint="name each tactic once, with two values or more"
        )
    most = FACTORIAL_MAX if design == FACTORIAL else SWITCHES_MAX
    if len(switches) > most:
        raise InputError(
            f"{len(switches)} switches are too many for a {design} study: at most {most}",
            hint="name those that matter with --vary",
        )


def _flipped(study: Study, design: str) -> list[tuple[str, ...]]:
    """The switches at their other value, in each combination of a design."""
    chosen = first_design(study, design).combinations
    names = [switch.key for switch in study.switches]
    return [tuple(name for name in names if name in combination) for combination in chosen]


def _switches(base: Variant, engine: type[System], vary: Sequence[str]) -> Iterator[Switch]:
    if not vary:
        for name, tactic in engine.tactics().items():
            # The base may be at the value that a study would switch to.
            if tactic.studied not in ("", engine.tactic_of(base, name)):
                yield _switch(base, engine, name, ())
    if tuple(vary) == (ALL,):
        yield from _every(base, engine)
        return
    if ALL in vary:
        raise InputError(
            f"--vary {ALL} stands for every tactic, and goes with no other --vary",
            hint=f"leave out --vary {ALL}, or the others",
        )
    for text in vary:
        name, given = _read(text)
        if len(given) == 1:
            raise _alone(base, engine, name, given[0])
        if len(set(given)) < len(given):
            raise InputError(
                f"--vary {name} has the same value twice: {', '.join(given)}",
                hint=f"loadstone tactics {base.engine} {name} lists its values",
            )
        first = _switch(base, engine, name, given[:2])
        _check_base(base, first)
        yield first
        for value in given[2:]:
            yield replace(_switch(base, engine, name, (given[0], value)), further=True)


def _read(text: str) -> tuple[str, tuple[str, ...]]:
    """Of `--vary NAME=A,B` the name and the values; sizes as bytes, as a variant has them."""
    name, equals, values = (part.strip() for part in text.partition("="))
    given = tuple(value.strip() for value in values.split(",")) if equals else ()
    if (equals and not all(given)) or not name:
        raise InputError(
            f"cannot read --vary {text[:60]!r}",
            hint="write TACTIC or TACTIC=BASE,OTHER, as in --vary join=hash,merge",
        )
    if not name.startswith(SETTING):
        given = tuple(map(in_bytes, given))
    return name, given


def _alone(base: Variant, engine: type[System], name: str, value: str) -> InputError:
    """The error for one value where a study needs two to switch between."""
    if name.startswith(SETTING):
        engine.check(_with(base, {name: value}, engine))
        hint = f"give both: --vary {name}=A,{value}"
    else:
        now = engine.tactic_of(base, name)
        engine.tactic_named(name).checked(value, engine.name)
        hint = f"give both: --vary {name}={now},{value if value != now else 'B'}"
    return InputError(f"--vary {name}={value} has one value, and a switch needs two", hint=hint)


def _check_base(base: Variant, switch: Switch) -> None:
    """A base that was chosen with --on is not changed without a word."""
    chosen = dict(base.tactics).get(switch.tactic, switch.base)
    if chosen != switch.base:
        other = switch.other if switch.other != chosen else switch.base
        raise InputError(
            f"--vary {switch.tactic}={switch.base},{switch.other} begins at {switch.base}, and --on"
            f" chooses {switch.tactic}={chosen}",
            hint=f"write --vary {switch.tactic}={chosen},{other}, or leave it out of --on",
        )


def _every(base: Variant, engine: type[System]) -> Iterator[Switch]:
    """Each tactic that belongs to a group and has another value that the engine takes here."""
    for name, tactic in engine.tactics().items():
        if not tactic.group:
            continue
        try:
            switch = _switch(base, engine, name, ())
            engine.check(_with(base, {name: switch.other}, engine))
        except InputError:
            continue  # a number without another value, or one that this machine is too small for
        yield switch


def _switch(base: Variant, engine: type[System], name: str, given: Sequence[str]) -> Switch:
    """A switch from the values given, or from the base's own to the first other one declared. A
    setting by its own name is of no group, and declares nothing."""
    if name.startswith(SETTING):
        return _setting(base, engine, name, given)
    for value in given:
        engine.tactic_of(replace(base, tactics=((name, value),)), name)
    if given:
        first, other = given
    else:
        first = engine.tactic_of(base, name)
        other = _other(engine, name, first)
    if first == other:
        raise InputError(
            f"--vary {name} has the same value twice: {first}",
            hint=f"loadstone tactics {base.engine} {name} lists its values",
        )
    declared = engine.tactic_named(name)
    return Switch(name, first, other, declared.group, declared.counters)


def _setting(base: Variant, engine: type[System], name: str, given: Sequence[str]) -> Switch:
    if len(given) < 2:
        raise InputError(
            f"--vary {name} has no values: no other one is declared of a setting",
            hint=f"give both: --vary {name}=A,B",
        )
    for value in given:
        engine.check(_with(base, {name: value}, engine))
    return Switch(name, given[0], given[1])


def _other(engine: type[System], name: str, first: str) -> str:
    declared = engine.tactic_named(name)
    values = (declared.studied, *declared.names)
    other = next((v for v in values if v not in ("", first) and not v.startswith("<")), None)
    if other is None:
        raise InputError(
            f"{engine.name} takes a number for {name}: there is no other value to switch it to",
            hint=f"give both: --vary {name}=A,B",
        )
    return other


def _with(variant: Variant, values: Mapping[str, str], engine: type[System]) -> Variant:
    """The variant with these values, named as its name is read again: in alphabetical order, and
    without a default that nobody named. A setting has no default that is known here."""
    named = dict(variant.tactics)
    for name, value in values.items():
        is_setting = name.startswith(SETTING)
        if is_setting or name in named or value != engine.tactic_of(Variant(variant.engine), name):
            named[name] = value
    return replace(variant, tactics=tuple(sorted(named.items())))
