"""Routes that download a tensor as ``.npy``: one request selects it, the next streams it."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from mindinsight.server.api.v1.debugger.lookup import (
    CurrentSession,
    JsonBody,
    body_schema,
    entry_of,
    file_name,
    known_rank,
    slot_of,
)
from mindinsight.server.api.v1.debugger.tensors import header_of
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.formats.arrays.stored import write_npy
from mindinsight.server.formats.dumps import tensor_values
from mindinsight.server.http.bulkhead_routes import DumpRoute, stream

router = JsonRouter(route_class=DumpRoute)


@router.post(
    "/{session_id}/tensor-files/load",
    openapi_extra=body_schema("name of a tensor, graph_name, prev, rank_id"),
)
def load(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Prepare a tensor of the current or the previous step for download."""
    rank = known_rank(session, body.get("rank_id", 0))
    slot = slot_of(session, body.get("name"), rank, body.get("graph_name"))
    previous = body.get("prev") in (True, "true")
    entry = entry_of(session, slot, session.step - previous)
    if entry is None or entry.ref is None or header_of(entry) is None:
        raise V1Error(Fault.DEBUGGER_VALUE, "The values of this tensor were not dumped at this step.")
    session.download = (file_name(entry), entry.ref)
    session.events.add({"tensor_file": True, "node_name": body["name"]})
    return {"in_memory": True, "step": session.step - previous}


@router.get(
    "/{session_id}/tensor-files/download",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "the tensor as .npy"}},
)
def download(session: CurrentSession) -> Response:
    """Stream the prepared tensor, once, while it is read. Raises UnreadableError."""
    prepared, session.download = session.download, None
    if prepared is None:
        raise V1Error(Fault.DEBUGGER_DOWNLOAD, "No tensor has been prepared for download.")
    name, ref = prepared
    return stream(write_npy(tensor_values(ref)), {"Content-Disposition": f'attachment; filename="{name}"'})
