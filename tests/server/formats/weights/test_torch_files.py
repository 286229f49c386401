import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.arrays import npy
from mindinsight.server.formats.read_limits import Limits, UnreadableError
from mindinsight.server.formats.weights import torch_files
from mindinsight.server.formats.weights.torch_files import open_torch, read_torch
from tests.server.formats.weights.torch_archives import (
    SIX,
    Described,
    Global,
    Storage,
    tensor,
    write,
)

DATA = Path(__file__).parents[3] / "data" / "weights"


def test_tensors_of_every_kind() -> None:
    file = open_torch(DATA / "tensors.pt")
    arrays = {name: read_torch(file, name) for name in file.tensors}
    assert {name: (tensor.dtype, tensor.shape) for name, tensor in file.tensors.items()} == {
        "a": ("float32", (3, 2)),
        "b": ("bfloat16", (3,)),
        "n.x": ("int64", ()),
        "n.e": ("float32", (0, 4)),
        "h": ("complex64", (1,)),
        "u": ("uint16", (3,)),
        "f8": ("float8_e4m3fn", (2,)),
        "f85": ("float8_e5m2", (2,)),
        "exp": ("float32", (4, 5)),
        "it.2": ("float32", (2,)),
        "p": ("float32", (2, 2)),
    }
    assert arrays["a"].tolist() == [[0, 3], [1, 4], [2, 5]]  # a transposed view
    assert arrays["b"].tolist() == [1.5] * 3
    assert arrays["n.x"] == 3
    assert arrays["h"].tolist() == [1 + 2j]
    assert arrays["u"].tolist() == [1, 2, 60000]
    assert arrays["f8"].tolist() == [1.5, 448]
    assert arrays["f85"].tolist() == [1.5, 448]
    assert arrays["exp"].tolist() == [[1.0] * 5] * 4
    assert not any(array.flags.writeable for array in (arrays["a"], arrays["exp"]))


def test_both_ways_of_saving_give_the_same() -> None:
    new, old = open_torch(DATA / "state.pt"), open_torch(DATA / "legacy.pt")
    assert list(new.tensors) == list(old.tensors)
    assert "opt.state.0.exp_avg_sq" in new.tensors
    for name in new.tensors:
        np.testing.assert_array_equal(read_torch(new, name), read_torch(old, name))


def test_a_script_gives_its_parameters() -> None:
    script, state = open_torch(DATA / "script.pt"), open_torch(DATA / "state.pt")
    for name in ("0.weight", "0.bias"):
        np.testing.assert_array_equal(read_torch(script, name), read_torch(state, f"model.{name}"))


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_packed_or_not(tmp_path: Path, compression: Any) -> None:
    file = open_torch(write(tmp_path / "a.pt", tensor(Storage("0", 6)), compression, s0=SIX))
    assert read_torch(file, "").tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("kind", "values"),
    [("FloatStorage", [1.5, -2]), ("ShortStorage", [1, 2]), ("ComplexFloatStorage", [1 + 2j, 3])],
)
def test_saved_on_a_big_endian_machine(tmp_path: Path, kind: str, values: Any) -> None:
    dtype = {"FloatStorage": ">f4", "ShortStorage": ">i2", "ComplexFloatStorage": ">c8"}[kind]
    content = np.array(values, dtype).tobytes()
    value = tensor(Storage("0", 2, kind), 0, (2,), (1,))
    file = open_torch(write(tmp_path / "a.pt", value, byteorder="big", s0=content))
    assert read_torch(file, "").tolist() == values


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (tensor(Storage("0", 7)), "dump.truncated"),
        (tensor(Storage("0", 6), 1), "dump.truncated"),
        (tensor(Storage("0", 6), 0, (10**15,), (1,)), "dump.truncated"),
        (tensor(Storage("0", 6), 0, (10**15,), (0,)), "dump.too_large"),
        (tensor(Storage("0", 6), -1), "dump.bad_shape"),
        (tensor(Storage("0", 6), 0, (2,), (3, 1)), "dump.bad_shape"),
        (tensor(Storage("0", 6), 0, (2, -3)), "dump.bad_shape"),
        (tensor(Storage("0", 6, "QInt8Storage")), "dump.unknown_dtype"),
        (tensor(Storage("9", 6)), "dump.missing"),
        (tensor(Storage("../../0", 6)), "dump.missing"),
    ],
)
def test_views_that_their_storage_does_not_hold(tmp_path: Path, value: Any, reason: str) -> None:
    path = write(tmp_path / "a.pt", {"bad": value, "fine": tensor(Storage("0", 6))}, s0=SIX)
    file = open_torch(path)
    with pytest.raises(UnreadableError) as error:
        read_torch(file, "bad")
    assert error.value.reason == reason
    assert read_torch(file, "fine").shape == (2, 3)


def test_a_type_this_does_not_know_is_named(tmp_path: Path) -> None:
    value = Described(
        *("torch._utils", "_rebuild_tensor_v3", Storage("0", 24, "UntypedStorage"), 0, (2,), (1,), False, {}),
        *(Global("torch", "float2_e1m0"), False),
    )
    file = open_torch(write(tmp_path / "a.pt", value, s0=SIX))
    with pytest.raises(UnreadableError, match=r"dump.unknown_dtype: float2_e1m0"):
        read_torch(file, "")


def test_a_packed_storage_that_is_too_short(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pt", tensor(Storage("0", 7)), zipfile.ZIP_DEFLATED, s0=SIX)
    with pytest.raises(UnreadableError, match=r"dump.truncated: storage 0 of 28 bytes, found 24"):
        read_torch(open_torch(path), "")


def test_a_file_that_shrinks_after_it_was_listed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pt", tensor(Storage("0", 6)), s0=SIX)
    file = open_torch(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(UnreadableError, match=r"dump.truncated"):
        read_torch(file, "")


def test_a_bomb_in_a_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npy, "MAX_UNPACKED", 100_000)
    value = {"bad": tensor(Storage("0", 10**6), 0, (10**6,), (1,)), "fine": tensor(Storage("1", 6))}
    path = write(tmp_path / "a.pt", value, zipfile.ZIP_DEFLATED, s0=bytes(4 * 10**6), s1=SIX)
    file = open_torch(path)
    with pytest.raises(UnreadableError, match=r"dump.zip_bomb"):
        read_torch(file, "bad")
    assert read_torch(file, "fine").shape == (2, 3)


def test_a_bomb_in_the_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_files, "PICKLE", Limits("pickle", 1000))
    path = write(tmp_path / "a.pt", "x" * 2000)
    with pytest.raises(UnreadableError, match=r"dump.too_large"):
        open_torch(path)


@pytest.mark.parametrize("name", ["tensors.pt", "legacy.pt"])
@pytest.mark.parametrize("part", [0.01, 0.3, 0.6, 0.9])
def test_cut_off_files(tmp_path: Path, name: str, part: float) -> None:
    whole = (DATA / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: int(len(whole) * part)])
    reasons = set()
    try:
        file = open_torch(tmp_path / name)
        for tensor in file.tensors:
            try:
                read_torch(file, tensor)
            except UnreadableError as error:
                reasons.add(error.reason)
    except UnreadableError as error:
        reasons.add(error.reason)
    assert reasons <= {"dump.bad_zip", "dump.bad_pickle", "dump.truncated"}
    assert reasons


@pytest.mark.parametrize("content", [b"", b"\x80\x02K\x01.", b"no pickle at all", b"\x93NUMPY"])
def test_what_is_no_torch_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.pt").write_bytes(content)
    with pytest.raises(UnreadableError, match=r"dump.not_torch"):
        open_torch(tmp_path / "a.pt")


def test_a_zip_of_something_else(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.arange(3))
    with pytest.raises(UnreadableError, match=r"dump.not_torch"):
        open_torch(tmp_path / "a.npz")


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(UnreadableError, match=r"dump.missing: no tensor nothing"):
        read_torch(open_torch(DATA / "state.pt"), "nothing")


def test_a_whole_module_gives_its_parameters() -> None:
    assert {name: tensor.shape for name, tensor in open_torch(DATA / "module.pt").tensors.items()} == {
        "_parameters.weight": (2, 3),
        "_parameters.bias": (2,),
    }


def test_what_is_not_a_tensor_is_passed_over(tmp_path: Path) -> None:
    loop: list[Any] = []
    loop.append(loop)
    value = {
        "weight": tensor(Storage("0", 6)),
        "system": Described("os", "system", "exit 1"),
        "half": Described("torch._utils", "_rebuild_tensor_v2", "no storage", 0, (1,), (1,)),
        "short": Described("torch._utils", "_rebuild_tensor_v2", Storage("0", 6)),
        "parameter": Described("torch._utils", "_rebuild_parameter"),
        "dict": Described("collections", "OrderedDict", [1, 2]),
        "odd": Described("torch._utils", "_rebuild_tensor_v2", Storage("0", 6), "x", None, (1,)),
        "loop": loop,
        "twice": [{"x": 1}] * 2,
        ("a", "tuple"): tensor(Storage("0", 6)),
    }
    file = open_torch(write(tmp_path / "a.pt", value, s0=SIX))
    assert list(file.tensors) == ["weight"]


def test_tensors_of_subclasses_and_parameters(tmp_path: Path) -> None:
    inner: tuple[Any, ...] = (Storage("0", 6), 0, (2, 3), (3, 1), False, {})
    value = {
        "parameter": Described("torch._utils", "_rebuild_parameter", tensor(Storage("0", 6)), True, {}),
        "subclass": Described(
            *("torch._tensor", "_rebuild_from_type_v2", Global("torch._utils", "_rebuild_tensor_v2")),
            *(Global("my.own", "Tensor"), inner, {}),
        ),
        "device": Described("torch_npu.utils", "_rebuild_npu_tensor", *inner, "format"),
        "no type": Described("torch._utils", "_rebuild_tensor_v3", *inner, "float32", {}),
    }
    file = open_torch(write(tmp_path / "a.pt", value, s0=SIX))
    assert list(file.tensors) == ["parameter", "subclass", "device"]
    for name in file.tensors:
        assert read_torch(file, name).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_an_object_that_is_its_own_state(tmp_path: Path) -> None:
    """A pickle of two objects, each the state of the other: found by fuzzing, as endless recursion."""
    ring = b"cmodule\nA\n)R\x94cmodule\nB\n)R\x94h\x00bh\x00h\x01b0"
    pickle = b"\x80\x02" + ring + b"}(X\x04\x00\x00\x00ringh\x00X\x01\x00\x00\x00nK\x07u."
    path = tmp_path / "ring.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ring/data.pkl", pickle)
        archive.writestr("ring/version", "3\n")
    file = open_torch(path)
    assert (dict(file.tensors), file.plain) == ({}, {"n": 7})
