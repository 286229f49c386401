"""Base class of dump layouts, with a default for everything but matching and opening a directory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from mindinsight.server.formats.arrays.stored import Values
from mindinsight.server.formats.dumps.npy_folder import npy_header, npy_values
from mindinsight.server.formats.dumps.operators import assemble_operators
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
    """Reader of the dumps of one tool: a class in a module (or package) of ``layouts``.

    ``match`` and ``open_dump`` are required. By default a dump has no tensors and no overflows, tensors are
    ``.npy`` files, and operators are derived from the tensors they left. A layout whose ``match`` raises is
    skipped and reported in ``Dump.damage``; ``header`` and ``values`` raise ``UnreadableError`` for their
    tensor alone.
    """

    name: ClassVar[str]  # that of its module
    compares_arguments: ClassVar[bool] = False  # arguments of operators are recorded alike in all dumps
    growing: ClassVar[tuple[str, ...]] = ("",)  # names in a step folder whose times tell that it has grown

    @abstractmethod
    def match(self, path: Path) -> float:
        """Confidence, 0 to 1, that a directory is a dump of this layout; below 0: it is not."""

    @abstractmethod
    def open_dump(self, path: Path) -> Dump:
        """Ranks, graphs and steps of a directory; no tensor is listed."""

    def tensors(self, folder: StepFolder) -> Listing[TensorEntry]:
        """Tensors of a step folder in the order they were written."""
        return Listing(())

    def operators(self, folder: StepFolder) -> Listing[Operator]:
        """Operators of a step folder in execution order, with call stacks where they are recorded."""
        listing = self.tensors(folder)
        return Listing(
            assemble_operators(folder.graph, listing, (), {}, lambda kind, name: ()), listing.damage
        )

    def arguments(self, folder: StepFolder) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
        """Names of operators as recorded, with their arguments other than tensors, where there are any."""
        for operator in self.operators(folder).items:
            if operator.arguments:
                yield operator.recorded, operator.arguments

    def overflows(self, folder: StepFolder) -> Listing[Overflow]:
        """Overflows that the device reported in a step folder."""
        return Listing(())

    def header(self, ref: TensorRef) -> TensorHeader:
        """Shape, type and size in bytes of one tensor, read without its data."""
        return npy_header(ref)

    def values(self, ref: TensorRef) -> Values:
        """Lazy values of one tensor: a small part of a large tensor is read without the rest."""
        return npy_values(ref)
