"""Taking the samples of one block: what is inside the clock, what outside, and in which order.

    for each sample:  drop the old result -> [cold: stop, wait until dead, evict, prove, start]
                      -> counters -> CLOCK statement CLOCK -> counters -> check the answer -> undo

Inside the clock is one statement, its commit, and for `host` operations the transfer of its rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from loadstone import coldness
from loadstone._core import answer_of_rows, answer_of_stream, attributes, clock_ns
from loadstone.engines.base import Attribute, Engine
from loadstone.errors import UnsupportedError
from loadstone.meter import Meter
from loadstone.quel.translate import Statement, translate
from loadstone.record.model import AnswerCheck, ColdEvidence, Sample, StatementText
from loadstone.tables import table_of


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive samples of one cell. `variations` are (number, QUEL text, undo text or "",
    expected rows, expected checksum), taken in turn."""

    benchmark: str
    edition: str
    rows: int
    design: str
    destination: str
    temperature: str
    variations: list[tuple[int, str, str, int, str]]
    warm_up: int
    first_ordinal: int
    round: int


class Stopwatch:
    """Runs blocks on an engine. `announce` tells the runner when a statement begins and ends."""

    def __init__(self, engine: Engine, announce: Callable[[str], None]) -> None:
        self.engine = engine
        self._announce = announce
        self._statements: dict[str, Statement] = {}

    def take(self, block: Block) -> dict[str, Any]:
        """Warm up, then take one sample of each of the block's variations."""
        samples: list[Sample] = []
        answers: list[AnswerCheck] = []
        evidence: list[ColdEvidence] = []
        for _ in range(block.warm_up):
            for variation in block.variations:
                self._clear(self._translated(block, variation[1]))
                self._sample(block, variation, -1, check=False)
        for offset, variation in enumerate(block.variations):
            ordinal = block.first_ordinal + offset
            self._clear(self._translated(block, variation[1]))
            if block.temperature == "cold":
                evidence.append(self._cool(ordinal))
            sample, answer = self._sample(block, variation, ordinal)
            samples.append(sample)
            if answer is not None:
                answers.append(answer)
            if answer is not None and not answer.right:
                break  # no time of a wrong answer is ever printed: the rest would be wasted
        return {
            "samples": [asdict(item) for item in samples],
            "answers": [asdict(item) for item in answers],
            "evidence": [asdict(item) for item in evidence],
        }

    def explain(self, block: Block) -> Sequence[StatementText]:
        """Each variation's statement and plan; one isolated pass, nothing is executed."""
        texts = []
        for number, text, _, _, _ in block.variations:
            statement = self._translated(block, text)
            plan = self.engine.explain(statement.sql)
            texts.append(StatementText(number, statement.sql, plan))
        return texts

    def _sample(
        self,
        block: Block,
        variation: tuple[int, str, str, int, str],
        ordinal: int,
        *,
        check: bool = True,
    ) -> tuple[Sample, AnswerCheck | None]:
        number, text, undo, expected_rows, expected_checksum = variation
        statement = self._translated(block, text)
        host = block.destination == "host"
        execute: Callable[[str], Any] = self.engine.fetch if host else self.engine.run
        meter = Meter(self.engine.processes())
        self._announce("statement")
        start = clock_ns()
        outcome = execute(statement.sql)
        elapsed_ns = clock_ns() - start
        self._announce("ended")
        work = meter.read()
        sample = Sample(
            ordinal=ordinal,
            round=block.round,
            variation=number,
            started_ns=start,
            elapsed_ns=elapsed_ns,
            **asdict(work),
        )
        answer = None
        if check and self.engine.capabilities.answers:
            rows, checksum = self._answer(block, statement, outcome, expected_rows)
            answer = AnswerCheck(ordinal, number, expected_rows, expected_checksum, rows, checksum)
        if undo:
            self.engine.run(self._translated(block, undo).sql)
        self._clear(statement)
        return sample, answer

    def _clear(self, statement: Statement) -> None:
        """Drop a result, also one that a killed worker left."""
        if statement.result is not None:
            self.engine.drop(statement.result)

    def _answer(
        self, block: Block, statement: Statement, outcome: Any, expected_rows: int
    ) -> tuple[int, str]:
        if block.destination == "host":
            return answer_of_rows(outcome)
        table = statement.result or statement.target or ""
        rows = self.engine.read(f"SELECT * FROM {self.engine.quote(table)}")  # noqa: S608 - quoted
        count, checksum = answer_of_rows(rows) if isinstance(rows, list) else answer_of_stream(rows)
        if block.destination == "relation":
            return count, checksum
        # An engine that does not say how many tuples it changed still shows them all.
        return (expected_rows if outcome < 0 else outcome), checksum

    def _cool(self, ordinal: int) -> ColdEvidence:
        """Stop the engine, see it dead, evict its files, prove it, start it again."""
        files = tuple(self.engine.files())
        try:
            pids = self.engine.stop()
        except UnsupportedError as error:
            return ColdEvidence(ordinal, False, error.message, "none", 0, 0, None, None, False)
        dead = coldness.wait_until_dead(pids, limit_s=30)
        found = coldness.evict_files(files, engine_dead=dead)
        self.engine.start()
        return ColdEvidence(
            ordinal=ordinal,
            proved=found.proved,
            reason=found.reason,
            method=found.method,
            files=found.files,
            bytes=found.bytes,
            resident_before=found.resident_before,
            resident_after=found.resident_after,
            engine_dead=found.engine_dead,
        )

    def _translated(self, block: Block, text: str) -> Statement:
        key = f"{block.rows}/{block.design}/{text}"
        if key not in self._statements:
            self._statements[key] = translate(
                text,
                self.engine.dialect,
                lambda relation: table_name(block, relation),
                lambda relation: _attributes(block, relation),
            )
        return self._statements[key]


def table_name(block: Block, relation: str) -> str:
    """The physical name of a stored relation; a result relation keeps its own."""
    try:
        _attributes(block, relation)
    except KeyError:
        return relation
    return table_of(relation, block.design, block.rows)


def _attributes(block: Block, relation: str) -> Sequence[Attribute]:
    try:
        pairs = attributes(block.benchmark, block.edition, relation)
    except ValueError:
        raise KeyError(relation) from None
    return [Attribute(*pair) for pair in pairs]
