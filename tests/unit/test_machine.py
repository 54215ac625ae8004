"""The description of the machine: of made-up ones, of none at all, and of this one."""

import getpass
import json
import os
import socket
from pathlib import Path

import pytest

from loadstone.analysis.compare.same_machine import STABLE, fingerprint
from loadstone.machine import facts as machine

FILES = {
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: Sun 3/280 @ 25 MHz\ncpu MHz\t\t: 25.000\n"
    "flags\t\t: fpu hypervisor\n\nprocessor\t: 1\nmodel name\t: another\n",
    "proc/meminfo": "MemTotal:       16384 kB\nMemAvailable:    8192 kB\nSwapTotal:     100 kB\n"
    "SwapFree:       60 kB\nHugePages_Total:       0\n",
    "proc/loadavg": "0.52 0.40 0.30 1/99 4242\n",
    "proc/sys/kernel/osrelease": "4.0.3\n",
    "proc/self/cgroup": "0::/lab/run\n",
    "proc/self/mountinfo": "1 0 8:1 / / rw,noatime shared:1 - ext4 /dev/sda1 rw,secret=/home/x\n"
    "2 1 0:30 / /a\\040b rw - tmpfs tmpfs rw,size=1k\n"
    "3 1 0:31 / /fast rw - btrfs /dev/sda1 rw,compress=zstd:1,subvol=/fast\n"
    "4 1 0:32 / /fast rw - xfs /dev/sdb rw\n",
    "etc/os-release": 'NAME="SunOS"\nPRETTY_NAME="SunOS 4.0.3"\n',
    "sys/fs/cgroup/lab/run/memory.max": "max\n",
    "sys/fs/cgroup/lab/memory.max": "4194304\n",
    "sys/fs/cgroup/lab/cpu.max": "150000 100000\n",
    "sys/fs/cgroup/lab/run/cpu.max": "max 100000\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
    "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "25000\n",
    "sys/devices/system/cpu/cpu0/cache/index0/level": "1\n",
    "sys/devices/system/cpu/cpu0/cache/index0/type": "Data\n",
    "sys/devices/system/cpu/cpu0/cache/index0/size": "64K\n",
    "sys/devices/system/cpu/cpu0/topology/core_id": "0\n",
    "sys/devices/system/cpu/cpu0/topology/physical_package_id": "0\n",
    "sys/devices/system/cpu/cpu1/topology/core_id": "0\n",
    "sys/devices/system/cpu/cpu1/topology/physical_package_id": "0\n",
    "sys/class/dmi/id/sys_vendor": "QEMU\n",
    "sys/devices/pci/sda/size": "1000\n",
    "sys/devices/pci/sda/device/model": "Hitachi DK815   \n",
    "sys/devices/pci/sda/queue/scheduler": "[none] bfq\n",
    "sys/devices/pci/sda/queue/rotational": "1\n",
    "sys/devices/pci/sda/sda1/partition": "1\n",
    "sys/devices/pci/sda/sda1/size": "900\n",
    "sys/class/block/loop0/loop/dio": "1\n",
    "sys/class/block/loop1/loop/dio": "0\n",
    ".dockerenv": "",
}
LINKS = {"sys/dev/block/8:1": "../../devices/pci/sda/sda1"}


@pytest.fixture
def made_up(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name, target in LINKS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(target)
    return tmp_path


EXPECTED = {
    "cpu.model": "Sun 3/280 @ 25 MHz",
    "cpu.cores": 1,
    "cpu.quota": 1.5,
    "cpu.frequency_hz": 25_000_000,
    "cpu.frequency_hz_max": 25_000_000,
    "cpu.governor": "powersave",
    "cpu.cache_l1_data_bytes": 65536,
    "cpu.cache_l3_bytes": None,
    "memory.total_bytes": 16 << 20,
    "memory.available_bytes": 8 << 20,
    "memory.limit_bytes": 4 << 20,
    "huge_pages.total": 0,
    "swap.total_bytes": 102_400,
    "swap.used_bytes": 40_960,
    "transparent_huge_pages": "madvise",
    "kernel.release": "4.0.3",
    "os.name": "SunOS 4.0.3",
    "virtualisation": "QEMU",
    "container": "docker",
    "filesystem.type": "ext4",
    "filesystem.options": "rw,noatime",
    "disk.model": "Hitachi DK815",
    "disk.size_bytes": 512_000,
    "disk.scheduler": "none",
    "disk.rotational": 1,
    "disk.write_cache": None,
    "load_average": 0.52,
}


@pytest.mark.parametrize("key", EXPECTED)
def test_a_made_up_machine_is_read(made_up, key):
    assert machine.describe(Path("/elsewhere"), root=made_up)[key] == EXPECTED[key]


def test_control_groups_of_the_first_version_are_read(made_up):
    (made_up / "proc/self/cgroup").write_text("4:memory:/seen/outside\n3:cpu,cpuacct:/\n")
    top = made_up / "sys/fs/cgroup"
    limits = {
        "memory/memory.limit_in_bytes": ("9223372036854771712", "2097152"),
        "cpu/cpu.cfs_quota_us": ("-1", "50000"),
        "cpu/cpu.cfs_period_us": ("100000", "100000"),
    }
    for which, expected in enumerate([(None, None), (2 << 20, 0.5)]):
        for name, values in limits.items():
            (top / name).parent.mkdir(exist_ok=True)
            (top / name).write_text(values[which] + "\n")
        facts = machine.describe(Path("/elsewhere"), root=made_up)
        assert (facts["memory.limit_bytes"], facts["cpu.quota"]) == expected


def test_an_absent_fact_is_none_and_never_zero(tmp_path):
    facts = machine.describe(Path("/elsewhere"), root=tmp_path)
    for key in EXPECTED:
        assert facts[key] is None, key
    assert facts.keys() == machine.describe().keys()


def test_what_a_container_hides_is_absent(made_up, monkeypatch):
    """A folder of /sys that is closed, as some containers have it; to root no real one is."""
    seen = Path.stat

    def closed(path, **options):
        if path.is_relative_to(made_up / "sys/dev") or path.is_relative_to(made_up / "sys/class"):
            raise PermissionError(13, "Permission denied", str(path))
        return seen(path, **options)

    monkeypatch.setattr(Path, "stat", closed)
    facts = machine.describe(Path("/elsewhere"), root=made_up)
    assert facts["disk.model"] is None
    assert facts["cpu.model"] == EXPECTED["cpu.model"]


def test_garbage_is_absent(made_up):
    for name in FILES:
        if name != ".dockerenv":
            (made_up / name).write_bytes(b"\xff [ : - \n\0 -x kB\n")
    facts = machine.describe(Path("/elsewhere"), root=made_up)
    numbers = {key for key, value in EXPECTED.items() if isinstance(value, int | float)}
    assert {facts[key] for key in numbers - {"cpu.cores"}} == {None}


def test_mounts_are_found_by_the_longest_place_and_the_last_covers(made_up):
    def kind(path):
        return machine.mount_of(Path(path), root=made_up).type

    assert kind("/a b/c") == "tmpfs"
    assert kind("/a bc") == "ext4"
    assert kind("/fast/x") == "xfs"
    assert machine.mount_of(Path("/"), root=made_up / "nowhere") is None


def test_loop_devices_say_whether_their_file_is_cached(made_up):
    found = [machine.loop_is_direct(name, root=made_up) for name in ("loop0p1", "loop1", "loop9")]
    assert found == [True, False, False]


def test_this_machine_is_described_in_plain_values():
    facts = machine.describe()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["cpu.count"] >= 1
    assert facts["memory.total_bytes"] > 1 << 20
    assert facts["clock.cost_ns"] > 0
    for key, value in facts.items():
        assert value != "", key


def test_nobody_is_named():
    reported = json.dumps(machine.describe())
    names = {socket.gethostname(), getpass.getuser(), str(Path.home()), str(Path.cwd())}
    # A name that is a word by itself ("vm", "root") proves nothing by being part of another.
    words = set(reported.replace('"', " ").replace(",", " ").split())
    assert not names & words
    assert not [word for word in words if word.startswith("/")]


def test_the_fingerprint_follows_the_machine_and_not_the_moment():
    facts = machine.describe()
    moment = {"load_average": 99.0, "swap.used_bytes": 1, "clock.cost_ns": 1e6}
    assert fingerprint({**facts, **moment}) == fingerprint(facts)
    assert len(fingerprint(facts)) == 12
    for key in STABLE:
        assert key in facts
        assert fingerprint({**facts, key: "other"}) != fingerprint(facts), key


def test_an_ordinary_user_may_describe_it(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert machine.describe()["process.privileged"] == 0
