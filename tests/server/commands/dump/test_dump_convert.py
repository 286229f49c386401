"""Conversion of tensors to npy."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.server.commands.dump.conftest import LENET


def test_convert_writes_every_tensor(run: Any, tmp_path: Path) -> None:
    code, out, _ = run("dump", "convert", LENET, "--output", tmp_path / "out", "--step", 0, "--json")
    assert code == 0
    written = json.loads(out)["written"]
    assert len(written) == 99
    source = LENET / "rank_0" / "Net" / "0" / "0"
    for path in source.glob("MatMul.*"):
        copy = tmp_path / "out" / "rank_0" / "Net" / "0" / "0" / path.name
        assert np.array_equal(np.load(copy), np.load(path))
