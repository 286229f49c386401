"""Operations against what the formulas in textbooks give."""

import pytest

from mindinsight.server.graph.model.flops import base_type, count_flops

CASES = [
    ("MatMul", [[8, 32], [32, 10]], [8, 10], 2 * 8 * 32 * 10),
    ("MatMul", [[8, 32], [10, 32]], [8, 10], 2 * 8 * 32 * 10),  # transposed
    ("linear", [[4, 8, 32], [10, 32], [10]], [4, 8, 10], 2 * 4 * 8 * 32 * 10),
    ("addmm", [[10], [8, 32], [32, 10]], [8, 10], 2 * 8 * 32 * 10),
    ("BatchMatMul", [[4, 2, 8, 16], [4, 2, 8, 16]], [4, 2, 8, 8], 2 * 4 * 2 * 8 * 8 * 16),
    ("Conv2D", [[2, 3, 32, 32], [6, 3, 5, 5]], [2, 6, 28, 28], 2 * 2 * 6 * 28 * 28 * 3 * 5 * 5),
    ("Conv2D", [[2, 32, 32, 3], [5, 5, 3, 6]], [2, 28, 28, 6], 2 * 2 * 6 * 28 * 28 * 3 * 5 * 5),
    ("Conv2D", [[2, 8, 32, 32], [8, 1, 3, 3]], [2, 8, 30, 30], 2 * 2 * 8 * 30 * 30 * 9),  # depthwise
    ("Conv2DBackpropInput", [[2, 6, 28, 28], [6, 3, 5, 5]], [2, 3, 32, 32], 2 * 2 * 6 * 28 * 28 * 75),
    ("Conv2DBackpropFilter", [[2, 6, 28, 28], [2, 3, 32, 32]], [6, 3, 5, 5], 2 * 2 * 6 * 28 * 28 * 75),
    ("FlashAttentionScore", [[2, 4, 128, 64]] * 3, [2, 4, 128, 64], 4 * 2 * 4 * 128 * 128 * 64),
    ("ReLU", [[8, 32], [8, 32]], [8, 32], 0),
    ("MatMul", [[-1, 32], [32, 10]], [-1, 10], 0),  # known only at run time
    ("MatMul", [[8, 32]], [8, 10], 0),
    ("MatMul", [[7, 5], [3, 2]], [8, 10], 0),  # shapes that fit no product
]


@pytest.mark.parametrize(("kind", "inputs", "output", "flops"), CASES)
def test_operations(kind: str, inputs: list[list[int]], output: list[int], flops: int) -> None:
    assert count_flops(kind, inputs, output) == flops


def test_types_of_pytorch_are_known_by_their_names() -> None:
    assert [base_type(kind) for kind in ("aten.linear.default", "aten::bmm", "MatMul")] == [
        "linear",
        "bmm",
        "MatMul",
    ]
