import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.graph_pb2 import DT_FLOAT64
from mindinsight.writer.collector.summary_collector import write_metadata
from mindinsight.writer.encoding import checkpoint_files
from mindinsight.writer.landscape import (
    Evaluation,
    Plane,
    SummaryLandscape,
    axis,
    loss_landscape,
    loss_of,
    moving,
    plane_of_path,
    random_plane,
)


def bowl(parameters: Any) -> float:
    """A loss whose lowest point is at weights of 1."""
    return float(np.mean((parameters["fc.weight"] - 1) ** 2))


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """A run that saved the weights of eight steps on their way to 1."""
    directory = tmp_path / "ckpt_dir"
    directory.mkdir()
    files, random = {}, np.random.default_rng(3)
    for step in range(1, 9):
        value = 1 + random.normal(size=(4, 3)) / step
        path = directory / f"Net_{step}_step.ckpt"
        files[str(step)] = str(path)
        checkpoint_files.save(path, [("fc.weight", value.astype(np.float32))])
    write_metadata(directory, {
        "epoch_group": {"0": [1, 2, 3, 4], "1": [5, 6, 7, 8]}, "model_params_file_map": files,
        "step_per_epoch": 4, "unit": "step", "num_samples": 10, "landscape_size": 5,
        "create_landscape": {"train": True, "result": True},
    })  # fmt: skip
    return tmp_path


def landscapes(reading: Any) -> dict[Any, Any]:
    return {value.tag: value.loss_landscape for _, value in reading.values()}


def test_each_interval_and_the_result_get_a_landscape(run: Any, reading: Any) -> None:
    SummaryLandscape(run).gen_landscapes(bowl)
    shown = landscapes(reading)
    assert list(shown) == ["landscape_[1, 4]", "landscape_[5, 8]", "landscape_[8]"]
    first, result = shown["landscape_[1, 4]"], shown["landscape_[8]"]
    assert list(first.landscape.z.dims) == [5, 5]
    assert list(first.loss_path.intervals) == [1, 2, 3, 4]
    metadata = first.metadata
    assert (metadata.decomposition, metadata.unit, metadata.step_per_epoch) == ("PCA", "step", 4)
    assert result.metadata.decomposition == "Random"
    assert list(result.landscape.x.float_data) == [-1, -0.5, 0, 0.5, 1]
    assert not result.HasField("loss_path")


def test_losses_are_those_of_the_saved_weights(run: Any, reading: Any) -> None:
    SummaryLandscape(run).gen_landscapes(bowl)
    first = landscapes(reading)["landscape_[1, 4]"]
    expected = [
        bowl(checkpoint_files.load(run / "ckpt_dir" / f"Net_{step}_step.ckpt")) for step in (1, 2, 3, 4)
    ]
    np.testing.assert_allclose(first.loss_path.points.z.float_data, expected, rtol=1e-6)
    assert first.convergence_point.z.float_data[0] == pytest.approx(expected[-1])
    # The middle of the result's landscape is the end of the training.
    result = landscapes(reading)["landscape_[8]"]
    assert result.landscape.z.float_data[12] == pytest.approx(result.convergence_point.z.float_data[0])


def test_settings_given_now_count_and_are_kept(run: Any, reading: Any) -> None:
    parts = {"train": True, "result": False}
    SummaryLandscape(run).gen_landscapes(
        bowl, {"landscape_size": 3, "intervals": [[2, 4, 6]], "create_landscape": parts}
    )
    (message,) = landscapes(reading).values()
    assert list(message.landscape.z.dims) == [3, 3]
    metadata = json.loads((run / "ckpt_dir" / "train_metadata.json").read_text())
    assert (metadata["landscape_size"], metadata["epoch_group"], metadata["unit"]) == (
        3,
        {"0": [2, 4, 6]},
        "step",
    )


def test_several_devices_answer_the_same(run: Any, reading_of: Any) -> None:
    script = Path(__file__).with_name("on_devices.py")
    for name, devices in (("one", ["0"]), ("two", ["0", "1"])):
        subprocess.run([sys.executable, script, run, run / name, *devices], check=True)
    first, second = (landscapes(reading_of(run / name)) for name in ("one", "two"))
    assert len(first) == 3
    assert first == second


def test_weights_that_moved_with_the_run_are_found(run: Any, reading: Any) -> None:
    path = run / "ckpt_dir" / "train_metadata.json"
    metadata = json.loads(path.read_text())
    files = metadata["model_params_file_map"]
    metadata["model_params_file_map"] = {number: f"/gone/{Path(name).name}" for number, name in files.items()}
    write_metadata(path.parent, metadata)
    SummaryLandscape(run).gen_landscapes(bowl)
    assert len(landscapes(reading)) == 3


def test_a_run_without_weights_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="collect_landscape"):
        SummaryLandscape(tmp_path).gen_landscapes(bowl)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"sizes": 3}, "unknown"),
        ({"intervals": [[1, 2, 99]]}, "99"),
        ({"create_landscape": {"train": True}}, "both"),
    ],
)
def test_settings_that_cannot_be_are_refused(run: Any, changes: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        SummaryLandscape(run).gen_landscapes(bowl, changes)


@pytest.mark.parametrize("made", [3, (1, 2), (None, "network", None, {"Loss": None})])
def test_a_callback_must_answer_what_is_documented(run: Any, made: Any) -> None:
    with pytest.raises(TypeError):
        SummaryLandscape(run).gen_landscapes_with_multi_process(lambda: made)


def test_weights_can_be_removed(run: Any) -> None:
    SummaryLandscape(run).clean_ckpt()
    assert not (run / "ckpt_dir").exists()


def squares(weights: Mapping[str, Any]) -> float:
    return float(sum(np.square(value).sum() for value in weights.values()))


WEIGHTS = {"w": np.array([3.0, 4.0])}
PLANE = Plane(WEIGHTS, {"w": np.array([1.0, 0.0])}, {"w": np.array([0.0, 1.0])})


def test_the_loss_is_that_of_the_weights_at_each_point() -> None:
    with Evaluation(lambda: squares, 1) as evaluation:
        assert evaluation.losses(PLANE, [(0.0, 0.0), (-3.0, 0.0), (-3.0, -4.0)]) == [25.0, 16.0, 0.0]
        assert evaluation.losses(PLANE, []) == []
        assert evaluation.loss_of_weights(WEIGHTS) == 25.0


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        (lambda: None, "must return a loss function"),
        (lambda: (1, 2, 3), "must return a loss function"),
        (lambda: (1, 2, 3, 4), "must be a Cell of MindSpore, got int"),
    ],
)
def test_what_is_no_loss_is_refused_at_once(setup: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        loss_of(setup, 1)


X, Y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0])
Z = np.arange(6.0).reshape(2, 3)


def test_every_part_is_where_readers_look() -> None:
    message = loss_landscape(
        X, Y, Z, path=([0, 1], [1, 0], [0.5, 0.25]), intervals=[1, 5], convergence=(0, 0, 0.25), unit="epoch",
        step_per_epoch=7,
    )  # fmt: skip
    assert list(message.landscape.x.float_data) == [0, 1, 2]
    assert list(message.landscape.z.dims) == [2, 3]
    assert list(message.landscape.z.float_data) == [0, 1, 2, 3, 4, 5]
    assert message.landscape.y.data_type == DT_FLOAT64
    assert list(message.loss_path.intervals) == [1, 5]
    assert list(message.loss_path.points.z.float_data) == [0.5, 0.25]
    assert list(message.convergence_point.z.float_data) == [0.25]
    assert (message.metadata.decomposition, message.metadata.unit) == ("PCA", "epoch")
    assert message.metadata.step_per_epoch == 7


def test_without_a_way_there_is_none() -> None:
    message = loss_landscape(X, Y, Z)
    assert not message.HasField("loss_path")
    assert not message.HasField("convergence_point")


def test_a_loss_that_is_not_finite_is_kept() -> None:
    message = loss_landscape(X[:1], Y[:1], [[1e300]])
    assert message.landscape.z.float_data[0] == np.inf


@pytest.mark.parametrize(
    "arguments",
    [
        {"x": X, "y": Y, "z": Z.T},
        {"x": Z, "y": Y, "z": Z},
        {"x": X, "y": Y, "z": Z, "path": ([0], [1], [2]), "intervals": [1, 2]},
    ],
)
def test_shapes_that_do_not_fit_are_refused(arguments: Any) -> None:
    with pytest.raises(ValueError, match="must"):
        loss_landscape(**arguments)


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
