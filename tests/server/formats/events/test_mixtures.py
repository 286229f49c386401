"""Any mixture of records means to the decoder what it means to protobuf."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mindinsight.proto.framing import encode_record
from mindinsight.server.formats.events import decode
from tests.thoroughness import amount

LAYER = b"train/a_rather_long_tag/of_layer_%d/weight"
TAGS = [b"loss", b"acc", b"lr", LAYER % 1, LAYER % 2, "损".encode(), b"bad\xff", b"x" * 300, b"y" * 600, b""]
PAYLOADS = {"image": 4, "tensor": 8, "histogram": 9, "landscape": 10}


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def message(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def value(tag: bytes, kind: str, rng: np.random.Generator) -> bytes:
    name = message(1, tag)
    narrow = varint(3 << 3 | 5) + rng.bytes(4)
    if kind == "scalar":
        body = name + narrow
    elif kind == "exact":
        body = name + narrow + varint(1001 << 3 | 1) + rng.bytes(8)
    elif kind == "exact_alone":
        body = name + varint(1001 << 3 | 1) + rng.bytes(8)
    elif kind == "reversed":
        body = narrow + name
    elif kind == "nothing":
        body = name
    elif kind == "unknown":
        group = varint(78 << 3 | 3) + varint(2 << 3) + b"\x05" + varint(78 << 3 | 4)
        body = name + message(77, b"??") + group + narrow
    elif kind == "twice":
        body = name + narrow + message(4, b"picture")
    elif kind == "other_field":
        return message(15, rng.bytes(40) + b"\xff" * 200)
    else:
        body = name + message(PAYLOADS[kind], rng.bytes(int(rng.integers(0, 200))))
    return message(1, body)


STRANGE = ["exact", "exact_alone", "reversed", "nothing", "unknown", "twice", "other_field"]
KINDS = ["scalar"] * 6 + STRANGE + list(PAYLOADS)
VALUE = st.tuples(st.sampled_from(TAGS), st.sampled_from(KINDS))
OTHERS = ["graph", "version", "explain", "alert", "nothing", "junk", "split"]
SHAPE = st.fixed_dictionaries(
    {
        "values": st.lists(VALUE, max_size=6),
        "what": st.sampled_from(["summary"] * 8 + OTHERS),
        "wall": st.sampled_from([True] * 5 + [False]),
        "step": st.sampled_from(["counter"] * 5 + ["absent", "negative", "huge", "behind"]),
    }
)
PROGRAM = st.lists(st.tuples(SHAPE, st.sampled_from([1, 1, 2, 9, 60])), min_size=1, max_size=6)
ORDER = st.sampled_from(["runs", "interleaved", "subsets"])


def event(shape: dict[str, Any], number: int, rng: np.random.Generator, subset: bool) -> bytes:
    wall = b"\x09" + struct.pack("<d", 1.7e9 + number) if shape["wall"] else b""
    steps = {"counter": number, "behind": number, "negative": -number, "huge": 2**40 + number}
    step = b"\x10" + varint(steps[shape["step"]]) if shape["step"] in steps else b""
    chosen = [value for value in shape["values"] if not subset or rng.random() < 0.6]
    values = b"".join(value(tag, kind, rng) for tag, kind in chosen)
    what = {
        "summary": message(5, values),
        "split": message(5, values) + message(3, b"gone") + message(5, values) + message(5, b""),
        "graph": message(4, rng.bytes(30)),
        "version": message(3, b"MindSpore.Event:1"),
        "explain": message(6, b"sample"),
        "alert": message(1001, rng.bytes(int(rng.integers(0, 30)))),
        "nothing": message(99, b"later"),
        "junk": b"\x2a\x7fnot so long",
    }[shape["what"]]
    return wall + what + step if shape["step"] == "behind" else wall + step + what


def usual(*values: tuple[bytes, str]) -> dict[str, Any]:
    return {"values": values, "what": "summary", "wall": True, "step": "counter"}


def build(program: list[Any], order: str, seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    sequence = [shape for shape, times in program for _ in range(times)]
    if order == "interleaved":
        sequence = [sequence[row] for row in rng.permutation(len(sequence))]
    records = [event(shape, 100 + n, rng, order == "subsets") for n, shape in enumerate(sequence)]
    return b"".join(map(encode_record, records))


@settings(max_examples=amount(250, 62), deadline=None)
@given(program=PROGRAM, order=ORDER, seed=st.integers(0, 2**32 - 1))
def test_mixture_reads_as_with_protobuf(
    reference: Any, facts: Any, program: Any, order: Any, seed: Any
) -> None:
    data = build(program, order, seed)
    assert facts([decode(data, 0, True)], data) == reference(data)


@settings(max_examples=amount(60, 15), deadline=None)
@given(
    program=PROGRAM,
    order=ORDER,
    seed=st.integers(0, 2**32 - 1),
    wounds=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), max_size=5),
    cut=st.floats(0, 1),
)
def test_damaged_mixture_reads_as_with_protobuf(
    reference: Any, facts: Any, program: Any, order: Any, seed: Any, wounds: Any, cut: Any
) -> None:
    data = bytearray(build(program, order, seed))
    for part, change in wounds:
        data[int(part * len(data))] ^= change
    content = bytes(data[: int(cut * len(data))])
    assert facts([decode(content, 0, True)], content) == reference(content)


def test_steps_that_grow_a_byte_stay_one_block(reference: Any, facts: Any) -> None:
    rng = np.random.default_rng(1)
    shape = usual((b"loss", "scalar"), (b"acc", "scalar"))
    data = b"".join(encode_record(event(shape, n, rng, False)) for n in range(16300, 16500))
    section = decode(data, 0, True)
    assert [block.tags for block in section.blocks] == [("loss", "acc")]
    assert section.blocks[0].steps.tolist() == list(range(16300, 16500))
    assert facts([section], data) == reference(data)


def test_tags_that_come_together_share_a_block_and_no_tag_is_in_two() -> None:
    rng = np.random.default_rng(2)
    pair = ((b"a", "scalar"), (b"b", "scalar"))
    shapes = [usual(*pair), usual(*pair, (b"c", "exact"))]
    data = b"".join(encode_record(event(shapes[n % 7 == 0], n, rng, False)) for n in range(2000))
    blocks = decode(data, 0, True).blocks
    assert [(block.tags, block.values.dtype, len(block.steps)) for block in blocks] == [
        (("a", "b"), np.float32, 2000),
        (("c",), np.float64, 286),
    ]


def test_offsets_count_from_the_start_of_the_file(reference: Any, facts: Any) -> None:
    rng = np.random.default_rng(3)
    shape = usual((b"loss", "scalar"), (b"pic", "image"))
    data = b"".join(encode_record(event(shape, n, rng, False)) for n in range(80))
    section = decode(data, 1000, False)
    result, picture = facts([section], bytes(1000) + data), ("image", "pic")
    assert result.points[picture] == reference(data).points[picture]
    assert section.blocks[0].offsets[0] == 1000
    assert (section.next_offset, section.pending) == (1000 + len(data), 0)


def test_many_tags_of_one_length_each_alone(reference: Any, facts: Any) -> None:
    rng = np.random.default_rng(4)
    shapes = [usual((b"tag_%03d" % n, "scalar")) for n in range(300)]
    data = b"".join(encode_record(event(shapes[n * 7 % 300], n, rng, False)) for n in range(3000))
    assert facts([decode(data, 0, True)], data) == reference(data)


def test_one_event_with_thousands_of_values_among_small_ones(reference: Any, facts: Any) -> None:
    rng = np.random.default_rng(5)
    small = usual((b"loss", "scalar"))
    large = usual(*[(b"value_%d" % n, "scalar") for n in range(5000)])
    data = b"".join(encode_record(event(large if n == 33 else small, n, rng, False)) for n in range(70))
    assert facts([decode(memoryview(data), 0, True)], data) == reference(data)


def test_every_record_with_a_tag_of_its_own(reference: Any, facts: Any) -> None:
    rng = np.random.default_rng(6)
    tags = [b"a_long_name_of_a_layer/number_%d/of_many/weights" % n for n in range(5000)]
    data = b"".join(encode_record(event(usual((tag, "scalar")), n, rng, False)) for n, tag in enumerate(tags))
    assert facts([decode(data, 0, True)], data) == reference(data)


def test_scalars_that_all_records_begin_with_before_others(reference: Any, facts: Any) -> None:
    rng = np.random.default_rng(7)
    common = [(b"loss", "scalar"), (b"accuracy", "scalar"), (b"lr", "scalar")]
    later = [(b"weights", "histogram"), (b"loss", "scalar"), (b"picture", "image"), (b"odd", "other_field")]
    more = [(b"t%d" % n, "scalar") for n in range(7)]
    shapes = [usual(*common, later[n % 4], *more[: n % 7]) for n in range(28)]
    data = b"".join(encode_record(event(shapes[n * 5 % 28], n, rng, False)) for n in range(900))
    section = decode(data, 0, True)
    assert facts([section], data) == reference(data)
    assert ("accuracy", "lr") in [block.tags for block in section.blocks]


def picture(tag: bytes, size: int) -> bytes:
    """An image of ``size`` bytes under a tag."""
    return message(1, message(1, tag) + message(PAYLOADS["image"], bytes(size)))


def records_of(*values: list[bytes]) -> bytes:
    head = b"\x09" + struct.pack("<d", 1.5)
    return b"".join(
        encode_record(head + b"\x10" + varint(step) + message(5, b"".join(parts)))
        for step, parts in enumerate(values)
    )


def test_lengths_of_one_to_four_bytes_side_by_side(reference: Any, facts: Any) -> None:
    sizes = [0, 1, 90, 118, 119, 120, 121, 122, 127, 128, 129, 16_370, 16_384, 20_000, 2_097_152]
    chosen = [[sizes[(n * 7 + number) % 14] for number in range(n % 9)] for n in range(200)]
    chosen[77].append(sizes[-1])
    data = records_of(*([picture(b"t%d" % (size % 5), size) for size in row] for row in chosen))
    assert facts([decode(data, 0, True)], data) == reference(data)


def test_many_values_in_few_records_are_found_together_and_looked_into_together(
    reference: Any, facts: Any
) -> None:
    rng = np.random.default_rng(8)
    shapes = [
        [picture(b"layer_%d/weights" % n, int(rng.integers(1, 1200))) for n in range(300)] for _ in range(80)
    ]
    data = records_of(*shapes)
    section = decode(data, 0, True)
    assert facts([section], data) == reference(data)
    assert {len(reference.steps) for reference in section.references} == {80}


def test_one_strange_value_among_many_costs_its_record_nothing(reference: Any, facts: Any) -> None:
    good = [picture(b"t%d" % n, 40) for n in range(20)]
    strange = {
        30: message(1, b""),  # empty
        31: message(1, message(4, b"x") + message(1, b"late")),  # the tag behind the payload
        32: message(1, message(1, b"two") + message(4, b"x") + message(4, b"yz")),
        33: message(7, b"another field of the summary"),
        34: message(1, message(1, b"z" * 700) + message(4, b"long tag")),
        35: message(1, b"\x8a\x00" + varint(3) + b"odd" + message(4, b"a key of two bytes")),
        36: message(1, message(1, b"number") + b"\x1d" + struct.pack("<f", 2.5)),
    }
    data = records_of(*([*good[:9], strange[n], *good[9:]] if n in strange else good for n in range(90)))
    assert facts([decode(data, 0, True)], data) == reference(data)


def test_a_value_that_promises_more_than_its_record_is_damage_of_that_record_alone(
    reference: Any, facts: Any
) -> None:
    good = [picture(b"t%d" % n, 40) for n in range(20)]
    for length in (120, 127, 5_000, 1 << 20, 1 << 34):
        broken = [*good[:5], b"\x0a" + varint(length) + b"\x0a\x01x"]
        data = records_of(*(broken if n == 40 else good for n in range(80)))
        result = facts([decode(data, 0, True)], data)
        assert result == reference(data)
        assert len(result.damaged) == 1
