"""Stretches of event files and files being read, as the stages take them."""

from collections.abc import Sequence

import numpy as np

from mindinsight.server.ingest.file_stage import FileStage
from mindinsight.server.ingest.folder_tree import FolderTree, Stamp
from mindinsight.server.ingest.run_discovery import Discovery, discover_runs
from mindinsight.server.settings.base_dirs import Bases
from mindinsight.server.types import Damage, DecodedSection, Ints, Kind, ReferenceColumns, ScalarBlock


def ints(*numbers: int) -> Ints:
    return np.array(numbers, dtype=np.int64)


def scalars(*steps: int, tags: Sequence[str] = ("loss",)) -> ScalarBlock:
    rows = ints(*steps)
    values = np.array([[step * 1.0 for step in steps] for _ in tags], np.float32)
    return ScalarBlock(tuple(tags), rows, rows, rows.astype(np.float64) + 0.5, values)


def payloads(*steps: int, kind: Kind = "image", tag: str = "cat") -> ReferenceColumns:
    rows = ints(*steps)
    return ReferenceColumns(kind, tag, rows, rows.astype(np.float64) + 0.5, rows * 100, rows * 10)


def stretch(
    end: int,
    *blocks: ScalarBlock,
    references: Sequence[ReferenceColumns] = (),
    pending: int = 0,
    damage: Sequence[Damage] = (),
    skipped: Sequence[tuple[str, int]] = (),
) -> DecodedSection:
    return DecodedSection(end, pending, 1, blocks, tuple(references), tuple(damage), skipped=tuple(skipped))


def file_named(seconds: int, size: int = 1000, inode: int = 1, suffix: str = "_MS") -> FileStage:
    name = f"events.out.events.summary.{seconds}.0.h{suffix}"
    return FileStage(name, f"/base/a/{name}", Stamp(1, inode, size, seconds * 10**9, 0))


def discover(bases: Bases, limit: int = 999) -> Discovery:
    """The ``limit`` runs below the base directories with the newest writes."""
    tree = FolderTree(bases)
    tree.scan()
    return discover_runs(tree, limit)
