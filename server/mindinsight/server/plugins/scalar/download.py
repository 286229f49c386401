"""A series whole, for other programs: every recorded point as CSV or as an Arrow stream."""

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
from mindinsight.server.http.csv import csv_of, segments_of
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins.scalar.lines import run_of
from mindinsight.server.store.run import Run

router = APIRouter()


@router.get("/download", response_class=StreamingResponse)
async def download(
    service: Annotated[Service, Depends(service_of)],
    run: Annotated[list[str], Query(max_length=1000)],
    tag: Annotated[list[str], Query(max_length=10_000)],
    format: Annotated[Literal["csv", "arrow"], Query(description="arrow is an IPC stream")] = "csv",
) -> StreamingResponse:
    """Run, tag, segment, step, wall time and value of every point, in file order; nothing is left out."""
    snapshot = service.store.snapshot()
    found = [
        (one, name) for one in (run_of(snapshot, each) for each in run) for name in tag if name in one.scalars
    ]
    if format == "arrow":
        return _attachment(_arrow(found), "application/vnd.apache.arrow.stream", tag, "arrows")
    text = csv_of((one.id, name, one.scalars[name].columns()) for one, name in found)
    return _attachment(map(str.encode, text), "text/csv; charset=utf-8", tag, "csv")


def _attachment(body: Iterator[bytes], kind: str, tags: list[str], ending: str) -> StreamingResponse:
    name = re.sub(r"[^\w.-]+", "_", tags[0] if len(tags) == 1 else "scalars")[:100]
    disposition = f"attachment; filename*=UTF-8''{quote(f'{name}.{ending}')}"
    return StreamingResponse(body, media_type=kind, headers={"Content-Disposition": disposition})


def _arrow(found: list[tuple[Run, str]]) -> Iterator[bytes]:
    try:
        import pyarrow as pa
    except ImportError:
        raise ApiError(501, "no_arrow", "Arrow needs pyarrow: pip install 'mindinsight[arrow]'.") from None
    text = pa.dictionary(pa.int32(), pa.string())
    fields: list[tuple[str, Any]] = [
        ("run", text), ("tag", text), ("segment", pa.int32()),
        ("step", pa.int64()), ("wall_time", pa.float64()), ("value", pa.float64()),
    ]  # fmt: skip
    return _arrow_batches(found, pa, pa.schema(fields))


def _arrow_batches(found: list[tuple[Run, str]], pa: Any, schema: Any) -> Iterator[bytes]:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        for run, tag in found:
            columns = run.scalars[tag].columns()
            count = len(columns.steps)
            label = pa.array(np.zeros(count, np.int32))
            writer.write_batch(
                pa.record_batch(
                    [
                        pa.DictionaryArray.from_arrays(label, pa.array([run.id])),
                        pa.DictionaryArray.from_arrays(label, pa.array([tag])),
                        pa.array(segments_of(columns).astype(np.int32)),
                        pa.array(columns.steps),
                        pa.array(columns.walls),
                        pa.array(columns.values.astype(np.float64)),
                    ],
                    schema=schema,
                )
            )
            yield sink.getvalue()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue()
