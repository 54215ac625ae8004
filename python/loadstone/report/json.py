"""The JSON report: the whole record and every figure derived from it, units in the names."""

import base64
import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from loadstone.analysis.calibration import calibration
from loadstone.analysis.chapters import chapters, verdict_of
from loadstone.analysis.growth import Growth, growth
from loadstone.analysis.ladder import ladders
from loadstone.analysis.over_time import ramp_verdict
from loadstone.analysis.published import comparisons
from loadstone.analysis.routines import profiles
from loadstone.analysis.summary import Summary, summarise
from loadstone.analysis.verdict import Verdict, verdict
from loadstone.control_characters import legible_json
from loadstone.plan.chapters import hash_of
from loadstone.record.changed_answers import changed_in
from loadstone.record.model import Run
from loadstone.record.users import UsersPoint
from loadstone.report.base import Report
from loadstone.report.budget_json import budget_objects
from loadstone.report.columns import cells, members, plain
from loadstone.report.findings_json import findings_members
from loadstone.report.study_json import study_object

SCHEMA = "loadstone-report-2"


class JsonReport(Report):
    """For programs. The schema is in `docs/reference/report.md`; it only ever gains members."""

    suffix: ClassVar[str] = ".json"
    mark: ClassVar[re.Pattern[bytes] | None] = re.compile(rb'^\{"schema":"loadstone-report-')

    def render(self, run: Run) -> bytes:
        """UTF-8, one line."""
        return encode(summarise(run))

    def render_chapters(self, runs: Sequence[Run]) -> bytes:
        """UTF-8, one line: the object of each benchmark in `chapters`."""
        return encode_chapters([summarise(run) for run in runs])


def encode(whole: Summary) -> bytes:
    """The report of a summary that is made already."""
    return _line(_content(whole))


def encode_chapters(wholes: Sequence[Summary]) -> bytes:
    """The report of a run of several benchmarks, whose summaries are made already."""
    first = wholes[0].run
    content = {
        "schema": SCHEMA,
        "run_id": first.run_id,
        "created_at": first.created_at,
        "loadstone_version": first.loadstone_version,
        "plan": {"hash": hash_of([whole.run.plan for whole in wholes])},
        "verdict": _verdict(verdict_of(chapters(wholes))),
        "chapters": [_content(whole) for whole in wholes],
    }
    return _line(content)


def _line(content: Mapping[str, Any]) -> bytes:
    return legible_json(content, separators=(",", ":")).encode() + b"\n"


def _content(whole: Summary) -> dict[str, Any]:
    run = whole.run
    texts = {(text.name, text.rows): text for text in run.operations}
    return {
        "schema": SCHEMA,
        "run_id": run.run_id,
        "created_at": run.created_at,
        "loadstone_version": run.loadstone_version,
        "plan": _plan(run),
        "verdict": _verdict(verdict(whole)),
        **findings_members(whole),
        "calibration": dataclasses.asdict(calibration(whole)),
        "sessions": [dataclasses.asdict(session) for session in run.sessions],
        "operations": [dataclasses.asdict(text) for text in texts.values()],
        "cells": [members(reported) for reported in cells(whole)],
        "growth": [_growth(line) for line in growth(whole)],
        "ladder": [dataclasses.asdict(ladder) for ladder in ladders(whole)],
        "budgets": budget_objects(run),
        "routines": [dataclasses.asdict(one) for one in profiles(run)],
        "study": study_object(run),
        "users": [
            _users(point, run.plan.loop_s) | {"judged": run.plan.limits} for point in run.users
        ],
        "terms": [dataclasses.asdict(term) for term in run.terms],
        "structure_notes": [
            dict(zip(("variant", "storage", "note"), note, strict=True))
            for note in run.structure_notes
        ],
        "loads": [dataclasses.asdict(load) for load in run.loads],
        "sizes": [
            dict(zip(("variant", "rows", "size_bytes"), size, strict=True)) for size in run.sizes
        ],
        "events": [dataclasses.asdict(event) for event in run.events],
        "agreements": [dataclasses.asdict(one) for one in run.agreements],
        "given_answers": [dataclasses.asdict(one) for one in run.given],
        "changed_answers": [dataclasses.asdict(one) for one in changed_in(run)],
        "published": run.published,
        "paper": _paper(whole),
        "presentation": dataclasses.asdict(run.presentation),
    }


def _paper(whole: Summary) -> dict[str, Any] | None:
    """The paper's tables beside today's figures; None where it has none."""
    found = comparisons(whole)
    return None if found is None else dataclasses.asdict(found)


def _plan(run: Run) -> dict[str, Any]:
    """The plan without its cells, which stand below with their results."""
    fields = run.plan.fields()
    del fields["cells"]
    return {"hash": run.plan.hash, **fields}


def _verdict(judged: Verdict) -> dict[str, Any]:
    fields = dataclasses.asdict(judged)
    del fields["of_study"]  # as the plan says
    counts = {"statuses": judged.statuses, "own_statuses": judged.own_statuses}
    reported = {name: dict(sorted(count.items())) for name, count in counts.items()}
    return {**fields, **reported, "clean": judged.clean}


INTERVAL = ("completed", "failed", "median_ns", "p99_ns", "max_ns")


def _users(point: UsersPoint, loop_s: float) -> dict[str, Any]:
    """A loop: its intervals by the names of their figures, too."""
    verdict = ramp_verdict(point, loop_s) if point.ramp and point.intervals else None
    return {
        **point.by_column(),
        "histogram": base64.b64encode(point.histogram).decode(),
        "intervals": [dict(zip(INTERVAL, each, strict=True)) for each in point.intervals],
        "ramp_verdict": None if verdict is None else dataclasses.asdict(verdict),
    }


def _growth(line: Growth) -> dict[str, Any]:
    return {
        "operation": line.operation.name,
        "variant": line.variant,
        "temperature": line.temperature,
        "rows": list(line.sizes),
        "elapsed_ns": [plain(estimate) for estimate in line.elapsed_ns],
        "exponent": line.exponent,
        "exponent_error": line.error,
        "exponent_low": line.low,
        "exponent_high": line.high,
    }
