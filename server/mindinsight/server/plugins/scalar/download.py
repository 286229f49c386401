"""Download of whole scalar series, for other programs: CSV or an Arrow stream."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Depends, Query
from starlette.responses import StreamingResponse

from mindinsight.server.errors import ApiError
from mindinsight.server.http.csv import csv_of
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import Recorded

router = APIRouter()


@router.get("/download", response_class=StreamingResponse)
async def download(
    service: Annotated[Service, Depends(service_of)],
    run: Annotated[list[str], Query(max_length=1000)],
    tag: Annotated[list[str], Query(max_length=10_000)],
    format: Annotated[Literal["csv", "arrow"], Query(description="arrow is an IPC stream")] = "csv",
    overwritten: Annotated[
        bool, Query(description="every recorded row, also those a restart overwrote")
    ] = False,
) -> StreamingResponse:
    """Run, tag, step, wall time and value of every point of the line.

    With ``overwritten`` every recorded row, in file order, and a column that says whether a later one took
    its place.
    """
    snapshot = service.store.snapshot()
    holders = [(member, name) for member in map(snapshot.run, run) for name in tag if name in member.scalars]
    if format == "arrow":
        return _attachment(_arrow(holders, overwritten), "application/vnd.apache.arrow.stream", tag, "arrows")
    text = csv_of(((member.id, name, member.scalars[name]) for member, name in holders), overwritten)
    return _attachment(map(str.encode, text), "text/csv; charset=utf-8", tag, "csv")


def _attachment(body: Iterator[bytes], kind: str, tags: list[str], ending: str) -> StreamingResponse:
    name = re.sub(r"[^\w.-]+", "_", tags[0] if len(tags) == 1 else "scalars")[:100]
    disposition = f"attachment; filename*=UTF-8''{quote(f'{name}.{ending}')}"
    return StreamingResponse(body, media_type=kind, headers={"Content-Disposition": disposition})


def _arrow(holders: list[tuple[Run, str]], overwritten: bool) -> Iterator[bytes]:
    try:
        import pyarrow as pa
    except ImportError:
        raise ApiError(501, "no_arrow", "Arrow needs pyarrow: pip install 'mindinsight[arrow]'.") from None
    text = pa.dictionary(pa.int32(), pa.string())
    fields: list[tuple[str, Any]] = [
        ("run", text), ("tag", text),
        ("step", pa.int64()), ("wall_time", pa.float64()), ("value", pa.float64()),
        *([("overwritten", pa.bool_())] if overwritten else []),
    ]  # fmt: skip
    return _arrow_batches(holders, pa, pa.schema(fields))


def _arrow_batches(holders: list[tuple[Run, str]], pa: Any, schema: Any) -> Iterator[bytes]:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        for run, tag in holders:
            series = run.scalars[tag]
            points = series.recorded() if "overwritten" in schema.names else series.line()
            label = pa.array(np.zeros(len(points.steps), np.int32))
            arrays = [
                pa.DictionaryArray.from_arrays(label, pa.array([run.id])),
                pa.DictionaryArray.from_arrays(label, pa.array([tag])),
                pa.array(points.steps),
                pa.array(points.walls),
                pa.array(points.values.astype(np.float64)),
            ]
            if isinstance(points, Recorded):
                arrays.append(pa.array(points.overwritten))
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            yield sink.getvalue()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue()
