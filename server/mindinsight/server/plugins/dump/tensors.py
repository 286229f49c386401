"""The table of tensors: searched, filtered, sorted and sent page by page while statistics are counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, Query

from mindinsight.server.debug.examine import Answer
from mindinsight.server.debug.fault import not_finite
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.formats.dumps.types import TensorEntry
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.facts import damage_facts, entry_facts
from mindinsight.server.plugins.dump.lookup import StepListing

router = APIRouter(route_class=DumpRoute)

Statistic: TypeAlias = Literal[
    "count", "zeros", "negative", "positive", "nans", "positive_infs", "negative_infs",
    "minimum", "maximum", "mean", "absolute_mean", "std", "norm",
]  # fmt: skip
Sort: TypeAlias = Statistic | Literal["sequence", "order", "operator", "type"]
Words = Annotated[str, Query(max_length=500)]


@dataclass(frozen=True)
class Filter:
    """What a row must be to be shown; empty asks for nothing."""

    q: Words = ""  # in the name of the operator
    type: Words = ""
    dtype: Words = ""
    direction: Words = ""
    graph: Words = ""
    source: Words = ""  # in a file name, "file:line" or the code of a line on the stack
    lost: bool = False  # NaN or infinities
    by: Statistic | None = None
    least: float = -math.inf
    most: float = math.inf


@router.get("/tensors")
def tensors(
    listing: StepListing,
    chosen: Annotated[Filter, Depends()],
    sort: Sort = "sequence",
    descending: bool = False,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> dict[str, Any]:
    """A page of tensors. ``measured`` of ``all`` have statistics by now; ask again until ``done``.

    Rows whose statistics are not known yet do not pass a filter for statistics and come last when
    sorted by one.
    """
    answers = listing.answers
    measured = len(answers)
    rows = _passing(listing, answers, chosen)
    if sort != "sequence" or descending:
        rows.sort(key=_key(listing, answers, sort, descending), reverse=descending)
    shown = rows[offset : offset + limit]
    return {
        "all": len(listing.entries),
        "measured": measured,
        "done": listing.done,
        "total": len(rows),
        "offset": offset,
        "rows": [entry_facts(listing.entries[i], answers[i] if i < measured else None) for i in shown],
        "types": listing.types,
        "dtypes": _dtypes(listing, answers),
        "damage": [damage_facts(each) for each in listing.damage],
    }


def _passing(listing: Listing, answers: Sequence[Answer], chosen: Filter) -> list[int]:
    tests = _tests(listing, chosen)
    found = list(range(len(listing.entries)))
    if tests:
        found = [i for i, entry in enumerate(listing.entries) if all(test(entry) for test in tests)]
    if chosen.dtype:
        found = [i for i in found if _dtype(listing, answers, i) == chosen.dtype]
    if not chosen.lost and chosen.by is None:
        return found
    return [i for i in found if i < len(answers) and _fits(answers[i], chosen)]


def _dtypes(listing: Listing, answers: Sequence[Answer]) -> list[str]:
    """Data types as named, and as read where the dump does not name them."""
    if "" not in listing.named_dtypes:
        return sorted(listing.named_dtypes)
    read = {answer.measured.dtype for answer in list(answers) if answer.measured and not answer.entry.dtype}
    return sorted((listing.named_dtypes | read) - {""})


def _dtype(listing: Listing, answers: Sequence[Answer], i: int) -> str:
    """As the dump names it, else as it was read, else unknown yet."""
    measured = answers[i].measured if i < len(answers) else None
    return listing.entries[i].dtype or (measured.dtype if measured else "")


def _tests(listing: Listing, chosen: Filter) -> list[Callable[[TensorEntry], bool]]:
    tests: list[Callable[[TensorEntry], bool]] = []
    if chosen.q:
        words = chosen.q.lower()
        tests.append(lambda entry: words in entry.operator.lower() or words in entry.recorded.lower())
    wanted = {name: getattr(chosen, name) for name in ("type", "direction", "graph")}
    tests += [partial(_has, name, value) for name, value in wanted.items() if value]
    if chosen.source:
        from_there = operators_from(listing, chosen.source)
        tests.append(lambda entry: (entry.graph, entry.recorded) in from_there)
    return tests


def _has(name: str, value: str, entry: TensorEntry) -> bool:
    return bool(getattr(entry, name) == value)


def operators_from(listing: Listing, source: str) -> set[tuple[str, str]]:
    """Operators that have a line on their stack in which ``source`` occurs: a file, file:line, or code."""
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


def _fits(answer: Answer, chosen: Filter) -> bool:
    if answer.measured is None or (chosen.lost and not not_finite(answer)):
        return False
    if chosen.by is None:
        return True
    value = getattr(answer.measured.statistics, chosen.by)
    return value is not None and chosen.least <= value <= chosen.most


def _key(
    listing: Listing, answers: Sequence[Answer], sort: Sort, descending: bool
) -> Callable[[int], tuple[bool, Any]]:
    """A key that puts what has no value last, whichever way is sorted."""
    own = sort in ("sequence", "order", "operator", "type")

    def key(i: int) -> tuple[bool, Any]:
        if own:
            return False, getattr(listing.entries[i], sort)
        measured = answers[i].measured if i < len(answers) else None
        value = getattr(measured.statistics, sort) if measured else None
        return (value is None) != descending, 0 if value is None else value

    return key
