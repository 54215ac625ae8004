"""Which settings of PostgreSQL a tactic is, and which value of it settings are."""

from collections.abc import Mapping

Settings = Mapping[str, str]


def _one_of(methods: Mapping[str, tuple[str, ...]]) -> dict[str, Settings]:
    """`auto` with every switch on, and each method with its own on and the others off."""
    every = list(dict.fromkeys(name for own in methods.values() for name in own))
    auto = dict.fromkeys(every, "on")
    only = {
        method: {name: "on" if name in own else "off" for name in every}
        for method, own in methods.items()
    }
    return {"auto": auto, **only}


def _alike(name: str, *values: str) -> dict[str, Settings]:
    """A setting that has the tactic's own words."""
    return {value: {name: value} for value in values}


OF_SESSION: Mapping[str, Mapping[str, Settings]] = {
    "join": _one_of(
        {
            "nested-loops": ("enable_nestloop",),
            "hash": ("enable_hashjoin",),
            "merge": ("enable_mergejoin",),
        }
    ),
    # Index-only scans are made of index scans: without those there are none.
    "scan": _one_of(
        {
            "sequential": ("enable_seqscan",),
            "index": ("enable_indexscan",),
            "bitmap": ("enable_bitmapscan",),
            "index-only": ("enable_indexscan", "enable_indexonlyscan"),
        }
    ),
    "aggregation": {"auto": {"enable_hashagg": "on"}, "sort": {"enable_hashagg": "off"}},
    "sort": {
        "auto": {"enable_incremental_sort": "on"},
        "full": {"enable_incremental_sort": "off"},
    },
    "jit": _alike("jit", "off", "on"),
    "synchronous_commit": _alike("synchronous_commit", "on", "off"),
    "wal_compression": _alike("wal_compression", "off", "pglz", "lz4", "zstd"),
}
"""Tactic -> value -> the settings that it is, in a session."""
OF_START: Mapping[str, Mapping[str, Settings]] = {
    "full_page_writes": _alike("full_page_writes", "on", "off"),
    "huge_pages": _alike("huge_pages", "try", "on", "off"),
}
"""The same, of a server's start."""
AS_DURABILITY = ("synchronous_commit", "full_page_writes")
"""Tactics that follow `durability` where a variant does not name them."""
LEFT_ALONE = ("jit", "work_mem", "wal_compression")
"""Tactics that a session on a server of the user's has as that server has them, unless named."""
OF_OUR_SERVER = ("cache", "full_page_writes", "huge_pages", "place")
"""Tactics of a server's start, hence of a private one only."""


def following(tactics: Mapping[str, str], named: Mapping[str, str]) -> dict[str, str]:
    """Tactics with those set that follow others and are not named."""
    durable = "off" if tactics["durability"] == "none" else "on"
    return {
        name: durable if name in AS_DURABILITY and name not in named else value
        for name, value in tactics.items()
    }


def settings_of_session(tactics: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """(tactic, setting) -> value, of a session that has these tactics."""
    wanted: dict[tuple[str, str], str] = {}
    if "parallelism" in tactics:
        workers = str(int(tactics["parallelism"]) - 1)
        for name in ("max_parallel_workers_per_gather", "max_parallel_maintenance_workers"):
            wanted["parallelism", name] = workers
    if "work_mem" in tactics:
        wanted["work_mem", "work_mem"] = f"{int(tactics['work_mem']) // 1024}kB"
    for tactic, values in OF_SESSION.items():
        if tactic in tactics:
            settings = values[tactics[tactic]].items()
            wanted |= {(tactic, name): value for name, value in settings}
    return wanted


def settings_of_start(tactics: Mapping[str, str]) -> dict[str, str]:
    """Setting -> value, of a server that is started with these tactics."""
    found: dict[str, str] = {}
    for tactic, values in OF_START.items():
        found |= values[tactics[tactic]]
    return found


def value_of(tactic: str, settings: Mapping[str, str]) -> str:
    """The value of a tactic that settings, as read back, are."""
    values = {**OF_SESSION, **OF_START}[tactic]
    for value, wanted in values.items():
        if all(settings.get(name) == each for name, each in wanted.items()):
            return value
    # Before release 15 there is one method, and no word for it.
    earlier = {("wal_compression", "on"): "pglz"}
    found = settings.get(tactic, "unknown")
    return earlier.get((tactic, found), found)


_BOOLEAN_UNTIL = 150_000
"""The release from which `wal_compression` names a method: before, `on` is pglz."""


def written(name: str, value: str, server_version: int) -> str:
    """The value of a setting in the words of a release."""
    if name == "wal_compression" and value == "pglz" and server_version < _BOOLEAN_UNTIL:
        return "on"
    return value


NAMES = tuple(
    dict.fromkeys(
        name
        for values in (*OF_SESSION.values(), *OF_START.values())
        for settings in values.values()
        for name in settings
    )
)
"""Every setting that one of these tactics is."""
