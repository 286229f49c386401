"""The command that copies the pages: what it refuses. `tests/pages/test_site.py` looks at a copy."""

import sys
from pathlib import Path

import pytest

from mindinsight.server.commands import site as command
from mindinsight.server.commands.main import main
from mindinsight.writer import SummaryRecord


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            record.add_value("scalar", "loss", 1.0, step=1)
    return tmp_path / "base"


def run(base: Path, out: Path, *more: str) -> int:
    workspace = base.parent / "workspace"
    return main(["site", str(out), "--summary-base-dir", str(base), "--workspace", str(workspace), *more])


def test_a_folder_with_content_is_refused(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    assert run(base, out) == 1
    assert f"{out} is not empty." in capsys.readouterr().err
    assert [file.name for file in out.iterdir()] == ["mine.txt"]


def test_a_file_in_place_of_the_folder_is_refused(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("")
    assert run(base, tmp_path / "out") == 1
    assert str(tmp_path / "out") in capsys.readouterr().err


def test_no_run_and_many_runs_are_refused(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "MOST", 1)
    assert run(base, tmp_path / "out") == 1
    assert "2 runs are below the base directories; a copy has 1 to 1" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty", tmp_path / "out") == 1
    assert "0 runs are below" in capsys.readouterr().err


def test_without_playwright_it_says_what_to_install(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    assert run(base, tmp_path / "out") == 1
    assert "pip install 'mindinsight[site]'" in capsys.readouterr().err
