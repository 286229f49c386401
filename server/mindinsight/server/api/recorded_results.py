"""Settings that repeat a result of the run, such as its last loss, and so are no cause of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.curves.correlations import number_of
from mindinsight.server.curves.importance import better_end, plain
from mindinsight.server.store.run import Run

_NAMED: Final = 3  # settings in a claim
_FEWEST: Final = 5  # distinct values that are equal: fewer may be settings that a run reaches
_ROUNDED: Final = 1e-3  # relative difference of a result that was rounded before it was recorded
_OF_RANGE: Final = 0.02  # share of the range of all values that a rounded one differs by at most


def repeated_results(
    runs: Sequence[Run], columns: Mapping[str, Sequence[Any]], objective: str = ""
) -> dict[str, str]:
    """Return the settings that repeat a result in all runs that have both, each with the result's name.

    ``columns`` has the values of each setting by name, one for each of ``runs``, in their order. Results are
    metrics and the last, lowest and highest values of ``objective`` and of the scalars whose names tell what
    is better. A setting with fewer than five different numbers is not compared. {} if none repeats a result.
    """
    known = {name: np.array([number_of(value) for value in column]) for name, column in columns.items()}
    known = {name: values for name, values in known.items() if _varies(values)}
    if not known:
        return {}
    tags = {tag for run in runs for tag in run.scalars if tag == objective or better_end(tag)}
    metrics = {name for run in runs if run.lineage is not None for name in run.lineage.metrics}
    repeated: dict[str, str] = {}
    for result in (*sorted(tags), *sorted(metrics)):
        values = np.array([_results(run, result) for run in runs])  # [n, 4]
        for name, numbers in known.items():
            if name not in repeated and any(_equal(numbers, column) for column in values.T):
                repeated[name] = result
    return repeated


def _varies(values: Any) -> bool:
    return len(np.unique(values[np.isfinite(values)])) >= _FEWEST


def _results(run: Run, name: str) -> Iterable[float]:
    """Return the last, lowest and highest value of a scalar, and the metric of the same name. NaN stands
    for none."""
    metric = number_of(run.lineage.metrics.get(name)) if run.lineage is not None else np.nan
    values = run.scalars[name].line().values if name in run.scalars else np.zeros(0)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return np.nan, np.nan, np.nan, metric
    return float(values[-1]), float(finite.min()), float(finite.max()), metric


def _equal(settings: Any, results: Any) -> bool:
    """Return True if both are equal up to rounding wherever both are finite, in enough distinct values."""
    both = np.isfinite(settings) & np.isfinite(results)
    settings, results = settings[both], results[both]
    if not _varies(settings):
        return False
    least = np.minimum(_ROUNDED * np.abs(results), _OF_RANGE * np.ptp(results))
    return bool((np.abs(settings - results) <= least).all())


def result_claims(repeated: Mapping[str, str]) -> Iterator[Claim]:
    """Yield the note that settings are left out because they repeat a result, nothing without such
    settings."""
    if repeated:
        parts = [
            Claim("claim.part.lineage.result", "note", {"setting": plain(name), "result": result})
            for name, result in repeated.items()
        ]
        evidence = tuple({"setting": name, "tag": result} for name, result in repeated.items())
        facts = {"n": len(parts), "settings": few(parts, _NAMED)}
        yield Claim("claim.lineage.results", "note", facts, evidence)
