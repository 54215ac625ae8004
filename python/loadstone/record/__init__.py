"""The record: one append-only SQLite file of everything a run learned. See docs/record.md."""

from loadstone.record.model import CellResult, Load, Run, Sample, Session
from loadstone.record.reader import read
from loadstone.record.writer import Recorder

__all__ = ["CellResult", "Load", "Recorder", "Run", "Sample", "Session", "read"]
