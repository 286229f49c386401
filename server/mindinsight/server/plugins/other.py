"""Routes for data that no page draws: TensorBoard's other plugins, and embeddings of its projector."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from fastapi import APIRouter

from mindinsight.server.files.opener import opened
from mindinsight.server.formats.read_limits import Limits, UnreadableError
from mindinsight.server.formats.tensorboard.other_plugins import FILE_NAME, Embedding, embeddings, plugin_name
from mindinsight.server.formats.text_files import read_text
from mindinsight.server.http.bulkhead_routes import CurrentService, PayloadRoute
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.series import ReferenceSeries

router = APIRouter(route_class=PayloadRoute)

_PROJECTOR: Final = Limits("projector", 4 << 20)
_MOST_READ: Final = 16 << 20  # bytes; a larger value is not read to find the name of its plugin


@router.get("/list")
def listing(run: str, service: CurrentService) -> dict[str, Any]:
    """Return the tags of a run that are not drawn: plugin, number of values, first and last step, bytes.
    `plugin` is empty if a value does not name one. `size` is null if a file is missing or outside the
    run's folder."""
    record = service.store.snapshot().run(run)
    rows = [_row(tag, series) for tag, series in sorted(record.references.get("other", {}).items())]
    return {"run": run, "rows": [*rows, *_embeddings(Path(record.path))]}


def _row(tag: str, series: ReferenceSeries) -> dict[str, Any]:
    return {
        "plugin": plugin_name(series.read(0)) if series.reference(0).size <= _MOST_READ else "",
        "tag": tag,
        "count": series.count,
        "first_step": int(series.steps.min()),
        "last_step": int(series.steps.max()),
        "size": sum(int(part.sizes.sum()) for part in series.parts),
    }


def _embeddings(folder: Path) -> Iterator[dict[str, Any]]:
    try:
        text = read_text(folder / FILE_NAME, _PROJECTOR)
    except (OSError, UnreadableError):  # most runs have no such file
        return
    for embedding in embeddings(text):
        steps = {"first_step": embedding.step, "last_step": embedding.step}
        size = _size(folder, embedding)
        yield {"plugin": "projector", "tag": embedding.tag, "count": 1, **steps, "size": size}


def _size(folder: Path, embedding: Embedding) -> int | None:
    """Return the bytes of the table, or None if it is missing or not below `folder`, the only folder that
    may be read.
    """
    if not embedding.path or PurePosixPath(embedding.path).is_absolute():
        return None
    try:
        with opened(folder / embedding.path) as descriptor:
            return os.fstat(descriptor).st_size
    except OSError:
        return None


PLUGIN = Plugin(name="other", router=router)
