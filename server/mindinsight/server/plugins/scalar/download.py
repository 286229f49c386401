"""A series whole, for other programs: every recorded point as CSV or as an Arrow stream."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Depends, Query
from starlette.responses import StreamingResponse

from mindinsight.server.errors import ApiError
from mindinsight.server.plugins.scalar.lines import run_of
from mindinsight.server.service import Service, service_of
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import Columns

router = APIRouter()

_ROWS: Final = 20_000  # rows made at a time
_HEAD: Final = "run,tag,segment,step,wall_time,value\r\n"


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
    return _attachment(_csv(found), "text/csv; charset=utf-8", tag, "csv")


def _attachment(body: Iterator[bytes], kind: str, tags: list[str], ending: str) -> StreamingResponse:
    name = re.sub(r"[^\w.-]+", "_", tags[0] if len(tags) == 1 else "scalars")[:100]
    disposition = f"attachment; filename*=UTF-8''{quote(f'{name}.{ending}')}"
    return StreamingResponse(body, media_type=kind, headers={"Content-Disposition": disposition})


def _csv(found: list[tuple[Run, str]]) -> Iterator[bytes]:
    yield _HEAD.encode()
    for run, tag in found:
        columns = run.scalars[tag].columns()
        label = f"{_quoted(run.id)},{_quoted(tag)}"
        for start in range(0, len(columns.steps), _ROWS):
            yield _csv_rows(label, columns, start).encode()


def _csv_rows(label: str, columns: Columns, start: int) -> str:
    rows = slice(start, start + _ROWS)
    segment = _segments(columns)[rows].tolist()
    numbers = zip(
        segment,
        columns.steps[rows].tolist(),
        columns.walls[rows].tolist(),
        _texts(columns, rows),
        strict=True,
    )
    return "".join(f"{label},{part},{step},{wall!r},{value}\r\n" for part, step, wall, value in numbers)


def _texts(columns: Columns, rows: slice) -> list[str]:
    """Shortest decimals that read back as the recorded number, in its own precision."""
    return [str(value) for value in columns.values[rows]]


def _segments(columns: Columns) -> np.ndarray:
    """[n] number of each row's segment, 0 the oldest."""
    return np.searchsorted(columns.starts, np.arange(len(columns.steps)), side="right") - 1


def _quoted(text: str) -> str:
    """A CSV field; one that a spreadsheet would take for a formula is made plain text."""
    safe = "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
    return '"' + safe.replace('"', '""') + '"' if re.search(r'[",\r\n]', safe) else safe


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
                        pa.array(_segments(columns).astype(np.int32)),
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
