"""Route of the drawing of a step's graph, coloured by a statistic of the outputs or by their error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Query

from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.graphs.operator_status import magnitudes
from mindinsight.server.debug.graphs.operator_tree import OperatorTree, operator_tree, share
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.neighbours import content_links, graph_links
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.graph.encoders.drawing import drawing_json
from mindinsight.server.graph.layout.nested import draw
from mindinsight.server.graph.scopes.initial_scopes import choose_initial_scopes
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.http.indices import indices_of
from mindinsight.server.plugins.dump.comparisons import COMPARISON, errors_of
from mindinsight.server.plugins.dump.dependencies import Sessions, StepListing, Uses, unreadable_error
from mindinsight.server.plugins.dump.tensors import Statistic

router = APIRouter(route_class=DumpRoute)

Colour: TypeAlias = Statistic | Literal["error"]


class _TreeSession:
    """Session that holds the tree of a drawing."""

    def __init__(self, tree: OperatorTree) -> None:
        self.tree = tree

    def stop(self) -> None:
        """Nothing to stop: no work runs in the background."""


@router.get("/picture")
def picture(
    service: Uses,
    listing: StepListing,
    sessions: Sessions,
    graph: str = "",
    opened: Annotated[
        str | None, Query(alias="open", description="places of the open scopes, with commas")
    ] = None,
    colour: Colour = "norm",
    comparison: Annotated[
        int | None, Query(description="number of a comparison, for the colour ``error``")
    ] = None,
) -> dict[str, Any]:
    """Drawing of the operators with some scopes open.

    ``value`` of a box is the largest of its operators, ``share`` its position on the colour scale, 0 to 1.
    Where the dump has no graph, edges join tensors of equal content once all are measured.
    """
    done = listing.done
    tree = _tree(listing, sessions, graph, done)
    open_scopes = (
        choose_initial_scopes(tree.tree) if opened is None else indices_of(opened, len(tree.tree.paths))
    )
    if colour == "error":
        values = _errors(service, comparison)
    else:
        values = magnitudes(_results(listing, graph), colour, lambda entry: entry.operator)
    drawing = drawing_json(tree.tree, draw(tree.tree, open_scopes))
    for box in drawing["boxes"]:
        box.update(_colour_json(tree, box["id"], values))
    return {"done": done, "open": open_scopes, "operators": len(tree.operators), **drawing}


def _tree(listing: Listing, sessions: Sessions, graph: str, done: bool) -> OperatorTree:
    def make() -> _TreeSession:
        operators = [
            operator for operator in listing.operators.values() if operator.graph == (graph or operator.graph)
        ]
        links = graph_links(operators)
        if not links and done:
            links = content_links(listing.results)
        return _TreeSession(operator_tree(operators, links))

    key = ("picture", listing.dump.path, listing.rank, listing.step, graph, done, len(listing.entries))
    try:
        return sessions.get(key, _TreeSession, make).tree
    except UnreadableError as error:
        raise unreadable_error(error) from None


def _errors(service: Uses, comparison: int | None) -> Mapping[str, float]:
    """Largest error of each operator in a comparison; none where there is no such comparison."""
    if comparison is None:
        return {}
    try:
        return errors_of(COMPARISON.find(service, comparison).items)
    except ApiError:
        return {}


def _results(listing: Listing, graph: str) -> list[TensorResult]:
    return [result for result in listing.results if result.entry.graph == (graph or result.entry.graph)]


def _colour_json(tree: OperatorTree, position: int, values: Mapping[str, float]) -> dict[str, Any]:
    operator, value = tree.operator_at(position), tree.largest(position, values)
    return {
        "value": non_finite_as_text(value),
        "share": None if value is None else share(value, values.values()),
        "recorded": operator.recorded if operator else None,
        "graph": operator.graph if operator else None,
    }
