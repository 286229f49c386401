"""Execution order of the tensors of a step, where modules and gradients are recorded out of order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mindinsight.server.debug.finiteness import OperatorKey, operator_key
from mindinsight.server.formats.dumps.types import Operator, TensorEntry


def tensors_by_operator(entries: Sequence[TensorEntry]) -> dict[OperatorKey, list[int]]:
    """Positions of the tensors of each operator, rising."""
    tensors: dict[OperatorKey, list[int]] = {}
    for position, entry in enumerate(entries):
        tensors.setdefault(operator_key(entry), []).append(position)
    return tensors


def execution_order(
    entries: Sequence[TensorEntry],
    operators: Mapping[OperatorKey, Operator],
    tensors: Mapping[OperatorKey, Sequence[int]],
) -> list[int]:
    """Positions of ``entries`` in execution order; ``tensors`` as of ``tensors_by_operator``.

    Outputs of a module follow those of all calls inside it, and gradients of weights the calls they depend
    on; inputs of a module stay at their position.
    """
    ends = {key: positions[-1] for key, positions in tensors.items()}
    depth = dict.fromkeys(ends, 0)
    for (graph, name), operator in operators.items():
        own = tensors.get((graph, name))
        if own is None:
            continue
        for parent in operator.scope:
            if (graph, parent) in ends:
                ends[graph, parent] = max(ends[graph, parent], own[-1])
                depth[graph, name] += 1
        for call in operator.depends:
            ends[graph, name] = max(ends[graph, name], *tensors.get((graph, call), ()), 0)

    def sort_key(position: int) -> tuple[int, bool, int, int]:
        key = operator_key(entries[position])
        deferred = entries[position].direction == "output" and ends[key] != tensors[key][-1]
        return (ends[key], True, -depth[key], position) if deferred else (position, False, 0, position)

    return sorted(range(len(entries)), key=sort_key)
