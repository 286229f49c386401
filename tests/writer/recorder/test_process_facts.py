"""Facts about the process hold no secrets."""

import json
from pathlib import Path

import pytest

from tests.writer.recorder.failing_training import left, train


def test_the_settings_tell_arguments_and_versions_but_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
