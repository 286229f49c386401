"""The words everything on the server side speaks: what a reader returns and what the store keeps.

Data only. ``formats`` produces these, ``store`` keeps them, ``plugins`` and ``api`` read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.proto.kinds import KINDS

Ints: TypeAlias = npt.NDArray[np.int64]
Doubles: TypeAlias = npt.NDArray[np.float64]
Floats: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]

Kind: TypeAlias = str  # a name of the table of kinds
Level: TypeAlias = Literal["info", "warning", "error"]  # of an alert
LEVELS: Final[tuple[Level, ...]] = ("info", "warning", "error")
BELIEVABLE: Final = (946_684_800.0, 4_102_444_800.0)  # Unix seconds, 2000 to 2100; others are no wall times
TENSOR_KINDS: Final = tuple(kind.name for kind in KINDS if kind.in_tensors)  # recorded so by TensorBoard
PAYLOAD_KINDS: Final = tuple(kind.name for kind in KINDS if kind.storage == "payload")


@dataclass(frozen=True, slots=True)
class Damage:
    """A stretch of a file that could not be used; everything around it could."""

    offset: int  # bytes from the start of the file
    size: int  # bytes skipped
    reason: str  # a key of the locale files: damage.body_crc, damage.length_crc, damage.unparsable, ...


@dataclass(frozen=True, slots=True)
class ScalarBlock:
    """Scalars whose tags always came together in one event: step and wall time are stored once.

    A tag occurs in one block of a stretch only; its rows are in file order.
    """

    tags: tuple[str, ...]  # k tags
    offsets: Ints  # [n] where each event's record starts; increasing
    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    values: Floats  # [k, n]; float64 only when an exact float64 was recorded


@dataclass(frozen=True, slots=True)
class ReferenceColumns:
    """Where the payloads of one tag lie: images, tensors, histograms, graphs, landscapes, alerts."""

    kind: Kind
    tag: str  # empty for alerts, and for graphs: their tag is the file name
    steps: Ints  # [n]
    walls: Doubles  # [n]
    offsets: Ints  # [n] first byte of the payload message (for example Summary.Image) in the file
    sizes: Ints  # [n] bytes of the payload message

    def row(self, row: int) -> ReferenceColumns:
        """The columns of one row."""
        rows = slice(row, row + 1)
        steps, walls = self.steps[rows], self.walls[rows]
        return ReferenceColumns(self.kind, self.tag, steps, walls, self.offsets[rows], self.sizes[rows])


@dataclass(frozen=True, slots=True)
class RunNote:
    """A fact about the run that is no value: hyperparameters, or the start of a session."""

    name: str  # "hparams", "session"
    offset: int  # of the record in the file
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a piece of an event file holds, from an offset up to the last whole record.

    ``pending`` above zero means "not yet": that many bytes after ``next_offset`` begin a record
    whose end has not been written. Ask again from ``next_offset`` when the file has grown.
    """

    next_offset: int
    pending: int
    records: int
    blocks: tuple[ScalarBlock, ...] = ()
    references: tuple[ReferenceColumns, ...] = ()
    damage: tuple[Damage, ...] = ()
    version: str = ""
    closing: str | None = None  # a record says that the recorder was closed: the error that ended it, or ""
    skipped: tuple[tuple[str, int], ...] = ()  # ("explain", 3): understood, and not ours to show
    notes: tuple[RunNote, ...] = ()
    first_event: float = 0.0  # Unix seconds of the earliest event; 0 when none carries a believable time
    last_event: float = 0.0  # the same of the latest


@dataclass(frozen=True, slots=True)
class Reference:
    """One payload, to be read when somebody looks."""

    path: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class FileState:
    """How far one file of a run has been read."""

    name: str  # path relative to the run directory
    size: int  # bytes when last looked at
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
