"""``mindinsight export``: everything in common files, and what could not be said."""

import csv
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from mindinsight.server.client import reader
from mindinsight.server.client.export import safe
from mindinsight.server.commands.main import main
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.writer import SummaryRecord

DATA = Path(__file__).parents[2] / "data" / "events"


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "output"


def rows_of(path: Path) -> Any:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("command", ["export", "parse_summary"])
def test_scalars_become_rows(command: Any, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--summary-dir", str(DATA / "lenet"), "--output", str(output)]) == 0
    rows = rows_of(output / "scalars.csv")
    scalars = reader.open(DATA / "lenet").scalars()
    assert len(rows) == sum(len(columns.steps) for columns in scalars.values())
    for (_, tag), columns in scalars.items():
        mine = [row for row in rows if row["tag"] == tag]
        assert [int(row["step"]) for row in mine] == columns.steps.tolist()
        assert [float(row["wall_time"]) for row in mine] == columns.walls.tolist()
        assert np.array([row["value"] for row in mine], np.float32).tolist() == columns.values.tolist()
    assert "in" in capsys.readouterr().out


def test_a_tag_that_looks_like_a_formula_is_made_text(output: Path, tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "base")) as record:
        for tag in ("=1+1", "-1.5"):
            record.add_value("scalar", tag, -2.5)
        record.record(1)
    main(["export", "--summary-dir", str(tmp_path / "base"), "--output", str(output)])
    assert {(row["tag"], row["value"]) for row in rows_of(output / "scalars.csv")} == {
        ("'=1+1", "-2.5"),
        ("-1.5", "-2.5"),
    }


def test_parquet_keeps_types(output: Path) -> None:
    arguments = ["--format", "parquet", "--kind", "scalar", "--output", str(output)]
    assert main(["export", "--summary-dir", str(DATA / "multi_rank"), *arguments]) == 0
    table = pq.read_table(output / "rank_3" / "scalars.parquet")
    assert [str(field.type) for field in table.schema] == ["string", "int64", "double", "double"]
    (series,) = reader.open(DATA / "multi_rank").scalars(run="./rank_3").values()
    assert table["step"].to_pylist() == series.steps.tolist()
    assert sorted(path.name for path in output.rglob("*") if path.is_file()) == ["scalars.parquet"] * 4


def test_without_pyarrow_the_answer_says_what_to_install(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    arguments = ["--format", "parquet", "--output", str(output)]
    assert main(["export", "--summary-dir", str(DATA / "lenet"), *arguments]) == 1
    assert "mindinsight[arrow]" in capsys.readouterr().err


def test_images_and_tensors_become_files(output: Path) -> None:
    base = DATA / "record_api"
    main(["export", "--summary-dir", str(base), "--output", str(output), "--kind", "image", "tensor"])
    summary = reader.open(base)
    pictures = sorted(output.rglob("*.png"))
    assert len(pictures) == len(list(summary.images()))
    recorded = {item.data.encoded for item in summary.images()}
    assert {path.read_bytes() for path in pictures} == recorded
    arrays = sorted(output.rglob("*.npy"))
    assert len(arrays) == len(list(summary.tensors()))
    (odd,) = (output / "export_npy" / "tensor").glob("a%2Fb*")
    assert len(list(odd.iterdir())) == len(list(summary.tensors("a/b*")))
    assert [summary_of(np.load(path, allow_pickle=False)) for path in arrays_of(output, summary)] == [
        summary_of(item.data.values) for item in summary.tensors()
    ]
    assert not list(output.rglob("scalars.csv"))


def arrays_of(output: Path, summary: Any) -> Any:
    """Where each tensor should be, in the order of the summary."""
    for item in summary.tensors():
        folder = output.joinpath(*item.run.split("/")[1:], "tensor", safe(item.tag))
        yield folder / f"{item.step}.npy"


def summary_of(array: Any) -> Any:
    return array.dtype, array.shape, array.tobytes()


def test_a_step_that_comes_again_is_written_beside_the_first(output: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    for restart in range(2):
        with SummaryRecord(str(base), file_suffix=f"_{restart}") as record:
            record.add_value("tensor", "state", np.full(3, restart, np.float32))
            record.record(7)
    assert main(["export", "--summary-dir", str(base), "--output", str(output)]) == 0
    first, again = sorted((output / "tensor" / "state").iterdir(), key=lambda path: len(path.name))
    assert (first.name, again.name) == ("7.npy", "7_2.npy")
    assert [np.load(path).tolist() for path in (first, again)] == [[0.0] * 3, [1.0] * 3]


def test_somebody_who_waits_is_told_how_far_it_is(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["export", "--summary-dir", str(DATA / "lenet"), "--output", str(output)]) == 0
    output_text = capsys.readouterr().err
    assert output_text.startswith("\rread: ")
    assert re.search(r"\rread: (\d+) of \1 MB\n", output_text)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_place_that_cannot_be_written_is_named(
    form: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "output").write_text("a file")
    arguments = ["--format", form, "--output", str(tmp_path / "output")]
    assert main(["export", "--summary-dir", str(DATA / "lenet"), *arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert str(tmp_path / "output") in line


def test_a_run_that_is_not_there_is_named(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--summary-dir", str(DATA), "--runs", "nope", "--output", str(output)]) == 1
    assert "'nope'" in capsys.readouterr().err
    assert not output.exists()


def test_a_pattern_chooses_runs(output: Path) -> None:
    arguments = ["--runs", "./rank_[1]", "--output", str(output)]
    assert main(["export", "--summary-dir", str(DATA / "multi_rank"), *arguments]) == 1
    arguments[1] = "./rank_?"
    assert main(["export", "--summary-dir", str(DATA / "multi_rank"), *arguments]) == 0
    assert len(list(output.iterdir())) == 4


def test_damage_is_said_and_the_rest_is_written(
    output: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    base = DATA / "damaged"
    assert main(["export", "--summary-dir", str(base), "--output", str(output)]) == 1
    output_text = capsys.readouterr().err
    (line,) = (
        line for line in output_text.splitlines() if "skipped 757 bytes at 22770 of ./flip_body_crc/" in line
    )
    assert line.endswith(": checksum mismatch in a record's content")
    healthy = rows_of(output / "healthy" / "scalars.csv")
    assert len(rows_of(output / "flip_body_crc" / "scalars.csv")) == len(healthy) - 1


def test_a_run_that_ends_in_an_unfinished_record_is_said(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--summary-dir", str(DATA / "damaged"), "--runs", "./cut_in_body", "--output", str(output)]
    assert main(["export", *arguments]) == 1
    line, *_ = capsys.readouterr().err.splitlines()
    assert line.startswith("unfinished: ./cut_in_body/")
    assert len(rows_of(output / "cut_in_body" / "scalars.csv")) > 1


def test_a_broken_payload_is_said(
    output: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(DATA / "record_api" / "images", tmp_path / "a")

    def fail(payload: Any) -> None:
        raise UnreadableError("payload.unparsable", "image")

    monkeypatch.setattr(reader, "decoder", lambda _: fail)
    assert main(["export", "--summary-dir", str(tmp_path / "a"), "--output", str(output)]) == 1
    assert "not written" in capsys.readouterr().err


def test_nothing_to_export_is_not_a_success(
    output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "--summary-dir", str(tmp_path), "--output", str(output)]) == 1
    assert main(["export", "--summary-dir", str(tmp_path / "no"), "--output", str(output)]) == 1
    missing = f"There is no directory {tmp_path / 'no'}."
    assert capsys.readouterr().err == f"There are no runs: {tmp_path} is empty.\n{missing}\n"


def test_kinds_without_files_are_named(
    output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with SummaryRecord(str(tmp_path / "runs" / "one")) as record:
        record.add_value("scalar", "loss", 1.0)
        for name in ("fc1", "fc2"):
            record.add_value("histogram", name, np.arange(3.0))
        record.record(1)
    command = ["export", "--summary-dir", str(tmp_path / "runs"), "--output", str(output)]
    assert main(command) == 0
    captured = capsys.readouterr()
    assert "not exported, as there is no file format for it: histogram (2 tags)" in captured.err
    assert captured.out.endswith(f"1 value of 1 run in 1 file below {output}\n")
    assert main([*command, "--kind", "image"]) == 1
    captured = capsys.readouterr()
    assert captured.out.endswith("0 values of 1 run in no file\n")
    assert "histogram" not in captured.err


@pytest.mark.parametrize(
    "name", ["..", ".", "", "a/b", "\\", "C:x", "x" * 500, "权重", "a\nb", "%", "~", "*?"]
)
def test_no_name_leaves_its_folder(name: str, tmp_path: Path) -> None:
    assert (tmp_path / safe(name)).parent == tmp_path
    (tmp_path / safe(name)).mkdir()
    assert len(safe(name)) <= 120


def test_different_names_stay_different() -> None:
    names = ["a/b", "a%2Fb", "a_b", "..", "%2E%2E", "x" * 500, "x" * 501, "", "%", "."]
    assert len({safe(name) for name in names}) == len(names)


def test_texts_become_files_as_they_were_recorded(output: Path, tmp_path: Path) -> None:
    texts = ("# one\r\ntwo", "\N{SNOWMAN}")
    with SummaryRecord(str(tmp_path / "base" / "a")) as record:
        for step, text in enumerate(texts):
            record.add_value("text", "note", text)
            record.record(step)
    assert main(["export", "--summary-dir", str(tmp_path / "base"), "--output", str(output)]) == 0
    written = [(output / "a" / "text" / "note" / f"{step}.md").read_bytes().decode() for step in (0, 1)]
    assert written == list(texts)
