"""Profiles of data pipelines by MindSpore's profiler: how full the queue after each operator was, and the
processor time it used.

They are read where MindSpore leaves them below a run: the profiler's samples (`pipeline_profiling_0.json`,
`minddata_cpu_utilization_0.json`), or its tables when the samples were removed
(`minddata_pipeline_raw_0.csv`, `minddata_pipeline_summary_0.json`), and the times of the batches
(`dataset_iterator_profiling_0.txt`, of a device `device_queue_profiling_0.txt`).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from mindinsight.server.claims import Claim, few
from mindinsight.server.files.opener import files_of, folders_of, open_stream
from mindinsight.server.formats.graphs.pipelines import Step
from mindinsight.server.formats.sanitizer import show_name

MAX_BYTES: Final = 16 << 20  # of a file; a day of a sample each second for 50 operators has 13 MB
MAX_OPERATORS: Final = 1000  # of a pipeline, which has some dozens; bounds the work for hostile files
_MAX_NUMBER: Final = 1 << 31  # beyond int32, as no id, length or interval is
_PROFILE: Final = re.compile(r"(?:pipeline_profiling|minddata_pipeline_raw)_(\d{1,6})\.(?:json|csv)")
_FOLDER: Final = re.compile(r"profiler.*|.*_ascend_ms|FRAMEWORK|ASCEND_PROFILER_OUTPUT")
_DEPTH: Final = 3  # folders: profiler/rank-0_..._ascend_ms/FRAMEWORK
_RARELY: Final = 0.25  # of the samples: a queue that is empty no more often feeds what is after it
_MOSTLY: Final = 0.75  # of the samples: what is after a queue that is empty so often waits for it
_NAMED: Final = 5  # operators in a sentence; few pipelines have more between two queues
_LEAST: Final = 10  # samples; the first and the last ones see the pipeline fill and drain
# Operators that run in the thread of the one after them, without a queue. MindSpore adds and drops some.
_INLINE: Final = frozenset(
    ("Barrier", "Concat", "DataQueue", "DeviceQueue", "EpochCtrl", "Project", "Rename", "Repeat")
    + ("Shuffle", "Skip", "Take", "Zip")
)


class ProfileError(ValueError):
    """Error: a file is no profile of a data pipeline."""


@dataclass(frozen=True, slots=True)
class Operator:
    """Operator of a data pipeline. ``queue`` holds samples of the length of its output queue."""

    name: str  # as in the recorded pipeline: "Map"
    inputs: tuple[int, ...]  # ids
    workers: int | None = None
    queue: tuple[int, ...] = ()
    capacity: int = 0
    cpu: float | None = None  # percent of one processor, mean of the samples

    @property
    def empty(self) -> int:
        """Return the number of the profiler's samples in which the queue was empty."""
        return self.queue.count(0)

    @property
    def share(self) -> float:
        """Return the share of the profiler's samples in which the queue was empty. There must be a sample."""
        return self.empty / len(self.queue)


@dataclass(frozen=True, slots=True)
class PipelineProfile:
    """Profile of a data pipeline on one rank. Times are milliseconds."""

    operators: Mapping[int, Operator]  # by id
    interval: float  # between two samples
    batches: tuple[int, ...] = ()  # times at which the training took one
    waits: tuple[int, ...] = ()  # for a batch
    timed: bool = False  # whether all samples are from between the first batch and the last

    @property
    def last(self) -> int:
        """Return the id of the last operator, from which no other operator takes data."""
        taken = {number for operator in self.operators.values() for number in operator.inputs}
        return next(number for number in self.operators if number not in taken)

    @property
    def batch_time(self) -> float | None:
        """Return the mean time between two batches in milliseconds, or None with fewer than two batches."""
        times = self.batches
        return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else None

    @property
    def mean_wait(self) -> float | None:
        """Return the mean wait of the training for a batch, in milliseconds, or None if unrecorded."""
        return sum(self.waits) / len(self.waits) if self.waits else None

    def sources_first(self) -> list[int]:
        """Return the ids of the operators in the order of the data, sources first."""
        order: list[int] = []
        waiting = [self.last]
        while waiting:
            number = waiting.pop()
            order.append(number)
            waiting.extend(self.operators[number].inputs)
        return order[::-1]

    def queues_before(self, number: int) -> list[int]:
        """Return the ids of the operators whose queues feed an operator, directly or through operators
        without one."""
        operators = self.operators
        return _without(
            operators[number].inputs, lambda n: not operators[n].queue, lambda n: operators[n].inputs
        )

    def between_queues(self, number: int) -> list[int]:
        """Return the ids of an operator and of the operators without a queue that feed it. The queues
        before and after them cannot distinguish the work of these operators."""
        together = [number]
        for current in together:
            together += [
                before for before in self.operators[current].inputs if not self.operators[before].queue
            ]
        return together


_Item = TypeVar("_Item")


def _without(
    items: Iterable[_Item], inline: Callable[[_Item], bool], inputs: Callable[[_Item], Iterable[_Item]]
) -> list[_Item]:
    """Return the items, with each inline item replaced by its inputs."""
    others: list[_Item] = []
    waiting = list(items)
    while waiting:
        item = waiting.pop(0)
        if inline(item):
            waiting[:0] = inputs(item)
        else:
            others.append(item)
    return others


_Count: TypeAlias = Annotated[int, Field(ge=0, lt=_MAX_NUMBER)]
_Percent: TypeAlias = Annotated[float, Field(gt=-_MAX_NUMBER, lt=_MAX_NUMBER, allow_inf_nan=False)]


class _Queue(BaseModel):
    length: _Count
    size: list[_Count]


class _Metrics(BaseModel):
    output_queue: _Queue | None = None


class _Row(BaseModel):
    op_id: _Count
    op_type: str
    num_workers: _Count | None = None
    children: list[int] = []
    metrics: _Metrics | None = None


class _Samples(BaseModel):
    op_info: list[_Row] = Field(min_length=1, max_length=MAX_OPERATORS)
    sampling_interval: float = Field(gt=0, lt=_MAX_NUMBER)


class _Use(BaseModel):
    user_utilization: list[_Count] = []
    sys_utilization: list[_Count] = []


class _UseRow(BaseModel):
    op_id: int
    metrics: _Use


class _UseSamples(BaseModel):
    op_info: list[_UseRow]
    time_stamp: list[int] = []  # of each sample, on the clock of the batches


class _Means(BaseModel):
    op_ids: list[int]
    avg_cpu_pct: list[_Percent]  # -1 where it is unknown


def profile_of(folders: Sequence[Path], rank: int | None) -> tuple[Path | None, int]:
    """Return the newest profile of a rank, or of any rank for None, and the number of profiles, (None, 0)
    without a profile. The folders and the folders of profilers below them are searched. A table beside the
    samples of the same rank does not count."""
    every = [path for folder in folders for path in _profiles(folder, _DEPTH)]
    every = [path for path in every if rank is None or rank_of(path) == rank]
    samples = {(path.parent.parent, rank_of(path)) for path in every if path.suffix == ".json"}
    paths = [
        path for path in every if path.suffix == ".json" or (path.parent.parent, rank_of(path)) not in samples
    ]
    return max(paths, key=_written, default=None), len(paths)


def _written(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:  # removed meanwhile
        return 0.0


def _profiles(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the profiles in a folder and in those of profilers below it."""
    yield from (folder / name for name in sorted(files_of(folder)) if _PROFILE.fullmatch(name))
    if depth:
        for inner in folders_of(folder):
            if _FOLDER.fullmatch(inner.name):
                yield from _profiles(inner, depth - 1)


def rank_of(path: Path) -> int:
    """Return the rank in the name of a profile, or 0 for other names."""
    match = _PROFILE.fullmatch(path.name)
    return int(match[1]) if match else 0


def read_profile(path: Path) -> PipelineProfile:
    """Read a profile and the other files that MindSpore wrote beside it, which are ignored if missing or
    invalid. Raises ProfileError or OSError if the profile itself cannot be read."""
    rank, folder = rank_of(path), path.parent
    data = _content(path)
    profile = parse_samples(data) if path.suffix == ".json" else parse_table(data.decode("utf-8", "replace"))
    use = _parsed(_UseSamples, folder / f"minddata_cpu_utilization_{rank}.json")
    means = _parsed(_Means, folder / f"minddata_pipeline_summary_{rank}.json")
    batches, waits = parse_batches(_beside(folder / f"dataset_iterator_profiling_{rank}.txt"))
    if not batches:  # a device took them: what its thread waited for is no wait of the training
        batches, _ = parse_batches(_beside(folder / f"device_queue_profiling_{rank}.txt"))
    profile = replace(_with_cpu(profile, use, means), batches=batches, waits=waits)
    return _while_taking(profile, use.time_stamp if use is not None else ())


def parse_samples(data: bytes) -> PipelineProfile:
    """Parse `pipeline_profiling_<rank>.json`. Raises ProfileError."""
    try:
        return _profile(_Samples.model_validate_json(data))
    except ValidationError as error:
        raise ProfileError(f"not a profile: {error.errors()[0]['msg']}") from error


def parse_table(text: str) -> PipelineProfile:
    """Parse `minddata_pipeline_raw_<rank>.csv`. Raises ProfileError."""
    try:
        rows = list(csv.DictReader(io.StringIO(text)))
        interval = rows[0]["sample_interval"] if rows else None
        data = json.dumps({"op_info": [_row_of(row) for row in rows], "sampling_interval": interval}).encode()
    except (csv.Error, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ProfileError(f"not a profile: {type(error).__name__}") from error
    return parse_samples(data)


def _row_of(row: Mapping[str, str]) -> dict[str, Any]:
    sizes, length = row["output_queue_size"], row["output_queue_length"]
    queue = {"length": length, "size": json.loads(sizes)} if sizes and length else None
    return {
        "op_id": row["op_id"],
        "op_type": row["op_type"],
        "num_workers": row["num_workers"] or None,
        "children": json.loads(row["children_id"] or "[]"),
        "metrics": {"output_queue": queue},
    }


def parse_batches(data: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Parse the trace of batches. Return [n] times and [n] waits per batch in milliseconds. A line is
    "kind part batch value time". Other lines are skipped, and so is the first batch, which waits for the
    start of the workers."""
    lines = re.findall(rb"^0 0 (\d{1,18}) (\d{1,18}) (\d{1,18})$", data, re.MULTILINE)
    rows = [(int(wait), int(time)) for batch, wait, time in lines if int(batch) > 1]
    return tuple(time for _, time in rows), tuple(wait for wait, _ in rows)


def _profile(samples: _Samples) -> PipelineProfile:
    """Return the profile of some samples. Raises ProfileError if the operators are not a tree."""
    operators: dict[int, Operator] = {}
    for row in samples.op_info:
        queue = (row.metrics.output_queue if row.metrics else None) or _Queue(length=0, size=[])
        name = show_name(row.op_type.removesuffix("Op"))
        operators[row.op_id] = Operator(
            name, tuple(row.children), row.num_workers, tuple(queue.size), queue.length
        )
    taken = [number for operator in operators.values() for number in operator.inputs]
    if len(operators) != len(samples.op_info) or len(set(taken)) != len(taken) or set(taken) - set(operators):
        raise ProfileError("the operators are not a tree")
    profile = PipelineProfile(operators, samples.sampling_interval)
    # with one root and as many operators below it as there are, none is in a circle
    if len(operators) - len(taken) != 1 or len(profile.sources_first()) != len(operators):
        raise ProfileError("the operators are not a tree")
    return profile


def _with_cpu(profile: PipelineProfile, use: _UseSamples | None, means: _Means | None) -> PipelineProfile:
    """Add the processor time of each operator: the mean of samples, else the recorded mean."""
    percents: dict[int, float] = {}
    if means is not None:
        percents = {n: value for n, value in zip(means.op_ids, means.avg_cpu_pct, strict=False) if value >= 0}
    for row in use.op_info if use is not None else ():
        both = [
            sum(pair) for pair in zip(row.metrics.user_utilization, row.metrics.sys_utilization, strict=False)
        ]
        if both:
            percents[row.op_id] = float(np.mean(both))
    operators = {n: replace(operator, cpu=percents.get(n)) for n, operator in profile.operators.items()}
    return replace(profile, operators=operators)


def _while_taking(profile: PipelineProfile, stamps: Sequence[int]) -> PipelineProfile:
    """Return the profile with the samples between the first batch and the last. Before it queues fill
    while the network is compiled, and after it they are empty. Without the times of samples or batches,
    the profile is returned as it is."""
    counts = {len(operator.queue) for operator in profile.operators.values() if operator.queue}
    if counts != {len(stamps)} or not profile.batches:
        return profile
    first, last = profile.batches[0], profile.batches[-1]
    rows = [row for row, stamp in enumerate(stamps) if first <= stamp <= last]
    operators = {
        number: replace(operator, queue=tuple(operator.queue[row] for row in rows if operator.queue))
        for number, operator in profile.operators.items()
    }
    return replace(profile, operators=operators, timed=True)


def _parsed(model: type[Any], path: Path) -> Any:
    """Return the parsed content of a file beside a profile, or None if it is missing or invalid."""
    try:
        return model.model_validate_json(_beside(path))
    except ValidationError:
        return None


def _beside(path: Path) -> bytes:
    try:
        return _content(path)
    except (OSError, ProfileError):
        return b""


def _content(path: Path) -> bytes:
    """Return the bytes of a file. Raises ProfileError, OSError."""
    with open_stream(path) as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ProfileError(f"it is larger than {MAX_BYTES >> 20} MB")
    return data


def nodes_of(profile: PipelineProfile, last: Step) -> dict[int, str]:
    """Return the path in the drawing of each operator of a profile, {} if profile and recorded pipeline
    differ. Inline operators are ignored on both sides, the others must agree in order and name. Names of
    sources are not compared, because MindSpore's classes and functions name them differently."""
    operators = profile.operators

    def outer(numbers: Iterable[int]) -> list[int]:
        return _without(numbers, lambda n: operators[n].name in _INLINE, lambda n: operators[n].inputs)

    def steps(given: Iterable[Step]) -> list[Step]:
        return _without(given, lambda step: step.name in _INLINE, lambda step: step.inputs)

    paths: dict[int, str] = {}
    waiting = [(outer([profile.last]), steps([last]))]
    while waiting:
        inputs, before = waiting.pop()
        if len(inputs) != len(before):
            return {}
        for number, step in zip(inputs, before, strict=True):
            if operators[number].inputs and operators[number].name != step.name:
                return {}
            paths[number] = step.path
            waiting.append((outer(operators[number].inputs), steps(step.inputs)))
    return paths


def bottleneck(profile: PipelineProfile) -> tuple[Claim, tuple[int, ...]]:
    """Return the claim about the bottleneck of a pipeline, and the ids of the operators that may be the
    bottleneck, () unless one was found.

    The bottleneck is the operator after a queue that is rarely empty and before a queue that mostly is, or
    one of those between the two that have no queue. The search runs from the training back to the sources. A
    source is named, or a bottleneck ruled out, only for samples from the time in which batches were taken.
    """
    operators = profile.operators
    sampled = [operator for operator in operators.values() if operator.queue]
    if not sampled:
        return Claim("claim.pipeline_profile.no_queue", "unknown"), ()
    fewest = min(sampled, key=lambda operator: len(operator.queue))
    if len(fewest.queue) < _LEAST:
        return Claim("claim.pipeline_profile.few", "unknown", {**_facts(fewest), "least": _LEAST}), ()
    queues = [profile.last] if operators[profile.last].queue else profile.queues_before(profile.last)
    slowest: int | None = None
    while queues:
        starved = [number for number in queues if operators[number].share >= _MOSTLY]
        waited = max(queues, key=lambda number: operators[number].share)
        if operators[waited].share <= _RARELY:
            break
        if len(starved) != 1:
            return Claim("claim.pipeline_profile.mixed", "unknown", _facts(operators[waited])), ()
        (slowest,) = starved
        queues = profile.queues_before(slowest)
    if slowest is None:
        if not profile.timed:
            return Claim("claim.pipeline_profile.untimed", "unknown", _facts(operators[waited])), ()
        return Claim("claim.pipeline_profile.kept_up", "clear", _facts(operators[waited])), ()
    facts = _facts(operators[slowest])
    together = profile.between_queues(slowest)
    if len(together) > 1:
        facts |= {"operators": few([operators[number].name for number in together[::-1]], _NAMED)}
    if queues:
        facts |= {"before": operators[waited].empty}
        name = "one_of" if len(together) > 1 else "operator"
    elif not profile.timed:
        return Claim("claim.pipeline_profile.at_rest", "unknown", facts), ()
    else:
        name = "first_of" if len(together) > 1 else "source"
    return Claim(f"claim.pipeline_profile.{name}", "found", facts), tuple(together)


def _facts(operator: Operator) -> dict[str, Any]:
    return {"operator": operator.name, "after": operator.empty, "n": len(operator.queue)}
