from typing import Any

import pytest

from mindinsight.proto.graph_pb2 import TypeProto, ValueProto
from mindinsight.server.graph.layout.boxes import text_width, truncate
from mindinsight.server.graph.model import node_details


def tensor(*dims: Any, element: int = 11) -> Any:
    proto = TypeProto(data_type=14)
    proto.tensor_type.elem_type = element
    for size in dims:
        proto.tensor_type.shape.dim.add(size=size)
    return proto


def several(*elements: Any, kind: int = 31) -> Any:
    proto = TypeProto(data_type=kind)
    for element in elements:
        proto.sequence_type.elem_types.add().CopyFrom(element)
    return proto


@pytest.mark.parametrize(
    ("proto", "short", "compact"),
    [
        (tensor(2, 3), "float32 [2, 3]", "float32 2×3"),
        (tensor(), "float32 []", "float32"),
        (tensor(-1, 4, element=46), "bfloat16 [-1, 4]", "bfloat16 ?×4"),
        (tensor(2, element=99), "99 [2]", "99 2"),
        (several(tensor(2), TypeProto(data_type=5)), "(float32 [2], int64)", "(2)"),
        (several(TypeProto(), kind=32), "(-)", "(1)"),
        (TypeProto(data_type=5), "int64", "int64"),
        (TypeProto(), "", ""),
    ],
)
def test_types_for_people(proto: Any, short: str, compact: str) -> None:
    assert node_details.short_type(proto) == short
    assert node_details.compact_type(proto) == compact


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (ValueProto(dtype=1, bool_val=False), "false"),
        (ValueProto(dtype=5, int_val=-3), "-3"),
        (ValueProto(dtype=11, float_val=0.1), "0.1"),
        (ValueProto(dtype=13, str_val='a "b"'), '"a "b""'),
        (
            ValueProto(dtype=31, values=[ValueProto(dtype=5, int_val=1), ValueProto(dtype=5, int_val=2)]),
            "(1, 2)",
        ),
        (ValueProto(dtype=31), "()"),
        (ValueProto(dtype=20, int_vals=[1, 2]), "[1, 2]"),
        (ValueProto(str_val="U"), '"U"'),
        (ValueProto(dtype=49), "slice"),
        (ValueProto(), ""),
    ],
)
def test_values_for_people(value: Any, text: str) -> None:
    assert node_details.value_summary(value) == text


def test_tensors_types_and_dictionaries() -> None:
    value = ValueProto(dtype=14)
    value.tensor_val.dims.extend([3, 4])
    value.tensor_val.data_type = 11
    assert node_details.value_summary(value) == "float32 [3, 4]"
    assert node_details.value_summary(ValueProto(dtype=39, type_val=tensor(2))) == "float32 [2]"
    pairs = ValueProto(dtype=33)
    pairs.dict_val.add(key="a").value.CopyFrom(ValueProto(dtype=5, int_val=1))
    assert node_details.value_summary(pairs) == "{a: 1}"


def test_long_and_deep_values_are_cut() -> None:
    assert node_details.value_summary(ValueProto(dtype=13, str_val="x" * 900)).endswith("…")
    deep = ValueProto(dtype=31)
    inner = deep
    for _ in range(50):
        inner = inner.values.add(dtype=31)
    assert "…" in node_details.value_summary(deep)


def test_labels_are_cut_in_the_middle() -> None:
    label = "_loss_fn-SoftmaxCrossEntropyWithLogits-of-a-very-long-name"
    short = truncate(label, 150)
    assert text_width(short) <= 150 and len(short) < len(label)
    head, _, tail = short.partition("…")
    assert label.startswith(head) and label.endswith(tail)
    assert truncate("short", 150) == "short"


def test_equal_tuples_of_other_element_types_are_told_apart() -> None:
    integer, real = ValueProto(dtype=5, int_val=2), ValueProto(dtype=12, double_val=2)  # int64, float64
    pair = [ValueProto(dtype=31, values=[integer, last]) for last in (integer, real)]
    texts = node_details.distinct_values(*pair)
    assert texts == ("(2, 2) (int64, int64)", "(2, 2) (int64, float64)")
    assert node_details.distinct_values(pair[0], pair[0]) == ("(2, 2)", "(2, 2)")
