"""``mindinsight ckpt``: files of weights at the terminal."""

import json
import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.server.formats.weights.torch_archives import SIX, Described, Storage, tensor, write

FOLDER = Path(__file__).parents[2] / "data" / "dumps" / "ckpt"


@pytest.fixture
def run(run: Any) -> Any:
    return partial(run, "ckpt")


def test_ls_lists_and_tells_of_nan(run: Any) -> None:
    code, out, _ = run("ls", FOLDER / "tinynet-1.ckpt")
    assert (code, len(out.splitlines())) == (0, 21)
    code, out, _ = run("ls", FOLDER / "tinynet-nan.ckpt", "--json")
    lost = [tensor["name"] for tensor in json.loads(out) if tensor["statistics"]["nans"]]
    assert (code, lost) == (1, ["head.weight"])


def test_ls_of_a_file_without_tensors_does_not_call_it_finite(run: Any, tmp_path: Path) -> None:
    write(tmp_path / "a.pt", {"lr": 0.1})
    code, _, err = run("ls", tmp_path / "a.pt")
    assert (code, "a.pt holds no tensors." in err) == (2, True)


def test_ls_says_what_the_figures_of_complex_tensors_are(run: Any, tmp_path: Path) -> None:
    np.savez(tmp_path / "complex.npz", w=np.array([3 + 4j, 0j]))
    np.savez(tmp_path / "real.npz", w=np.array([3.0, 4.0]))
    code, out, _ = run("ls", tmp_path / "complex.npz")
    assert (code, "complex tensors are those of the magnitudes" in out) == (0, True)
    assert "5" in out.splitlines()[1].split()
    _, out, _ = run("ls", tmp_path / "real.npz")
    assert "complex" not in out


def test_diff_tells_what_changed(run: Any) -> None:
    code, out, _ = run("diff", FOLDER / "tinynet-1.ckpt", FOLDER / "tinynet-2.ckpt")
    assert code == 1
    assert out.splitlines()[-1] == "3 unchanged, 17 changed"
    code, out, _ = run("diff", FOLDER / "tinynet-1.ckpt", FOLDER / "tinynet-1.ckpt")
    assert (code, out.splitlines()) == (
        0,
        ["No tensor changed: 20 tensors have the same bytes in both files.", "20 unchanged"],
    )
    _, out, _ = run("diff", FOLDER / "tinynet-1.ckpt", FOLDER / "tinynet-2.ckpt", "--json", "--all")
    assert [tensor["name"] for tensor in json.loads(out) if tensor["state"] == "unchanged"] == [
        "frozen",
        "learning_rate",
        "momentum",
    ]


def test_tensors_that_cannot_be_read_are_neither_equal_nor_passed_over(run: Any, tmp_path: Path) -> None:
    quantized = Described("torch._utils", "_rebuild_qtensor", Storage("1", 4, "QInt8Storage"), 0, (4,), (1,))
    for name, values in (("a.pt", b"\1\2\3\4"), ("b.pt", b"\4\3\2\1")):
        write(tmp_path / name, {"w": tensor(Storage("0", 6)), "q": quantized}, s0=SIX, s1=values)
    code, out, err = run("diff", tmp_path / "a.pt", tmp_path / "b.pt")
    assert (code, "1 unchanged, 1 unreadable" in out, "q could not be read." in out) == (2, True, True)
    assert "_rebuild_qtensor" in err
    assert "No tensor changed" not in out
    code, _, err = run("ls", tmp_path / "a.pt")
    assert (code, "q could not be read." in err) == (2, True)


def test_a_file_without_tensors_has_nothing_in_common(run: Any, tmp_path: Path) -> None:
    for name, rate in (("a.pt", 0.1), ("b.pt", 0.2)):
        write(tmp_path / name, {"lr": rate})
    code, out, _ = run("diff", tmp_path / "a.pt", tmp_path / "b.pt")
    assert (code, "nothing can be compared" in out, "lr: 0.1 → 0.2" in out) == (1, True, True)
    code, out, _ = run("diff", tmp_path / "a.pt", tmp_path / "a.pt")
    assert (code, "nothing can be compared" in out) == (2, True)


def test_diff_puts_what_became_nan_first(run: Any, tmp_path: Path) -> None:
    values = np.arange(4.0)
    np.savez(tmp_path / "a.npz", early=values, late=values)
    np.savez(tmp_path / "b.npz", early=values + 1, late=values * np.nan)
    code, out, _ = run("diff", tmp_path / "a.npz", tmp_path / "b.npz")
    rows = [line.split() for line in out.splitlines()[1:3]]
    assert code == 1
    assert [row[:4] for row in rows] == [["late", "changed", "4", "-"], ["early", "changed", "0", "1"]]
    apart = "1 tensor has NaN or infinity in one file where the other file has another value: late."
    assert apart in out.splitlines()
    _, out, _ = run("diff", tmp_path / "b.npz", tmp_path / "a.npz")
    rows = [line.split() for line in out.splitlines()[1:3]]
    assert [row[:4] for row in rows] == [["late", "changed", "4", "-"], ["early", "changed", "0", "1"]]
    assert apart in out.splitlines()
    code, out, _ = run("diff", tmp_path / "b.npz", tmp_path / "b.npz")
    assert (code, "NAN/INF" in out) == (0, False)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\xff" * 99])
def test_other_files_are_an_error(run: Any, tmp_path: Path, content: Any) -> None:
    (tmp_path / "file").write_bytes(content)
    code, out, err = run("ls", tmp_path / "file")
    assert (code, out) == (2, "")
    assert err.startswith("mindinsight: ")
    assert run("diff", tmp_path / "file", tmp_path / "nowhere")[0] == 2


def test_the_files_of_a_directory_are_named(run: Any, tmp_path: Path) -> None:
    for name in ("b.safetensors", "a.ckpt", "notes.txt"):
        (tmp_path / name).touch()
    code, out, err = run("ls", tmp_path)
    assert (code, out) == (2, "")
    assert err.endswith("is a directory; specify one of its 2 files: a.ckpt, b.safetensors.\n")
    (tmp_path / "empty").mkdir()
    for action in (("ls",), ("diff", FOLDER / "tinynet-1.ckpt")):
        code, _, err = run(*action, tmp_path / "empty")
        assert code == 2
        assert "is a directory without checkpoints (.ckpt, " in err


def inside_of_a_member(path: Any) -> Any:
    """Where values of the first array lie in an archive that is not packed."""
    with zipfile.ZipFile(path) as archive:
        members = {member.filename: member for member in archive.infolist()}
    member = next(info for name, info in members.items() if "/data/" in name or name == "a.npy")
    lengths = np.frombuffer(path.read_bytes(), "<u2", 2, member.header_offset + 26)  # of name and padding
    return member.header_offset + 30 + int(lengths.sum()) + member.file_size - 1


def flip(path: Any, at: Any) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["checked.ckpt", "arrays.npz", "state.pt"])
def test_bytes_that_have_not_the_checksum_of_the_file_are_named(run: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".pt"):
        path.write_bytes((FOLDER.parents[1] / "weights" / name).read_bytes())
    elif name.endswith(".npz"):
        np.savez(path, a=np.arange(1000.0), b=np.arange(10.0))
    else:
        body = (FOLDER / "tinynet-1.ckpt").read_bytes().partition(b"crc_num")[0]
        path.write_bytes(body + b"crc_num" + zlib.crc32(body).to_bytes(10, "big"))
    whole = tmp_path / f"whole-{name}"
    whole.write_bytes(path.read_bytes())
    assert run("ls", path)[0] == 0
    flip(path, 300 if name.endswith(".ckpt") else inside_of_a_member(path))
    code, _, err = run("ls", path)
    assert (code, "checksum" in err) == (2, True)
    code, _, err = run("diff", whole, path)
    assert (code, "checksum" in err) == (1, True)
