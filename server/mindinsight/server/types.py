"""Types shared by all server packages: results of readers and contents of the store.

Data only. `formats` produces them, `store` keeps them, `plugins` and `api` read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Final, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from mindinsight.proto.kinds import KINDS

Ints: TypeAlias = npt.NDArray[np.int64]
Doubles: TypeAlias = npt.NDArray[np.float64]
Floats: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]

Kind: TypeAlias = str  # a name of the table of kinds
Level: TypeAlias = Literal["info", "warning", "error"]  # of an alert
LEVELS: Final[tuple[Level, ...]] = ("info", "warning", "error")
# Unix seconds, 2015 to 2100. Event files exist since 2015; a clock that was never set starts in 1970 or 2000.
BELIEVABLE: Final = (1_420_070_400.0, 4_102_444_800.0)
ROUNDED: Final = "rounded_integer"  # an integer beyond 2^53 that float64 rounds; counted as skipped
TENSOR_KINDS: Final = tuple(kind.name for kind in KINDS if kind.in_tensors)  # recorded so by TensorBoard
PAYLOAD_KINDS: Final = tuple(kind.name for kind in KINDS if kind.storage == "payload")


@dataclass(frozen=True, slots=True)
class Damage:
    """Section of a file that could not be used. Everything around it could."""

    offset: int  # bytes from the start of the file
    size: int  # bytes skipped
    reason: str  # a key of the locale files: damage.body_crc, damage.length_crc, damage.unparsable, ...


@dataclass(frozen=True, slots=True)
class ScalarBlock:
    """Scalars with tags that always occurred together in one event. Step and wall time are stored once.

    A tag occurs in one block of a section only. Its rows are in file order.
    """

    tags: tuple[str, ...]  # k tags
    offsets: Ints  # [n] where each event's record starts; increasing
    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    values: Floats  # [k, n]; float64 only when an exact float64 was recorded


@dataclass(frozen=True, slots=True)
class ScalarRows:
    """Scalars of many tags that are recorded separately, with the rows of one tag after those of another.

    A tag of a section occurs once, here or in a block. Its rows are in file order.
    """

    tags: tuple[str, ...]  # k tags
    counts: Ints  # [k] rows of each
    offsets: Ints  # [m] where each event's record starts
    steps: Ints  # [m]
    walls: Doubles  # [m] Unix seconds
    values: Floats  # [m]; float64 only for tags of which an exact float64 was recorded

    def split(self) -> Iterator[ScalarBlock]:
        """Yield a block for each tag."""
        end = 0
        for tag, count in zip(self.tags, self.counts.tolist(), strict=True):
            span, end = slice(end, end + count), end + count
            columns = (self.offsets[span], self.steps[span], self.walls[span])
            yield ScalarBlock((tag,), *columns, self.values[None, span])

    @staticmethod
    def of_block(block: ScalarBlock) -> ScalarRows:
        """Return the rows of a block, tag by tag."""
        count, length = block.values.shape
        return ScalarRows(
            block.tags,
            np.full(count, length, np.int64),
            np.tile(block.offsets, count),
            np.tile(block.steps, count),
            np.tile(block.walls, count),
            block.values.ravel(),
        )

    @staticmethod
    def joined(pieces: Sequence[ScalarRows]) -> tuple[ScalarRows, ...]:
        """Return the rows of all `pieces`, by one stable sort. Tags with a float64 in any of them are
        separate."""
        if len(pieces) == 1:
            return tuple(pieces)
        numbers: dict[str, int] = {}
        parts = [np.array([numbers.setdefault(tag, len(numbers)) for tag in piece.tags]) for piece in pieces]
        exact = np.zeros(len(numbers), np.bool_)
        for piece, part in zip(pieces, parts, strict=True):
            exact[part] |= piece.values.dtype == np.float64
        codes = np.concatenate([np.repeat(p, piece.counts) for p, piece in zip(parts, pieces, strict=True)])
        offsets = np.concatenate([piece.offsets for piece in pieces])
        few = len(numbers) <= 1 << 16  # sorted by radix, several times as fast
        order = np.argsort(codes.astype(np.uint16) if few else codes, kind="stable")
        if ((np.diff(offsets[order]) < 0) & (np.diff(codes[order]) == 0)).any():
            order = np.lexsort((offsets, codes))
        return tuple(
            _selected(pieces, tuple(numbers), codes, order, exact == kind, kind)
            for kind in np.unique(exact).tolist()
        )


def _selected(
    pieces: Sequence[ScalarRows],
    tags: tuple[str, ...],
    codes: Ints,
    order: Ints,
    chosen: npt.NDArray[np.bool_],
    exact: bool,
) -> ScalarRows:
    """Return the rows of the `chosen` of `tags` in their `order`. `codes` number the tags of all rows."""
    counts = np.bincount(codes, minlength=len(tags))
    if not chosen.all():
        order = order[chosen[codes[order]]]
        tags, counts = tuple(compress(tags, chosen)), counts[chosen]
    with np.errstate(invalid="ignore"):  # NaN of the signalling kind
        values = np.concatenate([piece.values for piece in pieces])[order]
        values = values if exact else values.astype(np.float32, copy=False)
    return ScalarRows(
        tags,
        counts,
        np.concatenate([piece.offsets for piece in pieces])[order],
        np.concatenate([piece.steps for piece in pieces])[order],
        np.concatenate([piece.walls for piece in pieces])[order],
        cast("Floats", values),
    )


@dataclass(frozen=True, slots=True)
class ReferenceColumns:
    """Locations of the payloads of one tag: images, tensors, histograms, graphs, landscapes, alerts."""

    kind: Kind
    tag: str  # empty for alerts, and for graphs: their tag is the file name
    steps: Ints  # [n]
    walls: Doubles  # [n]
    offsets: Ints  # [n] first byte of the payload message (for example Summary.Image) in the file
    sizes: Ints  # [n] bytes of the payload message

    def row(self, row: int) -> ReferenceColumns:
        """Return the columns of one row."""
        rows = slice(row, row + 1)
        steps, walls = self.steps[rows], self.walls[rows]
        return ReferenceColumns(self.kind, self.tag, steps, walls, self.offsets[rows], self.sizes[rows])


@dataclass(frozen=True, slots=True)
class RunNote:
    """Fact about the run that is not a value: hyperparameters, or the start of a session."""

    name: str  # "hparams", "session"
    offset: int  # of the record in the file
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class DecodedSection:
    """Content of a section of an event file, from an offset up to the last complete record.

    If `pending` is above zero, `pending` bytes after `next_offset` begin a record that is not completely
    written. Read again from `next_offset` when the file has grown.
    """

    next_offset: int
    pending: int
    records: int
    blocks: tuple[ScalarBlock, ...] = ()
    references: tuple[ReferenceColumns, ...] = ()
    damage: tuple[Damage, ...] = ()
    version: str = ""
    closing: str | None = None  # a record says that the recorder was closed: the error that ended it, or ""
    skipped: tuple[tuple[str, int], ...] = ()  # ("explain", 3): understood, but not shown
    notes: tuple[RunNote, ...] = ()
    first_event: float = 0.0  # Unix seconds of the earliest event; 0 when none carries a believable time
    last_event: float = 0.0  # the same of the latest
    rows: tuple[ScalarRows, ...] = ()  # scalars that are in no block


@dataclass(frozen=True, slots=True)
class Reference:
    """Place of a payload that is read on demand: path, offset and size in bytes."""

    path: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class FileState:
    """Reading progress of one file of a run, its damage, and when its events begin and end."""

    name: str  # path relative to the run directory
    size: int  # bytes at the last scan
    modified: float  # Unix seconds
    read: int  # bytes understood or listed as damage
    pending: int  # bytes of a record that is still being written
    damage: tuple[Damage, ...] = ()
    error: str = ""  # a key of the locale files when the file cannot be opened: file.permission, ...
    skipped: tuple[tuple[str, int], ...] = ()
    first_event: float = 0.0  # Unix seconds of the earliest event; 0 when none carries a believable time
    last_event: float = 0.0  # the same of the latest
    closed: bool = False  # its writer closed it
    failure: str = ""  # the exception that ended the training, where the writer noted one
