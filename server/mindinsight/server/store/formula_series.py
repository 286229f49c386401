"""Series of scalars by name: recorded ones, and formulas over them, whose name begins with ``=``."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from mindinsight.server.curves.curve_statistics import at_steps
from mindinsight.server.curves.formulas import BadFormula, Formula, common_steps, parse_formula
from mindinsight.server.errors import ApiError
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import Line, ScalarSeries

PREFIX = "="  # of a name that is a formula


class FormulaSeries:
    """Values of a formula at the steps that all its scalars share. It has the interface of `ScalarSeries`."""

    def __init__(self, formula: Formula, sources: Sequence[ScalarSeries]) -> None:
        self._formula = formula
        self._sources = sources
        self.parts = sources[0].parts
        self.count = sum(source.count for source in sources)  # grows with each of them
        self.generation = sum(source.generation for source in sources)
        self.version = sum(source.version for source in sources)

    @cached_property
    def _line(self) -> Line:
        lines = [source.line() for source in self._sources]
        steps = common_steps(line.steps for line in lines)
        values = self._formula.value(at_steps(line.steps, line.values, steps)[1] for line in lines)
        walls = at_steps(lines[0].steps, lines[0].walls, steps)[1]
        return Line(steps, walls, np.broadcast_to(values, steps.shape))

    def line(self) -> Line:
        """Return the values at the common steps, with the wall times of the first scalar."""
        return self._line

    def overwritten(self) -> list[Line]:
        """Return an empty list, because a formula is computed from lines."""
        return []


def series_of(run: Run, tag: str) -> ScalarSeries | FormulaSeries | None:
    """Return a scalar or formula of a run, or None if the run lacks a scalar of it or its scalars share no
    step. Raises ApiError for an invalid formula. A tag that begins with ``=`` and is not recorded is a
    formula."""
    if not tag.startswith(PREFIX) or tag in run.scalars:
        return run.curve(tag)
    series = formula_series(run, formula_of(tag))
    return series if series and len(series.line().steps) else None


def formula_series(run: Run, formula: Formula) -> FormulaSeries | None:
    """Return the series of a formula, without computing a value, or None if the run lacks a scalar of it."""
    sources = [run.scalars[name] for name in formula.tags if name in run.scalars]
    return FormulaSeries(formula, sources) if len(sources) == len(formula.tags) else None


def formula_of(tag: str) -> Formula:
    """Return the parsed formula of a tag, with or without the prefix ``=``. Raises ApiError if invalid."""
    text = tag.removeprefix(PREFIX)
    try:
        return parse_formula(text)
    except BadFormula:
        message = f"Cannot read the formula {text[:100]!r}."
        raise ApiError(422, "bad_formula", message, formula=text[:100]) from None
