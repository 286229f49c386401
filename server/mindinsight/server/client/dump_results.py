"""Results of reading a dump: statistics, the first fault, a comparison; each can be a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.compute.statistics import Statistics
from mindinsight.server.debug.compare.comparison import Row
from mindinsight.server.debug.compare.divergence import Outcome, Tolerance, decide
from mindinsight.server.debug.compare.report import fields
from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.fault import Fault
from mindinsight.server.formats.dumps.types import FileDamage, Operator, TensorEntry
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
