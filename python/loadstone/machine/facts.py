"""The machine as flat facts for the record: the items of OO1's Table I (hardware, operating system)
and those that spoil measurements.

Facts that cannot be read are None, never 0. Nothing names the machine, its user or a folder.
Everything is read from files below `root`, so a machine without `/sys`, or a made-up one, can be
described too.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from loadstone import _core

Fact = str | int | float | None

# Mount options that change what is measured; the others may hold folders.
OPTIONS = re.compile(
    r"(ro|rw|sync|noatime|relatime|strictatime|lazytime|discard|no?barrier|barrier=\d|commit=\d+"
    r"|data=\w+|compress(-force)?(=[\w:]+)?|nodatacow|nodatasum|volatile|dax(=\w+)?)"
)
ROOT = Path("/")


@dataclass(frozen=True, slots=True)
class Mount:
    """The place of a file: type of the file system, its source, its device number, its options."""

    type: str
    source: str
    number: str
    options: tuple[str, ...]


def describe(folder: Path | None = None, *, root: Path = ROOT) -> dict[str, Fact]:
    """The machine as flat facts; `folder` (default: the current one) says which disk is meant."""
    mount = mount_of(folder or Path.cwd(), root=root)
    return {
        **_cpu(root),
        **_memory(root),
        **_system(root),
        **_filesystem(mount, folder or Path.cwd()),
        **_disk(mount, root),
        **_software(),
        **_clock(root),
        "load_average": _number(_text(root / "proc/loadavg").partition(" ")[0]),
    }


def mount_of(path: Path, *, root: Path = ROOT) -> Mount | None:
    """The mount that holds a path; None where the kernel does not list mounts."""
    parts = path.resolve().parts
    best: tuple[int, Mount] | None = None
    for line in _text(root / "proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        fields, tail = before.split(), after.split()
        if len(fields) < 6 or len(tail) < 2:
            continue
        # Blanks in names are written as octal numbers.
        place = Path(re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[4])).parts
        # A later mount on the same place covers the earlier one.
        if parts[: len(place)] == place and (best is None or len(place) >= best[0]):
            options = tuple(dict.fromkeys(f"{fields[5]},{','.join(tail[2:])}".split(",")))
            best = len(place), Mount(tail[0], tail[1], fields[2], options)
    return best[1] if best else None


def loop_is_direct(device: str, *, root: Path = ROOT) -> bool:
    """Whether a loop device (`loop0`, or its partition `loop0p1`) bypasses its file's cache."""
    disk = re.sub(r"^(loop\d+)p\d+$", r"\1", device)
    return _text(root / "sys/class/block" / disk / "loop/dio") == "1"


def devices_of(mount: Mount, *, root: Path = ROOT) -> tuple[str, ...]:
    """The disks of a mount, `sda1`; of a btrfs, whose mount names but one, all that it has."""
    source = Path(mount.source).name
    for entry in (root / "sys/fs/btrfs").glob("*/devices"):
        names = sorted(disk.name for disk in entry.iterdir())
        if mount.type == "btrfs" and source in names:
            return tuple(names)
    return (source,) if mount.source.startswith("/dev/") else ()


def _cpu(root: Path) -> dict[str, Fact]:
    info = _pairs(_text(root / "proc/cpuinfo"))
    cpus = root / "sys/devices/system/cpu"
    maximum_khz = _integer(_text(cpus / "cpu0/cpufreq/cpuinfo_max_freq"))
    current_mhz = _number(info.get("cpu MHz", ""))
    cores = {
        (_text(cpu / "topology/physical_package_id"), _text(cpu / "topology/core_id"))
        for cpu in cpus.glob("cpu[0-9]*")
    }
    return {
        "cpu.model": info.get("model name") or info.get("Model") or info.get("CPU part"),
        "cpu.architecture": platform.machine() or None,
        "cpu.count": os.cpu_count(),
        "cpu.count_usable": len(os.sched_getaffinity(0)),
        "cpu.cores": len(cores - {("", "")}) or None,
        "cpu.quota": _cpu_quota(root),
        "cpu.frequency_hz": None if current_mhz is None else round(current_mhz * 1e6),
        "cpu.frequency_hz_max": None if maximum_khz is None else maximum_khz * 1000,
        "cpu.governor": _text(cpus / "cpu0/cpufreq/scaling_governor") or None,
        "cpu.threads_per_core_on": _integer(_text(cpus / "smt/active")),
        **{f"cpu.cache_{name}_bytes": size for name, size in _caches(cpus).items()},
        "idle_states.driver": _text(cpus / "cpuidle/current_driver") or None,
    }


def _caches(cpus: Path) -> dict[str, Fact]:
    sizes: dict[str, Fact] = {"l1_data": None, "l2": None, "l3": None}
    for index in cpus.glob("cpu0/cache/index[0-9]*"):
        level, kind = _text(index / "level"), _text(index / "type")
        name = "l1_data" if (level, kind) == ("1", "Data") else f"l{level}"
        kibibytes = _integer(_text(index / "size").removesuffix("K"))
        if name in sizes and kibibytes is not None:
            sizes[name] = kibibytes * 1024
    return sizes


def _memory(root: Path) -> dict[str, Fact]:
    info = _pairs(_text(root / "proc/meminfo"))

    def size_bytes(name: str) -> int | None:
        kibibytes = _integer(info.get(name, "").removesuffix(" kB"))
        return None if kibibytes is None else kibibytes * 1024

    swap, swap_free = size_bytes("SwapTotal"), size_bytes("SwapFree")
    pages = _text(root / "sys/kernel/mm/transparent_hugepage/enabled")
    return {
        "memory.total_bytes": size_bytes("MemTotal"),
        "memory.available_bytes": size_bytes("MemAvailable"),
        "memory.limit_bytes": _memory_limit_bytes(root, size_bytes("MemTotal")),
        "memory.page_bytes": os.sysconf("SC_PAGE_SIZE"),
        "memory.numa_nodes": len([*root.glob("sys/devices/system/node/node[0-9]*")]) or None,
        "huge_pages.total": _integer(info.get("HugePages_Total", "")),
        "transparent_huge_pages": _chosen(pages),
        "swap.total_bytes": swap,
        "swap.used_bytes": None if swap is None or swap_free is None else swap - swap_free,
    }


def _system(root: Path) -> dict[str, Fact]:
    pairs = _pairs(_text(root / "etc/os-release"), "=")
    return {
        "kernel.release": _text(root / "proc/sys/kernel/osrelease") or None,
        "os.name": pairs.get("PRETTY_NAME", "").strip("\"'") or None,
        "virtualisation": _virtualisation(root),
        "container": _container(root),
        "process.privileged": int(os.geteuid() == 0),
    }


def _virtualisation(root: Path) -> str | None:
    """The hypervisor's name, `unnamed` where one only shows itself, `none` without one."""
    detector = shutil.which("systemd-detect-virt") if root == ROOT else None
    if detector:
        found = subprocess.run([detector, "--vm"], capture_output=True, text=True, check=False)
        if name := found.stdout.strip():
            return name
    flags = _pairs(_text(root / "proc/cpuinfo")).get("flags")
    if flags is None:
        return None
    if "hypervisor" not in flags.split():
        return "none"
    return _text(root / "sys/class/dmi/id/sys_vendor") or "unnamed"


def _container(root: Path) -> str | None:
    marks = {"docker": ".dockerenv", "podman": "run/.containerenv"}
    return next((name for name, mark in marks.items() if _is_there(root / mark)), None)


def _filesystem(mount: Mount | None, folder: Path) -> dict[str, Fact]:
    options = [option for option in mount.options if OPTIONS.fullmatch(option)] if mount else None
    try:
        free_bytes = shutil.disk_usage(folder).free
    except OSError:
        free_bytes = None
    return {
        "filesystem.type": mount.type if mount else None,
        "filesystem.options": None if options is None else ",".join(options),
        "filesystem.free_bytes": free_bytes,
    }


def _disk(mount: Mount | None, root: Path) -> dict[str, Fact]:
    disk = _block_device(mount, root) if mount else None

    def fact(name: str) -> str:
        return _text(disk / name) if disk else ""

    sectors, ahead = _integer(fact("size")), _integer(fact("queue/read_ahead_kb"))
    driver = disk / "device/driver" if disk else None
    return {
        "disk.model": fact("device/model") or None,
        "disk.driver": driver.resolve().name if driver and _is_there(driver) else None,
        # The kernel counts in sectors of 512 bytes whatever the disk's own are.
        "disk.size_bytes": None if sectors is None else sectors * 512,
        "disk.rotational": _integer(fact("queue/rotational")),
        "disk.scheduler": _chosen(fact("queue/scheduler")),
        "disk.read_ahead_bytes": None if ahead is None else ahead * 1024,
        "disk.write_cache": fact("queue/write_cache") or None,
        "disk.sector_bytes": _integer(fact("queue/physical_block_size")),
    }


def _block_device(mount: Mount, root: Path) -> Path | None:
    """The whole disk below a mount: by number or, on file systems with made-up ones, by name."""
    named = root / "sys/class/block" / Path(mount.source).name
    numbered = root / "sys/dev/block" / mount.number
    device = next((path.resolve() for path in (numbered, named) if _is_there(path)), None)
    # Through partitions, and through mappings (encryption, LVM) of one disk.
    for _ in range(8):
        if device is None:
            return None
        layers = [path.resolve() for path in device.glob("slaves/*")]
        if _is_there(device / "partition"):
            device = device.parent
        elif len(layers) == 1:
            device = layers[0]
        else:
            return device
    return None


def _software() -> dict[str, Fact]:
    return {
        "python.version": platform.python_version(),
        "python.implementation": sys.implementation.name,
        "loadstone.version": _core.__version__,
        "loadstone.build_profile": _core.build_profile,
    }


def _clock(root: Path) -> dict[str, Fact]:
    source = root / "sys/devices/system/clocksource/clocksource0/current_clocksource"
    return {
        "clock.source": _text(source) or None,
        "clock.resolution_ns": _core.clock_resolution_ns(),
        "clock.cost_ns": round(_core.clock_cost_ns(), 1),
    }


def _control_groups(root: Path, controller: str) -> list[Path]:
    """Folders that may limit this process, in both versions of control groups, parents too."""
    folders = []
    membership = _text(root / "proc/self/cgroup")
    for controllers, path in re.findall(r"^\d+:([^:]*):(.*)$", membership, re.MULTILINE):
        if controllers == "" or controller in controllers.split(","):
            top = root / "sys/fs/cgroup" / (controller if controllers else "")
            own = top / path.strip("/")
            folders += [own, *(parent for parent in own.parents if parent.is_relative_to(top))]
    return folders


def _memory_limit_bytes(root: Path, total_bytes: int | None) -> int | None:
    """The least limit of this process's control groups; None where memory alone limits it."""
    names = ("memory.max", "memory.limit_in_bytes")
    folders = _control_groups(root, "memory")
    limits = [_integer(_text(folder / name)) for folder in folders for name in names]
    # Version 1 writes "no limit" as a number larger than any memory.
    real = [limit for limit in limits if limit is not None and limit < (total_bytes or limit)]
    return min(real, default=None)


def _cpu_quota(root: Path) -> float | None:
    """CPUs' worth of time that the control groups allow; None where they do not limit it."""
    quotas = []
    for folder in _control_groups(root, "cpu"):
        quota, _, period = _text(folder / "cpu.max").partition(" ")
        quota = quota or _text(folder / "cpu.cfs_quota_us")
        period = period or _text(folder / "cpu.cfs_period_us")
        share, length = _integer(quota), _integer(period)
        if share is not None and share > 0 and length:
            quotas.append(share / length)
    return min(quotas, default=None)


def _text(path: Path) -> str:
    """A small file's text, stripped; empty where it cannot be read."""
    try:
        return path.read_text(errors="replace").strip().strip("\0")
    except OSError:
        return ""


def _is_there(path: Path) -> bool:
    """Whether a name exists where it can be seen: a container may hide a part of `/sys`."""
    try:
        return path.exists()
    except OSError:
        return False


def _pairs(text: str, separator: str = ":") -> dict[str, str]:
    """Names and values, one pair a line; of a name that comes again, the first."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        name, found, value = line.partition(separator)
        if found:
            pairs.setdefault(name.strip(), value.strip())
    return pairs


def _integer(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else None


def _chosen(text: str) -> str | None:
    """The bracketed one of the kernel's alternatives (`always [madvise] never`), else all."""
    bracketed = re.search(r"\[([\w-]+)\]", text)
    return bracketed[1] if bracketed else text or None
