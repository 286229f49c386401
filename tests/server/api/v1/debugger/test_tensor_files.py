"""Downloads of tensors."""

import io
import shutil
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

from tests.server.api.v1.conftest import DATA, Interface, code_of, serving
from tests.server.api.v1.debugger.conftest import SESSIONS, WEIGHT, recorded


def test_a_tensor_as_a_file(dumps: Any, session: Any) -> None:
    load, download = f"{session}/tensor-files/load", f"{session}/tensor-files/download"
    assert dumps.fault(download) == (400, "5054B284")
    assert code_of(dumps.post(load, {"name": f"{WEIGHT}:0"})) == (400, "5054B081")
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 2})
    dumps.sent(load, {"name": f"{WEIGHT}:0", "prev": "true"})
    answer = dumps.get(download)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == 'attachment; filename="conv1.weight_0.npy"'
    np.testing.assert_array_equal(np.load(io.BytesIO(answer.content)), recorded("Parameter.conv1.weight", 0))
    assert dumps.fault(download) == (400, "5054B284")


def test_a_large_tensor_is_not_held_in_memory(tmp_path: Path) -> None:
    base = tmp_path / "base"
    shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base / "job" / "dump")
    (file,) = (base / "job" / "dump" / "rank_0" / "Net" / "0" / "0").glob("Parameter.conv1.weight.*.npy")
    file.unlink()
    np.lib.format.open_memmap(file, "w+", np.float32, (64, 1 << 20)).flush()  # 256 MB of zeros, sparse
    with serving(base, tmp_path / "workspace") as client:
        v1 = Interface(client)
        number = v1.sent(SESSIONS, {"session_type": "OFFLINE", "dump_dir": "./job/dump"})
        session = f"{SESSIONS}/{number}"
        v1.sent(f"{session}/control", {"mode": "reset", "steps": 1})
        tracemalloc.start()
        try:
            v1.sent(f"{session}/tensor-files/load", {"name": f"{WEIGHT}:0"})
            assert tracemalloc.get_traced_memory()[1] < 128 << 20
        finally:
            tracemalloc.stop()
