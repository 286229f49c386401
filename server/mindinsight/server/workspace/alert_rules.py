"""Alert rules, and the delivery state of each webhook."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from mindinsight.server.types import LEVELS, Level
from mindinsight.server.workspace.json_store import Full, JsonStore

Condition: TypeAlias = Literal["not_finite", "above", "below", "silent", "strays", "failed"]

MAX_RULES: Final = 50  # each is evaluated for every new point
MAX_TAGS: Final = 200  # characters of a pattern
_DIGITS: Final = 10  # of a rule's number; users may edit the file


@dataclass(frozen=True, slots=True)
class Rule:
    """Alert rule: a condition and the tags it applies to.

    `not_finite`, `above` and `below` are evaluated for every point of the scalars that match `tags`, with `*`
    and `?`, or of the formula after a leading `=`. `silent` is for runs without new data for `limit` minutes.
    `strays` is for these scalars of all ranks of a job, and reports ranks that diverge from the others.
    `failed` is for runs whose files name the exception that ended the training.
    """

    condition: Condition
    tags: str = "*"
    limit: float = 0.0  # a value, or minutes
    level: Level = "warning"
    on: bool = True
    since: float = 0.0  # Unix seconds; points recorded earlier are not evaluated


BUILT_IN: Final[Mapping[str, Rule]] = {
    "not_finite": Rule("not_finite", level="error"),
    "failed": Rule("failed", level="error"),
}  # by id, until somebody changes them


class Rules(JsonStore[Rule]):
    """Rules of one base directory by id, in `<folder>/rules.json`."""

    def __init__(self, folder: Path, base: Path) -> None:
        super().__init__(folder / "rules.json", base, _rule)

    def all(self) -> Mapping[str, Rule]:
        """Return the rules by id, in the order of creation, the built-in ones first."""
        return {**BUILT_IN, **super().all()}

    def add(self, rule: Rule) -> None:
        """Add a rule under a new id. Raises Full if there are MAX_RULES, OSError if the file cannot be
        written."""

        def with_it(rules: dict[str, Rule]) -> dict[str, Rule]:
            if len(rules) >= MAX_RULES:
                raise Full
            numbers = [int(number) for number in rules if number.isdecimal() and len(number) < _DIGITS]
            return {**rules, str(max(numbers, default=0) + 1): rule}

        self.update(with_it)

    def change(self, rule_id: str, rule: Rule) -> None:
        """Replace a rule, also a built-in one. Raises KeyError if the id is unknown, OSError if the file
        cannot be written."""

        def changed(rules: dict[str, Rule]) -> dict[str, Rule]:
            if rule_id not in rules and rule_id not in BUILT_IN:
                raise KeyError(rule_id)
            return {**rules, rule_id: rule}

        self.update(changed)

    def forget(self, name: str) -> None:
        """Delete a rule. Raises KeyError if the id is unknown or a built-in one, OSError if the file cannot
        be written."""
        if name in BUILT_IN:
            raise KeyError(name)
        super().forget(name)


def _rule(content: dict[str, Any]) -> Rule | None:
    """Parse a rule, or return None if it is invalid, because users may edit the file."""
    try:
        rule = Rule(**{field.name: content[field.name] for field in fields(Rule) if field.name in content})
        good = rule.condition in get_args(Condition) and rule.level in LEVELS
        good = good and math.isfinite(rule.limit) and math.isfinite(rule.since)
    except (TypeError, OverflowError):
        return None
    return rule if good and isinstance(rule.tags, str) and len(rule.tags) <= MAX_TAGS else None


@dataclass(frozen=True, slots=True)
class Delivery:
    """State of one webhook. Alerts are JSON values as returned by `alert_list`."""

    seen: list[str] = field(default_factory=list)  # ids of delivered or queued alerts, oldest first
    waiting: list[dict[str, Any]] = field(default_factory=list)  # newest first
    dropped: int = 0  # alerts for which the queue had no room since the last delivery
    failures: int = 0  # attempts since the last delivery
    tried: float = 0.0  # Unix seconds of the last attempt


class Deliveries(JsonStore[Delivery]):
    """Store of the delivery states of one base directory by webhook, in `<folder>/webhooks.json`."""

    def __init__(self, folder: Path, base: Path) -> None:
        super().__init__(folder / "webhooks.json", base, _delivery)

    def keep(self, webhook: str, current: Callable[[], Delivery]) -> None:
        """Store the state of ``webhook`` that `current` returns once the file is locked. Raises OSError."""
        self.update(lambda deliveries: {**deliveries, webhook: current()})


def _delivery(content: dict[str, Any]) -> Delivery | None:
    """Parse a state, or return None if it is invalid."""
    try:
        delivery = Delivery(**content)
        alerts = all(isinstance(alert["id"], str) for alert in delivery.waiting)
        good = alerts and all(isinstance(name, str) for name in delivery.seen)
        numbers = (delivery.dropped, delivery.failures, delivery.tried)
        good = good and all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
    except (TypeError, KeyError, OverflowError):
        return None
    return delivery if good and delivery.failures >= 0 else None
