"""Backward of one call of a PyTorch module, observed without changing autograd's graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.graph import get_gradient_edge

from mindinsight.writer.precision_debugger.draft import Draft
from mindinsight.writer.precision_debugger.pytorch import values

if TYPE_CHECKING:
    from mindinsight.writer.precision_debugger.pytorch.probe import TorchProbe


class ModuleBackward:
    """Backward of one call of a module: gradients that arrive at its outputs and depart from its inputs.

    The gradient of an input is the sum of what the module's own nodes of autograd compute for it. The graph
    stays as it is: a node in between, as PyTorch's full backward hooks have it, would change the order in
    which gradients are summed, and which arguments are one object.
    """

    def __init__(
        self, probe: TorchProbe, recorded: set[str], path: str, number: int, inputs: Sequence[Any]
    ) -> None:
        self.name = f"{path}.backward.{number}"
        self._probe = probe
        self._recorded = recorded
        self._path = path
        self._draft = Draft(self.name, probe.config, values)
        self._edges: dict[Any, int] = {}  # of autograd's graph, from the module to an input
        for position, value in enumerate(inputs):
            if isinstance(value, torch.Tensor) and value.requires_grad:
                self._edges.setdefault(tuple(get_gradient_edge(value))[:2], position)
        self._first = _next_sequence_number() if self._edges else 0
        self._consumers: dict[Any, list[tuple[int, int]]] = {}
        self._awaited: set[int] = set()  # outputs
        self._passed: dict[int, int] = {}  # outputs that are inputs
        self._arrived: list[Any] = []
        self._sums: dict[int, torch.Tensor] = {}
        self._inputs = len(inputs)
        self._state = "waiting"

    def consumers(self, outputs: Sequence[torch.Tensor]) -> Mapping[Any, list[tuple[int, int]]]:
        """Nodes that the module made and that compute gradients of inputs: places in both."""
        pending = [output.grad_fn for output in outputs] if self._edges else []
        seen = set(pending)
        while pending:
            node = pending.pop()
            if node is None or node._sequence_nr() < self._first:
                continue
            for position, edge in enumerate(node.next_functions):
                if edge in self._edges:
                    self._consumers.setdefault(node, []).append((position, self._edges[edge]))
                elif edge[0] is not None and edge[0] not in seen:
                    seen.add(edge[0])
                    pending.append(edge[0])
        return dict(self._consumers)

    def prepare(self, outputs: Mapping[int, torch.Tensor], count: int) -> None:
        """Note the outputs that will have a gradient; one may be an input, as of ``nn.Identity``."""
        self._awaited = set(outputs)
        self._arrived = [None] * count
        edges = {position: tuple(get_gradient_edge(value))[:2] for position, value in outputs.items()}
        self._passed = {
            position: self._edges[edge] for position, edge in edges.items() if edge in self._edges
        }

    def arrive(self, position: int, gradient: torch.Tensor) -> None:
        """Take the gradient of an output."""
        if self._state == "done":
            return
        self._begin()
        if self._draft.takes("backward", "input"):
            self._arrived[position] = self._draft.describe(gradient, f"input.{position}")
        self._awaited.discard(position)
        if position in self._passed:
            self._add(self._passed[position], gradient)
        if not self._consumers and not self._awaited:
            self.finish()

    def depart(self, node: Any, departures: Sequence[tuple[int, int]], produced: Sequence[Any]) -> None:
        """Take the gradients that a node computed for inputs."""
        if self._state == "done":
            return
        self._begin()
        for position, target in departures:
            gradient = produced[position]
            if gradient is not None:
                self._add(target, gradient)
        self._consumers.pop(node, None)
        if not self._consumers:
            self.finish()

    def finish(self) -> None:
        """Record what has come, if anything has."""
        if self._state != "begun":
            return
        self._state = "done"
        probe, draft = self._probe, self._draft
        if probe.selection(self.name):
            self._recorded.add(self._path)
            if draft.takes("backward", "input"):
                draft.sections["input"] = self._arrived
            if draft.takes("backward", "output"):
                departed = [self._sums.get(position) for position in range(self._inputs)]
                draft.sections["output"] = draft.describe(departed, "output") if self._edges else []
            probe.commit(draft)
        self._sums, self._consumers = {}, {}
        if self.name in probe.parents:
            probe.parents.remove(self.name)
        probe.selection.end(self.name)

    def _add(self, target: int, gradient: torch.Tensor) -> None:
        before = self._sums.get(target)
        self._sums[target] = gradient if before is None else before + gradient

    def _begin(self) -> None:
        if self._state == "waiting":
            self._state = "begun"
            probe = self._probe
            probe.enclose(self.name, probe.parents[-1] if probe.parents else None)
            probe.parents.append(self.name)
            probe.selection.begin(self.name)


def _next_sequence_number() -> int:
    """A number that no node of autograd has which was made before, in this thread."""
    with torch.enable_grad():
        node = torch.zeros((), requires_grad=True).view(()).grad_fn
    return int(node._sequence_nr())
