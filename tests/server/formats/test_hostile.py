"""Files with changed, missing and added bytes: each reads or says why not, and nothing else happens."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mindinsight.server.formats.dumps import list_operators, list_tensors, open_dump
from mindinsight.server.formats.dumps.layouts.asynchronous import read_opdebug, read_slot, read_slots
from mindinsight.server.formats.dumps.npy_folder import read_statistics
from mindinsight.server.formats.graphs.ir import read_ir, read_pb
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.text_files import read_object
from mindinsight.server.formats.weights.weight_files import open_weights
from tests.thoroughness import amount

WEIGHTS = Path(__file__).parents[2] / "data" / "weights"
MANY = settings(max_examples=amount(60, 15), suppress_health_check=[HealthCheck.function_scoped_fixture])

CHANGES = st.lists(
    st.tuples(st.sampled_from(["set", "cut", "insert"]), st.floats(0, 1), st.binary(min_size=1, max_size=9)),
    min_size=1,
    max_size=6,
)


def changed(content: Any, changes: Any) -> bytes:
    """A copy with bytes overwritten, cut out or put in at places given as shares of the length."""
    result = bytearray(content)
    for what, where, new in changes:
        at = int(where * len(result))
        if what == "set":
            result[at : at + len(new)] = new
        elif what == "cut":
            del result[at : at + len(new) ** 2]
        else:
            result[at:at] = new
    return bytes(result)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("hostile")
    np.savez_compressed(root / "packed.npz", a=np.arange(50.0), b=np.ones((3, 4), np.int8))
    np.savez(root / "stored.npz", a=np.arange(50.0), b=np.ones((3, 4), np.int8))
    np.save(root / "one.npy", np.arange(12.0).reshape(3, 4))
    return root


def read_all(path: Any) -> None:
    try:
        file = open_weights(path)
    except UnreadableError:
        return
    for weight in file.weights:
        try:
            assert file.read(weight.name).size < 1 << 28
        except UnreadableError as error:
            assert error.reason.startswith("dump.")


@pytest.mark.parametrize(
    "name",
    [
        *("plain.ckpt", "checked.ckpt", "plain.safetensors", "tensors.pt", "state.pt", "legacy.pt"),
        *("script.pt", "packed.npz", "stored.npz", "one.npy"),
    ],
)
@MANY
@given(CHANGES)
def test_files_of_tensors(folder: Any, name: Any, changes: Any) -> None:
    source = folder / name if (folder / name).exists() else WEIGHTS / name
    path = folder / "changed"
    path.write_bytes(changed(source.read_bytes(), changes))
    read_all(path)


def bin_slots(path: Any) -> None:
    for slot in read_slots(path).slots:
        read_slot(path, slot.io, slot.number)


@pytest.mark.parametrize(
    ("pattern", "read"),
    [
        ("async_SYNTHETIC/bin/*/0/*/1/0/MatMul*", bin_slots),
        ("async_SYNTHETIC/bin/*/0/*/1/1/Opdebug*", read_opdebug),
        ("async_SYNTHETIC/npy/*/0/*/1/1/Opdebug*", read_opdebug),
        ("async_SYNTHETIC/npy/*/0/*/1/1/statistic.csv", read_statistics),
        ("ms_sync_v2_0_names/rank_0/graphs/*.ir", read_ir),
        ("ms_sync_v2_0_names/rank_0/graphs/*.pb", read_pb),
        ("msprobe_pytorch/L1_tensor_statistics/step0/*/dump.json", lambda path: read_object(path, "data")),
    ],
)
@MANY
@given(CHANGES)
def test_files_of_dumps(samples: Any, folder: Any, pattern: str, read: Any, changes: Any) -> None:
    (source,) = samples.glob(pattern)
    path = folder / source.name
    path.write_bytes(changed(source.read_bytes(), changes))
    try:
        read(path)
    except UnreadableError as error:
        assert error.reason.startswith("dump.")


@MANY
@given(st.sampled_from(["dump.json", "stack.json", "construct.json"]), CHANGES)
def test_a_whole_dump_of_msprobe(samples: Any, folder: Any, name: Any, changes: Any) -> None:
    (source,) = (samples / "msprobe_pytorch/mix_tensor_2ranks/step0").glob(f"rank0/{name}")
    rank = folder / "dump" / "step0" / "rank0"
    rank.mkdir(parents=True, exist_ok=True)
    for other in source.parent.glob("*.json"):
        (rank / other.name).write_bytes(other.read_bytes())
    (rank / name).write_bytes(changed(source.read_bytes(), changes))
    dump = open_dump(folder / "dump")
    assert all(entry.operator for entry in list_tensors(dump, 0, 0)) or name == "dump.json"
    assert isinstance(list_operators(dump, 0, 0).damage, tuple)
