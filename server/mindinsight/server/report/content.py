"""Content of a report: what the template shows, as text and numbers only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.report.curves import Curve
from mindinsight.server.report.graph_piece import GraphPiece
from mindinsight.server.store.run import Run


class Progress(NamedTuple):
    """Progress of a report: ``key`` of the locale files names the work, ``done`` of ``total`` items."""

    key: str
    done: int
    total: int


@dataclass(frozen=True)
class ReportSource:
    """What a report is made of: a run among others, and where the dumps lie on disk."""

    run: Run
    runs: Mapping[str, Run]
    path_of: Callable[[str], Path]  # of a dump, by its id; raises KeyError
    executor: Executor | None = None
    cache: StatisticsCache | None = None

    @property
    def ranks(self) -> list[Run]:
        """The run, and the other ranks of its job."""
        jobs = {self.run.id, self.run.job}
        return [self.run, *(run for run in self.runs.values() if run.job in jobs and run.id != self.run.id)]


@dataclass(frozen=True)
class Table:
    """Rows of texts under heads, with the number of rows that were left out."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    left_out: int = 0


@dataclass(frozen=True)
class FaultSection:
    """One dumped step: what broke, why, and what is around it."""

    title: str
    dump: str
    verdict: str
    explanation: str = ""
    counts: str = ""
    line: str = ""  # file:line of the user's code
    code: str = ""
    stack: list[tuple[str, str]] = field(default_factory=list)  # file:line, code
    tensors: Table | None = None
    chain: Table | None = None
    graph: GraphPiece | None = None
    checks: Table | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Content:
    """Everything on the page; ``t`` gives the text of a key."""

    t: Callable[..., str]
    language: str
    name: str
    facts: list[tuple[str, str]]
    settings: list[tuple[str, str]]
    results: list[tuple[str, str]]
    alerts: list[dict[str, Any]]
    alerts_left_out: int
    curves: list[Curve]
    curves_left_out: int
    faults: list[FaultSection]
    step: int | None  # of the first alert of level error
    checkpoint: str
    damage: list[str]
    version: str
    made: str
