"""Facts about the process hold no secrets."""

import json

import numpy as np
import pytest

from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.record import SummaryRecord
from mindinsight.writer.recorder import RecorderSettings, RunningDataRecorder

ON = RecorderSettings(enable=True)


def graph():
    built = GraphBuilder("net")
    built.node("ReLU", [built.parameter("x")])
    return built


def train(run, steps, fails=True, settings=ON, **known):
    """A loop that records some of each kind and then fails."""
    with SummaryRecord(run) as record, RunningDataRecorder(record, settings=settings, **known):
        for step in range(1, steps + 1):
            record.add_value("scalar", "loss", 1 / step)
            if step == 1:
                record.add_value("scalar", "rare", float("nan"))
                record.add_value("image", "input", np.zeros((1, 3, 4, 5)))
            record.add_value("tensor", "w", np.array([[1.0, np.inf], [step, 0]]))
            record.add_value("histogram", "h", np.arange(10.0))
            record.record(step)
        if fails:
            raise ZeroDivisionError("the loop's own")


def left(run):
    """Start of the name -> path of what was left."""
    return {path.name.rsplit(".", 2)[0]: path for path in (run / "rank_0" / "rdr").iterdir()}


def test_the_settings_tell_arguments_and_versions_but_no_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("MS_ENABLE_X", "1")
    monkeypatch.setenv("MY_TOKEN", "secret")
    with pytest.raises(ZeroDivisionError):
        train(tmp_path, 1, arguments={"lr": 0.1, "loss": float("nan"), "net": object(), "steps": (1, [2])})
    text = left(tmp_path)["RUN.settings"].read_text()
    settings = json.loads(text)
    assert settings["arguments"] == {"lr": 0.1, "loss": "nan", "net": "builtins.object", "steps": [1, [2]]}
    assert settings["environment"]["MS_ENABLE_X"] == "1"
    assert "secret" not in text
    assert {"python", "numpy", "protobuf"} <= set(settings["versions"])
