"""Spark's tactics as its own settings, there and back."""

from collections.abc import Callable, Mapping

from loadstone.engines.tactic import beside

TACTICS = beside(__file__)
"""By name."""

OF_START = frozenset({"parallelism", "executor_memory"})
"""The tactics that a driver takes when it starts."""

_BROADCAST, _ADAPTIVE_BROADCAST = (
    "spark.sql.autoBroadcastJoinThreshold", "spark.sql.adaptive.autoBroadcastJoinThreshold",
)  # fmt: skip
_LOCAL_MAP = "spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold"
_WHOLE_STAGE, _FACTORY = "spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode"
_ADAPTIVE = "spark.sql.adaptive.enabled"
_PARTITIONS = "spark.sql.shuffle.partitions"
_VECTORISED = "spark.sql.parquet.enableVectorizedReader"
_CODEC = "spark.sql.parquet.compression.codec"

_USUAL_BYTES, _ALL_BYTES, _NONE_BYTES, _NO_MAP_BYTES = "10485760b", "8589934592b", "-1b", "0b"
JOINS: Mapping[str, tuple[str, str]] = {
    "auto": (_USUAL_BYTES, _NO_MAP_BYTES),
    "broadcast": (_ALL_BYTES, _NO_MAP_BYTES),
    "hash": (_NONE_BYTES, _ALL_BYTES),
    "merge": (_NONE_BYTES, _NO_MAP_BYTES),
}
"""The largest relation that is broadcast; the largest part of a shuffled one that becomes a hash
table, once adaptive execution has seen the parts: no setting does that without it."""
EXECUTIONS: Mapping[str, tuple[str, str]] = {
    "compiled": ("true", "FALLBACK"),
    "expressions": ("false", "FALLBACK"),
    "interpreted": ("false", "NO_CODEGEN"),
}
"""Whole stages compiled, expressions compiled."""
TIMEZONE = "spark.sql.session.timeZone"
CODECS = {"none": "uncompressed", "snappy": "snappy", "zstd": "zstd"}

SHOWN = (
    _BROADCAST, _LOCAL_MAP, _WHOLE_STAGE, _FACTORY, _ADAPTIVE, _PARTITIONS,
    _VECTORISED, _CODEC, "spark.sql.ansi.enabled", "spark.sql.files.maxPartitionBytes",
)  # fmt: skip
"""Those that the terms print by their own names."""


def of_session(asked: Mapping[str, str], timezone: str) -> dict[str, str]:
    """The settings of a session for these tactics."""
    threshold, local_map = JOINS[asked["join"]]
    whole_stage, factory = EXECUTIONS[asked["execution"]]
    return {
        _BROADCAST: threshold,
        _ADAPTIVE_BROADCAST: threshold,
        _LOCAL_MAP: local_map,
        _WHOLE_STAGE: whole_stage,
        _FACTORY: factory,
        _ADAPTIVE: "true" if asked["adaptive"] == "on" else "false",
        _PARTITIONS: asked["partitions"],
        _VECTORISED: "true" if asked["reader"] == "vectorised" else "false",
        _CODEC: CODECS[asked["compression"]],
        TIMEZONE: timezone,
    }


def in_common_words(get: Callable[[str], str]) -> dict[str, str]:
    """The tactics of a session, from its settings as `get` reads them back."""
    joins = (get(_BROADCAST).lower(), get(_LOCAL_MAP).lower())
    executions = (get(_WHOLE_STAGE), get(_FACTORY))
    return {
        "join": _word(JOINS, joins),
        "execution": _word(EXECUTIONS, executions),
        "adaptive": "on" if get(_ADAPTIVE) == "true" else "off",
        "partitions": get(_PARTITIONS),
        "reader": "vectorised" if get(_VECTORISED) == "true" else "rows",
        "compression": _word(CODECS, get(_CODEC).lower()),
    }


def _word(words: Mapping[str, object], reading: object) -> str:
    """The value that stands for these settings; the settings themselves where none does."""
    return next((word for word, settings in words.items() if settings == reading), str(reading))
