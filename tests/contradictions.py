"""The contradictions that a report may not contain, in itself or with its record.

A checker, not a test: it reads the record by itself, and the report as text, and shares no code
with either. `test_contradictions.py` feeds it; `python tests/contradictions.py RECORD…` looks at
real ones.
"""

import csv
import html
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator

from loadstone.record.model import Run

NUMBER = r"[\d,]*\.?\d+"
SPAN = re.compile(rf"({NUMBER})</td><td class=\"n\">({NUMBER}) … ({NUMBER})</td>")
TITLE = re.compile(rf": ({NUMBER}) (ns|µs|ms|s) \(({NUMBER}) … ({NUMBER}) (ns|µs|ms|s)\), \d")
OF = re.compile(rf"({NUMBER}) of ({NUMBER}) (?:cells?|answers?|cold cells?|samples)\b")
COUNT = re.compile(r"([\d,]+) (failed|disturbed|invalid|not run|declared gaps?)\b")
BELOW_ONE = re.compile(rf"(?<![\d.,(])0\.\d+{chr(215)}(?! [^<|]* / )")
"""But of the paper's best over today's, which may be smaller: both are named behind it."""
VERDICT = re.compile(
    r"([\d,]+) of ([\d,]+) cells? measured and (in order|judged by no limits)(.*)", re.DOTALL
)
DRAWING = re.compile(r"<svg.*?</svg>", re.DOTALL)
SIGNED_RATIO = re.compile(rf"[≈?] ?{NUMBER}{chr(215)}")
SHARE = re.compile(rf"({NUMBER}) % of the elapsed time")
PROOF = re.compile(
    rf"({NUMBER}) of ({NUMBER}) samples? proved by [^:<]*: ({NUMBER}) pages? in memory when"
)
NS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}


def contradictions(run: Run, page: str, markdown: str, table: str) -> list[str]:
    """Every contradiction of the reports of a run: `page` its HTML, `table` its CSV."""
    page = html.unescape(page)
    return [
        *_cells(run, table),
        *_cold(run, table),
        *_panels(run, page),
        *_intervals(page, table),
        *_counts(run, page, "page"),
        *_counts(run, markdown, "markdown"),
        *_ratios(DRAWING.sub("", page), "page"),
        *_ratios(markdown, "markdown"),
        *_busy(page),
        *_answers(run, page),
        *_terms(page),
        *_unproved(markdown, page, table),
    ]


def value(text: str) -> float:
    return float(text.replace(",", ""))


def rows_of(table: str) -> Iterator[dict[str, str]]:
    yield from csv.DictReader(io.StringIO(table))


def _cells(run: Run, table: str) -> Iterator[str]:
    """A wrong answer has no time; what has a time has samples; what is behind is behind one."""
    wrong = {r.cell.key for r in run.results if any(not a.right for a in r.answers)}
    best: Counter[tuple[str, ...]] = Counter()
    for row in rows_of(table):
        key = key_of(row)
        if row["elapsed_ns_median"]:
            if key in wrong:
                yield f"{key}: a time beside a wrong answer"
            if row["samples"] == "0":
                yield f"{key}: a time without a sample"
            if row["status"] in ("failed", "gap", "pending"):
                yield f"{key}: a time, but {row['status']}"
        elif row["status"] in ("ok", "disturbed", "invalid"):
            yield f"{key}: {row['status']}, but without a time"
        yield from _words(row)
        if row["best_ratio"]:
            best[row["operation"], row["rows"], row["temperature_planned"]] += (
                row["best_ratio"] == "1.0" and not row["best_ratio_low"]
            )
            if (row["role"], row["status"]) != ("competitor", "ok"):
                yield f"{key}: ranked, but {row['role']} and {row['status']}"
    yield from (f"{place}: ranked, but nobody is the best" for place in best if not best[place])


def _words(row: dict[str, str]) -> Iterator[str]:
    if int(row["answers_right"]) > int(row["answers_checked"]):
        yield f"{key_of(row)}: more answers right than checked"
    if row["status"] not in ("ok", "gap") and not row["reason"]:
        yield f"{key_of(row)}: {row['status']} without a reason"


def key_of(row: dict[str, str]) -> str:
    return "|".join((row["operation"], row["variant"], row["rows"], row["temperature_planned"]))


def _cold(run: Run, table: str) -> Iterator[str]:
    """Cold is what read something, of a dead engine, with no page left, in every sample."""
    results = {result.cell.key: result for result in run.results}
    for row in rows_of(table):
        if row["temperature"] != "cold" or not row["elapsed_ns_median"]:
            continue
        key = key_of(row)
        result = results[key]
        if result.answers and all(sample.read_bytes == 0 for sample in result.samples):
            yield f"{key}: cold, but read nothing"
        if len(result.evidence) < len(result.samples):
            yield f"{key}: cold, but with less evidence than samples"
        for item in result.evidence:
            pages = item.resident_after, item.resident_at_clock
            if not item.proved or not item.engine_dead or pages != (0, 0):
                yield f"{key}: cold, but {item}"


def _unproved(markdown: str, page: str, table: str) -> Iterator[str]:
    """A time that was meant to be cold, without proof, says so wherever it stands."""
    own = [r for r in rows_of(table) if r["temperature"] == "unproved" and r["elapsed_ns_median"]
           and r["role"] in ("competitor", "limit")]  # fmt: skip
    shown = re.findall(r"<td class=\"[^\"]*\"><button[^>]*>(?:(?!</button>).)*", page, re.DOTALL)
    reported = sum("unproved: planned as cold" in one and "<i>unproved</i>" in one for one in shown)
    if reported != len(own):
        yield f"page: {len(own)} unproved figures, {reported} reported in the summary"
    if markdown.count("*unproved*") < len(own):
        yield f"markdown: {len(own)} unproved figures, {markdown.count('*unproved*')} reported"


def _panels(run: Run, page: str) -> Iterator[str]:
    cold = [result for result in run.results if result.cell.temperature == "cold"]
    # An operation without an answer (a rung of a ladder) may read nothing.
    asked = all(result.answers for result in cold if result.samples)
    for strip in () if not asked else re.findall(r"<td>cold</td>.*?</tr>", page, re.DOTALL):
        if re.search(r'<td class="n">0 B</td>', strip):
            yield "a panel has cold beside 0 B"
    for proved, whole, after in PROOF.findall(page):
        if value(proved) > value(whole) or (proved == whole and value(after) > 0):
            yield f"{proved} of {whole} proved beside {after} pages when the clock started"


def _intervals(page: str, table: str) -> Iterator[str]:
    """A figure lies within its interval."""
    for row in rows_of(table):
        for name in ("elapsed_ns", "best_ratio"):
            median = row["elapsed_ns_median"] if name == "elapsed_ns" else row[name]
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            if low and high and not value(low) <= value(median) <= value(high):
                yield f"{row['operation']} on {row['variant']}: {name} {low} … {median} … {high}"
    for median, low, high in SPAN.findall(page):
        if not value(low) <= value(median) <= value(high):
            yield f"a panel has {median} in {low} … {high}"
    for median, unit, low, high, other in TITLE.findall(page):
        about = value(median) * NS[unit] / NS[other]
        if not value(low) * 0.994 <= about <= value(high) * 1.006:
            yield f"a cell has {median} {unit} in {low} … {high} {other}"


def _counts(run: Run, text: str, where: str) -> Iterator[str]:
    """The verdict's parts are its whole."""
    for part, whole in OF.findall(text):
        if value(part) > value(whole):
            yield f"{where}: {part} of {whole}"
    found = VERDICT.search(text)
    if not found:
        yield f"{where}: the verdict does not count the cells"
        return
    line = found[4].split("\n")[0] if where == "markdown" else found[4].split("</p>")[0]
    others = sum(value(count) for count, _ in COUNT.findall(re.sub(r"\([^)]*\)", "", line)))
    roles = Counter(run.plan.role_of(cell.variant).value for cell in run.plan.cells)
    own = roles["competitor"] + roles["limit"]
    if (found[3] == "in order") != run.plan.limits:
        yield f"{where}: {found[3]}, with limits {run.plan.limits}"
    if value(found[1]) + others != value(found[2]) or value(found[2]) != own:
        yield f"{where}: {found[1]} in order and {others:.0f} others of {found[2]}"
    if "no cell failed" in line and " failed" in line.replace("no cell failed", ""):
        yield f"{where}: no cell failed, and some did"


def _ratios(text: str, where: str) -> Iterator[str]:
    """Nobody is faster than the fastest, and what cannot be reported from it has no number."""
    yield from (f"{where}: {found} behind the best" for found in BELOW_ONE.findall(text))
    yield from (f"{where}: {found} looks like a ratio" for found in SIGNED_RATIO.findall(text))


def _busy(page: str) -> Iterator[str]:
    for share in SHARE.findall(page):
        if value(share) > 100:
            yield f"computes for {share} % of the elapsed time"


def _answers(run: Run, page: str) -> Iterator[str]:
    """`Every sample's answer` is every sample of the panel that has an answer at all."""
    for panel in re.findall(r"<aside.*?</aside>", page, re.DOTALL):
        if "Every sample\N{RIGHT SINGLE QUOTATION MARK}s answer was checked" not in panel:
            continue
        heading = re.search(r"<h3[^>]*>(.*?)</h3>", panel, re.DOTALL)
        own = [r for r in run.results if r.answers and r.samples and heading
               and any(t.name == r.cell.operation and t.title in heading[1]
                       for t in run.operations)]  # fmt: skip
        if own and all(len(r.answers) < len(r.samples) for r in own):
            yield f"every answer checked, but not of {own[0].cell.key}"


def _terms(page: str) -> Iterator[str]:
    if "all equal where they ought to be" in page and re.search(r"<sup[^>]*>[^<]*≠\w", page):
        yield "all terms equal, and some cells on other terms"


if __name__ == "__main__":
    from pathlib import Path

    from loadstone import registry
    from loadstone.record.reader import read

    for path in sys.argv[1:]:
        whole = read(Path(path))
        texts = [
            registry.load_report(name)().render(whole).decode() for name in ("html", "md", "csv")
        ]
        sys.stdout.write("\n  ".join([path, *contradictions(whole, *texts)]) + "\n")
