"""One tag of one kind over all files of a run: their parts in order, renewed one by one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Generic, TypeVar

from mindinsight.server.store.file_stage import FileStage
from mindinsight.server.store.names import Order

Part = TypeVar("Part")


class Lane(Generic[Part]):
    """Parts of a tag, oldest file first.

    ``moved`` tells that rows before the end changed since ``parts`` was last asked for.
    """

    def __init__(self, part_of: Callable[[FileStage], Part]) -> None:
        """``part_of`` gives what a file holds of the tag."""
        self._part_of = part_of
        self._orders: list[Order] = []
        self._parts: list[Part] = []
        self._changed: dict[str, FileStage] = {}
        self.moved = False

    def __bool__(self) -> bool:
        return bool(self._orders)

    def touch(self, file: FileStage) -> None:
        """The file got rows of this tag, or the place where they lie changed."""
        self._changed[file.name] = file
        if self._orders and file.order < self._orders[-1]:
            self.moved = True

    def remove(self, file: FileStage) -> None:
        """The file went away."""
        self._changed.pop(file.name, None)
        place = bisect_left(self._orders, file.order)
        if place < len(self._orders) and self._orders[place] == file.order:
            del self._orders[place], self._parts[place]
            self.moved = True

    def parts(self) -> tuple[Part, ...]:
        """Every part; ``moved`` is reset."""
        for file in self._changed.values():
            place = bisect_left(self._orders, file.order)
            if place < len(self._orders) and self._orders[place] == file.order:
                self._parts[place] = self._part_of(file)
            else:
                self._orders.insert(place, file.order)
                self._parts.insert(place, self._part_of(file))
        self._changed = {}
        self.moved = False
        return tuple(self._parts)
