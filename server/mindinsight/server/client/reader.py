"""Reader of summaries for notebooks and scripts, without a server.

import mindinsight

summary = mindinsight.open("./summary")
summary.scalars("loss")["./run1", "loss"].values    # a NumPy array: the line, as the pages draw it
summary.scalars("loss*").frame()                    # a pandas DataFrame, one row for each point
for item in summary.images(run="./run1"):
    item.tag, item.step, item.data.encoded          # PNG bytes
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from mindinsight.server.client import load_pandas
from mindinsight.server.client.payload_kinds import decoder
from mindinsight.server.errors import BadSettings
from mindinsight.server.formats.lineage import Lineage
from mindinsight.server.formats.payloads.chart_payloads import Landscape, PrCurve, landscape
from mindinsight.server.formats.payloads.media_payloads import Image, Sound
from mindinsight.server.formats.payloads.tensor_payloads import Tensor
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import base_problems, bases_of
from mindinsight.server.store.mounts import BASE, disk_path
from mindinsight.server.store.run import SYSTEM, DirectoryDamage, Run
from mindinsight.server.store.series import Line, Recorded, ReferenceSeries, ScalarSeries
from mindinsight.server.store.store import Store
from mindinsight.server.types import Kind

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")
Paths: TypeAlias = str | Path | Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class Item(Generic[T]):
    """One recorded payload of a run, tag and step, which is read on demand.

    `data` raises Gone if the file was removed or replaced, and UnreadableError if the payload is invalid.
    """

    run: str
    tag: str
    step: int
    wall: float  # Unix seconds
    read: Callable[[], T]

    @property
    def data(self) -> T:
        """Read and decode the payload, anew at each access. Raises Gone, UnreadableError."""
        return self.read()


class Scalars(Mapping[tuple[str, str], Line]):
    """Lines of scalar series by (run, tag): steps ascending, with the value written last for each step."""

    def __init__(self, series: Mapping[tuple[str, str], ScalarSeries]) -> None:
        self.series = dict(series)

    def __getitem__(self, key: tuple[str, str]) -> Line:
        return self.series[key].line()

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.series)

    def __len__(self) -> int:
        return len(self.series)

    def recorded(self) -> dict[tuple[str, str], Recorded]:
        """Return every recorded row of each series by (run, tag), in file order. `overwritten` marks rows
        that a later row replaced."""
        return {key: series.recorded() for key, series in self.series.items()}

    def frame(self, overwritten: bool = False) -> DataFrame:
        """Return columns run, tag, step, wall_time (UTC), value. Needs pandas (`mindinsight[notebook]`).
        With `overwritten` every recorded row is returned, with a column of that name."""
        pd = load_pandas()
        recorded = list(self.recorded().values()) if overwritten else []
        every: list[Line] | list[Recorded] = recorded or list(self.values())
        lengths = [len(columns.steps) for columns in every]

        def repeated(names: list[str]) -> Any:
            codes, categories = pd.factorize(np.array(names, dtype=object))
            return pd.Categorical.from_codes(np.repeat(codes, lengths), categories)

        walls = _joined([columns.walls for columns in every])
        columns = {
            "run": repeated([run for run, _ in self.series]),
            "tag": repeated([tag for _, tag in self.series]),
            "step": _joined([columns.steps for columns in every]).astype(np.int64),
            "wall_time": pd.to_datetime(walls, unit="s", utc=True),
            "value": _joined([columns.values for columns in every]),
        }
        if overwritten:
            columns["overwritten"] = _joined([columns.overwritten for columns in recorded]).astype(np.bool_)
        frame: DataFrame = pd.DataFrame(columns)
        return frame


class Summary:
    """Reader of the runs below one or several directories. `refresh` reads new records."""

    def __init__(self, path: Paths, on_progress: Callable[[int, int], None] | None = None) -> None:
        """Read the runs below `path`, and call `on_progress` with the bytes read and the total bytes."""
        bases = bases_of(path)
        for problem in base_problems(bases):
            raise BadSettings(problem)
        self._bases = bases
        self._store = Store()
        workspace = Path(tempfile.gettempdir())  # unused, because there is no cache
        settings = Settings(bases, workspace, cache=False, reload_interval=0, max_runs=10**9)
        self._loader = Loader(settings, self._store)
        if on_progress is not None:
            report = on_progress
            self._store.subscribe(lambda _: report(*self._progress()))
        self.refresh()

    def refresh(self) -> None:
        """Read new runs and new records."""
        self._loader.load()

    @property
    def runs(self) -> tuple[str, ...]:
        """Return the ids of the runs, sorted: `./a/b` below the directory, `./` for the directory itself."""
        return tuple(sorted(self._store.snapshot().runs))

    @property
    def problems(self) -> tuple[DirectoryDamage, ...]:
        """Return the directories that could not be listed, so that their runs are missing."""
        errors = self._store.snapshot().errors
        return tuple(error for error in errors if error.reason != "directory.nested")  # shown elsewhere

    def matching(self, run: str) -> tuple[str, ...]:
        """Return the ids of the runs with this name, or matching it as a pattern with `*` and `?`, () if none
        does."""
        return tuple(_chosen_runs(self._store.snapshot().runs, run))

    def run(self, run: str) -> Run:
        """Return one run by its id: files, damage, columns, references. Raises KeyError for an
        unknown one."""
        return self._store.snapshot().runs[run]

    def by_id(self) -> Mapping[str, Run]:
        """Return all runs by id."""
        return self._store.snapshot().runs

    def dump_path(self, dump: str) -> Path:
        """Return the directory of a dump or a run by its id, "./job/dump". Raises KeyError for an unknown
        one."""
        runs = self.by_id()
        if dump not in runs and not any(dump in run.dumps for run in runs.values()):
            raise KeyError(dump)
        return disk_path(self._bases, dump)

    def tags(self, kind: Kind = "scalar", run: str = "*") -> tuple[str, ...]:
        """Return the tags of a kind in any of the runs, sorted. ``system`` are scalars of machines. `run`
        is a name, or a pattern with `*` and `?`."""
        tags = (entry.tags(kind) for entry in self._runs(run))
        return tuple(sorted({tag for names in tags for tag in names}))

    def lineage(self, run: str) -> Lineage | None:
        """Return the settings and results of a run, or None if they were not recorded. Raises KeyError if
        unknown."""
        return self.run(run).lineage

    def scalars(self, tag: str = "*", run: str = "*") -> Scalars:
        """Return the lines of the series that match. Unknown names match nothing. Machine metrics (CPU,
        memory, GPU) are returned only for a ``tag`` that begins with ``system/``, which returns nothing
        else. `tag` and `run` are names, or patterns with `*` and `?`."""
        kind = "system" if tag.startswith(SYSTEM) else "scalar"
        held = ((entry, entry.tags(kind)) for entry in self._runs(run))
        return Scalars({(entry.id, name): tags[name] for entry, tags in held for name in _chosen(tags, tag)})

    def images(self, tag: str = "*", run: str = "*") -> Iterator[Item[Image]]:
        """Yield images as they were encoded, by run, tag and order of recording."""
        return self.items("image", tag, run)

    def tensors(self, tag: str = "*", run: str = "*") -> Iterator[Item[Tensor]]:
        """Yield tensors by run, tag and order of recording."""
        return self.items("tensor", tag, run)

    def texts(self, tag: str = "*", run: str = "*") -> Iterator[Item[str]]:
        """Yield texts in Markdown, by run, tag and order of recording."""
        return self.items("text", tag, run)

    def sounds(self, tag: str = "*", run: str = "*") -> Iterator[Item[Sound]]:
        """Yield sounds as they were encoded, usually WAV files, with their labels."""
        return self.items("audio", tag, run)

    def pr_curves(self, tag: str = "*", run: str = "*") -> Iterator[Item[PrCurve]]:
        """Yield precision-recall curves: counts, precision and recall by threshold."""
        return self.items("pr_curve", tag, run)

    def landscapes(self, tag: str = "*", run: str = "*") -> Iterator[Item[Landscape]]:
        """Yield loss landscapes by run, tag and order of recording."""
        return self._items("landscape", tag, run, landscape)

    def items(self, kind: Kind, tag: str = "*", run: str = "*") -> Iterator[Item[Any]]:
        """Yield the decoded payloads of any kind except scalars, as bytes for a kind without a decoder.
        `tag` and `run` are names, or patterns with `*` and `?`. Each payload is read when its `data` is."""
        return self._items(kind, tag, run, decoder(kind))

    def _progress(self) -> tuple[int, int]:
        runs = self._store.snapshot().runs.values()
        return sum(run.read for run in runs), sum(run.total for run in runs)

    def _items(self, kind: Kind, tag: str, run: str, decode: Callable[[bytes], T]) -> Iterator[Item[T]]:
        for entry in self._runs(run):
            tags = entry.references.get(kind, {})
            for name in _chosen(tags, tag):
                yield from _items_of(entry.id, tags[name], decode)

    def _runs(self, pattern: str) -> list[Run]:
        runs = self._store.snapshot().runs
        return [runs[name] for name in _chosen_runs(runs, pattern)]


def open(path: Paths = ".") -> Summary:
    """Read every run below `path`, or the run in it. Raises BadSettings if it is not a directory. Several
    directories are given as to `mindinsight start`: `["./mine", "lab=/data/lab", "/data/*/summary"]`."""
    return Summary(path)


def _items_of(run: str, series: ReferenceSeries, decode: Callable[[bytes], T]) -> Iterator[Item[T]]:
    for row in range(series.count):

        def read(row: int = row) -> T:
            return decode(series.read(row))

        yield Item(run, series.tag, int(series.steps[row]), float(series.walls[row]), read)


def _chosen_runs(runs: Mapping[str, object], pattern: str) -> list[str]:
    """Return the ids of the runs that a pattern selects, where `ms` and `ms/` stand for `./ms` if no run has
    that name."""
    return _chosen(runs, pattern) or _chosen(runs, f"{BASE}{pattern.removeprefix(BASE).rstrip('/')}")


def _chosen(names: Mapping[str, object], pattern: str) -> list[str]:
    """Return the name itself if it exists, else the names that match the pattern, because names may
    contain `*` and `[`.
    """
    if pattern in names:
        return [pattern]
    plain = pattern.replace("[", "[[]")
    return sorted(name for name in names if fnmatchcase(name, plain))


def _joined(columns: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(columns) if columns else np.zeros(0)
