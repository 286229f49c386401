"""Reader of the newest value of every tag, and of the graph, from the event files of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from mindinsight.proto import framing, graph_pb2, lazy_pb2, summary_pb2
from mindinsight.proto.kinds import KINDS, DataKind
from mindinsight.writer.encoding.json_numbers import json_number
from mindinsight.writer.encoding.kinds import encoder

TAIL: Final = 64 << 20  # bytes of each file that are looked at, from its end
_KINDS: Final = {kind.field: kind for kind in KINDS if kind.number and kind.message == "Summary.Value"}


def last_values(files: Iterable[Path], tail: int = TAIL) -> dict[str, dict[str, Any]]:
    """Plugin -> tag -> the newest value in ``files``, oldest file first, as plain JSON values.

    Scalars are numbers; of tensors there is type, shape and statistics, and the elements of small ones; of
    images their size; of histograms their statistics. Nothing is kept in memory while a run goes on.
    """
    newest: dict[tuple[DataKind, str], tuple[float, int, bytes]] = {}
    for path in files:
        for payload in _payloads(_end_of(path, tail)):
            event = lazy_pb2.LazyEvent.FromString(payload)
            for value in event.summary.value:
                kind = _KINDS.get(value.WhichOneof("value") or "")
                if kind:
                    tag = value.tag.decode("utf-8", "replace")
                    newest[kind, tag] = (event.wall_time, event.step, value.SerializeToString())
    facts: dict[str, dict[str, Any]] = {}
    for (kind, tag), (wall, step, raw) in newest.items():
        value = summary_pb2.Summary.Value.FromString(raw)
        facts.setdefault(kind.name, {})[tag] = {"step": step, "wall_time": wall, **_facts(kind, value)}
    return facts


def recorded_graph(files: Iterable[Path]) -> bytes | None:
    """The newest graph near the start of one of ``files``, as bytes of a ModelProto."""
    graph_def = None
    for path in files:
        with path.open("rb") as file:
            start = file.read(TAIL)
        for payload in _payloads(start):
            event = lazy_pb2.LazyEvent.FromString(payload)
            graph_def = event.graph_def if event.HasField("graph_def") else graph_def
    if graph_def is None:
        return None
    graph = graph_pb2.GraphProto.FromString(graph_def)
    return bytes(graph_pb2.ModelProto(ir_version=graph_pb2.IR_VERSION, graph=graph).SerializeToString())


def _end_of(path: Path, size: int) -> bytes:
    """At most the last ``size`` bytes of a file, from where a record begins."""
    with path.open("rb") as file:
        start = max(0, file.seek(0, 2) - size)
        file.seek(start)
        content = file.read()
    return content[_first_record(content) :] if start else content


def _payloads(content: bytes) -> Iterator[bytes]:
    """The records in ``content`` whose checksum is right, up to a torn one."""
    position = 0
    while position + framing.HEADER_SIZE <= len(content):
        length = framing.decode_header(content[position : position + framing.HEADER_SIZE])
        begin = position + framing.HEADER_SIZE
        if length is None or begin + length + framing.FOOTER_SIZE > len(content):
            return
        position = begin + length + framing.FOOTER_SIZE
        payload = framing.decode_payload(content[begin:position])
        if payload is not None:
            yield payload


def _first_record(content: bytes) -> int:
    """Offset of the first record in bytes cut anywhere: where a length and its checksum agree."""
    for position in range(len(content) - framing.HEADER_SIZE):
        if framing.decode_header(content[position : position + framing.HEADER_SIZE]) is not None:
            return position
    return len(content)


def _facts(kind: DataKind, value: Any) -> dict[str, Any]:
    """A decoded Summary.Value in short."""
    if kind.storage == "payload":
        return encoder(kind.name).facts(getattr(value, kind.field))
    exact = value.HasField("exact_scalar")
    return {"value": json_number(value.exact_scalar if exact else getattr(value, kind.field))}
