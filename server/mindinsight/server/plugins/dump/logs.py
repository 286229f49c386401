"""Files of the Running Data Recorder, as text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from mindinsight.server.errors import ApiError
from mindinsight.server.formats.file_bytes import opened as opened_file
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.lookup import DumpId, Uses, opened, unreadable

router = APIRouter(route_class=DumpRoute)

_PART: Final = 256_000  # bytes of text sent at once
_FARTHEST: Final = 1 << 53  # bytes; more than file systems count


@router.get("/logs")
def logs(service: Uses, dump: DumpId) -> dict[str, Any]:
    """Log files of a dump."""
    found = opened(service, dump).logs
    names = ("rank", "module", "name", "graph", "time", "sequence", "kind", "size")
    rows = [{"file": Path(each.path).name, **{name: getattr(each, name) for name in names}} for each in found]
    return {"logs": rows}


@router.get("/log")
def log(
    service: Uses,
    dump: DumpId,
    file: Annotated[str, Query(description="name as listed")],
    rank: Annotated[int, Query(ge=0)] = 0,
    offset: Annotated[int, Query(ge=0, le=_FARTHEST, description="bytes")] = 0,
) -> dict[str, Any]:
    """A part of a log file as text; ``next`` is where the next part begins, null at the end."""
    found = [
        each for each in opened(service, dump).logs if each.rank == rank and Path(each.path).name == file
    ]
    if not found or found[0].kind == "pb":
        raise ApiError(404, "unknown_log", f"There is no text {file!r}.", file=file)
    try:
        with opened_file(Path(found[0].path)) as stream:
            stream.seek(offset)
            part = stream.read(_PART)
    except UnreadableError as error:
        raise unreadable(error) from None
    after = offset + len(part)
    return {"text": part.decode("utf-8", "replace"), "next": after if len(part) == _PART else None}
