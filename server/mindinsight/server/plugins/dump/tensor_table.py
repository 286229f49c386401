"""Route of the tensor table: searched, filtered, sorted and paged while statistics are computed."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, Query

from mindinsight.server.debug.examine import TensorResult, is_non_finite
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.formats.dumps.dump_types import TensorEntry
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.dump_requests import StepListing, damage_json, entry_json, has_words

router = APIRouter(route_class=DumpRoute)

Statistic: TypeAlias = Literal[
    "count", "zeros", "negative", "positive", "nans", "positive_infs", "negative_infs",
    "minimum", "maximum", "mean", "absolute_mean", "std", "norm",
]  # fmt: skip
Sort: TypeAlias = Statistic | Literal["sequence", "order", "operator", "type"]
Words = Annotated[str, Query(max_length=500)]


@dataclass(frozen=True)
class Filter:
    """Filter of the tensor table. An empty field does not restrict."""

    q: Words = ""  # in the name of the operator, each word anywhere
    type: Words = ""
    dtype: Words = ""
    direction: Words = ""
    graph: Words = ""
    source: Words = ""  # in a file name, "file:line" or the code of a line on the stack
    lost: bool = False  # only tensors with non-finite values
    by: Statistic | None = None  # statistic that is to lie from ``least`` to ``most``
    least: float = -math.inf
    most: float = math.inf


@router.get("/tensors")
def tensors(
    listing: StepListing,
    filter_: Annotated[Filter, Depends()],
    sort: Sort = "sequence",
    descending: bool = False,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> dict[str, Any]:
    """Return a page of tensors. `measured` of `all` have statistics so far. Repeat until `done`. Rows
    without statistics do not pass a filter on statistics, and come last when sorted by one."""
    done = listing.done  # read before the results, so that none is added after it
    results = listing.results
    measured = len(results)
    rows = _filtered_rows(listing, results, filter_)
    if sort != "sequence" or descending:
        rows.sort(key=_sort_key(listing, results, sort, descending), reverse=descending)
    page = rows[offset : offset + limit]
    return {
        "all": len(listing.entries),
        "measured": measured,
        "done": done,
        "total": len(rows),
        "offset": offset,
        "rows": [entry_json(listing.entries[i], results[i] if i < measured else None) for i in page],
        "types": listing.types,
        "dtypes": _dtypes(listing, results),
        "damage": [damage_json(damage) for damage in listing.damage],
    }


def _filtered_rows(listing: Listing, results: Sequence[TensorResult], filter_: Filter) -> list[int]:
    predicates = _predicates(listing, filter_)
    positions = [i for i, entry in enumerate(listing.entries) if all(holds(entry) for holds in predicates)]
    if filter_.dtype:
        positions = [i for i in positions if _dtype(listing, results, i) == filter_.dtype]
    if not filter_.lost and filter_.by is None:
        return positions
    return [i for i in positions if i < len(results) and _passes_statistics(results[i], filter_)]


def _dtypes(listing: Listing, results: Sequence[TensorResult]) -> list[str]:
    """Return the data types as recorded, or of the data if they are not recorded."""
    if "" not in listing.named_dtypes:
        return sorted(listing.named_dtypes)
    unnamed = (result.measurement for result in list(results) if not result.entry.dtype)
    measured_dtypes = {measurement.dtype for measurement in unnamed if measurement}
    return sorted((listing.named_dtypes | measured_dtypes) - {""})


def _dtype(listing: Listing, results: Sequence[TensorResult], i: int) -> str:
    """Return the data type as recorded, else of the data, else "" until the data is read."""
    measurement = results[i].measurement if i < len(results) else None
    return listing.entries[i].dtype or (measurement.dtype if measurement else "")


def _predicates(listing: Listing, filter_: Filter) -> list[Callable[[TensorEntry], bool]]:
    predicates: list[Callable[[TensorEntry], bool]] = []
    if filter_.q:
        query = filter_.q
        predicates.append(lambda entry: has_words(query, (entry.operator, entry.recorded)))
    wanted = {name: value for name in ("type", "direction", "graph") if (value := getattr(filter_, name))}
    if wanted:
        predicates.append(lambda entry: all(getattr(entry, name) == value for name, value in wanted.items()))
    if filter_.source:
        matching = operators_from(listing, filter_.source)
        predicates.append(lambda entry: (entry.graph, entry.recorded) in matching)
    return predicates


def operators_from(listing: Listing, source: str) -> set[tuple[str, str]]:
    """Return (graph, recorded name) of the operators with a stack frame that contains `source`, in any
    case. `source` is a file, file:line, or code."""
    words = source.lower()
    return {
        key
        for key, operator in listing.operators.items()
        if any(
            words in f"{frame.file}:{frame.line}".lower() or words in frame.code.lower()
            for stack in (operator.stack, *operator.other_stacks)
            for frame in stack
        )
    }


def _passes_statistics(result: TensorResult, filter_: Filter) -> bool:
    if result.measurement is None or (filter_.lost and not is_non_finite(result)):
        return False
    if filter_.by is None:
        return True
    value = getattr(result.measurement.statistics, filter_.by)
    return value is not None and filter_.least <= value <= filter_.most


def _sort_key(
    listing: Listing, results: Sequence[TensorResult], sort: Sort, descending: bool
) -> Callable[[int], tuple[bool, Any]]:
    """Return a sort key that puts rows without a value last in either direction."""
    own = sort in ("sequence", "order", "operator", "type")

    def key(i: int) -> tuple[bool, Any]:
        if own:
            return False, getattr(listing.entries[i], sort)
        measurement = results[i].measurement if i < len(results) else None
        value = getattr(measurement.statistics, sort) if measurement else None
        return (value is None) != descending, 0 if value is None else value

    return key
