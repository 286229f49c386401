"""Content of a report: texts, numbers, curves and graph sections that the template shows."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.curves.sampling import sample_rows
from mindinsight.server.debug.operator_links import graph_links
from mindinsight.server.debug.operator_tree import operator_tree
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.formats.dumps.dump_types import Operator
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.graph.layout.nested import draw
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import Line
from mindinsight.server.texts import language_texts, message
from mindinsight.server.types import Doubles

WIDTH: Final = 320  # pixels of a curve
HEIGHT: Final = 120  # pixels
BEFORE: Final = 100  # points drawn before the step of the fault
AFTER: Final = 20  # points drawn after it


@dataclass(frozen=True)
class Curve:
    """Curve of a report, in pixels: line segments between non-finite points, and the positions of these
    points.
    """

    tag: str
    first: int  # step from which the curve is drawn
    last: int
    low: str  # labels of the vertical axis
    high: str
    segments: list[str]  # "x,y x,y ..."
    broken: list[float]  # x of points that are not finite
    mark: float | None  # x of the step of the fault
    newest: str
    points: int
    extent: tuple[int, int]  # first and last step of all points
    run: str = ""  # name of the rank, of one of several


def curve_of(tag: str, line: Line, step: int | None) -> Curve | None:
    """Return the curve of a tag around `step`. Without a step, or if the curve is short, it is the whole
    one. Return None without points. The number of points and the newest value are those of the whole
    curve."""
    whole = line
    if step is not None and len(line.steps) > BEFORE + AFTER:
        position = int(np.searchsorted(line.steps, step))
        line = line.rows(slice(max(position - BEFORE, 0), position + AFTER))
    if not len(line.steps):
        return None
    values = line.values.astype(np.float64)
    steps = line.steps.astype(np.float64)
    rows = sample_rows(steps, values, WIDTH // 2)
    steps, values = steps[rows], values[rows]
    finite = np.isfinite(values)
    low, high = (float(values[finite].min()), float(values[finite].max())) if finite.any() else (0.0, 0.0)
    x = _scaled(steps, steps[0], steps[-1], WIDTH)
    y = HEIGHT - _scaled(np.where(finite, values, low), low, high, HEIGHT)
    mark = None
    if step is not None and steps[0] <= step <= steps[-1]:
        mark = round(float(_scaled(np.array([float(step)]), steps[0], steps[-1], WIDTH)[0]), 1)
    return Curve(
        tag,
        int(line.steps[0]),
        int(line.steps[-1]),
        f"{low:.4g}",
        f"{high:.4g}",
        _segments(x, y, finite),
        [round(position, 1) for position in x[~finite].tolist()],
        mark,
        number(float(whole.values[-1])),
        len(whole.steps),
        (int(whole.steps[0]), int(whole.steps[-1])),
    )


def _scaled(values: Doubles, low: float, high: float, size: int) -> Doubles:
    """Return values scaled from low..high to 0..`size`, or the middle of that range if low equals high."""
    with np.errstate(over="ignore", invalid="ignore"):
        share = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    scaled: Doubles = np.clip(np.nan_to_num(share, nan=0.5), 0.0, 1.0) * size
    return scaled


def _segments(x: Doubles, y: Doubles, finite: np.ndarray) -> list[str]:
    """Return the polylines of consecutive finite points."""
    ends = np.flatnonzero(np.diff(finite.astype(np.int8))) + 1
    parts = np.split(np.arange(len(x)), ends)
    return [" ".join(f"{x[row]:.1f},{y[row]:.1f}" for row in part) for part in parts if finite[part[0]]]


_DEPTH: Final = 3  # operators before the operator at fault
MOST: Final = 16  # operators of a drawing


@dataclass(frozen=True)
class PieceBox:
    """Box in the drawing of a report: a scope or an operator."""

    x: float
    y: float
    width: float
    height: float
    label: str
    scope: bool
    fault: bool


@dataclass(frozen=True)
class GraphPiece:
    """Drawing of a graph in a report: boxes, each scope before its content, and polylines ("x,y x,y")."""

    width: float
    height: float
    boxes: list[PieceBox]
    lines: list[str]


def ancestors(operators: Mapping[str, Operator], start: str, most: int = MOST) -> list[Operator]:
    """Return up to `most` operators within three edges before `start`, nearest first, without parameters.
    `start` is not among them. [] if it is unknown."""
    operators_before: dict[str, Operator] = {}
    layer = [start]
    for _ in range(_DEPTH):
        sources = [source for name in layer if name in operators for source in operators[name].sources]
        seen = {start, *operators_before}
        layer = [name for name in dict.fromkeys(sources) if name in operators and name not in seen]
        operators_before |= {name: operators[name] for name in layer if operators[name].type != "Parameter"}
    return list(operators_before.values())[:most]


def graph_piece(operators: Iterable[Operator], start: str) -> GraphPiece | None:
    """Return the drawing of `start` and its neighbours, or None if it is unknown or the graph is
    unreadable."""
    known = {operator.name: operator for operator in operators}
    if start not in known:
        return None
    after = [operator for operator in known.values() if start in operator.sources][: MOST // 4]
    chosen = {operator.name: operator for operator in (*ancestors(known, start), known[start], *after)}
    ordered = [operator for name, operator in known.items() if name in chosen]
    links = graph_links(ordered)
    try:
        tree = operator_tree(ordered, links)
    except UnreadableError:
        return None
    drawing = draw(tree.tree, range(len(tree.tree.paths)))
    boxes = []
    for box in drawing.boxes:
        operator = tree.operator_at(box.index)
        fault = operator is not None and operator.name == start
        corner = (box.x, box.y, box.width, box.height)
        boxes.append(PieceBox(*corner, box.content.label, operator is None, fault))
    lines = [" ".join(f"{x:.1f},{y:.1f}" for x, y in line.points) for line in drawing.lines]
    return GraphPiece(drawing.width, drawing.height, boxes, lines)


class Progress(NamedTuple):
    """Progress of a report: ``key`` of the locale files names the work, ``done`` of ``total`` items."""

    key: str
    done: int
    total: int


@dataclass(frozen=True)
class ReportSource:
    """Source of a report: a run among others, and the location of its dumps."""

    run: Run
    runs: Mapping[str, Run]
    path_of: Callable[[str], Path]  # of a dump or a run, by its id; raises FileNotFoundError
    executor: Executor | None = None
    cache: StatisticsCache | None = None
    left_out: int = 0  # runs beyond the limit of the server, among which may be ranks
    dump: str = ""  # id of the only dump to explain, all if empty

    @property
    def dumps(self) -> list[str]:
        """Return the ids of the dumps of all ranks, each once."""
        return list(dict.fromkeys(dump for run in self.ranks for dump in run.dumps))

    @property
    def ranks(self) -> list[Run]:
        """Return the run first, and then the other ranks of its job."""
        jobs = {self.run.id, self.run.job}
        return [self.run, *(run for run in self.runs.values() if run.job in jobs and run.id != self.run.id)]


@dataclass(frozen=True)
class Table:
    """Table of a report: rows of texts under heads, with the number of omitted rows."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    left_out: int = 0


@dataclass(frozen=True)
class FaultSection:
    """Section of a report about one dumped step: the fault, its cause, and the operators around it."""

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
    checked: Sequence[str] = ()  # sentences about what the checks covered
    notes: list[str] = field(default_factory=list)


_NOT_PAGES: Final = {"code": "code.title", "other": "other.title"}  # kinds, and keys of their names


class Texts:
    """Texts of the locale files in one language, ``en`` or ``zh``."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __call__(self, key: str, **words: object) -> str:
        """Return the text of a key with its placeholders filled in."""
        return message(key, words, self._language)

    def kind(self, kind: str) -> str:
        """Return the name of a kind of data in the report's language, or its id if there is no text for
        it.
        """
        key = _NOT_PAGES.get(kind, f"nav.{kind}")
        return self(key) if key in language_texts(self._language) else kind

    def claim(self, claim: Claim) -> str:
        """Return the sentence of a claim."""
        return sentence(claim, self._language)


def number(value: float | int | None) -> str:
    """Return a number as text with up to six significant digits, or ``NaN``, ``+Inf`` or ``-Inf``. Return
    a dash for None."""
    if value is None:
        return "–"
    return {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}.get(f"{value:.6g}", f"{value:.6g}")


def moment(seconds: float) -> str:
    """Return a wall time in Unix seconds as text in UTC, to the second. Return a dash for an invalid one."""
    if not 0 < seconds < 1e11:
        return "–"
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
