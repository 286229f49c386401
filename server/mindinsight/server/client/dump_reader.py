"""Reader of tensor dumps for notebooks and scripts, without a server, and the results it returns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.compute.tensor_statistics import Statistics
from mindinsight.server.debug.compare.comparison_export import fields
from mindinsight.server.debug.compare.divergence import Outcome, Tolerance, decide
from mindinsight.server.debug.compare.dump_comparison import Row, Side, compare_sides
from mindinsight.server.debug.examine import TensorResult, measure_all
from mindinsight.server.debug.fault import SEARCHED, Fault, Report, faulty_operator, find_faults, source_frame
from mindinsight.server.debug.fault_explanation import explain
from mindinsight.server.formats.dumps import (
    find_dump_dirs,
    find_layout,
    list_operators,
    list_tensors,
    open_dump,
    read_tensor,
)
from mindinsight.server.formats.dumps.dump_types import Array, Direction, FileDamage, Operator, TensorEntry
from mindinsight.server.formats.graphs.call_stacks import Frame

if TYPE_CHECKING:
    from pandas import DataFrame


_COUNTS: Final = {  # column -> attribute of ``Statistics``
    "count": "count",
    "nans": "nans",
    "positive_infs": "positive_infs",
    "negative_infs": "negative_infs",
    "zeros": "zeros",
    "minimum": "minimum",
    "maximum": "maximum",
    "mean": "mean",
    "std": "std",
    "norm": "norm",
}


class StatisticsTable(Sequence[TensorResult]):
    """Statistics of tensors in the order they were written, one entry for each tensor.

    ``entry`` names the tensor, ``measurement.statistics`` has its numbers, ``damage`` says why there are
    none; ``computed`` is False where the numbers are those that the dump recorded.
    """

    def __init__(self, results: Iterable[TensorResult], damage: Sequence[FileDamage] = ()) -> None:
        self._results = tuple(results)
        self.damage = tuple(damage)  # files that could not be listed

    def __getitem__(self, index: Any) -> Any:
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def frame(self) -> DataFrame:
        """Columns rank, step, operator, type, direction, slot, shape, dtype, the numbers, and damage.

        Minimum, maximum, mean, std and norm are of the finite elements; what is not known is missing.
        Needs pandas (``mindinsight[notebook]``).
        """
        return _frame([_columns(result) for result in self._results])


@dataclass(frozen=True)
class FirstFault:
    """The first operator of a dump that made something not finite, or how it came in.

    ``kind`` is ``made``, ``met`` or ``unknown``; ``verdict`` is the sentence for people, and
    ``source`` the line of code the operator came from, where the dump holds call stacks.
    """

    fault: Fault
    verdict: str
    operator: Operator | None
    source: Frame | None
    explanation: str = ""  # which value came in and why the result is not finite, where that is known

    @property
    def kind(self) -> str:
        return self.fault.kind

    @property
    def rank(self) -> int:
        return self.fault.rank

    @property
    def step(self) -> int:
        return self.fault.step

    @property
    def tensor(self) -> TensorEntry:
        """The tensor at which the fault shows first."""
        return self.fault.entry

    def __str__(self) -> str:
        reason = f" {self.explanation}" if self.explanation else ""
        line = f" ({self.source.file}:{self.source.line})" if self.source else ""
        return f"Rank {self.rank}, step {self.step}: {self.verdict}{reason}{line}"


@dataclass(frozen=True)
class FaultReport:
    """Result of a search for the first fault: the fault, if any, and what was looked at.

    ``fault`` is None both where everything is finite and where nothing could be judged: ``summary`` tells.
    """

    fault: FirstFault | None
    tensors: int
    judged: int
    summary: str
    damage: tuple[FileDamage, ...]

    def __bool__(self) -> bool:
        return self.fault is not None

    def __str__(self) -> str:
        return str(self.fault) if self.fault else self.summary


class Comparison(Sequence[Row]):
    """Rows of two dumps compared tensor by tensor, in the order the first one ran."""

    def __init__(self, rows: Iterable[Row], damage: Sequence[FileDamage]) -> None:
        self._rows = tuple(rows)
        self.damage = tuple(damage)

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def outcome(self, tolerance: Tolerance | None = None) -> Outcome:
        """Decide whether the dumps agree and what differs first; by default with each type's tolerance."""
        unread = sum(row.compared.damage is not None for row in self._rows)
        return decide(self._rows, tolerance, max(0, len(self.damage) - unread))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Claims of ``outcome`` with the default tolerance, the most important first."""
        return self.outcome().claims

    def __str__(self) -> str:
        return "\n".join(map(sentence, self.claims))

    def frame(self) -> DataFrame:
        """The columns of ``mindinsight dump compare --csv``; needs pandas (``mindinsight[notebook]``)."""
        return _frame([fields(row) for row in self._rows])


def _columns(result: TensorResult) -> dict[str, Any]:
    columns = result.columns()
    shape, dtype = columns.pop("shape"), columns.pop("dtype")
    statistics = result.measurement.statistics if result.measurement else None
    return {
        **columns,
        "shape": None if shape is None else tuple(shape),
        "dtype": dtype or "",
        **{name: getattr(statistics, attribute, None) for name, attribute in _COUNTS.items()},
        "computed": isinstance(statistics, Statistics) and result.computed,
        "damage": f"{result.damage.reason} {result.damage.detail}".strip() if result.damage else None,
    }


def _frame(rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "frame() needs pandas: pip install 'mindinsight[notebook]'", name=error.name
        ) from error
    return pd.DataFrame(list(rows))


_NAMED: Final = 10  # candidates that an error lists


class DumpReader:
    """Reader of one dump directory; a dump that is still written is followed by asking again.

    Raises ``ValueError`` for a directory that is no dump, naming the dumps below it, and
    ``UnreadableError`` for one that cannot be understood.
    """

    def __init__(self, path: str | os.PathLike[str], executor: Executor | None = None) -> None:
        """``executor`` measures and compares tensors in its processes; without one it is done here."""
        if find_layout(path) is None:
            below = [folder.path for folder in find_dump_dirs(path)]
            places = f"; there are dumps below it: {', '.join(below[:_NAMED])}" if below else ""
            raise ValueError(f"{path} is not a dump of a known layout{places}")
        self._path = Path(path)
        self._executor = executor
        self.info = open_dump(path)

    def __repr__(self) -> str:
        return f"<{self.info.layout} dump {self.info.path}: ranks {self.ranks}, steps {self.steps}>"

    def refresh(self) -> None:
        """Look for ranks and steps that were written since."""
        self.info = open_dump(self._path)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks that wrote this dump, in order."""
        return self.info.ranks

    @property
    def steps(self) -> tuple[int, ...]:
        """Steps of any rank, in order."""
        return self.info.steps()

    @property
    def damage(self) -> tuple[FileDamage, ...]:
        """Files that could not be used, and why."""
        return self.info.damage

    def operators(self, step: int | None = None, rank: int | None = None) -> Sequence[Operator]:
        """Operators of a step in execution order. Default: the first step of the first rank."""
        rank, step = self._chosen(rank, step)
        return list_operators(self.info, rank, step).items

    def tensors(
        self, step: int | None = None, rank: int | None = None, operator: str = "*"
    ) -> Sequence[TensorEntry]:
        """Tensors of a step in the order they were written; ``operator`` is a name or a pattern."""
        rank, step = self._chosen(rank, step)
        return [entry for entry in list_tensors(self.info, rank, step).items if _matches(entry, operator)]

    def tensor(
        self,
        operator: str,
        step: int | None = None,
        slot: int | str = 0,
        direction: Direction = "output",
        rank: int | None = None,
    ) -> Array:
        """One tensor as an array of its own type; bfloat16 and smaller floats come as float32.

        Raises ``KeyError`` where no such tensor was dumped, and ``ValueError`` where several operators
        match or only statistics were recorded; ``UnreadableError`` for a damaged file.
        """
        entries = self.tensors(step, rank, operator)
        if not entries:
            raise KeyError(f"no operator {operator!r} in this step")
        matches = [entry for entry in entries if (entry.direction, entry.slot) == (direction, str(slot))]
        if not matches:
            slots = ", ".join(dict.fromkeys(f"{entry.direction} {entry.slot}" for entry in entries[:_NAMED]))
            raise KeyError(f"{operator!r} has no {direction} {slot}; it has {slots}")
        names = list(dict.fromkeys(entry.recorded for entry in matches))
        if len(names) > 1:
            raise ValueError(f"{operator!r} is the name of several operators: {', '.join(names[:_NAMED])}")
        ref = matches[-1].ref  # of an operator that ran several times in the step: the last
        if ref is None:
            raise ValueError(f"only statistics of {operator!r} were recorded")
        return read_tensor(ref)

    def statistics(
        self, step: int | None = None, rank: int | None = None, operator: str = "*"
    ) -> StatisticsTable:
        """Statistics of the tensors of one step or, without one, of all; of one rank or of all."""
        entries: list[TensorEntry] = []
        damage = list(self.info.damage)
        for number in self.ranks if rank is None else (rank,):
            for iteration in self.info.steps(number) if step is None else (step,):
                listing = list_tensors(self.info, number, iteration)
                damage += listing.damage
                entries += [entry for entry in listing.items if _matches(entry, operator)]
        return StatisticsTable(measure_all(entries, self._executor), damage)

    def first_fault(
        self, step: int | None = None, rank: int | None = None, language: str = "en"
    ) -> FaultReport:
        """The first fault of the earliest step that has one; ``language`` is ``en`` or ``zh``."""
        ranks = None if rank is None else (rank,)
        report = find_faults(self.info, ranks, None if step is None else (step,), self._executor)
        return self._fault_report(report, language)

    def compare(
        self,
        reference: DumpReader,
        step: int | None = None,
        rank: int | None = None,
        reference_step: int | None = None,
        reference_rank: int | None = None,
        names: Mapping[str, str] | None = None,
    ) -> Comparison:
        """One step of this dump against one of ``reference``, which is held to be right.

        Default is the first step of the first rank; of the reference the same as here. ``names`` maps
        operators of this dump to operators of the reference where matching by name cannot.
        """
        rank, step = self._chosen(rank, step)
        target = Side(self.info, rank, step)
        other = Side(
            reference.info,
            rank if reference_rank is None else reference_rank,
            step if reference_step is None else reference_step,
        )
        rows = compare_sides(target, other, names, self._executor)
        return Comparison(rows, [*target.damage(), *other.damage()])

    def _chosen(self, rank: int | None, step: int | None) -> tuple[int, int]:
        """Rank and step with their defaults; raises ``KeyError`` for those the dump does not have."""
        ranks = self.ranks
        if not ranks or rank not in (None, *ranks):
            raise KeyError(f"no rank {rank}; the dump has {_listed(ranks)}")
        number = ranks[0] if rank is None else rank
        steps = self.info.steps(number)
        if not steps or step not in (None, *steps):
            raise KeyError(f"no step {step}; rank {number} has {_listed(steps)}")
        return number, steps[0] if step is None else step

    def _fault_report(self, report: Report, language: str) -> FaultReport:
        coverage = report.coverage
        summary = " ".join(
            sentence(claim, language) for claim in (*coverage.claims, *report.claims[1:], SEARCHED)
        )
        first = None
        if report.faults:
            fault = report.faults[0]
            operator = faulty_operator(self.info, fault)
            verdict = sentence(fault.claim, language)
            explanation = explain(self.info, fault)
            texts = explanation.claims if explanation else ()
            reason = " ".join(sentence(claim, language) for claim in texts)
            first = FirstFault(fault, verdict, operator, source_frame(operator), reason)
        return FaultReport(first, coverage.tensors, coverage.judged, summary, tuple(report.damage))


def dump(path: str | os.PathLike[str], executor: Executor | None = None) -> DumpReader:
    """Open the dump in a directory. Raises ``ValueError`` where there is none, naming those below it."""
    return DumpReader(path, executor)


def _matches(entry: TensorEntry, pattern: str) -> bool:
    """Whether an operator has a name, or fits a pattern with ``*`` and ``?``."""
    names = (entry.operator, entry.recorded)
    plain = pattern.replace("[", "[[]")
    return pattern in names or any(fnmatchcase(name, plain) for name in names)


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_NAMED]))
    return f"{shown}, ..." if len(numbers) > _NAMED else shown or "none"
