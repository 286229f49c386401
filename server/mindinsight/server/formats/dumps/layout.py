"""Base class of dump layouts: what a layout does not have, it inherits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from mindinsight.server.formats.arrays.stored import Values
from mindinsight.server.formats.dumps.npy_folder import npy_header, npy_values
from mindinsight.server.formats.dumps.operators import put_together
from mindinsight.server.formats.dumps.types import (
    Dump,
    Listing,
    Operator,
    Overflow,
    StepFolder,
    TensorEntry,
    TensorHeader,
    TensorRef,
)


class Layout(ABC):
    """A way in which a tool lays out its dumps: one class in a module of the package ``layouts``.

    A layout has to know its directories and to open them. Without more it has no tensors; tensors are
    ``.npy`` files and operators are what left tensors, unless it says otherwise. Everything may raise for
    input it cannot stand: ``match`` is then skipped and named in ``Dump.damage``; ``header`` and ``values``
    raise ``UnreadableError`` for the one tensor.
    """

    name: ClassVar[str]  # that of its module
    compares_arguments: ClassVar[bool] = False  # arguments of operators are recorded alike in all dumps

    @abstractmethod
    def match(self, path: Path) -> float:
        """How sure, 0 to 1, that this directory is a dump of this layout; below 0: it is none."""

    @abstractmethod
    def open_dump(self, path: Path) -> Dump:
        """Ranks, graphs and steps of the directory; no tensor is listed."""

    def tensors(self, folder: StepFolder) -> Listing[TensorEntry]:
        """Tensors of one folder in the order they were written."""
        return Listing(())

    def operators(self, folder: StepFolder) -> Listing[Operator]:
        """Operators of one folder in execution order, with source lines where they are recorded."""
        listed = self.tensors(folder)
        return Listing(put_together(folder.graph, listed, (), {}, lambda kind, name: ()), listed.damage)

    def overflows(self, folder: StepFolder) -> Listing[Overflow]:
        """Overflows the device reported in one folder."""
        return Listing(())

    def header(self, ref: TensorRef) -> TensorHeader:
        """Shape and type of one tensor without its data."""
        return npy_header(ref)

    def values(self, ref: TensorRef) -> Values:
        """One tensor by parts: what asks for a little of a large one does not read it all."""
        return npy_values(ref)
