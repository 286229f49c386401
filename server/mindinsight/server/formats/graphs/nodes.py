"""The nodes of a graph as columns (NodeProto and InputProto, graph.proto).

They are read side by side: in each step the next field of every node is found. Nodes that are not written
plainly, and all nodes where one of them is damaged, are read one by one with protobuf's own classes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from mindinsight.proto.graph_pb2 import GraphProto, NodeProto
from mindinsight.server.formats.budgets import GRAPH_FIELD
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import FAR, varints
from mindinsight.server.graph.model.graph import Flags
from mindinsight.server.types import Ints

_LENGTH: Final = 2  # wire type of texts and messages
_FEWEST: Final = 16  # messages for which a step in numpy costs less than protobuf's own reading
_STRETCH: Final = 1 << 20  # bytes that are parsed at once
_INPUT: Final = 1 << 3 | 2
_TEXTS: Final = (2 << 3 | 2, 3 << 3 | 2, 4 << 3 | 2, 8 << 3 | 2)  # name, op_type, scope, full_name
_INPUT_NAME: Final = 1 << 3 | 2
_INPUT_TYPE: Final = 2 << 3
_CONTROL: Final = 1  # InputProto.EdgeType.CONTROL_EDGE

_Octets = npt.NDArray[np.uint8]
_Read = Callable[[Ints, Flags], list[str]]


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes that can be read, as the file says it."""

    rows: Ints  # [n] their places among all nodes of the file
    names: list[str]  # [n] by which inputs refer to them
    types: list[str]  # [n]
    scopes: list[str]  # [n]
    full_names: list[str]  # [n]
    owners: Ints  # [i] whose inputs they are, as places among these nodes; ascending
    inputs: list[str]  # [i] the names that nodes list as inputs
    controls: Flags  # [i] an order, not data


class _Inputs(NamedTuple):
    owners: Ints
    names: list[str]
    controls: Flags


class _Fields(NamedTuple):
    """One field of each of some messages."""

    rows: Ints
    keys: _Octets  # number and wire type
    begins: Ints  # of the content
    ends: Ints


def read_nodes(data: bytes, begins: Ints, ends: Ints) -> Nodes:
    """The nodes whose messages lie at ``begins`` and ``ends`` in the bytes of a GraphProto."""
    plain = np.full(len(begins), _undamaged(data, ends))
    texts, several = _side_by_side(data, begins, ends, plain)
    readable = plain.copy()
    few = _one_by_one(data, begins, ends, texts, readable, np.flatnonzero(~plain).tolist())
    rows = np.flatnonzero(readable)
    owners = np.concatenate([several.owners, few.owners])
    order = np.argsort(owners, kind="stable")
    inputs = several.names + few.names
    if len(rows) < len(readable):
        texts = [[column[row] for row in rows.tolist()] for column in texts]
    names, types, scopes, full_names = texts
    return Nodes(
        rows=rows,
        names=names,
        types=types,
        scopes=scopes,
        full_names=full_names,
        owners=np.searchsorted(rows, owners[order]),
        inputs=[inputs[place] for place in order.tolist()] if few.names else inputs,
        controls=np.concatenate([several.controls, few.controls])[order],
    )


def _undamaged(data: bytes, ends: Ints) -> bool:
    """Whether every message inside is one, down to what is not read here.

    Some nodes at a time: protobuf may take a hundred bytes of memory for two bytes of a message. A stretch
    that is beyond the budget of one node is left to be read node by node.
    """
    try:
        return all(
            end - begin <= GRAPH_FIELD.size and GraphProto.FromString(data[begin:end]) is not None
            for begin, end in itertools.pairwise(_cuts(len(data), ends))
        )
    except DecodeError:
        return False


def _cuts(size: int, ends: Ints) -> list[int]:
    """Offsets between nodes that part a graph of ``size`` bytes into stretches of about ``_STRETCH``."""
    steps = np.searchsorted(ends, np.arange(_STRETCH, size, _STRETCH))
    return [0, *np.unique(ends[steps[steps < len(ends)]]).tolist(), size]


def _side_by_side(data: bytes, begins: Ints, ends: Ints, plain: Flags) -> tuple[list[list[str]], _Inputs]:
    """Texts and inputs of the plain nodes; takes from ``plain`` those that are not."""
    octets = np.frombuffer(data, np.uint8)
    spans = np.zeros((len(_TEXTS), 2, len(begins)), np.int64)
    listed = [np.zeros((3, 0), np.int64)]
    for fields in _fields(octets, begins, ends, plain):
        for key, span in zip(_TEXTS, spans, strict=True):
            chosen = np.flatnonzero(fields.keys == key)
            span[:, fields.rows[chosen]] = fields.begins[chosen], fields.ends[chosen]
        chosen = np.flatnonzero(fields.keys == _INPUT)
        listed.append(np.array([fields.rows[chosen], fields.begins[chosen], fields.ends[chosen]]))
    owners, first, last = np.concatenate(listed, axis=1)
    order = np.argsort(owners, kind="stable")
    owners = owners[order]
    whole = np.ones(len(owners), dtype=np.bool_)
    named, controls = _inputs(octets, first[order], last[order], whole)
    read = _reader(data)
    texts = [read(span, plain) for span in spans]
    names = read(named, whole)
    plain[owners[~whole]] = False
    kept = plain[owners]
    if not kept.all():
        names = [names[place] for place in np.flatnonzero(kept).tolist()]
    return texts, _Inputs(owners[kept], names, controls[kept])


def _inputs(octets: _Octets, begins: Ints, ends: Ints, plain: Flags) -> tuple[Ints, Flags]:
    """Where the names of inputs lie, [2, i], and which are control edges."""
    named = np.zeros((2, len(begins)), np.int64)
    controls = np.zeros(len(begins), dtype=np.bool_)
    for fields in _fields(octets, begins, ends, plain):
        chosen = np.flatnonzero(fields.keys == _INPUT_NAME)
        named[:, fields.rows[chosen]] = fields.begins[chosen], fields.ends[chosen]
        typed = np.flatnonzero(fields.keys == _INPUT_TYPE)
        values, _ = varints(octets, fields.begins[typed])
        controls[fields.rows[typed]] = values.astype(np.int32) == _CONTROL
    return named, controls


def _fields(octets: _Octets, begins: Ints, ends: Ints, plain: Flags) -> Iterator[_Fields]:
    """The first field of every plain message, then the second of those that have one, and so on.

    Takes from ``plain`` the messages that hold anything else than fields of numbers below 16, of whole
    lengths, and the few that are longer than all others.
    """
    rows = np.flatnonzero(plain & (begins < ends))
    at = begins[rows]
    last = len(octets) - 1
    while len(rows) >= _FEWEST:
        keys = octets[at]
        contents, stops = _contents(octets, keys, np.minimum(at + 1, last))
        good = (keys >= 8) & (keys < 0x80) & (stops <= ends[rows])
        plain[rows[~good]] = False
        chosen = np.flatnonzero(good)
        yield _Fields(rows[chosen], keys[chosen], contents[chosen], stops[chosen])
        going = np.flatnonzero(good & (stops < ends[rows]))
        rows, at = rows[going], stops[going]
    plain[rows] = False


def _contents(octets: _Octets, keys: _Octets, at: Ints) -> tuple[Ints, Ints]:
    """Where the contents behind keys begin and end; they end far away for wire types that are rare."""
    values, after = varints(octets, at)
    wires = keys & 7
    begins = np.where(wires == _LENGTH, after, at)
    ends = np.full(len(at), FAR)
    ends[wires == 0] = after[wires == 0]
    ends[wires == 1] = at[wires == 1] + 8
    ends[wires == 5] = at[wires == 5] + 4
    sized = (wires == _LENGTH) & (values >= 0) & (values < FAR)
    ends[sized] = after[sized] + values[sized]
    return begins, ends


def _reader(data: bytes) -> _Read:
    """``read(spans, plain)``: the texts at spans, [2, n]; takes from ``plain`` what is not UTF-8."""
    whole = data.decode("latin-1")  # slices of it are texts already, where they are ASCII

    def read(spans: Ints, plain: Flags) -> list[str]:
        texts = [whole[begin:end] for begin, end in zip(*spans.tolist(), strict=True)]
        if "".join(texts).isascii():
            return texts
        for row, found in enumerate(texts):
            try:
                texts[row] = found.encode("latin-1").decode()
            except UnicodeDecodeError:
                plain[row] = False
        return texts

    return read


def _one_by_one(
    data: bytes, begins: Ints, ends: Ints, texts: list[list[str]], readable: Flags, rows: Iterable[int]
) -> _Inputs:
    """Inputs of the nodes ``rows`` as protobuf reads them; fills in their texts and which can be read."""
    owners: list[int] = []
    names: list[str] = []
    types: list[int] = []
    for row in rows:
        try:
            GRAPH_FIELD.check_size(int(ends[row] - begins[row]))
            node = NodeProto.FromString(data[begins[row] : ends[row]])
            fed = [(text(one.name), one.type) for one in node.input]
            called = [text(one) for one in (node.name, node.op_type, node.scope, node.full_name)]
        except (DecodeError, UnicodeDecodeError, UnreadableError):
            continue
        readable[row] = True
        for column, one in zip(texts, called, strict=True):
            column[row] = one
        owners += [row] * len(fed)
        names += [name for name, _ in fed]
        types += [kind for _, kind in fed]
    return _Inputs(np.array(owners, np.int64), names, np.array(types, np.int64) == _CONTROL)


def text(value: str | bytes) -> str:
    """Some versions of protobuf hand out bytes where a text is not UTF-8, others raise UnicodeDecodeError."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")
