"""Contents and sizes of boxes, and the flows between the children of a scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindinsight.server.graph.layout.coordinates import Size
from mindinsight.server.graph.model.graph import OPERATOR, Edges, Graph, Numbers, Offsets
from mindinsight.server.graph.model.node_details import attribute_summaries, is_token, output_of
from mindinsight.server.graph.scopes.costs import Costs
from mindinsight.server.graph.scopes.folding import display_name
from mindinsight.server.graph.scopes.scope_tree import ROOT, Tree

_NARROW: Final = "fijlrtI.,:;|!'()[]{}/- "
_BROAD: Final = "mwMWQOGD@%&…×+"
# Lengths in the units of a drawing, in which text is 12 high.
_LABEL: Final = 210.0  # limit of the width of a label
_CHIP: Final = 110.0  # limit of the width of a chip's label
_MOST_CHIPS: Final = 3  # drawn next to a box; further ones are counted
CHIP_HEIGHT: Final = 17.0  # chosen: a line of text with room above and below
CHIP_GAP: Final = 3.0  # chosen: between two chips
CHIP_SPACE: Final = 10.0  # between a chip and its box
_ROW: Final = 15.0  # height of a line of text
_PADDING: Final = 12.0  # left and right of the text
_MARK: Final = 26.0  # width of the sign that opens a scope


@dataclass(frozen=True, slots=True)
class Chip:
    """Parameter or constant, by its node, drawn next to the operator that uses it."""

    node: int
    label: str
    width: float


@dataclass(frozen=True, slots=True)
class Content:
    """Content of a closed box: texts, size, and chips for parameters and constants."""

    label: str
    text: str  # output or attribute of an operator, costs of a scope
    width: float
    height: float
    chips: tuple[Chip, ...]
    hidden: int  # number of parameters and constants without room
    dynamic: bool
    output: str = ""  # element type and shape of an operator, even if ``text`` is an attribute

    @property
    def overhang(self) -> float:
        """Return the height by which the column of chips exceeds the box, at the top and at the bottom."""
        column = len(self.chips) * (CHIP_HEIGHT + CHIP_GAP) - CHIP_GAP
        return max(0.0, (column - self.height) / 2)

    @property
    def size(self) -> Size:
        """Return the size including the chips to the left. Links meet the box, not the chips."""
        beside = max((chip.width for chip in self.chips), default=-CHIP_SPACE) + CHIP_SPACE
        middle = beside + self.width / 2
        return Size(beside + self.width, self.height + 2 * self.overhang, middle, middle)


def box_content(tree: Tree, index: int, outer: OuterInputs, costs: Costs, attribute: str = "") -> Content:
    """Return the content of a closed box: of a scope, or of an operator with its output or ``attribute``.
    An operator without the attribute has the text ""."""
    label = truncate(display_name(tree, index), _LABEL)
    node = int(tree.nodes[index])
    if node < 0:
        text = costs.text(index)
        width = max(text_width(label) + text_width("0000"), text_width(text)) + _PADDING + _MARK
        return Content(label, text, max(width, 90.0), _ROW * 2 + (10 if text else 4), (), 0, False)
    output = output_of(tree.graph, node)
    shown = dict(attribute_summaries(tree.graph, node)).get(attribute, "") if attribute else output.compact
    text = truncate(shown, _LABEL)
    chips, hidden = _chips(tree.graph, outer.of(node))
    width = max(text_width(label), text_width(text), 44.0) + 2 * _PADDING
    height = _ROW * (2 if text else 1) + 10
    return Content(label, text, width, height, chips, hidden, output.dynamic, output.compact)


class OuterInputs:
    """Index of the parameters and constants that feed each operator, without tokens of side effects."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        feeding = graph.edges.select(graph.kinds[graph.edges.sources] != OPERATOR)
        order = np.argsort(feeding.targets, kind="stable")
        self._sources = feeding.sources[order]
        self._begins = np.searchsorted(feeding.targets[order], np.arange(len(graph) + 1))

    def of(self, node: int) -> list[int]:
        """Return the distinct nodes that feed an operator, in the order of its inputs."""
        sources = self._sources[self._begins[node] : self._begins[node + 1]].tolist()
        return [source for source in dict.fromkeys(sources) if not is_token(self._graph, source)]


def _chips(graph: Graph, nodes: list[int]) -> tuple[tuple[Chip, ...], int]:
    """Return at most _MOST_CHIPS chips, parameters before constants, and the number of further ones."""
    chip_nodes = sorted(nodes, key=lambda node: int(graph.kinds[node]))[:_MOST_CHIPS]
    labels = [truncate(_chip_label(graph, node), _CHIP) for node in chip_nodes]
    chips = [
        Chip(node, label, text_width(label) + 14) for node, label in zip(chip_nodes, labels, strict=True)
    ]
    return tuple(chips), len(nodes) - len(chip_nodes)


def _chip_label(graph: Graph, node: int) -> str:
    """Return the name of a parameter, or the value of a constant."""
    text = output_of(graph, node).text if graph.types[node] != "Parameter" else ""
    return text or graph.names[node]


class _Widths(dict[str, float]):
    """Width of each character: of ASCII from the table, of others by their range in Unicode."""

    def __missing__(self, character: str) -> float:
        return 12.2 if character > "\u2fff" else 7.1


_WIDTHS: Final = _Widths(
    dict.fromkeys(map(chr, range(128)), 7.1) | dict.fromkeys(_NARROW, 4.2) | dict.fromkeys(_BROAD, 10.2)
)


def text_width(text: str) -> float:
    """Return the estimated width of text 12 units high. Characters beyond Latin count as square."""
    return sum(map(_WIDTHS.__getitem__, text))


def truncate(text: str, longest: float) -> str:
    """Return text truncated to a width. The middle is omitted, because names differ at their ends."""
    if text_width(text) <= longest:
        return text
    head = tail = 0
    room = longest - text_width("…")
    while head + tail < len(text):
        character = text[head] if head <= tail else text[-1 - tail]
        room -= text_width(character)
        if room < 0:
            break
        head, tail = (head + 1, tail) if head <= tail else (head, tail + 1)
    return f"{text[:head]}…{text[len(text) - tail :]}"


_HALF: Final = 32  # bits of an index, of which an int64 holds two
_LOW: Final = (1 << _HALF) - 1


@dataclass(frozen=True, slots=True)
class Flow:
    """Flow: all edges from one child of a scope to another."""

    source: int  # index in the tree
    target: int  # index in the tree
    values: int  # number of distinct source leaves
    control: bool  # True if all are control edges
    leaf: int = -1  # the only source leaf, -1 if there are several


@dataclass(frozen=True, slots=True)
class Flows:
    """Flows inside a scope, and the number of values that cross its border at each child."""

    inside: tuple[Flow, ...]
    enters: dict[int, int]  # values from outside, by the child that receives them
    leaves: dict[int, int]  # values to the outside, by the child that produces them


def flows_of(tree: Tree, index: int, children: Sequence[int]) -> Flows:
    """Return the edges of a scope, aggregated to flows between its children."""
    starts = np.array(sorted(children), dtype=np.int32)
    if index == ROOT:
        return Flows(_aggregate(tree.edges, starts), {}, {})
    entering, leaving = tree.boundary_edges(index)
    return Flows(
        _aggregate(tree.inner_edges(index), starts),
        _crossing_counts(entering, starts, into=True),
        _crossing_counts(leaving, starts, into=False),
    )


def child_of(starts: Numbers, leaves: Numbers) -> Numbers:
    """Return [l] the index of the child that holds each leaf. ``starts`` are the indices of all children of
    a scope, ascending."""
    return starts[np.searchsorted(starts, leaves, side="right") - 1]


def _aggregate(edges: Edges, starts: Numbers) -> tuple[Flow, ...]:
    """Return one flow for each pair of children with edges between them."""
    sources, targets = child_of(starts, edges.sources), child_of(starts, edges.targets)
    crossing = sources != targets
    pairs = _packed_pairs(sources[crossing], targets[crossing])
    distinct, which = np.unique(pairs, return_inverse=True)
    only_orders = np.ones(len(distinct), dtype=np.bool_)
    np.logical_and.at(only_orders, which, edges.controls[crossing])
    flowing = np.unique(_packed_pairs(which, edges.sources[crossing]))
    values = np.bincount(flowing >> _HALF, minlength=len(distinct))
    first = flowing[np.searchsorted(flowing >> _HALF, np.arange(len(distinct)))] & _LOW
    leaves = np.where(values == 1, first, -1)
    ends = zip((distinct >> _HALF).tolist(), (distinct & _LOW).tolist(), strict=True)
    columns = zip(ends, values.tolist(), only_orders.tolist(), leaves.tolist(), strict=True)
    return tuple(Flow(source, target, *rest) for (source, target), *rest in columns)


def _packed_pairs(sources: np.ndarray[Any, Any], targets: Numbers) -> Offsets:
    """Return pairs of indices packed into 64-bit integers, which sort faster."""
    return sources.astype(np.int64) << _HALF | targets


def _crossing_counts(edges: Edges, starts: Numbers, into: bool) -> dict[int, int]:
    """Return the number of distinct values that cross the border of the scope at each child."""
    inner, outer = (edges.targets, edges.sources) if into else (edges.sources, edges.targets)
    value = outer if into else inner
    pairs = np.unique(_packed_pairs(child_of(starts, inner), value))
    indices, counts = np.unique(pairs >> _HALF, return_counts=True)
    return dict(zip(indices.tolist(), counts.tolist(), strict=True))
