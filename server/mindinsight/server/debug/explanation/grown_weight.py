"""Search for a weight that grew since training was healthy, among those an operator computes with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

from mindinsight.server.debug.explanation.rules import number_text
from mindinsight.server.formats.dumps import list_operators
from mindinsight.server.formats.dumps.health import read_health
from mindinsight.server.formats.dumps.types import Dump, Operator

GROWN: Final = 10.0  # times its healthy norm from which a weight explains a large value
_DEPTH: Final = 2  # operators between a layer's product and its weight: a transposition, a cast


def grown_weight(dump: Dump, rank: int, step: int, graph: str, operator: str) -> Mapping[str, str] | None:
    """Words for the weight of ``operator`` that grew most; None where none has ten times its healthy norm.

    ``operator`` is a full name. Weights are looked for among its sources and theirs, within its own scope.
    """
    health = read_health(dump, rank, step)
    if health is None:
        return None
    operators = {known.name: known for known in list_operators(dump, rank, step, graph).items}
    ratios = {
        name: health.weights_now[name] / health.weights[name]
        for name in _weights(operators, operator, health.weights)
        if health.weights[name] > 0 and math.isfinite(health.weights_now.get(name, math.nan))
    }
    name = max(ratios, key=ratios.__getitem__, default="")
    if not name or ratios[name] < GROWN:
        return None
    return {
        "weight": name,
        "now": number_text(health.weights_now[name]),
        "then": number_text(health.weights[name]),
        "step": str(health.step),
        "ago": str(step - health.step),
    }


def _weights(operators: Mapping[str, Operator], start: str, names: Iterable[str]) -> set[str]:
    """Parameters that go into an operator, directly or through others of its scope."""
    known, weights, layer = set(names), set[str](), {start}
    scope = operators[start].scope if start in operators else ()
    for _ in range(_DEPTH + 1):
        sources = {source for name in layer if name in operators for source in operators[name].sources}
        weights |= sources & known
        layer = {name for name in sources if name in operators and operators[name].scope == scope}
    return weights
