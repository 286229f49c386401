"""What is known of a file, as a note and arrays that a pack can keep, and back."""

from __future__ import annotations

from typing import Any

from mindinsight.server.ingest.cache.cache_file import Body, CacheFileWriter
from mindinsight.server.ingest.discovery.folder_listing import Stamp
from mindinsight.server.ingest.piece_reader import Print
from mindinsight.server.ingest.staging.file_stage import FileStage
from mindinsight.server.ingest.staging.growing_column import Axis
from mindinsight.server.ingest.staging.staged_columns import ReferenceGroup, ScalarGroup
from mindinsight.server.types import Damage

Note = dict[str, Any]


def preserve(file: FileStage, pack: CacheFileWriter) -> Note:
    """Write the columns of a file and note everything else that is known of it."""
    assert file.print is not None
    groups = {id(group): group for group in file.scalars.groups.values()}
    return {
        "name": file.name,
        "stamp": file.checked,
        "print": [file.print.head.hex(), file.print.tail.hex()],
        "read": file.read,
        "pending": file.pending,
        "events": [file.first_event, file.last_event],
        "closing": file.closing,
        "damage": [[one.offset, one.size, one.reason] for one in file.damage],
        "skipped": file.skipped,
        "scalars": [_scalars(group, pack) for group in groups.values()],
        "references": [[*key, *_references(group, pack)] for key, group in file.references.items()],
    }


def restore(note: Note, body: Body, path: str) -> FileStage:
    """The file as it was known; raises KeyError, TypeError, ValueError or StaleError for a strange note."""
    file = FileStage(note["name"], path, Stamp(*note["stamp"]))
    file.print = Print(*map(bytes.fromhex, note["print"]))
    file.read, file.pending = int(note["read"]), int(note["pending"])
    file.first_event, file.last_event = map(float, note["events"])
    file.closing = None if note["closing"] is None else str(note["closing"])
    file.damage = [Damage(*one) for one in note["damage"]]
    file.skipped = {str(what): int(count) for what, count in note["skipped"].items()}
    for axis, tags, places in note["scalars"]:
        values = {tag: body.array(place) for tag, place in zip(tags, places, strict=True)}
        file.scalars.place(ScalarGroup(_axis(axis, body), values))
    for kind, tag, axis, offsets, sizes in note["references"]:
        group = ReferenceGroup(_axis(axis, body), body.array(offsets), body.array(sizes))
        file.references[kind, tag] = group
    return file


def _scalars(group: ScalarGroup, pack: CacheFileWriter) -> list[Any]:
    columns = [pack.array(column.view()) for column in group.values.values()]
    return [_keep_axis(group.axis, pack), list(group.values), columns]


def _references(group: ReferenceGroup, pack: CacheFileWriter) -> list[Any]:
    return [_keep_axis(group.axis, pack), pack.array(group.offsets.view()), pack.array(group.sizes.view())]


def _keep_axis(axis: Axis, pack: CacheFileWriter) -> list[Any]:
    return [pack.array(column.view()) for column in (axis.steps, axis.walls, axis.starts)]


def _axis(places: list[Any], body: Body) -> Axis:
    steps, walls, starts = map(body.array, places)
    return Axis(steps, walls, starts)
