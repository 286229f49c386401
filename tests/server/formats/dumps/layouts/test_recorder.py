import shutil
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.dumps import (
    describe_tensor,
    list_operators,
    list_overflows,
    list_tensors,
    open_dump,
    read_tensor,
)
from mindinsight.server.formats.dumps.dump_types import TensorRef
from mindinsight.server.formats.read_limits import UnreadableError


@pytest.fixture(scope="module")
def dump(samples: Any) -> Any:
    return open_dump(samples / "rdr_v2_0")


def test_there_are_no_tensors(dump: Any) -> None:
    assert not list_tensors(dump, 0, 0)
    assert not list_operators(dump, 0, 0)
    assert not list_overflows(dump, 0, 0)
    for ask in (read_tensor, describe_tensor):
        with pytest.raises(UnreadableError, match=r"dump.missing"):
            ask(TensorRef("recorder", "nothing"))


def test_a_dump_in_the_same_place_takes_them_along(samples: Any, tmp_path: Path) -> None:
    shutil.copytree(samples / "ms_sync_v2_0_names", tmp_path / "both")
    shutil.copytree(samples / "rdr_v2_0/rank_0/rdr", tmp_path / "both/rank_0/rdr")
    (tmp_path / "both/rank_0/rdr/notes.md").write_text("not of the recorder")
    dump = open_dump(tmp_path / "both")
    assert dump.layout == "sync"
    assert len(dump.logs) == 6
