"""A synchronous dump made by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.dumps import list_tensors, open_dump

TIME = 1795248166105555


class NpyDump:
    def __init__(self, root: Any) -> None:
        self.root = root
        self.step = root / "rank_0" / "Net" / "0" / "0"
        self.step.mkdir(parents=True)
        self.count = 0

    def add(
        self, kind: Any, operator: Any, io: str = "output", slot: int = 0, value: Any = 1.0, name: Any = None
    ) -> tuple[Any, Any]:
        self.count += 1
        full = f"{kind}.{operator}.0.0.{TIME + self.count}.{io}.{slot}.DefaultFormat.Float32.npy"
        path = self.step / (name or full)
        np.save(path, np.full((2,), value, np.float32))
        return path, full

    def list(self) -> Any:
        return list_tensors(open_dump(self.root), 0, 0)


@pytest.fixture
def dump(tmp_path: Path) -> NpyDump:
    """A dump of one step, made by hand: ``dump.add("MatMul", "op", slot=1)``."""
    return NpyDump(tmp_path / "dump")
