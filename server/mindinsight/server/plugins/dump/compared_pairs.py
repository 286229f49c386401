"""Routes of one pair of compared tensors: its row, and the values of the difference."""

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Query

from mindinsight.server.debug.compare.dump_comparison import Row
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.debug.compare.value_difference import ValueDifference
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps import tensor_values
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.bulkhead_routes import CurrentService, DumpRoute
from mindinsight.server.plugins.dump.dump_comparisons import COMPARISON, row_json
from mindinsight.server.plugins.dump.dump_requests import unreadable_error
from mindinsight.server.plugins.dump.tensor_values import NamedValues, add_value_routes, check_numbers

router = APIRouter(route_class=DumpRoute)


def compared_row(
    service: CurrentService,
    number: int,
    operator: Annotated[str, Query(description="name of the target's operator as recorded")],
    direction: Annotated[str, Query(description="input, output, parameter or constant")],
    slot: str,
    graph: str = "",
) -> Row:
    """Return the comparison row of the target's tensor that the query names. FastAPI dependency. Raises
    ApiError if the comparison has none, or none so far."""
    wanted = (graph, operator, direction, slot)
    rows: list[Row] = list(COMPARISON.find(service, number).items)
    for row in rows:
        entry = row.compared.pair.target
        if entry is None or row.compared.pair.argument is not None:
            continue
        if (entry.graph, entry.recorded, entry.direction, entry.slot) == wanted:
            return row
    text = f"There is no {direction} {slot} of {operator!r} in the comparison."
    raise ApiError(404, "unknown_tensor", text, operator=operator)


ComparedRow = Annotated[Row, Depends(compared_row)]


@router.get("/compare/{number}/pair")
def pair(
    service: CurrentService,
    number: int,
    row: ComparedRow,
    cosine: float | None = None,
    relative: float | None = None,
) -> dict[str, Any]:
    """Return the row of a tensor of the target, and where it differs most from the reference. Returns 404
    if the comparison has no such tensor, or none so far. `largest` is the index of that element, null if
    the values were not compared. `has_difference` says if the difference of the values can be requested."""
    measures, target, reference = row.compared.measures, row.compared.target, row.compared.reference
    largest = None
    if measures is not None and measures.largest is not None and target is not None:
        largest = [int(i) for i in np.unravel_index(measures.largest, target.shape)]
    same_shape = target is not None and reference is not None and target.shape == reference.shape
    return {
        **row_json(row, Tolerance(relative, cosine)),
        "differing": measures and measures.differing,
        "count": measures and measures.count + measures.apart,
        "largest": largest,
        "has_difference": measures is not None and same_shape,
        "request": service.workspace.job_requests.body("comparison", number),
    }


def difference_of(row: ComparedRow) -> NamedValues:
    """Return the values of the target minus those of the reference. Raises ApiError if the values of a tensor
    are missing, unreadable or not numbers, or the shapes differ."""
    target, reference = row.compared.pair.target, row.compared.pair.reference
    if target is None or reference is None or target.ref is None or reference.ref is None:
        raise ApiError(404, "only_statistics", "The values of both tensors are needed for a difference.")
    try:
        values = [check_numbers(tensor_values(ref)) for ref in (target.ref, reference.ref)]
    except UnreadableError as error:
        raise unreadable_error(error) from None
    if values[0].shape != values[1].shape:
        raise ApiError(422, "other_shape", "Tensors of different shapes have no difference.")
    name = f"{target.recorded}.{target.step}.{target.direction}.{target.slot}.difference.npy"
    return NamedValues(ValueDifference(values[0], values[1]), "", name)


add_value_routes(router, "/compare/{number}/difference", difference_of)
