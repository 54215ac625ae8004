"""The INGRES queries to their readers: what today's figures are of, and the paper's four
enhancements, each with the switches that make it today."""

from pathlib import Path

from loadstone.plan.presentation import Enhancement, Presentation, Routine, lessons_from

BASE, COMPILED, OWN_FILES = (
    f"lode?profile={system}" for system in ("u-ingres", "dc-ingres", "fs-ingres")
)
STUDY = "loadstone study ingres"
FILE_SYSTEM = (
    f"{STUDY} --on 'lode?profile=u-ingres&cache=262144' --vary disk=buffered,direct"
    " --vary readahead=off,on --vary extent=4,16"
)
PLACES = (
    f"{STUDY} --on 'lode?place=server&profile=u-ingres&statement=text'"
    " --vary place=server,thread,embedded"
)

ENHANCEMENTS = (
    Enhancement(
        name="DC-INGRES",
        what="Each command's expressions are compiled: to a tree of specialised operators in the "
        "paper, which is what closures are here.",
        found="No effect for short commands, 25 to 100 % for longer ones, after four man-months; "
        "worth it beyond about ten tuples (2.4, 6).",
        before="INGRES",
        tables=("1", "2"),
        switches=(
            "execution=interpreted,closures",
            "execution=interpreted,vectorised",
            "execution=interpreted,compiled",
        ),
        command=STUDY,
        pays_after=10,
    ),
    Enhancement(
        name="M-INGRES",
        what="The two hottest routines in microcode; here the innermost loops by hand, in vector "
        "instructions.",
        found="2.3 % by estimate, 6.9 at most, for more than six man-months: a net loss where the "
        "way into microcode is counted (3.4, 6). Nothing was measured.",
        before="INGRES",
        switches=("simd=off,on",),
        command=STUDY,
    ),
    Enhancement(
        name="FS-INGRES",
        what="A file system of its own: extents, reads past the system's buffers, a track at a "
        "time.",
        found="5 to 40 % of CPU time and 5 to 50 % of response time for two man-months, most where "
        "overflow pages spoil Unix's prefetch (4.3, 6).",
        before="INGRES",
        tables=("5", "6"),
        switches=("disk=buffered,direct", "readahead=off,on", "extent=4,16"),
        command=FILE_SYSTEM,
    ),
    Enhancement(
        name="no parsing",
        what="Not one of the four: what reading and planning a command anew costs, which INGRES "
        "did each time.",
        found='"The parse-at-run-time strategy is one of the major mistakes in the design": a '
        "major win for short commands, and of little effect on long ones (1.1).",
        switches=("statement=text,kept",),
        command=STUDY,
    ),
    Enhancement(
        name="MANGOS",
        what="An operating system made for it: INGRES in one address space, messages and task "
        "switches of some ten instructions; here statements in another process, in another thread, "
        "or in a call.",
        found="1 to 4 %, by estimate, for six to twelve man-months (5.5, 6). Nothing was measured.",
        before="INGRES",
        tables=("9",),
        switches=("place=server,thread", "place=server,embedded"),
        command=PLACES,
    ),
)

ROUTINES = (
    Routine(
        "GETSYMBOL", "get symbol from list", 17.1,
        ("<?lode_query::execution::interpreted::machine::getsymbol",),
    ),
    Routine(
        "INTERPRET", "interpret list", 14.8,
        (
            "<?lode_query::execution::interpreted::machine::(interpret|typecheck|binary|relation)",
            "<?lode_query::execution::interpreted",
            "<lode_query::execution::interpreted",
        ),
    ),
    Routine(
        "LOG", "logarithm", 4.4,
        # libm's own has no name of its own: the sampler says between which two it is.
        ("_*(ieee754_)?log", r"\[between \w+ and log", "(core|std)::f64::.*ln"),
    ),
    Routine("READ", "read system call", 4.3, ("_*(libc_)?p?read(64)?$", "rustix::io")),
    Routine("BMOVE", "block memory move", 3.9, ("_*mem(cpy|move)",)),
    Routine(
        "GET", "get tuple", 3.7,
        ("<?lode::(heap|btree|hash)", "<?lode_query::relation", "<?lode_query::tuple"),
    ),
    Routine(
        "FWRITE", "write to file", 3.1,
        ("_*(libc_)?f?write", "<?lode_query::database::(rows|arrow)"),
        components=("Python and driver",),
    ),
    Routine(
        "SCAN", "scan a relation", 3.0,
        ("<?lode_query::execution::(rows|state|sink|receiver|joining)",),
    ),
)  # fmt: skip

PRESENTATION = Presentation(
    title="INGRES",
    basis="The paper ran each query from a terminal, one user, on relations that Unix may have had "
    "in memory: Table 8 counts its reads. Times are of the whole command, parsing included. Beside "
    "the CPU times of its Tables 2, 6 and 9 stands the CPU time of today's client and server "
    "together. A query's rows go to a file, here and there.",
    reimplemented={"INGRES": BASE, "DC-INGRES": COMPILED, "FS-INGRES": OWN_FILES},
    lessons=lessons_from(Path(__file__).with_name("lessons.toml").read_text("utf-8")),
    enhancements=ENHANCEMENTS,
    routines=ROUTINES,
)
