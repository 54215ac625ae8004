"""The kind of value that the record may hold under each key of `machine`.

A report computes with some of them, so a text in the place of a number is refused when the record
is read. An unknown key may hold any number or text: a report only shows it.
"""

from typing import Annotated, Any

from msgspec import Meta

from loadstone.text.shape import converted, shown

COUNT = Annotated[int, Meta(ge=0, le=2**62)]
NUMBER = Annotated[float, Meta(ge=0, le=1e18)]
WORDS = str

MACHINE: dict[str, Any] = {
    **dict.fromkeys((
        "cpu.count", "cpu.count_usable", "cpu.cores", "cpu.frequency_hz", "cpu.frequency_hz_max",
        "cpu.threads_per_core_on", "cpu.cache_l1_data_bytes", "cpu.cache_l2_bytes",
        "cpu.cache_l3_bytes", "memory.total_bytes", "memory.available_bytes", "memory.limit_bytes",
        "memory.page_bytes", "memory.numa_nodes", "huge_pages.total", "swap.total_bytes",
        "swap.used_bytes", "process.privileged", "filesystem.free_bytes", "disk.size_bytes",
        "disk.rotational", "disk.read_ahead_bytes", "disk.sector_bytes", "clock.resolution_ns",
        "idle_states.held",
    ), COUNT),
    **dict.fromkeys((
        "cpu.quota", "load_average", "clock.cost_ns",
    ), NUMBER),
    **dict.fromkeys((
        "cpu.model", "cpu.architecture", "cpu.governor", "idle_states.driver", "idle_states.reason",
        "transparent_huge_pages", "kernel.release", "os.name", "virtualisation", "container",
        "filesystem.type", "filesystem.options", "disk.model", "disk.driver", "disk.scheduler",
        "disk.write_cache", "python.version", "python.implementation", "loadstone.version",
        "loadstone.build_profile", "clock.source", "environment.taken", "environment.left_out",
    ), WORDS),
}  # fmt: skip


def machine_fact(key: str, value: Any) -> Any:
    """The same value. Raises `InputError` if a known key holds another kind."""
    if key in MACHINE and value is not None:
        converted(value, MACHINE[key], f"machine's {shown(key)}")
    return value
