"""Verification of records: those of a piece whose checksums are right, and the damage between them."""

from __future__ import annotations

from dataclasses import dataclass

from mindinsight.proto.framing import HEADER_SIZE
from mindinsight.server.formats.events.checksums import intact
from mindinsight.server.formats.events.frames import FRAME_SIZE, scan
from mindinsight.server.formats.events.rounds.known_rounds import KnownRounds
from mindinsight.server.formats.events.schema import Schema
from mindinsight.server.types import Damage, Ints


@dataclass(frozen=True, slots=True)
class Records:
    """Intact records in file order; offsets count from the start of the piece."""

    starts: Ints  # [n] first header byte
    sizes: Ints  # [n] payload bytes
    damage: tuple[Damage, ...]
    end: int  # everything before is a record or damaged
    rounds: tuple[KnownRounds, ...] = ()

    def without_last(self, count: int) -> Records:
        """All but the last ``count`` records, and nothing that lies behind them."""
        end = int(self.starts[-count])
        damage = tuple(region for region in self.damage if region.offset < end)
        return Records(self.starts[:-count], self.sizes[:-count], damage, end)

    def payloads(self, data: bytes) -> list[bytes]:
        begins = self.starts + HEADER_SIZE
        return [data[at:end] for at, end in zip(begins.tolist(), (begins + self.sizes).tolist(), strict=True)]


def verified_records(data: bytes, at_end: bool, schema: Schema | None = None) -> Records:
    """Records of ``data``, which begins with one; ``at_end`` says that the file ends with ``data``.

    Nothing is waited for for ever unseen: everything from ``end`` on is a record that is cut, or has not
    been written yet. That is said of zeros at the end of a file too (space that a crashed machine or a
    network file system has allocated); but only a header whose checksum is right is believed to announce
    a record, so after a damaged one only the last 11 bytes are kept, in which a header can have begun.
    With a ``schema``, rounds that another file had are looked for; they are given where all is intact.
    """
    frames = scan(data, at_end, schema)
    starts, sizes, end = frames.starts, frames.sizes, frames.end
    good = intact(data, starts, sizes)
    if at_end and len(good) and not good[-1] and not any(data[int(starts[-1] + sizes[-1]) + HEADER_SIZE :]):
        starts, sizes, good, end = starts[:-1], sizes[:-1], good[:-1], int(starts[-1])
    bad = zip(starts[~good].tolist(), (sizes[~good] + FRAME_SIZE).tolist(), strict=True)
    damage = [*frames.gaps, *(Damage(at, size, "damage.body_crc") for at, size in bad)]
    if len(good) == len(frames.starts) and good.all():
        return Records(starts, sizes, tuple(sorted(damage, key=_offset)), end, frames.rounds)
    return Records(starts[good], sizes[good], tuple(sorted(damage, key=_offset)), end)


def _offset(damage: Damage) -> int:
    return damage.offset
