"""Conversion of tensors to npy."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.server.debug.compare.dump_comparison import Side
from mindinsight.server.formats.dumps import open_dump
from tests.server.commands.dump.conftest import DUMPS, LENET


def test_convert_writes_every_tensor(run: Any, tmp_path: Path) -> None:
    code, out, _ = run("dump", "convert", LENET, "--output", tmp_path / "out", "--step", 0, "--json")
    assert code == 0
    written = json.loads(out)["written"]
    assert len(written) == 99
    source = LENET / "rank_0" / "Net" / "0" / "0"
    for path in source.glob("MatMul.*"):
        copy = tmp_path / "out" / "rank_0" / "Net" / "0" / "0" / path.name
        assert np.array_equal(np.load(copy), np.load(path))


def test_tensors_without_values_are_counted(run: Any, tmp_path: Path) -> None:
    statistics = DUMPS / "msprobe_pytorch" / "L1_statistics_statistics"
    code, out, err = run(
        "dump", "convert", statistics, "--output", tmp_path / "out", "--rank", 0, "--step", 0
    )
    assert (code, out) == (2, "")
    assert f"{len(Side(open_dump(statistics), 0, 0).entries())} tensors have recorded statistics only" in err
    assert "0 files written" in err


def test_values_beside_recorded_statistics_are_written(run: Any, tmp_path: Path) -> None:
    dump = Path(shutil.copytree(LENET, tmp_path / "dump"))
    head = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value"
    row = 'ReLU,ReLU-op999,0,0,7,output,0,16,float32,"(4,)",1.0,0.0'
    (dump / "rank_0" / "Net" / "0" / "0" / "statistic.csv").write_text(f"{head}\n{row}\n")
    code, _, err = run("dump", "convert", dump, "--output", tmp_path / "out", "--step", 0)
    assert code == 0
    assert "1 tensor has recorded statistics only" in err
    assert "99 files written" in err
