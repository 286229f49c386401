"""A tensor as a file: one call names it, another downloads it, and neither holds its values in memory."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from mindinsight.server.api.v1.debugger.lookup import (
    CurrentSession,
    JsonBody,
    entry_of,
    file_name,
    known_rank,
    slot_of,
    takes,
)
from mindinsight.server.api.v1.debugger.tensors import header_of
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.formats.arrays.stored import write_npy
from mindinsight.server.formats.dumps import tensor_values
from mindinsight.server.http.bulkhead_routes import DumpRoute, stream

router = JsonRouter(route_class=DumpRoute)


@router.post(
    "/{session_id}/tensor-files/load", openapi_extra=takes("name of a tensor, graph_name, prev, rank_id")
)
def load(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Make a tensor of this step, or of the one before, ready for download."""
    rank = known_rank(session, body.get("rank_id", 0))
    slot = slot_of(session, body.get("name"), rank, body.get("graph_name"))
    before = body.get("prev") in (True, "true")
    entry = entry_of(session, slot, session.step - before)
    if entry is None or entry.ref is None or header_of(entry) is None:
        raise V1Error(Fault.DEBUGGER_VALUE, "The values of this tensor were not dumped at this step.")
    session.download = (file_name(entry), entry.ref)
    session.events.tell({"tensor_file": True, "node_name": body["name"]})
    return {"in_memory": True, "step": session.step - before}


@router.get(
    "/{session_id}/tensor-files/download",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "the tensor as .npy"}},
)
def download(session: CurrentSession) -> Response:
    """The tensor that was made ready, sent while it is read; once. Raises UnreadableError."""
    ready, session.download = session.download, None
    if ready is None:
        raise V1Error(Fault.DEBUGGER_DOWNLOAD, "No tensor was made ready for download.")
    name, ref = ready
    return stream(write_npy(tensor_values(ref)), {"Content-Disposition": f'attachment; filename="{name}"'})
