"""One tag of one kind over all files of a run: their parts in order, renewed one by one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Generic, TypeVar

from mindinsight.server.ingest.staging.file_stage import FileStage
from mindinsight.server.store.file_names import Order

Part = TypeVar("Part")


class TagPart(Generic[Part]):
    """Parts of a tag, oldest file first.

    ``moved`` tells that rows before the end changed since ``parts`` was last asked for.
    """

    __slots__ = ("_changed", "_files", "_part_of", "_parts", "moved")

    def __init__(self, part_of: Callable[[FileStage], Part]) -> None:
        """``part_of`` gives what a file holds of the tag."""
        self._part_of = part_of
        self._files: list[FileStage] = []
        self._parts: list[Part] = []
        self._changed: dict[str, FileStage] = {}
        self.moved = False

    def __bool__(self) -> bool:
        return bool(self._files)

    def touch(self, file: FileStage) -> None:
        """The file got rows of this tag, or the place where they lie changed."""
        self._changed[file.name] = file
        if self._files and file is not self._files[-1] and file.order < self._files[-1].order:
            self.moved = True

    def remove(self, file: FileStage) -> None:
        """The file went away."""
        self._changed.pop(file.name, None)
        place = self._place(file)
        if self._holds(file, place):
            del self._files[place], self._parts[place]
            self.moved = True

    def parts(self) -> tuple[Part, ...]:
        """Every part; ``moved`` is reset."""
        for file in self._changed.values():
            place = self._place(file)
            if self._holds(file, place):
                self._files[place], self._parts[place] = file, self._part_of(file)
            else:
                self._files.insert(place, file)
                self._parts.insert(place, self._part_of(file))
        self._changed = {}
        self.moved = False
        return tuple(self._parts)

    def _place(self, file: FileStage) -> int:
        """Where the file is among the others, or belongs; asked for no order where there is no other."""
        return bisect_left(self._files, file.order, key=_order_of) if self._files else 0

    def _holds(self, file: FileStage, place: int) -> bool:
        return place < len(self._files) and self._files[place].order == file.order


def _order_of(file: FileStage) -> Order:
    return file.order
