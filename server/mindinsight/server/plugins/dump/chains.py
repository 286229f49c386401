"""Route of the chain of operators that led to a fault, with a drawing of the graph around it."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from mindinsight.server.debug.fault import source_frame
from mindinsight.server.debug.graphs.operator_tree import operator_tree
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.neighbours import Link, content_links, graph_links
from mindinsight.server.debug.value_chain import ChainLink, ValueChain, cut_out
from mindinsight.server.formats.dumps.types import Operator
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.graph.encoders.drawing import drawing_json
from mindinsight.server.graph.layout.nested import draw
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.dependencies import StepListing
from mindinsight.server.plugins.dump.encoders import entry_json, frame_json

router = APIRouter(route_class=DumpRoute)

_MOST_DRAWN: Final = 7  # links of the chain in the drawing


@router.get("/chain")
def chain(
    listing: StepListing,
    operator: Annotated[str, Query(description="name of the operator as recorded")],
    graph: str = "",
    source: Annotated[str, Query(description="full name of the input to follow first")] = "",
) -> dict[str, Any]:
    """The chain from an operator back to a weight or the batch, and a drawing of the graph around it.

    Each link has the largest tensor that its operator gave; a ``late`` one was recorded after it was used.
    Where the dump has no graph, links are inferred from tensors of equal content; they and the choice of
    inputs are final once ``done``.
    """
    done = listing.done  # before looking: what is known after this is complete
    operators = {recorded: known for (of, recorded), known in listing.operators.items() if of == graph}
    links = graph_links(operators.values())
    certain = bool(links)
    if not certain:
        links = content_links(result for result in listing.results if result.entry.graph == graph)
    entries = [entry for entry in listing.entries if entry.graph == graph]
    chain_links = ValueChain(operators.values(), entries, links, listing.result).back_from(operator, source)
    return {
        "done": done,
        "certain": certain,
        "chain": [_link_json(link, operators) for link in chain_links],
        "picture": _picture(listing, chain_links, operators, links),
    }


def _link_json(link: ChainLink, operators: dict[str, Operator]) -> dict[str, Any]:
    return {
        "operator": link.name,
        "recorded": link.recorded,
        "type": link.type,
        "carrier": link.carrier,
        "source": frame_json(source_frame(operators.get(link.recorded))),
        "late": link.is_late,
        "tensor": entry_json(link.entry, link.result) if link.entry else None,
    }


def _picture(
    listing: Listing, chain_links: list[ChainLink], operators: dict[str, Operator], links: list[Link]
) -> dict[str, Any] | None:
    """Drawing around the first operator; ``place`` of a box is its place in the chain."""
    shown, joined = cut_out(chain_links, operators, links, _MOST_DRAWN)
    try:
        tree = operator_tree(shown, joined)
    except UnreadableError:
        return None
    scopes = [index for index in range(len(tree.tree.paths)) if tree.tree.nodes[index] < 0]
    drawing = drawing_json(tree.tree, draw(tree.tree, scopes))
    places = {link.recorded or link.name: position for position, link in enumerate(chain_links)}
    for box in drawing["boxes"]:
        boxed = tree.operator_at(box["id"])
        box["recorded"] = boxed.recorded if boxed and boxed.recorded in operators else None
        box["place"] = places.get(boxed.recorded) if boxed else None
    return drawing
