from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.writer.landscape.plane import axis, moving, plane_of_path, random_plane

shapes = st.sampled_from([(3,), (2, 4), (1, 2, 3)])
numbers = st.floats(-10, 10, width=32).filter(lambda number: number == 0 or abs(number) > 1e-3)


def weights(seed: Any, scale: Any = 1.0) -> dict[Any, Any]:
    random = np.random.default_rng(seed)
    return {
        "fc.weight": random.normal(size=(8, 4)) * scale, "fc.bias": random.normal(size=8) * scale,
        "moments.fc.weight": random.normal(size=3), "steps": np.array(7),
    }  # fmt: skip


def test_the_way_ends_at_the_origin() -> None:
    path = [weights(seed) for seed in range(5)]
    assert plane_of_path(path).coordinates(path[-1]) == pytest.approx((0, 0))


def test_a_way_within_a_plane_is_followed_exactly() -> None:
    # One parameter, so that scaling by parameter leaves the plane where it is.
    base, first, second = (weights(seed)["fc.weight"] for seed in range(3))
    steps = [(3, 1), (2, 2), (1, 0.5), (0, 0)]
    path = [{"fc.weight": base + x * first + y * second} for x, y in steps]
    plane = plane_of_path(path)
    for point in path:
        np.testing.assert_allclose(plane.at(*plane.coordinates(point))["fc.weight"], point["fc.weight"])


def test_directions_have_the_norm_of_the_weights() -> None:
    path = [weights(seed) for seed in range(4)]
    plane = plane_of_path(path)
    for direction in (plane.first, plane.second):
        for name, part in direction.items():
            assert np.linalg.norm(part) == pytest.approx(np.linalg.norm(path[-1][name]))


def test_only_weights_and_biases_move() -> None:
    plane = random_plane(weights(0))
    moved = plane.at(0.5, -0.5)
    assert moving(weights(0)) == ["fc.weight", "fc.bias"]
    np.testing.assert_array_equal(moved["moments.fc.weight"], plane.base["moments.fc.weight"])
    assert moved["steps"] == 7
    assert not np.array_equal(moved["fc.bias"], plane.base["fc.bias"])


def test_parameters_of_other_names_move_when_there_are_no_others() -> None:
    assert moving({"kernel": np.zeros(2), "count": np.zeros(2, int)}) == ["kernel"]


def test_a_straight_way_still_makes_a_plane() -> None:
    base, step = weights(0), weights(1)
    path = [{"fc.bias": base["fc.bias"] + factor * step["fc.bias"]} for factor in (2, 1, 0)]
    plane = plane_of_path(path)
    x, y = plane.coordinates(path[0])
    assert abs(x) > 0.1
    assert np.isfinite(y)
    assert any(np.any(part) for part in plane.second.values())


@given(shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=numbers)), st.integers(0, 100))
def test_the_origin_is_the_base_whatever_the_weights(value: Any, seed: Any) -> None:
    plane = random_plane({"weight": value}, seed)
    np.testing.assert_array_equal(plane.at(0, 0)["weight"], value)


def test_weights_keep_their_type() -> None:
    assert random_plane({"weight": np.ones(3, np.float16)}).at(0.1, 0.2)["weight"].dtype == np.float16


def test_an_axis_reaches_a_fifth_beyond_the_way() -> None:
    np.testing.assert_allclose(axis([0.0, 10.0, 5.0], 8), np.linspace(-2, 12, 8))
    np.testing.assert_allclose(axis([3.0, 3.0], 3), [2, 3, 4])
