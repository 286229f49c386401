"""Files that an export makes of a summary, as a caller of the functions sees them."""

import csv
from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.client import reader
from mindinsight.server.client.export import (
    CsvTable,
    Format,
    export_payloads,
    export_scalars,
    safe,
)
from mindinsight.server.store.series import Line

DATA = Path(__file__).parents[2] / "data" / "events"


@pytest.fixture(scope="module")
def lenet() -> reader.Summary:
    return reader.open(DATA / "lenet")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_scalars_become_one_file_and_each_series_is_reported(
    lenet: reader.Summary, tmp_path: Path, form: Format
) -> None:
    parts = list(export_scalars(lenet, tmp_path, "./", form))
    scalars = lenet.scalars()
    assert {part.path for part in parts} == {tmp_path / f"scalars.{form}"}
    assert sum(part.rows for part in parts) == sum(len(line.steps) for line in scalars.values())
    assert (tmp_path / f"scalars.{form}").stat().st_size


def test_a_number_in_a_table_is_the_one_recorded(lenet: reader.Summary, tmp_path: Path) -> None:
    list(export_scalars(lenet, tmp_path, "./", "csv"))
    with (tmp_path / "scalars.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    (_, tag), line = next(iter(lenet.scalars().items()))
    values = [np.float32(row["value"]) for row in rows if row["tag"] == tag]
    np.testing.assert_array_equal(np.array(values), line.values)


@pytest.mark.parametrize("tag", ["=1+1", "+a", "-a", "@SUM(A1)"])
def test_a_tag_is_no_formula(tmp_path: Path, tag: str) -> None:
    table = CsvTable(tmp_path / "table.csv", overwritten=False)
    table.add(tag, Line(np.array([1]), np.array([2.0]), np.array([3.0], np.float32)))
    table.close()
    assert (tmp_path / "table.csv").read_text().splitlines()[-1] == f"'{tag},1,2.0,3.0"


def test_images_and_tensors_become_files_named_by_tag_and_step(lenet: reader.Summary, tmp_path: Path) -> None:
    images, tensors = (list(export_payloads(lenet, kind, tmp_path, "./")) for kind in ("image", "tensor"))
    assert images
    assert tensors
    for exported, item in zip(images, lenet.images(), strict=True):
        assert exported.path.parent == tmp_path / "image" / safe(item.tag)
        assert exported.path.read_bytes() == item.data.encoded
    for exported, tensor in zip(tensors, lenet.tensors(), strict=True):
        np.testing.assert_array_equal(np.load(exported.path), tensor.data.values)


def test_a_payload_that_is_gone_is_a_problem_and_the_others_are_written(tmp_path: Path) -> None:
    (event_file,) = (DATA / "lenet").glob("*_MS")
    copy = tmp_path / "run" / event_file.name
    copy.parent.mkdir()
    copy.write_bytes(event_file.read_bytes())
    summary = reader.open(copy.parent)
    images = list(summary.images())
    copy.unlink()
    parts = list(export_payloads(summary, "image", tmp_path / "out", "./"))
    assert len(parts) == len(images) > 0
    assert all(part.problem for part in parts)
