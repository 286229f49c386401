import shutil
from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.weight_files import open_weights
from tests.narrowing import require

DATA = Path(__file__).parents[3] / "data" / "weights"


@pytest.mark.parametrize(
    ("name", "form", "count"),
    [
        ("plain.ckpt", "ckpt", 7),
        ("checked.ckpt", "ckpt", 7),
        ("plain.safetensors", "safetensors", 5),
        ("tensors.pt", "torch", 11),
        ("state.pt", "torch", 8),
        ("legacy.pt", "torch", 8),
        ("script.pt", "torch", 2),
    ],
)
def test_the_content_tells_the_format_not_the_name(tmp_path: Path, name: str, form: str, count: int) -> None:
    shutil.copy(DATA / name, tmp_path / "weights.bin")
    file = open_weights(tmp_path / "weights.bin")
    assert (file.format, len(file.weights), file.damage) == (form, count, ())
    for weight in file.weights:
        assert weight.error is None
        assert file.read(weight.name).shape == weight.shape


def test_an_archive_of_nothing_is_an_archive(tmp_path: Path) -> None:
    np.savez(tmp_path / "none.npz")
    file = open_weights(tmp_path / "none.npz")
    assert (file.format, file.weights, file.damage) == ("npz", (), ())


def test_arrays_of_numpy(tmp_path: Path) -> None:
    np.savez(tmp_path / "some", a=np.arange(6.0), b=np.array(2))
    np.save(tmp_path / "one", np.arange(3, dtype=np.int16))
    archive, single = open_weights(tmp_path / "some.npz"), open_weights(tmp_path / "one.npy")
    assert [(w.name, w.dtype, w.shape, w.size) for w in archive.weights] == [
        ("a", "float64", (6,), 48),
        ("b", "int64", (), 8),
    ]
    assert archive.read("b") == 2
    assert (single.format, single.weights[0].name, single.read("one").tolist()) == ("npy", "one", [0, 1, 2])


def test_the_checksum_of_a_checkpoint_is_told() -> None:
    assert open_weights(DATA / "checked.ckpt").checksum == 939442454


def test_bad_entries_are_listed_with_their_error(tmp_path: Path) -> None:
    header = b'{"bad":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}'
    (tmp_path / "a").write_bytes(len(header).to_bytes(8, "little") + header)
    weight = open_weights(tmp_path / "a").weights[0]
    assert (weight.name, weight.dtype, weight.shape) == ("bad", "float32", (9,))
    assert require(weight.error).reason == "dump.truncated"
    np.savez(tmp_path / "b.npz", o=np.array([None]))
    assert require(open_weights(tmp_path / "b.npz").weights[0].error).reason == "dump.object_dtype"


@pytest.mark.parametrize(("name", "size"), [("a.npz", 90), ("b.safetensors", 20), ("c.ckpt", 30)])
def test_a_file_cut_off_says_so(tmp_path: Path, name: str, size: int) -> None:
    header = b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}'
    if name == "a.npz":
        np.savez(tmp_path / name, a=np.zeros(9))
    elif name == "c.ckpt":
        (tmp_path / name).write_bytes((DATA / "checked.ckpt").read_bytes())
    else:
        (tmp_path / name).write_bytes(len(header).to_bytes(8, "little") + header + bytes(36))
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:size])
    with pytest.raises(UnreadableError, match=r"dump.truncated"):
        open_weights(tmp_path / name)


def test_a_torch_file_of_a_type_this_does_not_know(tmp_path: Path) -> None:
    content = (DATA / "legacy.pt").read_bytes()
    (tmp_path / "a.pt").write_bytes(content.replace(b"FloatStorage", b"FlootStorage"))
    file = open_weights(tmp_path / "a.pt")
    assert {require(weight.error).reason for weight in file.weights} == {"dump.unknown_dtype"}
    assert "model.0.weight" in {weight.name for weight in file.weights}


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", b"\x80\x02"])
def test_what_holds_no_tensors(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(UnreadableError, match=r"dump\."):
        open_weights(tmp_path / "a")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"dump.missing"):
        open_weights(tmp_path / "nothing.ckpt")
