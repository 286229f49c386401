"""Parser of the search body of `lineages` and `targets/search`: filter, order and page of rows.

A row is a flat mapping from field name to value. Fields are those listed below, `metric/<name>` and
`user_defined/<name>`. Every error of the body has the code `50542218`.
"""

import operator
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any, Final, TypeAlias, TypeVar

from mindinsight.server.v1.v1_responses import Fault, V1Error

Row: TypeAlias = Mapping[str, Any]
T = TypeVar("T")

TEXT_FIELDS: Final = (
    *("summary_dir", "loss_function", "train_dataset_path", "test_dataset_path"),
    *("network", "optimizer", "dataset_mark"),
)
COUNT_FIELDS: Final = (
    *("train_dataset_count", "test_dataset_count"),
    *("epoch", "batch_size", "device_num", "model_size"),
)
NUMBER_FIELDS: Final = ("learning_rate", "loss")
_FIELDS: Final = frozenset((*TEXT_FIELDS, *COUNT_FIELDS, *NUMBER_FIELDS))
_CUSTOM_FIELD: Final = re.compile("(?:metric|user_defined)/.", re.DOTALL)
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    name: getattr(operator, name) for name in ("eq", "lt", "gt", "le", "ge")
}
_LISTS: Final = ("in", "not_in")
_OPERATORS: Final = (*_COMPARISONS, *_LISTS)
_OF_TEXTS: Final = ("eq", *_LISTS)
_KEYS: Final = ("limit", "offset", "sorted_name", "sorted_type", "lineage_type")
_MOST_ROWS: Final = 100  # of a page, as in MindInsight
_MOST_PAGES: Final = 100_000  # as in MindInsight
_LARGEST_COUNT: Final = 2**63 - 1  # the largest int64
_BOTH: Final = frozenset(("model", "dataset"))  # halves of a row
_MOST_CONDITIONS: Final = 1000  # each is evaluated for every row


class MembershipList:
    """List with fast membership tests, by a set of the hashable values."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._hashed: set[Hashable] = set()
        self._others: list[Any] = []
        for value in values:
            if isinstance(value, Hashable):
                self._hashed.add(value)
            else:
                self._others.append(value)

    def __contains__(self, value: object) -> bool:
        return value in (self._hashed if isinstance(value, Hashable) else self._others)


@dataclass(frozen=True, slots=True)
class Condition:
    """Predicate `row[name] <operation> operand`, as in Python. False for values that cannot be compared."""

    name: str
    operation: str
    operand: Any

    def holds(self, row: Row) -> bool:
        """Return True if the row satisfies the condition, False if it does not, or if its value cannot be
        compared."""
        value = row.get(self.name)
        try:
            if self.operation in _LISTS:
                return (value in self.operand) is (self.operation == "in")
            if value is None and self.operation != "eq":
                return False
            return bool(_COMPARISONS[self.operation](value, self.operand))
        except TypeError:
            return False


@dataclass(frozen=True, slots=True)
class Search:
    """Search of lineages: conditions, order and page, and the halves of a row (model, dataset) to return."""

    conditions: tuple[Condition, ...] = ()
    offset: int = 0
    limit: int | None = None
    sorted_name: str | None = None
    descending: bool = False
    halves: frozenset[str] = _BOTH

    def matching(self, rows: Iterable[Row]) -> list[Row]:
        """Return the rows that satisfy all conditions, sorted as requested."""
        matching = [row for row in rows if all(condition.holds(row) for condition in self.conditions)]
        return sort_rows(matching, self.sorted_name, self.descending) if self.sorted_name else matching

    def page(self, rows: Sequence[T]) -> Sequence[T]:
        """Return the requested page of the rows, or all rows without a limit."""
        if self.limit is None:
            return rows
        return rows[self.offset * self.limit : (self.offset + 1) * self.limit]


def sort_rows(rows: Sequence[Row], name: str, descending: bool) -> list[Row]:
    """Return the rows sorted by a field. Missing values are lowest, values of different types are ordered by
    type name.
    """
    key = cmp_to_key(_compare)
    return sorted(rows, key=lambda row: key(row.get(name)), reverse=descending)


def _compare(value: Any, other: Any) -> int:
    """Return the order of two values: negative, 0 or positive."""
    if value is None or other is None:
        return (value is not None) - (other is not None)
    try:
        return int(value > other) - int(value < other)
    except TypeError:
        names = type(value).__name__, type(other).__name__
        return (names[0] > names[1]) - (names[0] < names[1])


def parse_search(body: object) -> Search:
    """Return the search of a body (parsed JSON, None for an empty body). Raises V1Error, which names the
    key.
    """
    if body is None:
        return Search()
    if not isinstance(body, dict):
        raise _search_error("The search body must be an object.")
    offset = _integer(body, "offset", 0, _MOST_PAGES, default=None)
    limit = _integer(body, "limit", 1, _MOST_ROWS, default=10 if "offset" in body else None)
    if len(body) > _MOST_CONDITIONS:
        raise _search_error(f"A search has at most {_MOST_CONDITIONS} conditions.")
    sorted_name = _sorted_name(body)
    return Search(
        conditions=tuple(_conditions(body)),
        offset=offset or 0,
        limit=limit,
        sorted_name=sorted_name,
        descending=_sorted_type(body, sorted_name) == "descending",
        halves=_halves(body["lineage_type"]) if "lineage_type" in body else _BOTH,
    )


def _conditions(body: Mapping[str, Any]) -> Iterable[Condition]:
    for name, operations in body.items():
        if name in _KEYS:
            continue
        _check_name(name)
        if not isinstance(operations, dict):
            raise _search_error(f"The condition on {name} must be an object of operators.")
        for operation, operand in operations.items():
            _check_operation(name, operation, operand)
            is_list = operation in _LISTS and isinstance(operand, list)
            yield Condition(name, operation, MembershipList(operand) if is_list else operand)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not (name in _FIELDS or _CUSTOM_FIELD.match(name)):
        raise _search_error(f"There is no search field {name!r}.")


def _check_operation(name: str, operation: str, operand: Any) -> None:
    if operation not in _OPERATORS:
        raise _search_error(f"There is no operator {operation!r}; use one of {', '.join(_OPERATORS)}.")
    if name in TEXT_FIELDS and operation not in _OF_TEXTS:
        raise _search_error(f"{name} is a string field: use {', '.join(_OF_TEXTS)}.")
    if name.startswith("user_defined/"):
        return
    if operation in _LISTS:
        if not isinstance(operand, list):
            raise _search_error(f"{name}: {operation} takes a list.")
    elif not _has_field_type(name, operand):
        raise _search_error(f"{name}: the value has the wrong type.")


def _has_field_type(name: str, value: Any) -> bool:
    if name in TEXT_FIELDS:
        return isinstance(value, str)
    if name in COUNT_FIELDS:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _integer(body: Mapping[str, Any], key: str, low: int, high: int, default: int | None) -> int | None:
    if key not in body:
        return default
    value = body[key]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _search_error(f"{key} must be an integer from {low} to {high}.")
    return value


def _sorted_name(body: Mapping[str, Any]) -> str | None:
    if "sorted_name" not in body:
        return None
    name = body["sorted_name"]
    if name != "tag":
        _check_name(name)
    return str(name)


def _sorted_type(body: Mapping[str, Any], sorted_name: str | None) -> str:
    order = body.get("sorted_type")
    if order not in (None, "ascending", "descending"):
        raise _search_error("sorted_type must be ascending or descending.")
    if "sorted_type" in body and sorted_name is None:
        raise _search_error("sorted_type needs sorted_name.")
    return order or "ascending"


def _halves(condition: object) -> frozenset[str]:
    """Parse `lineage_type`: "model", "dataset" or both, the halves of each row to return. `in` takes
    precedence over `eq`."""
    if not isinstance(condition, dict) or not condition.keys() <= {"eq", "in"}:
        raise _search_error("lineage_type takes eq or in.")
    halves = condition.get("in", [condition["eq"]] if "eq" in condition else list(_BOTH))
    if not isinstance(halves, list) or not all(isinstance(half, str) and half in _BOTH for half in halves):
        raise _search_error("lineage_type must be model or dataset.")
    return frozenset(halves)


def _search_error(message: str) -> V1Error:
    return V1Error(Fault.LINEAGE_SEARCH, message)
