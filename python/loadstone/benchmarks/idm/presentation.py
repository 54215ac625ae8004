"""The IDM tests to their readers: what today's figures are of, and the papers' two enhancements of
the machine, each with the switches that make it today."""

from pathlib import Path

from loadstone.plan.presentation import Enhancement, Presentation, lessons_from

WITHOUT, WITH = "lode?profile=idm-nodac", "lode?profile=idm-dac"
STUDY = "loadstone study idm"
DISKS = "bandwidth=50&volume=two-disks"
MIRROR = f"{STUDY} --on 'lode?{DISKS}&profile=idm-nodac' --vary mirror=off,idle --operation scan"
PROCESSOR = f"{STUDY} --on sqlite --vary processor=60,100 --operation retrieve-heap --rows 3000000"

ENHANCEMENTS = (
    Enhancement(
        name="IDM 500/2",
        what="A database accelerator of 8 MIPS, which evaluates conditions on the pages as they "
        "come from the disk; here `accelerator`, which does so in the access method.",
        found="2.4 to 2.5 times on look-ups by an index, 1.2 on scans from disk (test 2); it saves "
        "processor time, the same from memory and from disk (test 5).",
        before="IDM 500/1",
        tables=("1 to 6", "of test 5", "of test 11"),
        switches=("accelerator=off,on", "accelerator=off,thread"),
        command=STUDY,
    ),
    Enhancement(
        name="mirrored, two controllers",
        what="A second copy of the disk, of which either is read and both are written; here "
        "`mirror`, lode's own copies, or `volume`, a mirrored file system under any engine, with "
        "`bandwidth` for the controllers.",
        found="With a controller for each disk, scans and updates within 6 % of one disk, retrieve "
        "into 8 % slower; two users who scan two relations 4.6 times as fast (tests 8 and 10).",
        before="not mirrored",
        tables=("of tests 8 and 10", "of tests 8 and 10, two users"),
        switches=("mirror=off,idle", "volume=one-disk,mirrored"),
        command=MIRROR,
    ),
    Enhancement(
        name="10 MHz, 500/1",
        what="A processor at 10 MHz for one at 6; here a whole processor for 0.6 of one, "
        "which only statements of 0.1 s and more feel.",
        found="50 to 70 % more queries in a second without the accelerator, 36 to 69 % with it "
        "(test 11): less than the clock's 67 % where memory had to be waited for.",
        before="IDM 500/1",
        tables=("of test 11",),
        switches=("processor=60,100",),
        command=PROCESSOR,
    ),
)

PRESENTATION = Presentation(
    title="IDM",
    basis="The IDM was a machine of its own, reached through a serial line. Its times of tests 2, "
    "5 and 11 are those inside the machine: parsing on the client's computer and the line are not "
    "in them. Test 1's are those of a master script, with the line. Test 2 had its data on disk, "
    "test 5 in memory or on disk as its rows say, test 11 in memory. Today's times are of the "
    "whole call.",
    reimplemented={"IDM 500/1": WITHOUT, "IDM 500/2": WITH},
    lessons=lessons_from(Path(__file__).with_name("lessons.toml").read_text("utf-8")),
    enhancements=ENHANCEMENTS,
)
