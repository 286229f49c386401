"""Names of operator types."""

from mindinsight.server.debug.operator_types import canonical


def test_types_are_compared_without_case_and_punctuation() -> None:
    assert {canonical(name) for name in ("RealDiv", "real_div_", "Torch.realDiv", "aten::real_div")} == {
        "realdiv"
    }
