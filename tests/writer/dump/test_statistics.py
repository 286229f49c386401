"""Rows of statistic.csv, beside rows MindSpore 2.10 wrote for the same bytes."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.arrays import HostArray
from mindinsight.writer.dump.statistics import cells, header

DATA = Path(__file__).parents[2] / "data" / "writer"
_, *ROWS = (DATA / "edge_values.csv").read_text().splitlines()
FIXED_CELLS = 7  # up to the slot; the rest describes the tensor


def tensor(described: Any) -> HostArray:
    """The tensor behind a description; bfloat16 as it comes from to_numpy."""
    raw = bytes.fromhex(described["bytes_hex"])
    if described["dtype"] == "bfloat16":
        widened = np.frombuffer(raw, "<u2").astype(np.uint32) << 16
        return HostArray(widened.view(np.float32).reshape(described["shape"]), "bfloat16", shared=False)
    values = np.frombuffer(raw, described["dtype"]).reshape(described["shape"])
    return HostArray(values, described["dtype"], shared=False)


def large(case: Any) -> HostArray:
    """The three tensors that are described in words."""
    values = np.random.default_rng(0).normal(size=(300, 100)).astype(np.float32)
    if case == 1:
        values[5, 5] = np.nan
    if case == 2:
        values[299, 99] = np.inf
    return HostArray(values, "float32", shared=False)


CASES = [(case["op_name"], tensor(case)) for case in json.loads((DATA / "edge_values.json").read_text())]
CASES += [(f"Default_MatMul-op{case}", large(case)) for case in range(3)]


def test_the_header_is_mindspores() -> None:
    assert (DATA / "edge_values.csv").read_text().startswith(header())


@pytest.mark.parametrize(
    ("name", "host"), [case for case in CASES if case[1].values.size], ids=lambda value: str(value)[:20]
)
def test_a_row_tells_what_mindspores_row_tells(name: Any, host: Any) -> None:
    row = next(row for row in ROWS if f",{name}," in row).replace("-nan", "nan")
    assert row.split(",", FIXED_CELLS)[-1] == cells(host) + ","


def test_every_case_but_the_empty_one_has_been_compared() -> None:
    assert len(CASES) == len(ROWS)


def test_a_whole_step_has_the_statistics_that_mindspore_wrote_for_it() -> None:
    """Every tensor of a small network that MindSpore 2.10 trained, with the rows it wrote of them."""
    folder = "ms_sync_full_stats/full/rank_0/TinyNet/0/0/"
    with zipfile.ZipFile(DATA.parent / "dumps" / "samples" / "ms_sync_full_stats.zip") as archive:
        table = archive.read(f"{folder}statistic.csv").decode()
        files = {
            ".".join(name.removeprefix(folder).split(".")[:7]): np.load(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.startswith(folder) and name.endswith(".npy")
        }
    first, *rows = table.splitlines()
    assert first == header().strip()
    compared = 0
    for row in rows:
        name, described = row.split(",", FIXED_CELLS)[:FIXED_CELLS], row.split(",", FIXED_CELLS)[-1]
        values = files.get(".".join(name))
        if values is not None and values.size and ",bfloat16," not in row:
            host = HostArray(values, values.dtype.name, shared=False)
            assert described.replace("-nan", "nan") == cells(host) + ",", row
            compared += 1
    assert (len(rows), compared) == (241, 241)


def test_signalling_nan_and_norms_beyond_float64_are_told_without_a_warning() -> None:
    signalling = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    row = cells(HostArray(signalling, "float32", shared=False), ["max", "nan count"])
    assert row.endswith(",nan,1")
    huge = np.array([1e300, 1e300])
    assert cells(HostArray(huge, "float64", shared=False), ["l2norm"]).endswith(",inf")
