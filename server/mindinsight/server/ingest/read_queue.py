"""Priority queue of files with unread bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from mindinsight.server.ingest.piece_reader import PieceRequest
from mindinsight.server.ingest.staging.file_stage import FileStage
from mindinsight.server.ingest.staging.run_stage import RunStage

Item: TypeAlias = tuple[RunStage, FileStage]

PIECE: Final = 8 << 20  # bytes read in one go: the memory decoding takes is a small multiple of it
_MOST_FILES: Final = 256  # read in one go, however small they are


class ReadQueue:
    """Files by priority: those of runs on open pages first, then those of the run written to last."""

    def __init__(self) -> None:
        self._runs: dict[str, dict[str, Item]] = {}
        self._wanted: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self._runs)

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(file.unread for items in self._runs.values() for _, file in items.values())

    @property
    def suspicious(self) -> bool:
        """Whether a worker died of any of the files."""
        return any(file.suspect for items in self._runs.values() for _, file in items.values())

    def want(self, runs: Iterable[str]) -> None:
        self._wanted = frozenset(runs)

    def add(self, stage: RunStage, file: FileStage) -> None:
        """Read a file when its turn comes; one that is being read is looked at again afterwards anyway."""
        if not file.busy:
            self._runs.setdefault(stage.discovered.id, {})[file.name] = (stage, file)

    def drop(self, run: str, name: str) -> None:
        items = self._runs.get(run, {})
        items.pop(name, None)
        if not items:
            self._runs.pop(run, None)

    def take(self, budget: int = PIECE) -> list[Item]:
        """Take out the next files, as many as hold ``budget`` bytes together, at least one."""
        taken: list[Item] = []
        for stage, file in self._in_order():
            if taken and (file.suspect or budget < file.unread):
                break
            taken.append((stage, file))
            budget -= file.unread
            if file.suspect or budget <= 0 or len(taken) == _MOST_FILES:
                break
        for stage, file in taken:
            self.drop(stage.discovered.id, file.name)
        return taken

    def _in_order(self) -> Iterator[Item]:
        ranked = sorted(self._runs.items(), key=lambda entry: self._rank(*entry))
        for _, items in ranked:
            yield from sorted(items.values(), key=lambda item: (item[1].suspect, item[1].order))

    def _rank(self, run: str, items: dict[str, Item]) -> tuple[bool, float]:
        stage = next(iter(items.values()))[0]
        return run not in self._wanted, -stage.updated


def request_of(file: FileStage, budget: int = PIECE) -> PieceRequest:
    """The next piece of a file."""
    if file.role == "lineage":
        return PieceRequest(file.path, 0, file.stamp.size, lineage=True)
    size = min(file.unread, budget)
    return PieceRequest(file.path, file.read, size, file.fingerprint, tensorboard=file.tensorboard)
