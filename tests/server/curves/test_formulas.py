from typing import Any

import numpy as np
import pytest

from mindinsight.server.curves.formulas import MAX_LENGTH, BadFormula, common_steps, parse_formula

A, B = np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.0, 0.0])


@pytest.mark.parametrize(
    ("text", "tags", "expected"),
    [
        ("train/loss", ("train/loss",), A),
        ("log(train/loss)", ("train/loss",), np.log(A)),
        ("a - b", ("a", "b"), A - B),
        ("a/x / b/x", ("a/x", "b/x"), [0.5, 1.0, np.inf]),
        ('"a-b" * 2 + -"c d"', ("a-b", "c d"), 2 * A - B),
        ("2 ^ a", ("a",), [2.0, 4.0, 16.0]),
        ("a + a", ("a",), 2 * A),
        ("min(a, b) + max(a, 3)", ("a", "b"), [4.0, 5.0, 4.0]),
        ("ema(a, 0.5)", ("a",), [1.0, 1.5, 2.75]),
        ("log(b - 2)", ("b",), [-np.inf, -np.inf, np.nan]),
        ("log + abs(exp)", ("log", "exp"), A + B),
        ("验证/损失 * 1e1", ("验证/损失",), 10 * A),
    ],
)
def test_a_formula_names_its_tags_and_is_computed(text: str, tags: tuple[str, ...], expected: Any) -> None:
    formula = parse_formula(text)
    assert formula.tags == tags
    columns = [A] if len(tags) == 1 and "b" not in tags else [A, B][-len(tags) :]
    np.testing.assert_allclose(formula.value(columns), expected)


@pytest.mark.parametrize(
    "text",
    [
        "", "1 + 2", "a +", "a b", "log(a", "log(a, b)", "eval(a)", "a(b)", "a if b else c", "[a]", "a[0]",
        "a.__class__()", "lambda: a", "a or b", "a == b", "ema(a, 1)", "ema(a, b)", "ema(a, 'x')", "f'{a}'",
        "a + 1j", "log(a, x=1)", "log(*a)", "a + " + "9" * 400, "a" * (MAX_LENGTH + 1), "+".join("a" * 150),
        "(" * 240 + "a" + ")" * 240, "-" * 450 + "a", "a\x00", "a := b", "a\nb",
    ],
)  # fmt: skip
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(BadFormula):
        parse_formula(text)


def test_common_steps_are_those_of_all() -> None:
    steps = common_steps([np.array([1, 2, 3, 5]), np.array([2, 3, 4, 5]), np.array([0, 3, 5])])
    assert steps.tolist() == [3, 5]
