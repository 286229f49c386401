import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mindinsight.server.formats.read_limits import Limits, UnreadableError
from mindinsight.server.formats.weights.safetensors import open_safetensors, read_safetensor

DATA = Path(__file__).parents[3] / "data" / "weights"
NAMES = {"bool": "BOOL", "int8": "I8", "uint16": "U16", "int64": "I64", "float16": "F16", "float64": "F64"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tmp_path_factory.mktemp("safetensors")


def write(path: Any, header: Any, data: Any = b"") -> Any:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def entry(dtype: Any = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> Any:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def test_what_mindspore_saved() -> None:
    file = open_safetensors(DATA / "plain.safetensors")
    assert file.metadata == {"format": "ms"}
    arrays = {name: read_safetensor(file, name) for name in file.tensors}
    assert arrays["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert arrays["b"].tolist() == [1.5, 2]
    tensor: Any = file.tensors["b"]
    assert tensor.dtype == "bfloat16"
    assert arrays["s"].shape == ()
    assert arrays["s"] == 3
    assert arrays["flag"].tolist() == [True, False]
    assert arrays["h"].dtype == np.float16


@given(st.data(), st.sampled_from(sorted(NAMES)), hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
def test_round_trip(folder: Any, data: Any, name: Any, shape: Any) -> None:
    array = data.draw(hnp.arrays(name, shape))
    header = {"x": entry(NAMES[name], shape, (0, array.nbytes))}
    result = read_safetensor(open_safetensors(write(folder / "x", header, array.tobytes())), "x")
    assert result.dtype == array.dtype
    assert result.shape == shape
    assert result.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (entry(offsets=(0, 12)), "dump.truncated"),
        (entry(offsets=(4, 12)), "dump.truncated"),
        (entry(shape=(10**15,), offsets=(0, 4 * 10**15)), "dump.truncated"),
        (entry(offsets=(8, 0)), "dump.bad_header"),
        (entry(offsets=(-8, 0)), "dump.bad_header"),
        (entry(offsets=(0,)), "dump.bad_header"),
        (entry(offsets=("0", "8")), "dump.bad_header"),
        (entry(shape=(True, 2)), "dump.bad_header"),
        (entry(shape=(-2,)), "dump.bad_shape"),
        (entry(shape=5), "dump.bad_header"),
        (entry("OBJECT"), "dump.unknown_dtype"),
        (entry(["F32"]), "dump.unknown_dtype"),
        ("nothing", "dump.bad_header"),
        ({}, "dump.bad_header"),
    ],
)
def test_a_bad_entry_leaves_the_others(folder: Any, bad: Any, reason: Any) -> None:
    path = write(folder / "bad", {"bad": bad, "fine": entry()}, np.array([1, 2], "<f4").tobytes())
    file = open_safetensors(path)
    with pytest.raises(UnreadableError) as error:
        read_safetensor(file, "bad")
    assert error.value.reason == reason
    assert read_safetensor(file, "fine").tolist() == [1, 2]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "dump.truncated"),
        (b"\xff" * 8 + b"{}", "dump.truncated"),
        ((2).to_bytes(8, "little") + b"{]", "dump.bad_header"),
        ((2).to_bytes(8, "little") + b"[]", "dump.bad_header"),
        ((1).to_bytes(8, "little") + b"\xff", "dump.bad_header"),
        ((200_000).to_bytes(8, "little") + b"[" * 200_000, "dump.bad_header"),
    ],
)
def test_headers_that_cannot_be_read(folder: Any, content: Any, reason: Any) -> None:
    (folder / "header").write_bytes(content)
    with pytest.raises(UnreadableError) as error:
        open_safetensors(folder / "header")
    assert error.value.reason == reason


def test_a_header_beyond_the_limit_of_the_format(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "mindinsight.server.formats.weights.safetensors"
    monkeypatch.setattr(f"{module}.SAFETENSORS", Limits("header", 10, 10))
    with pytest.raises(UnreadableError, match=r"dump.too_large: header of"):
        open_safetensors(DATA / "plain.safetensors")


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(UnreadableError, match=r"dump.missing"):
        read_safetensor(open_safetensors(DATA / "plain.safetensors"), "nothing")
