"""Whether two runs were measured on one machine: a short name over its facts that stay."""

import hashlib
import json
from collections.abc import Mapping

STABLE = (
    "cpu.architecture",
    "cpu.model",
    "cpu.count",
    "cpu.quota",
    "memory.total_bytes",
    "memory.limit_bytes",
    "kernel.release",
    "os.name",
    "virtualisation",
    "container",
    "filesystem.type",
    "disk.model",
    "disk.driver",
    "disk.size_bytes",
    "disk.read_ahead_bytes",
)


def fingerprint(facts: Mapping[str, str | int | float | None]) -> str:
    """A short name of the machine: 12 hexadecimal digits over its stable facts."""
    stable = json.dumps([[key, facts.get(key)] for key in STABLE])
    return hashlib.sha256(stable.encode()).hexdigest()[:12]
