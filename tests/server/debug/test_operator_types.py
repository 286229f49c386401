"""Names of operator types."""

from mindinsight.server.debug.operator_types import canonical, is_sum


def test_types_are_compared_without_case_and_punctuation() -> None:
    assert {canonical(name) for name in ("RealDiv", "real_div_", "Torch.realDiv", "aten::real_div")} == {
        "realdiv"
    }


def test_sums_are_known_however_they_are_spelled() -> None:
    assert all(map(is_sum, ("ReduceMean", "aten::bmm", "torch.sum", "Dense")))
    assert not any(map(is_sum, ("Add", "Softmax", "")))
