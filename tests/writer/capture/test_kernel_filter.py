"""Operators chosen by full name, type and regular expression."""

from typing import Any

import pytest

from mindinsight.writer.capture.kernel_filter import KernelFilter

NAMES = [
    "Default/fc1-Dense/MatMul-op0",
    "Gradients/Default/fc1-Dense/Grad_MatMul/MatMul-op3",
    "Default/relu-op1",
    "fc1.weight",
]


@pytest.mark.parametrize(
    ("kernels", "chosen"),
    [
        ([], [0, 1, 2, 3]),
        (["", " "], [0, 1, 2, 3]),
        (["matmul"], [0, 1]),
        (["Grad"], []),
        (["Default/relu-op1"], [2]),
        (["name-regex(Gradients/.+)"], [1]),
        (["name-regex(Gradients)"], []),
        (["name-regex(.*fc1.*)"], [0, 1, 3]),
        ([' "ReLU" ', "weight"], [2, 3]),
    ],
)
def test_entries_choose(kernels: Any, chosen: Any) -> None:
    kernel_filter = KernelFilter(kernels)
    assert [number for number, name in enumerate(NAMES) if kernel_filter(name)] == chosen


def test_entries_that_fit_nothing_are_known() -> None:
    kernel_filter = KernelFilter(["MatMul", "Conv2D", "name-regex(x.*)"])
    for name in NAMES:
        kernel_filter(name)
        kernel_filter(name)
    assert kernel_filter.unmatched == ("Conv2D", "name-regex(x.*)")


def test_a_broken_expression_is_refused() -> None:
    with pytest.raises(ValueError, match=r"kernels holds 'name-regex\(\[\)', which is no regular expression"):
        KernelFilter(["name-regex([)"])
