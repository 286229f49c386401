"""The search body of ``lineages`` and ``targets/search``: checked once, then applied to rows.

A row is a flat mapping from field name to value; fields are the ones below, ``metric/<name>`` and
``user_defined/<name>``. Every fault of the body is ``50542218``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from mindinsight.server.api.v1.errors import Fault, V1Error

Row: TypeAlias = Mapping[str, Any]
T = TypeVar("T")

TEXT_FIELDS: Final = (
    "summary_dir",
    "loss_function",
    "train_dataset_path",
    "test_dataset_path",
    "network",
    "optimizer",
    "dataset_mark",
)
COUNT_FIELDS: Final = (
    "train_dataset_count",
    "test_dataset_count",
    "epoch",
    "batch_size",
    "device_num",
    "model_size",
)
NUMBER_FIELDS: Final = ("learning_rate", "loss")
_ORDERED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "lt": operator.lt,
    "gt": operator.gt,
    "le": operator.le,
    "ge": operator.ge,
}
_LISTS: Final = ("in", "not_in")
_OPERATORS: Final = ("eq", *_ORDERED, *_LISTS)
_KEYS: Final = ("limit", "offset", "sorted_name", "sorted_type", "lineage_type")
_MOST_ROWS: Final = 100
_MOST_PAGES: Final = 100_000
_LARGEST_COUNT: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Condition:
    """``row[name] <operation> operand``."""

    name: str
    operation: str
    operand: Any

    def holds(self, row: Row) -> bool:
        value = row.get(self.name)
        if self.operation == "eq":
            return _same(value, self.operand)
        if self.operation in _LISTS:
            found = any(_same(value, one) for one in self.operand)
            return found if self.operation == "in" else not found
        if value is None or not _comparable(value, self.operand):
            return False
        return _ORDERED[self.operation](value, self.operand)


@dataclass(frozen=True, slots=True)
class Search:
    """A checked search body."""

    conditions: tuple[Condition, ...] = ()
    offset: int = 0
    limit: int | None = None
    sorted_name: str | None = None
    descending: bool = False
    halves: frozenset[str] = field(default=frozenset(("model", "dataset")))

    def matching(self, rows: Iterable[Row]) -> list[Row]:
        """Rows that hold all conditions, in the order asked for."""
        kept = [row for row in rows if all(condition.holds(row) for condition in self.conditions)]
        return sort_rows(kept, self.sorted_name, self.descending) if self.sorted_name else kept

    def page(self, rows: Sequence[T]) -> Sequence[T]:
        if self.limit is None:
            return rows
        return rows[self.offset * self.limit : (self.offset + 1) * self.limit]


def sort_rows(rows: Sequence[Row], name: str, descending: bool) -> list[Row]:
    """Rows by ``name``: missing values lowest, values of different types by the type's name."""

    def key(row: Row) -> tuple[int, str, Any]:
        value = row.get(name)
        if value is None:
            return (0, "", 0)
        return (1, "number", value) if _is_number(value) else (1, type(value).__name__, str(value))

    return sorted(rows, key=key, reverse=descending)


def parse_search(body: object) -> Search:
    """The search that ``body`` (parsed JSON, None for an empty body) asks for.

    Raises:
        V1Error: any fault, with the key that is wrong in its text.
    """
    if body is None:
        return Search()
    if not isinstance(body, dict):
        raise _wrong("The search body must be an object.")
    offset = _whole(body, "offset", 0, _MOST_PAGES, default=0)
    limit = _whole(body, "limit", 1, _MOST_ROWS, default=10 if "offset" in body else None)
    sorted_name = _sorted_name(body)
    return Search(
        conditions=tuple(_conditions(body)),
        offset=offset or 0,
        limit=limit,
        sorted_name=sorted_name,
        descending=_sorted_type(body, sorted_name) == "descending",
        halves=_halves(body.get("lineage_type")),
    )


def _conditions(body: Mapping[str, Any]) -> Iterable[Condition]:
    for name, operations in body.items():
        if name in _KEYS:
            continue
        _check_name(name)
        if not isinstance(operations, dict):
            raise _wrong(f"The condition on {name} must be an object of operators.")
        for operation, operand in operations.items():
            _check_operation(name, operation, operand)
            yield Condition(name, operation, operand)


def _check_name(name: object) -> None:
    known = isinstance(name, str) and (
        name in TEXT_FIELDS
        or name in COUNT_FIELDS
        or name in NUMBER_FIELDS
        or any(name.startswith(prefix) and len(name) > len(prefix) for prefix in ("metric/", "user_defined/"))
    )
    if not known:
        raise _wrong(f"There is no field {name!r} to search by.")


def _check_operation(name: str, operation: str, operand: Any) -> None:
    if operation not in _OPERATORS:
        raise _wrong(f"There is no operator {operation!r}; use one of {', '.join(_OPERATORS)}.")
    if name in TEXT_FIELDS and operation in _ORDERED:
        raise _wrong(f"{name} is a text: use eq, in or not_in.")
    operands = operand if operation in _LISTS else [operand]
    if not isinstance(operands, list):
        raise _wrong(f"{name}: {operation} takes a list.")
    if not all(_fits(name, one) for one in operands):
        raise _wrong(f"{name}: a value has the wrong type.")


def _fits(name: str, value: Any) -> bool:
    if value is None or name.startswith("user_defined/"):
        return True
    if name in TEXT_FIELDS:
        return isinstance(value, str)
    if name in COUNT_FIELDS:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT
    return _is_number(value)


def _whole(body: Mapping[str, Any], key: str, low: int, high: int, default: int | None) -> int | None:
    if key not in body:
        return default
    value = body[key]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _wrong(f"{key} must be an integer from {low} to {high}.")
    return value


def _sorted_name(body: Mapping[str, Any]) -> str | None:
    name = body.get("sorted_name")
    if name is None:
        return None
    if name != "tag":
        _check_name(name)
    return str(name)


def _sorted_type(body: Mapping[str, Any], sorted_name: str | None) -> str:
    order = body.get("sorted_type")
    if order not in (None, "ascending", "descending"):
        raise _wrong("sorted_type must be ascending or descending.")
    if order is not None and sorted_name is None:
        raise _wrong("sorted_type needs sorted_name.")
    return order or "ascending"


def _halves(asked: object) -> frozenset[str]:
    if asked is None:
        return frozenset(("model", "dataset"))
    if not isinstance(asked, dict) or len(asked) != 1 or next(iter(asked)) not in ("eq", "in"):
        raise _wrong("lineage_type takes eq or in.")
    operation, operand = next(iter(asked.items()))
    halves = [operand] if operation == "eq" else operand
    if not isinstance(halves, list) or not halves or any(half not in ("model", "dataset") for half in halves):
        raise _wrong("lineage_type is model or dataset.")
    return frozenset(halves)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _comparable(value: object, operand: object) -> bool:
    return (_is_number(value) and _is_number(operand)) or type(value) is type(operand)


def _same(value: object, operand: object) -> bool:
    if value is None or operand is None:
        return value is operand
    return _comparable(value, operand) and value == operand


def _wrong(message: str) -> V1Error:
    return V1Error(Fault.LINEAGE_SEARCH, message)
