import numpy as np

from mindinsight.server.curves.compare import at_steps, difference


def test_only_steps_of_both_are_compared() -> None:
    result = difference(
        np.array([1, 2, 4]), np.array([1.0, 2.0, 4.4]), np.array([2, 3, 4]), np.array([2.0, 3.0, 4.0]), 1e-3
    )
    assert result.steps.tolist() == [2, 4]
    np.testing.assert_allclose(result.difference, [0.0, 0.4])
    np.testing.assert_allclose(result.relative, [0.0, 0.1])
    assert result.parted == 1


def test_the_tolerance_is_a_share_of_the_baseline() -> None:
    steps = np.arange(3)
    base = np.array([1000.0, 1000.0, 1000.0])
    assert difference(steps, base + [0.5, 1.0, 0.0], steps, base, 1e-3).parted is None
    assert difference(steps, base + [0.5, 1.1, 0.0], steps, base, 1e-3).parted == 1


def test_equal_non_finite_values_agree_and_others_part() -> None:
    steps = np.arange(4)
    same = difference(
        steps, np.array([np.nan, np.inf, -np.inf, 0.0]), steps, np.array([np.nan, np.inf, -np.inf, 0.0]), 0.0
    )
    assert same.parted is None
    assert same.relative.tolist() == [0, 0, 0, 0]
    assert difference(steps, np.array([1.0, np.nan, 1, 1]), steps, np.ones(4), 0.5).parted == 1
    assert difference(steps, np.array([1.0, 1, 1e-9, 1]), steps, np.array([1.0, 1, 0, 1]), 0.5).parted == 2


def test_nothing_in_common() -> None:
    result = difference(np.array([1]), np.array([1.0]), np.array([2]), np.array([1.0]), 0.1)
    assert result.parted is None
    assert len(result.steps) == 0


def test_another_scalar_as_axis_is_taken_at_equal_steps() -> None:
    rows, tokens = at_steps(
        np.array([10, 20, 30]), np.array([100.0, 200.0, 300.0]), np.array([5, 10, 25, 30, 40])
    )
    assert rows.tolist() == [1, 3]
    assert tokens.tolist() == [100.0, 300.0]
    assert len(at_steps(np.zeros(0, np.int64), np.zeros(0), np.array([1]))[0]) == 0
