"""Wide runs, hundreds of tags a step, mean what they mean to a parser of one record after another.

In both formats: regular, with tags that come and go, interleaved, restarted, with exact numbers, and damaged.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindinsight.proto.framing import decode_header, decode_payload, encode_record
from mindinsight.server.formats.events import decode
from mindinsight.server.formats.events.event_fields import EXACT, MINDSPORE, SCALAR, Schema, tag_text
from mindinsight.server.formats.tensorboard import TENSORBOARD
from mindinsight.server.formats.wire_format import UnparsableError
from mindinsight.server.ingest.staged_columns import ScalarTable
from mindinsight.server.types import DecodedSection, ScalarBlock, ScalarRows
from tests.thoroughness import amount

Rows = dict[str, list[tuple[int, int, bytes, bytes]]]  # offset, step, wall time, number
Spans = list[tuple[int, int]]
SCHEMAS = {"mindspore": MINDSPORE, "tensorboard": TENSORBOARD}
TAGS = [f"layers.{number // 50}.block.{number % 50}.grad_norm" for number in range(300)]
LAYOUTS = ("regular", "irregular", "interleaved", "restarted", "exact", "twice", "payloads", "growing")


def varint(number: int) -> bytes:
    octets = bytearray()
    while number >= 0x80:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*octets, number])


def message(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def scalar(tag: str, number: float, form: str, exact: bool) -> bytes:
    key = b"\x1d" if form == "mindspore" else b"\x15"
    body = message(1, tag.encode()) + key + struct.pack("<f", number)
    if exact and form == "mindspore":
        body += varint(1001 << 3 | 1) + struct.pack("<d", number)
    elif exact:  # DT_DOUBLE, a scalar
        body = message(1, tag.encode()) + message(8, b"\x08\x02\x31" + struct.pack("<d", number))
    return message(1, body)


def chosen(layout: str, step: int, rng: np.random.Generator) -> list[str]:
    if layout == "irregular":
        return [tag for tag in TAGS if rng.random() < 0.7]
    if layout == "interleaved":
        return TAGS[:250] if step % 5 else TAGS[100:]
    if layout == "twice":
        return [*TAGS, *TAGS[7:9]]
    if layout == "growing":
        return TAGS[: 100 + step]
    return TAGS


def written(form: str, layout: str, seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    steps = [*range(110, 140)]
    if layout == "restarted":
        steps += range(120, 145)
    records = []
    for step in steps:
        tags = chosen(layout, step, rng)
        numbers = rng.standard_normal(len(tags))
        exact = layout == "exact"
        values = [
            scalar(tag, number, form, exact and (column % 3 == 0 or (column % 7 == 0 and step > 120)))
            for column, (tag, number) in enumerate(zip(tags, numbers.tolist(), strict=True))
        ]
        if layout == "payloads" and step % 4 == 0:
            values.insert(step % 50, message(1, message(1, b"picture") + message(4, rng.bytes(step))))
        groups = [b"".join(values)] if form == "mindspore" else values
        records += [_event(step, group, 1e-3 * number) for number, group in enumerate(groups)]
    return b"".join(map(encode_record, records))


def _event(step: int, values: bytes, later: float) -> bytes:
    return b"\x09" + struct.pack("<d", 1.7e9 + step + later) + b"\x10" + varint(step) + message(5, values)


def damaged(data: bytes, seed: int) -> bytes:
    """Some bytes changed, some cut out, and the end cut off."""
    rng = np.random.default_rng(seed)
    octets = bytearray(data[: len(data) - int(rng.integers(0, 100))])
    for at in rng.integers(0, len(octets), 5).tolist():
        octets[at] ^= 1 << int(rng.integers(0, 8))
    at = int(rng.integers(0, len(octets)))
    del octets[at : at + int(rng.integers(0, 500))]
    return bytes(octets)


def slowly(data: bytes, schema: Schema) -> tuple[Rows, Spans, int]:
    """What a parser of one record after another finds: rows by tag, damaged spans, the end."""
    rows: Rows = {}
    spans: Spans = []
    at = 0
    while len(data) - at >= 12:
        size = decode_header(data[at : at + 12])
        if size is None:
            heads = range(at + 1, len(data) - 11)
            following = next(
                (head for head in heads if decode_header(data[head : head + 12]) is not None), None
            )
            following = len(data) - 11 if following is None else following
            spans.append((at, following))
            at = following
            continue
        end = at + 16 + size
        if end > len(data):
            break
        payload = decode_payload(data[at + 12 : end])
        if payload is None:
            spans.append((at, end))
        else:
            _parse(payload, at, schema, rows, spans)
        at = end
    return rows, joined(spans), at


def _parse(payload: bytes, at: int, schema: Schema, rows: Rows, spans: Spans) -> None:
    try:
        event = schema.parse(payload, 0, len(payload))
    except UnparsableError:
        spans.append((at, at + 16 + len(payload)))
        return
    for item in event.values:
        if item.kind in (SCALAR, EXACT):
            form = "<f" if item.kind == SCALAR else "<d"
            (number,) = struct.unpack_from(form, payload, item.at)
            number = number if item.number is None else item.number
            row = (at, event.step, struct.pack("<d", event.wall), struct.pack("<d", number))
            rows.setdefault(tag_text(item.tag), []).append(row)


def joined(spans: Spans) -> Spans:
    """Touching spans as one."""
    touching: Spans = []
    for begin, end in spans:
        if touching and touching[-1][1] == begin:
            touching.append((touching.pop()[0], end))
        else:
            touching.append((begin, end))
    return touching


def sections(data: bytes, schema: Schema, size: int) -> Iterator[DecodedSection]:
    at = 0
    while at < len(data):
        section = decode(data[at : at + size], at, at + size >= len(data), schema)
        yield section
        if section.next_offset == at:
            return
        at = section.next_offset


def facts_of(sections: list[DecodedSection]) -> tuple[Rows, Spans, int]:
    rows: Rows = {}
    for section in sections:
        tags: list[str] = []
        for block in (*section.blocks, *(block for rows in section.rows for block in rows.split())):
            tags += block.tags
            axis = [block.offsets.tolist(), block.steps.tolist(), [struct.pack("<d", w) for w in block.walls]]
            for tag, values in zip(block.tags, block.values.tolist(), strict=True):
                numbers = [struct.pack("<d", value) for value in values]
                rows.setdefault(tag, []).extend(zip(*axis, numbers, strict=True))
        assert len(set(tags)) == len(tags)
    damage = [
        (region.offset, region.offset + region.size) for section in sections for region in section.damage
    ]
    return rows, joined(damage), sections[-1].next_offset


@pytest.mark.parametrize("form", SCHEMAS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_wide_run_is_read_as_record_by_record(form: str, layout: str) -> None:
    data, schema = written(form, layout, 1), SCHEMAS[form]
    wanted = slowly(data, schema)
    assert wanted[1:] == ([], len(data))
    assert facts_of([decode(data, 0, True, schema)]) == wanted
    assert facts_of([*sections(data, schema, 150_000)]) == wanted


@settings(max_examples=amount(300, 20), deadline=None)
@given(
    form=st.sampled_from([*SCHEMAS]),
    layout=st.sampled_from(LAYOUTS),
    seed=st.integers(0, 2**32),
    size=st.integers(60_000, 1_000_000),
)
def test_a_damaged_wide_run_too(form: str, layout: str, seed: int, size: int) -> None:
    data, schema = damaged(written(form, layout, seed), seed), SCHEMAS[form]
    wanted = slowly(data, schema)
    assert facts_of([decode(data, 0, True, schema)]) == wanted
    assert facts_of([*sections(data, schema, size)])[0] == wanted[0]


@settings(max_examples=amount(100, 8), deadline=None)
@given(
    form=st.sampled_from([*SCHEMAS]),
    layout=st.sampled_from(LAYOUTS),
    size=st.integers(60_000, 400_000),
    looks=st.sets(st.integers(0, 20)),
)
def test_columns_of_a_wide_run_are_the_same_whenever_somebody_looks(
    form: str, layout: str, size: int, looks: set[int]
) -> None:
    data, schema = written(form, layout, 2), SCHEMAS[form]
    table = ScalarTable()
    seen = []
    for number, section in enumerate(sections(data, schema, size)):
        pieces: list[ScalarBlock | ScalarRows] = [*section.blocks, *section.rows]
        for piece in pieces:
            table.fold(piece)
        if number in looks:
            seen += [(view, view.copy()) for view in (g.values[g.tags[t]] for t, g in table.groups.items())]
    columns = {
        tag: [
            (step, struct.pack("<d", wall), struct.pack("<d", value))
            for step, wall, value in zip(
                group.axis.steps.view().tolist(),
                group.axis.walls.view().tolist(),
                group.values[group.tags[tag]].tolist(),
                strict=True,
            )
        ]
        for tag, group in table.groups.items()
    }
    assert columns == {tag: [row[1:] for row in rows] for tag, rows in slowly(data, schema)[0].items()}
    assert all(np.array_equal(view, before) for view, before in seen)


def test_a_wide_regular_step_is_one_block_and_lone_tags_are_rows() -> None:
    ours = decode(written("mindspore", "regular", 1), 0, True, MINDSPORE)
    assert [(block.tags, block.values.shape) for block in ours.blocks] == [(tuple(TAGS), (300, 30))]
    theirs = decode(written("tensorboard", "regular", 1), 0, True, TENSORBOARD)
    assert (theirs.blocks, [sorted(rows.tags) == sorted(TAGS) for rows in theirs.rows]) == ((), [True])


def test_rows_of_several_pieces_are_sorted_by_tag_and_then_as_in_the_file() -> None:
    def piece(tags: str, offsets: list[int], dtype: type = np.float32) -> ScalarRows:
        rows = np.array(offsets)
        return ScalarRows(
            (*tags,),
            np.full(len(tags), len(offsets) // len(tags)),
            rows,
            rows,
            rows * 1.0,
            rows.astype(dtype),
        )

    plain, exact = ScalarRows.joined(
        [piece("ab", [3, 4, 3, 4]), piece("b", [9], np.float64), piece("a", [1])]
    )
    assert (plain.tags, plain.counts.tolist(), plain.offsets.tolist()) == (("a",), [3], [1, 3, 4])
    assert (exact.tags, exact.counts.tolist(), exact.offsets.tolist()) == (("b",), [3], [3, 4, 9])
    assert (plain.values.dtype, exact.values.dtype) == (np.float32, np.float64)
