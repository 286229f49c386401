"""Tolerances of types: the coarsest counts, integers are exact, a chosen limit is for floats alone."""

import pytest

from mindinsight.server.debug.compare.tolerance import RELATIVE, Tolerance, coarsest


@pytest.mark.parametrize(
    ("dtypes", "limit"),
    [
        (("float32", "float32"), RELATIVE["float32"]),
        (("float32", "bfloat16"), RELATIVE["bfloat16"]),
        (("int64", "int64"), 0.0),
        (("bool", "float16"), RELATIVE["float16"]),
        (("float8_e4m3fn",), 0.25),
        (("", ""), RELATIVE["float32"]),
        ((), RELATIVE["float32"]),
    ],
)
def test_the_coarsest_type_has_the_limit(dtypes: tuple[str, ...], limit: float) -> None:
    assert Tolerance().limit(*dtypes) == limit


def test_a_chosen_limit_is_for_floats_and_leaves_integers_exact() -> None:
    assert Tolerance(relative=0.5).limit("float64", "float32") == 0.5
    assert Tolerance(relative=0.5).limit("int32", "int32") == 0.0


def test_integers_are_no_coarse_type() -> None:
    assert coarsest(["int8", "float32", "float16", ""]) == "float16"
    assert coarsest(["int8", "bool"]) == coarsest([]) == ""
