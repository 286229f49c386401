"""Encoder and decoder of staged files: a note in JSON, and arrays in a cache file."""

from __future__ import annotations

from typing import Any

from mindinsight.server.ingest.cache.cache_file import Body, CacheFileWriter
from mindinsight.server.ingest.discovery.folder_listing import Stamp
from mindinsight.server.ingest.piece_reader import Fingerprint
from mindinsight.server.ingest.staging.file_stage import FileStage
from mindinsight.server.ingest.staging.growing_column import Axis
from mindinsight.server.ingest.staging.staged_columns import ReferenceGroup, ScalarGroup
from mindinsight.server.types import Damage

Note = dict[str, Any]


def encode_file(file: FileStage, pack: CacheFileWriter) -> Note:
    """Write the columns of a file and note everything else that is known of it."""
    assert file.fingerprint is not None
    groups = {id(group): group for group in file.scalars.groups.values()}
    return {
        "name": file.name,
        "stamp": file.checked,
        "print": [file.fingerprint.head.hex(), file.fingerprint.tail.hex()],
        "read": file.read,
        "pending": file.pending,
        "events": [file.first_event, file.last_event],
        "closing": file.closing,
        "damage": [[stretch.offset, stretch.size, stretch.reason] for stretch in file.damage],
        "skipped": file.skipped,
        "sessions": file.sessions,
        "hparams": [content.hex() for content in file.hparams],
        "scalars": [_scalars(group, pack) for group in groups.values()],
        "references": [[*key, *_references(group, pack)] for key, group in file.references.items()],
    }


def decode_file(note: Note, body: Body, path: str) -> FileStage:
    """The file as it was known; raises KeyError, TypeError, ValueError or StaleError for a strange note."""
    file = FileStage(note["name"], path, Stamp(*note["stamp"]))
    file.fingerprint = Fingerprint(*map(bytes.fromhex, note["print"]))
    file.read, file.pending = int(note["read"]), int(note["pending"])
    file.first_event, file.last_event = map(float, note["events"])
    file.closing = None if note["closing"] is None else str(note["closing"])
    file.damage = [Damage(*stretch) for stretch in note["damage"]]
    file.skipped = {str(what): int(count) for what, count in note["skipped"].items()}
    file.sessions = int(note["sessions"])
    file.hparams = [*map(bytes.fromhex, note["hparams"])]
    for axis, tags, positions in note["scalars"]:
        values = {tag: body.array(position) for tag, position in zip(tags, positions, strict=True)}
        file.scalars.put(ScalarGroup(_axis(axis, body), values))
    for kind, tag, axis, offsets, sizes in note["references"]:
        group = ReferenceGroup(_axis(axis, body), body.array(offsets), body.array(sizes))
        file.references[kind, tag] = group
    return file


def _scalars(group: ScalarGroup, pack: CacheFileWriter) -> list[Any]:
    columns = [pack.array(column.view()) for column in group.values.values()]
    return [_encode_axis(group.axis, pack), list(group.values), columns]


def _references(group: ReferenceGroup, pack: CacheFileWriter) -> list[Any]:
    return [_encode_axis(group.axis, pack), pack.array(group.offsets.view()), pack.array(group.sizes.view())]


def _encode_axis(axis: Axis, pack: CacheFileWriter) -> list[Any]:
    columns = [pack.array(column.view()) for column in (axis.steps, axis.walls, axis.starts)]
    return [*columns, axis.session, axis.session_rows]


def _axis(positions: list[Any], body: Body) -> Axis:
    *columns, session, rows = positions
    axis = Axis(*map(body.array, columns))
    axis.session, axis.session_rows = int(session), list(map(int, rows))
    return axis
