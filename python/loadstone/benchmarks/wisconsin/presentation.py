"""The Wisconsin benchmark to its readers: tuples, and what today's figures are of."""

from pathlib import Path

from loadstone.plan.presentation import Presentation, lessons_from

PRESENTATION = Presentation(
    title="Wisconsin",
    basis="The paper's temperature lay between cold and warm: its relations were larger than the "
    "buffers, at most 1 MB for 1.8 MB, and queries alternated between two of them. The edition of "
    "1993 requires relations of at least five times the buffers. Today's warm figures come from "
    "caches that hold the relations whole, unless a variant says otherwise, as sqlite?cache=364000 "
    "does for a fifth of 10,000 tuples. The paper's tuples had 182 bytes; those of the edition of "
    "1993 have 208.",
    reimplemented={
        "U-INGRES": "lode?profile=u-ingres",
        "C-INGRES": "lode?profile=c-ingres",
        "IDMnodac": "lode?profile=idm-nodac",
        "IDMdac": "lode?profile=idm-dac",
    },
    lessons=lessons_from(Path(__file__).with_name("lessons.toml").read_text("utf-8")),
)
