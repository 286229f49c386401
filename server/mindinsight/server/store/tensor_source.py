"""Reader of recorded tensors: in parts if the file holds our message, whole if it is transcoded."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mindinsight.server.formats.payloads.tensor_payloads import Recorded, recorded, recorded_whole
from mindinsight.server.store.series import ReferenceSeries


@contextmanager
def opened_tensor(series: ReferenceSeries, row: int) -> Iterator[Recorded]:
    """Open the recorded tensor of ``row`` for the block, in which its values are read when they are used.
    Raises Gone if the file changed, before or after the block, UnreadableError for an invalid tensor."""
    with series.located(row) as payload:
        if series.is_plain(row):
            yield recorded(Path(payload.path), payload.offset, payload.size)
        else:
            yield recorded_whole(series.read(row))
