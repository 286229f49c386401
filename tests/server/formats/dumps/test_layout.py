"""The base class of layouts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats import dumps
from mindinsight.server.formats.dumps import (
    describe_tensor,
    list_operators,
    list_overflows,
    list_tensors,
    open_dump,
    read_tensor,
)
from mindinsight.server.formats.dumps.layout import Layout
from mindinsight.server.formats.dumps.types import Dump, StepFolder, TensorRef


class Single(Layout):
    """A directory of one step; the least that a layout can be."""

    name = "single"

    def match(self, path: Any) -> Any:
        return 0.99 if (path / "single").exists() else -1.0

    def open_dump(self, path: Any) -> Dump:
        return Dump(str(path), self.name, (StepFolder(0, 3, "", str(path), str(path)),), ((0, ""),))


def test_a_layout_inherits_what_it_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory it knows and how to open it: the rest is a dump without tensors, or of npy files."""
    monkeypatch.setattr(dumps, "known_layouts", lambda: (Single(),))
    monkeypatch.setattr(dumps, "_load_layout", lambda name: Single())
    (tmp_path / "single").mkdir()
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(2, 3))
    dump = open_dump(tmp_path)
    assert (dump.layout, dump.steps()) == ("single", (3,))
    for listing in (list_tensors, list_operators, list_overflows):
        assert len(listing(dump, 0, 3)) == 0
    ref = TensorRef("single", str(tmp_path / "a.npy"))
    assert describe_tensor(ref).shape == (2, 3)
    assert read_tensor(ref).tolist() == [[0, 1, 2], [3, 4, 5]]
