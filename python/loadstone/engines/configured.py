"""Checks a variant against a system: its tactics, values, settings and release. Also says which
variants can share loaded data.

All of it follows from the system's `capabilities`. A system overrides `check`, `check_release` and
`values_of` where it knows more.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, final

from loadstone.engines.capabilities import Capabilities, UrlUse
from loadstone.engines.setting import settings_of
from loadstone.engines.tactic import Level, Tactic, declared
from loadstone.errors import InputError, UnknownTacticError
from loadstone.plan.release import VENV, Release
from loadstone.plan.variant import SETTING, listed

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant

OF_EVERY_SYSTEM = declared(Path(__file__).with_name("every_system.toml"))
"""The tactics that the worker switches, whatever the engine."""
ON_BTRFS = ("one-disk", "mirrored", "mirrored-shared")
"""The values of `volume` with that file system. Its direct reads into untouched memory go through
the cache (seen on Linux 6.18), so they would not be direct."""


class Configured:
    """A kind of system, as a variant is checked against it; no instance is needed."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """Raise `InputError` if a variant names a tactic or a value that is not declared, or a
        user's database that the engine cannot work in. A system adds what it knows more of: which
        tactics exclude each other, or which settings its program refuses."""
        if variant.url is not None and cls.capabilities.url is UrlUse.NONE:
            raise InputError(
                f"{cls.name} cannot work in a database of yours",
                hint=f"leave out the URL: --on {cls.name}",
            )
        if variant.release:
            cls.check_release(variant.release)
        of_ours = sorted({name for name, _ in variant.tactics} & OF_EVERY_SYSTEM.keys())
        if variant.url is not None and of_ours:
            raise InputError(
                f"{cls.name}: {listed(of_ours)} cannot be set for a database of yours",
                hint="leave out the URL, and it is measured in a database of ours",
            )
        for name, value in settings_of(variant).items():
            cls._check_setting(name, value)
        for name, _ in variant.tactics:
            if not name.startswith(SETTING):
                cls.tactic_of(variant, name)
        twice = [name for name, _ in variant.tactics if f"{SETTING}{name}" in dict(variant.tactics)]
        if twice:
            raise InputError(
                f"{cls.name}: {twice[0]} is named as a tactic and as a setting of the engine's own",
                hint=f"leave out {twice[0]}=…, or {SETTING}{twice[0]}=…",
            )
        if "bandwidth" in of_ours and cls.tactic_of(variant, "volume") == "scratch":
            raise InputError(
                f"{cls.name}: bandwidth limits disks of ours, and there are none",
                hint="request disks too: volume=one-disk, or volume=mirrored",
            )

        values = cls.values_of(variant)
        if values.get("disk", "").startswith("direct") and values["volume"] in ON_BTRFS:
            raise InputError(
                f"{cls.name}: btrfs reads through its cache also with disk=direct",
                hint="request disk=buffered; or for volume=two-disks, which is on ext4",
            )

    @classmethod
    def check_release(cls, release: Release) -> None:
        """Raise `InputError` if that release or build is not available, as far as that is known
        without the network."""
        package = cls.capabilities.distribution
        if package and release.is_package:
            if release.environment and not Path(release.environment).is_dir():
                raise InputError(
                    f"there is no folder {release.environment}",
                    hint=f"name a Python environment that has {package}",
                )
            return
        hint = f"leave it out: --on {cls.name}; loadstone engines lists the ones that can"
        if package:
            hint = f"write {cls.name}@NUMBER or {cls.name}@{VENV}/PATH"
        raise InputError(
            f"{cls.name} cannot be another release or build here: {release}", hint=hint
        )

    @final
    @classmethod
    def tactics(cls) -> Mapping[str, Tactic]:
        """All that can be switched, by name: what it declares, and what every system has."""
        return {**cls.capabilities.tactics, **OF_EVERY_SYSTEM}

    @classmethod
    def _check_setting(cls, name: str, value: str) -> None:
        if cls.capabilities.settings is None:
            raise InputError(
                f"{cls.name} takes no settings by name here: {SETTING}{name[:40]}",
                hint=f"it can switch: {listed(cls.tactics())}",
            )
        cls.capabilities.settings.check(name, value)

    @final
    @classmethod
    def level_of(cls, name: str) -> Level:
        """What it takes to change a tactic or a setting (`set.NAME`)."""
        if name.startswith(SETTING):
            settings = cls.capabilities.settings
            is_of_data = settings and name.removeprefix(SETTING) in settings.of_data
            return Level.LOAD if is_of_data else Level.START
        return cls.tactic_named(name).level

    @final
    @classmethod
    def tactic_named(cls, name: str) -> Tactic:
        """The tactic of that name. Raises `InputError` where there is none."""
        tactic = cls.tactics().get(name)
        if tactic is None:
            known = listed(cls.tactics())
            if cls.capabilities.settings is not None:
                known += f"; or write {SETTING}{name[:40]} for a setting of the engine's own"
            raise UnknownTacticError(cls.name, name[:40], known)
        return tactic

    @final
    @classmethod
    def tactic_of(cls, variant: "Variant", name: str) -> str:
        """The value that a variant names for a tactic, or its default."""
        tactic = cls.tactic_named(name)
        value = variant.tactic(name, tactic.default)
        return tactic.checked(value, cls.name, elsewhere=variant.url is not None)

    @classmethod
    def values_of(cls, variant: "Variant") -> Mapping[str, str]:
        """Each tactic's value: the one that the variant names, or the default."""
        defaults = {name: tactic.default for name, tactic in cls.tactics().items()}
        return defaults | dict(variant.tactics)

    @final
    @classmethod
    def same_data(cls, one: "Variant", other: "Variant") -> bool:
        """Whether two variants can share loaded data: the same database, and no tactic of level
        `load` differs. Raises `InputError` for an unknown tactic."""
        if (one.engine, one.url) != (other.engine, other.url):
            return False
        before, after = cls.values_of(one), cls.values_of(other)
        differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return all(cls.level_of(name) is not Level.LOAD for name in differing)
