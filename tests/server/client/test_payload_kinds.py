"""Kinds on the command line and in Python: exported, printed, and read by the table of kinds."""

import csv
import io
import json
import wave
from pathlib import Path

import numpy as np
import pytest

import mindinsight
from mindinsight.proto.kinds import KINDS
from mindinsight.server.client.payload_kinds import EXPORTED, PAYLOADS, decoder
from mindinsight.server.commands.main import main
from mindinsight.writer import SummaryRecord

LAYOUT = {"Loss": {"both": ["Multiline", ["loss.*"]]}}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("base")
    with SummaryRecord(str(base / "a")) as record:
        values = {
            "image": np.zeros((1, 3, 4, 5)),
            "tensor": np.arange(6.0).reshape(2, 3),
            "text": "# words",
            "audio": (np.sin(np.arange(40)), 8000),
            "pr_curve": ([0, 1], [0.25, 0.75]),
            "layout": LAYOUT,
            "code": {"python": "3.11.7"},
        }
        for kind, value in values.items():
            record.add_value(kind, f"my {kind}", value, step=3)
    return base


def test_modules_are_kinds_of_the_table() -> None:
    assert set(EXPORTED) < {kind.name for kind in KINDS}
    assert {"image", "tensor", "text", "audio", "pr_curve", "layout", "code"} == set(EXPORTED)
    assert all(PAYLOADS[kind].decode is decoder(kind) for kind in EXPORTED)
    assert decoder("other") is bytes


def test_each_kind_is_a_file_of_its_own_type(base: Path, tmp_path: Path) -> None:
    assert main(["export", "--summary-dir", str(base), "--output", str(tmp_path)]) == 0
    files = {path.parent.name: path for path in (tmp_path / "a").rglob("3.*")}
    endings = {"image": ".png", "tensor": ".npy", "text": ".md", "audio": ".wav", "pr_curve": ".csv"}
    assert {name: path.suffix for name, path in files.items()} == {
        f"my {kind}": ending for kind, ending in {**endings, "layout": ".json", "code": ".json"}.items()
    }
    with wave.open(str(files["my audio"])) as sound:
        assert (sound.getframerate(), sound.getnframes()) == (8000, 40)
    rows = list(csv.DictReader(io.StringIO(files["my pr_curve"].read_text())))
    assert len(rows) == 127 and (rows[0]["threshold"], rows[0]["recall"]) == ("0.0", "1.0")
    assert json.loads(files["my code"].read_text())["python"] == "3.11.7"
    assert json.loads(files["my layout"].read_text())[0]["charts"][0]["tags"] == ["loss.*"]


@pytest.mark.parametrize("kind", EXPORTED)
def test_each_kind_is_printed(base: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    arguments = ["get", "./a", f"my {kind}", "--kind", kind, "--summary-dir", str(base)]
    assert main([*arguments, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["step"] for row in rows} == {3}
    assert main(arguments) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(table) == len(rows) and list(table[0]) == list(rows[0])


def test_sounds_and_curves_in_python(base: Path) -> None:
    summary = mindinsight.open(base)
    (sound,) = summary.sounds()
    assert sound.data.encoded[:4] == b"RIFF"
    (curve,) = summary.pr_curves("my*")
    assert curve.data.rows.shape == (6, 127)
    (layout,) = summary.items("layout")
    assert layout.data[0].title == "Loss"
    assert summary.tags("audio") == ("my audio",)
