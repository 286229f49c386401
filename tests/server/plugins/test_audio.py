"""Sounds: every step as recorded, ranges of it, and its waveform."""

import io
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from mindinsight.server.http.responses import decode
from mindinsight.writer import SummaryRecord
from tests.server.plugins.media import client_of, write


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("audio")
    write(folder / "base")
    with SummaryRecord(str(folder / "base" / "odd")) as record:
        record.add_value("audio", "page", b"<html><script>alert(1)</script>", step=0)
        record.add_value("audio", "ogg", b"OggS" + bytes(50), step=0)
    with client_of(folder / "base", folder / "workspace") as client:
        yield client


def ask(client: TestClient, what: str, run: str, tag: str, *, header: str = "", **query: Any) -> Any:
    headers = {"Range": header} if header else {}
    return client.get(f"/v2/audio/{what}", params={"run": run, "tag": tag, **query}, headers=headers)


@pytest.mark.parametrize("run", ["./ours", "./theirs"])
def test_both_formats_hold_the_same_sound(client: TestClient, run: str) -> None:
    assert decode(ask(client, "steps", run, "voice").json()["step"]).tolist() == [0, 5]
    answer = ask(client, "sound", run, "voice", row=1)
    assert answer.headers["content-type"] == "audio/wav"
    assert answer.headers["x-content-type-options"] == "nosniff"
    with wave.open(io.BytesIO(answer.content)) as file:
        samples = np.frombuffer(file.readframes(800), "<i2")
        assert file.getframerate() == 8000
    facts = ask(client, "waveform", run, "voice", row=1, columns=800).json()
    assert (facts["rate"], facts["channels"], facts["bits"], facts["frames"]) == (8000, 1, 16, 800)
    assert np.array_equal(decode(facts["high"]), (samples / 32768).astype(np.float32))


def test_a_player_gets_the_range_it_asks_for(client: TestClient) -> None:
    whole = ask(client, "sound", "./ours", "voice", row=0).content
    part = ask(client, "sound", "./ours", "voice", row=0, header="bytes=4-7")
    assert (part.status_code, part.content) == (206, whole[4:8])
    assert part.headers["content-range"] == f"bytes 4-7/{len(whole)}"


def test_what_is_no_sound_is_a_download_and_said(client: TestClient) -> None:
    answer = ask(client, "sound", "./odd", "page", row=0)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    facts = ask(client, "waveform", "./odd", "page", row=0).json()
    assert (facts["type"], facts["problem"]) == (None, "audio.no_wav")
    facts = ask(client, "waveform", "./odd", "ogg", row=0).json()
    assert (facts["type"], facts["problem"]) == ("audio/ogg", "audio.other_type")


def test_sounds_of_torch_and_of_tensors_with_labels(client: TestClient) -> None:
    facts = ask(client, "waveform", "./torch", "sound", row=0).json()
    assert (facts["frames"], facts["rate"], facts["label"]) == (80, 8000, "")
    assert ask(client, "waveform", "./tensors/train", "sound", row=3).json()["label"] == "label"


def test_unknown_rows_tags_and_runs_are_told(client: TestClient) -> None:
    for run, tag, row in (("./ours", "voice", 2), ("./ours", "x", 0), ("./x", "voice", 0)):
        assert ask(client, "waveform", run, tag, row=row).status_code == 404


def test_a_download_has_a_name(client: TestClient, tmp_path: Path) -> None:
    answer = ask(client, "sound", "./ours", "voice", row=0, download=True)
    assert answer.headers["content-disposition"] == 'attachment; filename="sound_0.wav"'
