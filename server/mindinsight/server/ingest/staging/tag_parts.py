"""Cache of the parts of one tag over the files of a run, in file order; only changed parts are rebuilt."""

from __future__ import annotations

from bisect import bisect_left

from mindinsight.server.ingest.staging.file_stage import FileStage, Key
from mindinsight.server.store.file_names import Order
from mindinsight.server.store.parts import Part


class TagParts:
    """Parts of one tag by file, oldest file first."""

    __slots__ = ("_changed", "_files", "_key", "_moved", "_parts")

    def __init__(self, key: Key) -> None:
        self._key = key
        self._files: list[FileStage] = []
        self._parts: list[Part] = []
        self._changed: dict[str, FileStage] = {}
        self._moved = False  # rows before the end changed

    def touch(self, file: FileStage) -> None:
        """The file got rows of this tag, or the place where they lie changed."""
        self._changed[file.name] = file
        if self._files and file is not self._files[-1] and file.order < self._files[-1].order:
            self._moved = True

    def remove(self, file: FileStage) -> None:
        """The file went away."""
        self._changed.pop(file.name, None)
        index = self._index(file)
        if self._holds(file, index):
            del self._files[index], self._parts[index]
            self._moved = True

    def take(self) -> tuple[bool, tuple[Part, ...]]:
        """Whether rows before the end changed since the last time, and every part."""
        for file in self._changed.values():
            index = self._index(file)
            if self._holds(file, index):
                self._files[index], self._parts[index] = file, file.part(self._key)
            else:
                self._files.insert(index, file)
                self._parts.insert(index, file.part(self._key))
        moved, self._moved, self._changed = self._moved, False, {}
        return moved, tuple(self._parts)

    def _index(self, file: FileStage) -> int:
        """Where the file is among the others, or belongs; a single file is not compared with anything."""
        return bisect_left(self._files, file.order, key=_order_of) if self._files else 0

    def _holds(self, file: FileStage, index: int) -> bool:
        return index < len(self._files) and self._files[index].order == file.order


def _order_of(file: FileStage) -> Order:
    return file.order
