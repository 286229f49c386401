"""Route of the drawing of a step's graph, coloured by a statistic of the outputs or by their error."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

from fastapi import APIRouter, Query

from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.debug.examine import OperatorKey
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.operator_links import content_links, graph_links
from mindinsight.server.debug.operator_tree import OperatorTree, operator_tree, order_of_unlinked, share
from mindinsight.server.debug.overlay.graph_overlay import (
    Symptom,
    magnitudes,
    step_fault,
    step_masks,
    symptoms,
)
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.graph.encoders.drawing_json import drawing_json
from mindinsight.server.graph.layout.nested import draw
from mindinsight.server.graph.scopes.network_outline import choose_initial_scopes
from mindinsight.server.http.bulkhead_routes import CurrentService, DumpRoute
from mindinsight.server.http.indices import indices_of
from mindinsight.server.plugins.dump.dump_comparisons import COMPARISON, errors_of
from mindinsight.server.plugins.dump.dump_requests import Sessions, StepListing, unreadable_error
from mindinsight.server.plugins.dump.tensor_table import Statistic

router = APIRouter(route_class=DumpRoute)

Colour: TypeAlias = Statistic | Literal["error"]

OpenScopes = Annotated[
    str | None, Query(alias="open", description="comma-separated indices of the open scopes")
]
ComparisonNumber = Annotated[
    int | None, Query(description="number of a comparison, for the colour ``error``")
]
_LOUD: Final = (Symptom.FAULT, Symptom.LOST)


class _TreeSession:
    """Session that holds the tree of a drawing, and the symptoms of its operators once they are final."""

    def __init__(self, tree: OperatorTree, in_order: bool) -> None:
        self.tree = tree
        self.in_order = in_order  # some edges are the order of execution
        self._symptoms: Mapping[OperatorKey, Symptom] | None = None

    def symptoms(self, listing: Listing, done: bool) -> Mapping[OperatorKey, Symptom]:
        """Return the operators with non-finite results, and the operator at fault. Weights are ignored,
        because they may have changed since."""
        if self._symptoms is not None:
            return self._symptoms
        results = list(listing.results)
        of_operators = [result for result in results if result.entry.type != "Parameter"]
        masks = step_masks(listing, results, done)
        known = symptoms(of_operators, fault=step_fault(listing, results, done), masks=masks)
        if done:
            self._symptoms = known
        return known

    def stop(self) -> None:
        """Do nothing. A drawing has no background work."""


@router.get("/picture")
def picture(
    service: CurrentService,
    listing: StepListing,
    sessions: Sessions,
    graph: str = "",
    opened: OpenScopes = None,
    colour: Colour = "norm",
    comparison: ComparisonNumber = None,
) -> dict[str, Any]:
    """Return a drawing of the operators with some scopes open.

    `value` of a box is the largest of its operators in the statistic `colour`, `share` its position on the
    colour scale, 0 to 1, from `least` to `most`. With the colour `error` it is the error in `comparison`, and
    without a known comparison there are no values. `symptom` is fault or lost (non-finite) whatever the
    colour, else empty. If the dump has no graph, edges join tensors of equal content once all are measured.
    Control edges are the order of execution.
    """
    done = listing.done
    session = _session(listing, sessions, graph, done)
    tree = session.tree
    ill = session.symptoms(listing, done)
    open_scopes = indices_of(opened, len(tree.tree.paths))
    if opened is None:
        open_scopes = sorted({*choose_initial_scopes(tree.tree), *_around_fault(tree, ill)})
    if colour == "error":
        values = _errors(service, comparison)
    else:
        results = [result for result in listing.results if graph in ("", result.entry.graph)]
        values = magnitudes(results, colour, lambda entry: entry.operator)
    drawing = drawing_json(tree.tree, draw(tree.tree, open_scopes))
    for box in drawing["boxes"]:
        box.update(_colour_json(tree, box["id"], values), symptom=_symptom(tree, box["id"], ill))
    return {
        "done": done,
        "open": open_scopes,
        "operators": len(tree.operators),
        "in_order": session.in_order,
        **_scale_json(values),
        "counts": _counts(tree, ill),
        **drawing,
    }


def _around_fault(tree: OperatorTree, ill: Mapping[OperatorKey, Symptom]) -> list[int]:
    """Return the scopes that contain the operator of the first fault, to be opened so that the operator is
    visible."""
    faulty = [
        int(tree.tree.leaf_indices[node])
        for node, operator in enumerate(tree.operators)
        if ill.get((operator.graph, operator.recorded)) == Symptom.FAULT
    ]
    return [
        index
        for leaf in faulty
        for index in range(1, leaf)
        if tree.tree.nodes[index] < 0 and tree.tree.ends[index] > leaf
    ]


def _scale_json(values: Mapping[str, float]) -> dict[str, float | None]:
    known = [value for value in values.values() if 0 < value < math.inf]
    return {"least": min(known, default=None), "most": max(known, default=None)}


def _counts(tree: OperatorTree, ill: Mapping[OperatorKey, Symptom]) -> dict[str, int]:
    drawn = [ill.get((operator.graph, operator.recorded)) for operator in tree.operators]
    return {symptom.name.lower(): drawn.count(symptom) for symptom in _LOUD if symptom in drawn}


def _symptom(tree: OperatorTree, position: int, ill: Mapping[OperatorKey, Symptom]) -> str:
    """Return "fault" or "lost", the worst symptom of operators at and below a box, or "" without either."""
    operators = (tree.operator_at(leaf) for leaf in tree.tree.leaves(position))
    known = {ill.get((operator.graph, operator.recorded)) for operator in operators if operator}
    return next((symptom.name.lower() for symptom in _LOUD if symptom in known), "")


def _session(listing: Listing, sessions: Sessions, graph: str, done: bool) -> _TreeSession:
    def make() -> _TreeSession:
        operators = [known for known in listing.operators.values() if graph in ("", known.graph)]
        links = graph_links(operators)
        order: list[tuple[str, str]] = []
        if not links:
            links = content_links(listing.results) if done else []
            order = order_of_unlinked(operators, links)
        return _TreeSession(operator_tree(operators, links, order), bool(order))

    key = ("picture", listing.dump.path, listing.rank, listing.step, graph, done, len(listing.entries))
    try:
        return sessions.get(key, _TreeSession, make)
    except UnreadableError as error:
        raise unreadable_error(error) from None


def _errors(service: CurrentService, comparison: int | None) -> Mapping[str, float]:
    """Return the largest error of each operator in a comparison, or an empty dict if the comparison does
    not exist.
    """
    if comparison is None:
        return {}
    try:
        return errors_of(COMPARISON.find(service, comparison).items)
    except ApiError:
        return {}


def _colour_json(tree: OperatorTree, position: int, values: Mapping[str, float]) -> dict[str, Any]:
    operator, value = tree.operator_at(position), tree.largest(position, values)
    return {
        "value": non_finite_as_text(value),
        "share": None if value is None else share(value, values.values()),
        "recorded": operator.recorded if operator else None,
        "graph": operator.graph if operator else None,
    }
