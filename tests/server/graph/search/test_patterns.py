"""Regular expressions that people type: never slow, and refused where they are wrong."""

import pytest

from mindinsight.server.graph.search.patterns import BadPattern, matcher


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*)*x", "a*a*a*a*a*a*b"])
def test_nested_repetitions_are_linear(pattern: str) -> None:
    assert matcher(pattern, regex=True)("a" * 100_000 + "!") in (-1, 100_001)


def test_where_a_pattern_is_found() -> None:
    assert matcher("Mul.*2$", regex=True)("net/matmul-op2") == 7
    assert matcher("b.", regex=True)("\udc80ÄB\U0001f600") == 2
    assert matcher("a.c", regex=False)("abc xA.C") == 5
    assert matcher("x", regex=True)("abc") == -1


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("ab**", "bad repetition operator: ** at character 3"),
        ("x[z-a]", "invalid character class range: z-a at character 3"),
        ("(", "missing ): ("),
        ("a(?=b)", "lookaround is not supported: (?= at character 2"),
        (r"(a)\1", r"invalid escape sequence: \1 at character 4"),
        ("((a{100}){100}){100}", "invalid repetition size: {100} at character 4"),
        ("\\", "trailing \\"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(pattern: str, why: str) -> None:
    with pytest.raises(BadPattern) as error:
        matcher(pattern, regex=True)
    assert str(error.value) == why
