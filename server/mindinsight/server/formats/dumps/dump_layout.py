"""Base class of dump layouts, and the builder of a step's operators from its tensors."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

from mindinsight.server.formats.arrays.lazy_array import Values
from mindinsight.server.formats.dumps import dump_types
from mindinsight.server.formats.dumps.npy_folder import npy_header, npy_values
from mindinsight.server.formats.graphs.ir import IrNode

Arguments = tuple[tuple[str, str], ...]
ArgumentsOf = Callable[[str, str], Arguments]  # by type and recorded name of an operator
_NUMBER: Final = re.compile(r"-op\d+$")
_UNPLANNED: Final = 1 << 62  # sorts operators without a planned position last


def assemble_operators(
    graph: str,
    tensors: Iterable[dump_types.TensorEntry],
    order: Iterable[str],
    nodes: dict[str, IrNode],
    arguments_of: ArgumentsOf,
) -> tuple[dump_types.Operator, ...]:
    """Return the operators with dumped tensors, and the others of ``order``, in execution order. ``order``
    and ``nodes`` are the full names in execution order and the nodes of the graph by full name.
    ``arguments_of`` returns the recorded scalar arguments of an operator."""
    dumped: dict[str, list[dump_types.TensorEntry]] = {}
    for tensor in tensors:
        dumped.setdefault(tensor.recorded, []).append(tensor)
    operators = [_dumped_operator(graph, entries, nodes, arguments_of) for entries in dumped.values()]
    seen = {operator.name for operator in operators}
    operators += [
        _planned_operator(graph, name, position, nodes.get(name))
        for position, name in enumerate(dict.fromkeys(order))
        if name not in seen
    ]
    operators.sort(
        key=lambda operator: (operator.order if operator.order >= 0 else _UNPLANNED, operator.sequence)
    )
    return tuple(operators)


def _dumped_operator(
    graph: str,
    entries: list[dump_types.TensorEntry],
    nodes: dict[str, IrNode],
    arguments_of: ArgumentsOf,
) -> dump_types.Operator:
    """Return an operator, given its tensors."""
    first = entries[0]
    node = nodes.get(first.operator)
    inputs = tuple(entry.slot for entry in entries if entry.direction == "input")
    outputs = tuple(entry.slot for entry in entries if entry.direction != "input")
    return dump_types.Operator(
        name=first.operator,
        recorded=first.recorded,
        type=first.type,
        scope=_scope(first),
        graph=graph,
        sequence=first.sequence,
        order=first.order,
        inputs=inputs,
        outputs=outputs,
        arguments=arguments_of(first.type, first.recorded) or (node.arguments if node else ()),
        inputs_known=_all_inputs(inputs, node),
        outputs_known=bool(outputs),
        **_graph_facts(node),
    )


def _all_inputs(slots: tuple[str, ...], node: IrNode | None) -> bool:
    """Return True if every input was dumped: no gap in the slots, and no fewer slots than graph sources."""
    least = 1 if node is None else len(node.sources)
    return set(slots) == set(map(str, range(len(slots)))) and len(slots) >= least


def _planned_operator(graph: str, name: str, position: int, node: IrNode | None) -> dump_types.Operator:
    """Return an operator without tensors, given its position in the execution order and its node in the
    graph."""
    scope, _, last = name.rpartition("/")
    return dump_types.Operator(
        name=name,
        recorded="",
        type=node.op if node else _NUMBER.sub("", last),
        scope=tuple(scope.split("/")) if scope else (),
        graph=graph,
        sequence=-1,
        order=position,
        **_graph_facts(node),
    )


def _graph_facts(node: IrNode | None) -> dict[str, Any]:
    """Return the fields of an operator that are known from its node in the graph."""
    return (
        {}
        if node is None
        else {"sources": node.sources, "stack": next(iter(node.stacks), ()), "other_stacks": node.stacks[1:]}
    )


def _scope(entry: dump_types.TensorEntry) -> tuple[str, ...]:
    """Return the scope path of an operator. Names of parameters are separated by dots, others by slashes."""
    return tuple(entry.operator.split("." if entry.type == "Parameter" else "/")[:-1])


class Layout(ABC):
    """Reader of the dumps of one tool: a class in a module of ``layouts``.

    ``match`` and ``open_dump`` are required. By default a dump has no tensors and no overflows, tensors are
    ``.npy`` files, and operators are derived from their tensors. A layout whose ``match`` raises is skipped
    and reported in ``Dump.damage``. ``header`` and ``values`` raise UnreadableError for their tensor only.
    """

    name: ClassVar[str]  # name of its module
    compares_arguments: ClassVar[bool] = False  # arguments of operators have the same form in all dumps
    growing: ClassVar[tuple[str, ...]] = ("",)  # names in a step folder that get new times as it grows

    @abstractmethod
    def match(self, path: Path) -> float:
        """Return the confidence, 0 to 1, that a directory is a dump of this layout, or a negative number if
        it is not one. The layout with the highest confidence opens the directory."""

    @abstractmethod
    def open_dump(self, path: Path) -> dump_types.Dump:
        """Return ranks, graphs and steps of a directory. No tensor is listed."""

    def tensors(self, folder: dump_types.StepFolder) -> dump_types.Listing[dump_types.TensorEntry]:
        """Return the tensors of a step folder in the order they were written. The default is an empty
        listing."""
        return dump_types.Listing(())

    def operators(self, folder: dump_types.StepFolder) -> dump_types.Listing[dump_types.Operator]:
        """Return the operators of a step folder in execution order, with call stacks if they are recorded."""
        listing = self.tensors(folder)
        return dump_types.Listing(
            assemble_operators(folder.graph, listing, (), {}, lambda kind, name: ()), listing.damage
        )

    def arguments(self, folder: dump_types.StepFolder) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
        """Yield the recorded names of operators with non-tensor arguments, and these arguments."""
        for operator in self.operators(folder).items:
            if operator.arguments:
                yield operator.recorded, operator.arguments

    def overflows(self, folder: dump_types.StepFolder) -> dump_types.Listing[dump_types.Overflow]:
        """Return the overflows that the device reported in a step folder. The default is an empty listing."""
        return dump_types.Listing(())

    def header(self, ref: dump_types.TensorRef) -> dump_types.TensorHeader:
        """Return shape, type and size in bytes of one tensor, read without its data.
        Raises UnreadableError."""
        return npy_header(ref)

    def values(self, ref: dump_types.TensorRef) -> Values:
        """Return the lazy values of one tensor. Raises UnreadableError."""
        return npy_values(ref)
