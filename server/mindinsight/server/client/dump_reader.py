"""Reader of tensor dumps for notebooks and scripts, without a server, and its results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.client import load_pandas
from mindinsight.server.compute.tensor_statistics import Statistics
from mindinsight.server.debug import fault as faults
from mindinsight.server.debug.compare.comparison_export import fields
from mindinsight.server.debug.compare.divergence import Outcome, decide
from mindinsight.server.debug.compare.dump_comparison import Row, Side, compare_sides
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.debug.examine import TensorResult, measure_all
from mindinsight.server.debug.fault_explanation import explain
from mindinsight.server.formats import dumps
from mindinsight.server.formats.dumps.dump_types import Array, Direction, FileDamage, Operator, TensorEntry
from mindinsight.server.formats.graphs.call_stacks import Frame

if TYPE_CHECKING:
    from pandas import DataFrame


_STATISTICS: Final = (  # columns, and attributes of ``Statistics``
    *("count", "nans", "positive_infs", "negative_infs", "zeros"),
    *("minimum", "maximum", "mean", "std", "norm"),
)


class StatisticsTable(Sequence[TensorResult]):
    """Statistics of tensors in the order they were written, one entry for each tensor.

    `entry` names the tensor, `measurement.statistics` has its numbers, `damage` the reason if there are none.
    `computed` is False if the dump recorded the numbers.
    """

    def __init__(self, results: Iterable[TensorResult], damage: Sequence[FileDamage] = ()) -> None:
        self._results = tuple(results)
        self.damage = tuple(damage)  # files that could not be listed

    def __getitem__(self, index: Any) -> Any:
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def frame(self) -> DataFrame:
        """Return a row for each tensor: rank, step, graph, operator, type, direction, slot, shape, dtype, the
        numbers, `computed` and `damage`. Raises ModuleNotFoundError without pandas (`mindinsight[notebook]`).

        Minimum, maximum, mean, std and norm are of the finite elements. Unknown numbers are missing values.
        """
        frame: DataFrame = load_pandas().DataFrame([_columns(result) for result in self._results])
        return frame


@dataclass(frozen=True)
class FirstFault:
    """First operator of a dump that produced or received non-finite values.

    `kind` is `made`, `met` or `unknown`. `verdict` is the sentence for users, and `source` the operator's
    line of code, if the dump holds call stacks.
    """

    fault: faults.Fault
    verdict: str
    operator: Operator | None
    source: Frame | None
    explanation: str = ""  # cause: the input value, and the reason for the non-finite result, if known

    @property
    def kind(self) -> str:
        """Return `made` if the operator produced the non-finite values, `met` if it received them, else
        `unknown`."""
        return self.fault.kind

    @property
    def rank(self) -> int:
        """Return the rank of the fault."""
        return self.fault.rank

    @property
    def step(self) -> int:
        """Return the step of the fault."""
        return self.fault.step

    @property
    def tensor(self) -> TensorEntry:
        """Return the first tensor with non-finite values."""
        return self.fault.entry

    def __str__(self) -> str:
        reason = f" {self.explanation}" if self.explanation else ""
        line = f" ({self.source.file}:{self.source.line})" if self.source else ""
        return f"Rank {self.rank}, step {self.step}: {self.verdict}{reason}{line}"


@dataclass(frozen=True)
class FaultReport:
    """Result of a search for the first fault: the fault, if any, and the coverage of the search.

    `fault` is None if everything is finite and also if nothing could be judged. `summary` says which.
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
    """Rows of two dumps compared tensor by tensor, in execution order of the first."""

    def __init__(self, rows: Iterable[Row], damage: Sequence[FileDamage]) -> None:
        self._rows = tuple(rows)
        self.damage = tuple(damage)

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def outcome(self, tolerance: Tolerance | None = None) -> Outcome:
        """Return the decision whether the dumps agree: claims, numbers of rows by state, and the rows of
        the first difference. If nothing could be compared, the decision is unknown. Without `tolerance`,
        the default of each type applies."""
        unread = sum(row.compared.damage is not None for row in self._rows)
        unlisted = sum(damage.of_tensors for damage in self.damage)
        return decide(self._rows, tolerance, max(0, unlisted - unread))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claims of `outcome` with the default tolerance, the most important first."""
        return self.outcome().claims

    def __str__(self) -> str:
        return "\n".join(map(sentence, self.claims))

    def frame(self) -> DataFrame:
        """Return a row for each compared pair, with the columns of `mindinsight dump compare --csv`. Raises
        ModuleNotFoundError without pandas (`mindinsight[notebook]`)."""
        frame: DataFrame = load_pandas().DataFrame([fields(row) for row in self._rows])
        return frame


def _columns(result: TensorResult) -> dict[str, Any]:
    columns = result.columns()
    shape, dtype = columns.pop("shape"), columns.pop("dtype")
    statistics = result.measurement.statistics if result.measurement else None
    return {
        **columns,
        "shape": None if shape is None else tuple(shape),
        "dtype": dtype or "",
        **{name: getattr(statistics, name, None) for name in _STATISTICS},
        "computed": isinstance(statistics, Statistics) and result.computed,
        "damage": f"{result.damage.reason} {result.damage.detail}".strip() if result.damage else None,
    }


_NAMED: Final = 10  # candidates listed in an error


class DumpReader:
    """Reader of one dump directory. Call `refresh` to follow a dump that is still written.

    Raises ValueError for a directory that is not a dump, which lists the dumps below it, and UnreadableError
    for an invalid dump.
    """

    def __init__(self, path: str | os.PathLike[str], executor: Executor | None = None) -> None:
        """Open the dump at ``path``. With an `executor`, tensors are measured and compared in its processes.
        Without one, this process does."""
        if dumps.find_layout(path) is None:
            below = [folder.path for folder in dumps.find_dump_dirs(path)]
            places = f"; there are dumps below it: {', '.join(below[:_NAMED])}" if below else ""
            raise ValueError(f"{path} is not a dump of a known layout{places}")
        self._path = Path(path)
        self._executor = executor
        self.info = dumps.open_dump(path)

    def __repr__(self) -> str:
        return f"<{self.info.layout} dump {self.info.path}: ranks {self.ranks}, steps {self.steps}>"

    def refresh(self) -> None:
        """Find ranks and steps that were written in the meantime."""
        self.info = dumps.open_dump(self._path)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Return the ranks that wrote this dump, ascending."""
        return self.info.ranks

    @property
    def steps(self) -> tuple[int, ...]:
        """Return the steps of any rank, ascending."""
        return self.info.steps()

    @property
    def damage(self) -> tuple[FileDamage, ...]:
        """Return the files that could not be used, with the reasons."""
        return self.info.damage

    def operators(self, step: int | None = None, rank: int | None = None) -> Sequence[Operator]:
        """Return the operators of a step in execution order. Default: the first step of the first rank.
        Raises KeyError for an unknown rank or step.
        """
        rank, step = self._chosen(rank, step)
        return dumps.list_operators(self.info, rank, step).items

    def tensors(
        self, step: int | None = None, rank: int | None = None, operator: str = "*"
    ) -> Sequence[TensorEntry]:
        """Return the tensors of a step in the order written. Default: the first step of the first rank.
        Raises KeyError for an unknown rank or step. `operator` is a name or a pattern with `*` and `?`."""
        rank, step = self._chosen(rank, step)
        return [
            entry for entry in dumps.list_tensors(self.info, rank, step).items if _matches(entry, operator)
        ]

    def tensor(
        self,
        operator: str,
        step: int | None = None,
        slot: int | str = 0,
        direction: Direction = "output",
        rank: int | None = None,
    ) -> Array:
        """Return one tensor, by default the first output of `operator` at the first step of the first rank.
        Raises KeyError if no such tensor was dumped, ValueError if several operators match or only statistics
        were recorded, and UnreadableError for a damaged file.

        It has its recorded type, but bfloat16 and smaller floats become float32.
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
        ref = matches[-1].ref  # the last, if the operator ran several times in the step
        if ref is None:
            raise ValueError(f"only statistics of {operator!r} were recorded")
        return dumps.read_tensor(ref)

    def statistics(
        self, step: int | None = None, rank: int | None = None, operator: str = "*"
    ) -> StatisticsTable:
        """Return the statistics of tensors of matching operators, by default at all steps of all ranks.
        The table is empty for an unknown rank, step or operator. `operator` is a name or a pattern with
        `*` and `?`."""
        entries: list[TensorEntry] = []
        damage = list(self.info.damage)
        for number in self.ranks if rank is None else (rank,):
            for iteration in self.info.steps(number) if step is None else (step,):
                listing = dumps.list_tensors(self.info, number, iteration)
                damage += listing.damage
                entries += [entry for entry in listing.items if _matches(entry, operator)]
        return StatisticsTable(measure_all(entries, self._executor), damage)

    def first_fault(
        self, step: int | None = None, rank: int | None = None, language: str = "en"
    ) -> FaultReport:
        """Search for the first fault, by default over all steps and ranks, and return the report. Its
        `fault` is that of the earliest step with a fault, None if all is finite or nothing could be
        judged. `language` is `en` or `zh`."""
        ranks = None if rank is None else (rank,)
        search = faults.search_faults(self.info, ranks, None if step is None else (step,), self._executor)
        return self._fault_report(faults.report_of(search), language)

    def compare(
        self,
        reference: DumpReader,
        step: int | None = None,
        rank: int | None = None,
        reference_step: int | None = None,
        reference_rank: int | None = None,
        names: Mapping[str, str] | None = None,
    ) -> Comparison:
        """Compare a step of this dump (by default its first) with the same step of a correct `reference`.
        Raises KeyError if this dump lacks the rank or step. If the reference lacks them, no tensor has a
        partner.

        The rank is by default the first. `reference_rank` and `reference_step` select another rank and step
        of the reference. `names` maps names of operators here to those in the reference.
        """
        rank, step = self._chosen(rank, step)
        target = Side(self.info, rank, step)
        other_rank = rank if reference_rank is None else reference_rank
        other = Side(reference.info, other_rank, step if reference_step is None else reference_step)
        rows = compare_sides(target, other, names, self._executor)
        return Comparison(rows, [*target.damage(), *other.damage()])

    def _chosen(self, rank: int | None, step: int | None) -> tuple[int, int]:
        """Return rank and step, by default the first rank and its first step. Raises KeyError if the dump
        does not have them."""
        ranks = self.ranks
        if not ranks or rank not in (None, *ranks):
            raise KeyError(f"no rank {rank}; the dump has {_listed(ranks)}")
        number = ranks[0] if rank is None else rank
        steps = self.info.steps(number)
        if not steps or step not in (None, *steps):
            raise KeyError(f"no step {step}; rank {number} has {_listed(steps)}")
        return number, steps[0] if step is None else step

    def _fault_report(self, report: faults.Report, language: str) -> FaultReport:
        coverage = report.coverage
        claims = (*coverage.claims, *report.gap_claims, faults.SEARCHED)
        summary = " ".join(sentence(claim, language) for claim in claims)
        first = None
        if report.faults:
            fault = report.faults[0]
            operator = faults.faulty_operator(fault)
            verdict = " ".join(sentence(claim, language) for claim in fault.claims)
            explanation = explain(self.info, fault)
            reason = (
                " ".join(sentence(claim, language) for claim in explanation.claims) if explanation else ""
            )
            first = FirstFault(fault, verdict, operator, faults.source_frame(operator), reason)
        return FaultReport(first, coverage.tensors, coverage.judged, summary, tuple(report.damage))


def dump(path: str | os.PathLike[str], executor: Executor | None = None) -> DumpReader:
    """Open the dump in a directory. With an `executor`, its processes measure and compare tensors. Raises
    ValueError, which lists the dumps below the directory, if it is not a dump, and UnreadableError if it is
    an invalid one."""
    return DumpReader(path, executor)


def _matches(entry: TensorEntry, pattern: str) -> bool:
    """Return True if ``pattern`` is the name of a tensor's operator, or matches it with `*` and `?`."""
    names = (entry.operator, entry.recorded)
    plain = pattern.replace("[", "[[]")
    return pattern in names or any(fnmatchcase(name, plain) for name in names)


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_NAMED]))
    return f"{shown}, ..." if len(numbers) > _NAMED else shown or "none"
