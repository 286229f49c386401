"""Encoder interface of a kind of data, from ``add_value`` to the event file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy.typing as npt

from mindinsight.writer.arrays import HostArray, to_numpy
from mindinsight.writer.buffer_pool import BufferPool

if TYPE_CHECKING:
    from google.protobuf.message import Message

LARGEST_EVENT: Final = (1 << 31) - 1  # bytes: no protobuf message can be larger


class TooLarge(ValueError):  # noqa: N818 - named as it reads
    """Error for a value that would make its step larger than a protobuf message can be."""


class Item(NamedTuple):
    """Encoded or copied value of any kind except a scalar."""

    kind: str  # of ``mindinsight.proto.kinds``, or a key of LINEAGE_FIELDS
    tag: str
    payload: npt.NDArray[Any] | bytes  # a separate array, or a serialised message
    dtype: str = ""  # name of the element type given, for arrays


class Encoder(ABC):
    """Encoder of one kind: ``item`` runs in the training loop, ``message`` in the background thread."""

    def __init__(self, kind: str) -> None:
        self.kind: Final = kind

    @abstractmethod
    def item(self, tag: str, value: Any, room: int, buffers: BufferPool) -> Item:
        """Return ``value`` as an item that shares no memory with the training loop. Raises TooLarge if it
        needs more than ``room`` bytes, TypeError for another kind of value, ValueError for an invalid
        shape. Copies are made in ``buffers``."""

    @abstractmethod
    def message(self, item: Item) -> bytes:
        """Return the serialised message for the kind's wire field."""

    def size(self, item: Item) -> int:
        """Return an upper bound in bytes of ``item`` in an event, 0 for a kind that is never too large."""
        return 0

    def facts(self, message: Any) -> dict[str, Any]:
        """Return a summary of a decoded message as JSON values, for the running data recorder, by default
        {}. NaN and infinity are text."""
        return {}


class ArrayEncoder(Encoder):
    """Encoder of arrays of real numbers from any framework."""

    def item(self, tag: str, value: Any, room: int, buffers: BufferPool) -> Item:
        """Return an Item with the array in ``value``, copied if the loop may change it. Raises TooLarge if it
        needs more than ``room`` bytes, TypeError without real numbers, ValueError for an invalid shape."""
        host = real_numbers(tag, value)
        self.check_shape(tag, host.values.shape)
        item = Item(self.kind, tag, host.values, host.dtype)
        if (size := self.size(item)) > room:
            excess = f"with these {size} bytes the step is larger than {LARGEST_EVENT} bytes"
            raise TooLarge(f"{excess}, the most one can have")
        fresh = not host.shared and host.values.flags.c_contiguous
        return item if fresh else item._replace(payload=buffers.copy(host.values))

    def check_shape(self, tag: str, shape: tuple[int, ...]) -> None:
        """Raise ValueError for a shape that the kind does not allow, by default one without dimensions."""
        if not shape:
            raise ValueError(f"{self.kind} '{tag}' must have at least one dimension, got a number")

    def message(self, item: Item) -> bytes:
        """Return the serialised message of the array in ``item``."""
        assert not isinstance(item.payload, bytes)
        return self.array_message(item.payload, item.dtype)

    @abstractmethod
    def array_message(self, values: npt.NDArray[Any], dtype: str) -> bytes:
        """Return the serialised message of an array. ``dtype`` names its original type, which NumPy may
        not know."""


class MessageEncoder(Encoder):
    """Encoder of messages that are serialised in the training loop."""

    def item(self, tag: str, value: Any, room: int, buffers: BufferPool) -> Item:
        """Return an Item with the serialised message of ``value``. Raises TypeError for another kind of
        value, ValueError for an invalid one."""
        return Item(self.kind, tag, self.serialised(value))

    @abstractmethod
    def serialised(self, value: Any) -> bytes:
        """Return a recorded ``value`` as the serialised message of the kind. Raises TypeError for another
        kind of value, ValueError for an invalid one."""

    def message(self, item: Item) -> bytes:
        """Return the message in ``item``, which is serialised already."""
        assert isinstance(item.payload, bytes)
        return item.payload


def real_numbers(tag: str, value: Any) -> HostArray:
    """Return ``value`` as a host array. Raises TypeError for complex numbers and for other objects."""
    host = to_numpy(value)
    if host.values.dtype.kind == "c":
        raise TypeError(f"'{tag}' holds complex numbers; record its parts or its magnitude")
    return host


def serialised(
    kind: str, value: Any, name: str, build: Callable[[Mapping[str, Any]], Message] | None = None
) -> bytes:
    """Return the bytes of a message ``name``. ``value`` is the message, or a dict or dataclass for ``build``.
    Raises TypeError for anything else, ValueError for an unknown or invalid fact."""
    from google.protobuf.message import Message  # which scalars do without

    if isinstance(value, Message):
        if value.DESCRIPTOR.name != name:
            raise TypeError(f"{kind} takes a {name} message, got {value.DESCRIPTOR.name}")
        return bytes(value.SerializeToString())
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if build is None or not isinstance(value, Mapping):
        dict_too = " or a dict" if build else ""
        raise TypeError(f"{kind} takes a {name} message{dict_too}, got {type(value).__name__}")
    return bytes(build(value).SerializeToString())
