import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.collector.weight_path import write_metadata
from mindinsight.writer.encoding import checkpoints
from mindinsight.writer.landscape import SummaryLandscape


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
        checkpoints.save(path, [("fc.weight", value.astype(np.float32))])
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
    expected = [bowl(checkpoints.load(run / "ckpt_dir" / f"Net_{step}_step.ckpt")) for step in (1, 2, 3, 4)]
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
