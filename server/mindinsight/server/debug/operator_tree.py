"""Tree of a step's operators for drawing: their paths, scopes and colour scale."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from mindinsight.proto.graph_pb2 import GraphProto, InputProto
from mindinsight.server.debug.operator_links import Link
from mindinsight.server.formats.dumps.dump_types import Operator
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.scopes.scope_tree import Tree

BACKWARD: Final = "Backward"  # scope of the calls of the backward pass

_CALL: Final = re.compile(
    r"(?P<family>[A-Za-z]\w*)\.(?P<name>.+)\.(?P<way>forward|backward|parameters_grad)(?:\.(?P<number>\d+))?"
)
_MODULES: Final = ("Module", "Cell")


class Call(NamedTuple):
    """Parts of a name that msprobe gives: Module.fc1.Linear.forward.0, Functional.relu.1.backward."""

    family: str
    name: str
    way: str
    number: str

    @property
    def label(self) -> str:
        """Return the name without its phase: ``fc1 · Linear``, ``fc1 · Linear #1``, ``Tensor.add_.1``."""
        if self.family not in _MODULES:
            return f"{self.family}.{self.name}"
        module, _, kind = self.name.rpartition(".")
        times = f" #{self.number}" if self.number not in ("", "0") else ""
        gradients = " parameters_grad" if self.way == "parameters_grad" else ""
        return f"{module} · {kind}{times}{gradients}" if module else f"{kind}{times}{gradients}"


def call_of(name: str) -> Call | None:
    """Parse the name of a call, or return None for names of another form, such as MindSpore's scoped
    names."""
    match = _CALL.fullmatch(name)
    return Call(*match.groups("")) if match else None


def paths_of(operators: Sequence[Operator]) -> list[str | None]:
    """Return the path of each operator, with slashes, or None for a module drawn as the scope of its
    functions."""
    paths = [_path(operator) for operator in operators]
    scopes = {path[:depth] for path in paths for depth in range(1, len(path))}
    return [
        None if path in scopes and call_of(operator.name) else "/".join(path)
        for operator, path in zip(operators, paths, strict=True)
    ]


def _path(operator: Operator) -> tuple[str, ...]:
    call = call_of(operator.name)
    if call is None:
        return (*operator.scope, operator.name.rpartition("/")[2])
    phase = (BACKWARD,) if call.way != "forward" else ()
    scopes = [
        label
        for label in map(_scope_label, operator.scope)
        if label and label != call.family  # the family of a function is not a scope of the network
    ]
    if call.way == "parameters_grad":
        scopes = []  # drawn next to its module
    return (*phase, *scopes, call.label)


def _scope_label(scope: str) -> str:
    call = call_of(scope)
    return call.label if call else scope


@dataclass(frozen=True)
class OperatorTree:
    """Tree of operators in their scopes. Node ``i`` of its graph is ``operators[i]``."""

    tree: Tree
    operators: tuple[Operator, ...]

    def operator_at(self, index: int) -> Operator | None:
        """Return the operator at an index of the tree, or None for a scope."""
        node = int(self.tree.nodes[index])
        return self.operators[node] if 0 <= node < len(self.operators) else None

    def largest(self, index: int, values: Mapping[str, float]) -> float | None:
        """Return the largest value at and below an index of the tree, or None if none is known. ``values``
        are by the full names of operators."""
        operators = (self.operator_at(leaf) for leaf in self.tree.leaves(index))
        return max(
            (values[operator.name] for operator in operators if operator and operator.name in values),
            default=None,
        )


def operator_tree(
    operators: Iterable[Operator], links: Sequence[Link], order: Sequence[tuple[str, str]] = ()
) -> OperatorTree:
    """Return the tree of operators joined by ``links``, and by control edges for pairs of names in
    ``order``. Raises UnreadableError without an operator. Parameters and data are left out. Names are as
    recorded."""
    candidates = [operator for operator in operators if operator.type != "Parameter"]
    paths = zip(candidates, paths_of(candidates), strict=True)
    drawn = [(operator, path) for operator, path in paths if path is not None]
    numbers = {operator.recorded: str(i) for i, (operator, _) in enumerate(drawn)}
    proto = GraphProto(name="dump")
    for number, (operator, path) in enumerate(drawn):
        proto.node.add(name=str(number), op_type=operator.type or "Operator", full_name=path)
    for link in links:
        if link.source in numbers and link.target in numbers:
            proto.node[int(numbers[link.target])].input.add(name=numbers[link.source])
    for before, after in order:
        if before in numbers and after in numbers:
            proto.node[int(numbers[after])].input.add(name=numbers[before], type=InputProto.CONTROL_EDGE)
    return OperatorTree(
        folded_tree(read_graph(proto.SerializeToString())), tuple(operator for operator, _ in drawn)
    )


def order_of_unlinked(operators: Sequence[Operator], links: Sequence[Link]) -> list[tuple[str, str]]:
    """Return pairs (before, after) of recorded names that put operators without inputs in execution order."""
    ran = sorted((operator for operator in operators if operator.sequence >= 0), key=lambda op: op.sequence)
    drawn = [operator for operator, path in zip(ran, paths_of(ran), strict=True) if path is not None]
    fed = {link.target for link in links}
    pairs = itertools.pairwise(operator.recorded for operator in drawn if operator.type != "Parameter")
    return [(before, after) for before, after in pairs if after not in fed]


def share(value: float, values: Iterable[float]) -> float:
    """Return the position, 0 to 1, of a magnitude among others on a logarithmic scale. A non-finite
    magnitude is at 1, and a zero or negative one at 0. Others that are not positive and finite do not
    count. If all that count are equal, the position is 1, and without any it is 0."""
    if not math.isfinite(value):
        return 1.0
    known = [magnitude for magnitude in values if 0 < magnitude < math.inf]
    if value <= 0 or not known:
        return 0.0
    least, most = math.log(min(known)), math.log(max(known))
    return 1.0 if most == least else (math.log(value) - least) / (most - least)
