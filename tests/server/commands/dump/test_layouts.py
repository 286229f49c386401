"""The commands on dumps of every layout: what is printed, as a table and as JSON, and how they exit."""

import csv
import json
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.proto import dump_pb2
from mindinsight.server.formats.dumps import find_dump_dirs, list_tensors, open_dump, read_tensor
from tests.narrowing import require

DATA = Path(__file__).parents[3] / "data" / "dumps"
ARCHIVES = ("async_synthetic", "rdr_v2_0", "ms_sync_full_stats", "msprobe_pytorch")
DUMPS = {  # how many tensors the first step of the first rank has
    "async_SYNTHETIC/bin": 22,
    "async_SYNTHETIC/npy": 22,
    "ms_sync_full_stats/statistic": 118,
    "ms_sync_full_stats/full": 118,
    "msprobe_pytorch/L1_statistics_xor": 45,
    "msprobe_pytorch/mix_tensor_2ranks": 71,
}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("samples")
    for name in ARCHIVES:
        with zipfile.ZipFile(DATA / "samples" / f"{name}.zip") as archive:
            archive.extractall(root)
    return root


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDINSIGHT_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.setenv("LC_ALL", "C")


@pytest.fixture
def run(run: Any) -> Any:
    return partial(run, "dump")


def first_step(path: Any) -> Any:
    dump = open_dump(path)
    return list_tensors(dump, dump.ranks[0], dump.steps()[0])


@pytest.mark.parametrize("name", DUMPS)
def test_ls_lists_every_layout(run: Any, samples: Any, name: Any) -> None:
    code, out, err = run("ls", samples / name, "--step", open_dump(samples / name).steps()[0], "--json")
    listing = json.loads(out)
    rank = listing["ranks"][0]
    assert (code, err) == (0, "")
    assert len([tensor for tensor in listing["tensors"] if tensor["rank"] == rank]) == len(
        first_step(samples / name)
    )
    code, out, _ = run("ls", samples / name)
    assert (code, out.splitlines()[0].split()[1].rstrip(":")) == (0, "dump")


@pytest.mark.parametrize("name", DUMPS)
def test_stat_gives_the_numbers_of_the_tensors(run: Any, samples: Any, name: Any) -> None:
    dump = open_dump(samples / name)
    rank, step = dump.ranks[0], dump.steps()[0]
    code, out, _ = run("stat", samples / name, "--rank", rank, "--step", step, "--json")
    rows, entries = json.loads(out), first_step(samples / name)
    assert len(rows) == len(entries)
    lost = 0
    for row, entry in zip(rows, entries, strict=True):
        assert (row["operator"], row["direction"], row["slot"]) == (
            entry.operator,
            entry.direction,
            entry.slot,
        )
        assert row["computed"] == (entry.ref is not None)
        lost += bool(row["nans"] or row["positive_infs"] or row["negative_infs"])
        if entry.ref is not None:
            values = read_tensor(entry.ref)
            plain = np.abs(values) if values.dtype.kind == "c" else values.astype(np.float64)
            assert row["nans"] == np.isnan(plain).sum()
            assert row["maximum"] == pytest.approx(plain[np.isfinite(plain)].max())
        assert (row["finite"] is False) == bool(row["nans"] or row["positive_infs"] or row["negative_infs"])
    untold = any(row["finite"] is None for row in rows)  # checksums alone tell nothing
    assert code == (1 if lost else 2 if untold else 0)


@pytest.mark.parametrize("name", [name for name in DUMPS if "statistic" not in name])
def test_convert_writes_what_is_read(run: Any, samples: Any, tmp_path: Path, name: Any) -> None:
    code, out, _ = run("convert", samples / name, "--output", tmp_path / "npy", "--json")
    written = json.loads(out)["written"]
    assert code == 0
    dump = open_dump(samples / name)
    entries = [e for rank in dump.ranks for step in dump.steps(rank) for e in list_tensors(dump, rank, step)]
    assert len(set(written)) == len(written) == len(entries)
    for path, entry in zip(written, entries, strict=True):
        assert Path(path).is_relative_to(tmp_path / "npy")
        np.testing.assert_array_equal(np.load(path), read_tensor(require(entry.ref)))


def test_bin_and_npy_of_the_same_run_agree(run: Any, samples: Any, tmp_path: Path) -> None:
    folder = samples / "async_SYNTHETIC"
    code, out, _ = run(
        "compare", folder / "bin", folder / "npy", "--all", "--json", "--csv", tmp_path / "out.csv"
    )
    comparison = json.loads(out)
    assert (code, comparison["claims"][0]["key"]) == (0, "claim.dump.identical")
    judged = [
        (tensor["target"].rpartition("/")[2], tensor["codes"])
        for tensor in comparison["tensors"]
        if tensor["codes"]
    ]
    assert judged == [("MatMul-op15.input.1", ["dtype"])]  # bfloat16, which npy has no name for
    measured = [tensor for tensor in comparison["tensors"] if tensor["measures"]]
    assert measured
    assert all(tensor["measures"]["distance"] == 0 for tensor in measured)
    with (tmp_path / "out.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(comparison["tensors"])


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("msprobe_pytorch/mix_tensor_2ranks", (0, "hold equal values on both sides.")),
        ("ms_sync_full_stats/statistic", (2, "Record the tensors themselves to decide it.")),
    ],
)
def test_a_dump_is_compared_with_itself(run: Any, samples: Any, name: str, verdict: Any) -> None:
    code, out, _ = run("compare", samples / name, samples / name)
    assert code == verdict[0]
    assert any(
        line.endswith(verdict[1]) for line in out.splitlines()[-3:]
    )  # left out ranks and steps are last


def test_two_ranks_differ_and_the_exit_code_tells(run: Any, samples: Any) -> None:
    path = samples / "msprobe_pytorch" / "mix_tensor_2ranks"
    code, out, _ = run("compare", path, path, "--reference-rank", 1)
    assert code == 1
    assert "No tensor compared before it differs." in out


def test_check_finds_what_the_device_reported(run: Any, samples: Any) -> None:
    code, out, _ = run(
        "check", samples / "async_SYNTHETIC" / "npy", "--condition", "operator_overflow", "--json"
    )
    hits = json.loads(out)["hits"]
    assert code == 1
    assert hits
    assert {hit["condition"] for hit in hits} == {"operator_overflow"}
    assert {hit["step"] for hit in hits} == {1}


@pytest.mark.parametrize("action", ["stat", "check"])
def test_a_recorder_has_texts_and_no_tensors(run: Any, samples: Any, action: str) -> None:
    """Texts are no tensors that are fine: exit code 2 says that nothing was judged."""
    code, out, _ = run("ls", samples / "rdr_v2_0")
    assert (code, out.splitlines()[-1]) == (0, "6 log files")
    code, out, err = run(action, samples / "rdr_v2_0")
    assert code == 2
    assert "No tensor could be measured." in err or "Nothing could be searched" in out


def test_every_dump_of_the_samples_is_listed_by_a_command(run: Any, samples: Any) -> None:
    for dump in find_dump_dirs(samples):
        code, out, err = run("ls", dump.path)
        assert (code, err) == (0, ""), dump.path
        assert out.startswith(f"{dump.layout} dump")


@pytest.mark.parametrize("action", ["ls", "stat"])
def test_a_selection_of_nothing_is_empty_and_no_all_clear(run: Any, samples: Any, action: str) -> None:
    path = samples / "ms_sync_full_stats" / "full"
    code, out, _ = run(action, path, "--type", "NoSuchType", "--json")
    answer = json.loads(out)
    expected: Any = (0, []) if action == "ls" else (2, [])
    assert (code, answer["tensors"] if isinstance(answer, dict) else answer) == expected


@pytest.mark.parametrize("arguments", [("--rank", "7"), ("--step", "99"), ("--reference-step", "99")])
def test_a_comparison_of_nothing_is_an_error(run: Any, samples: Any, arguments: Any) -> None:
    path = samples / "ms_sync_full_stats" / "full"
    code, out, err = run("compare", path, path, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("mindinsight: ")


def test_convert_names_files_by_the_order_they_are_in_and_keeps_long_names(run: Any, tmp_path: Path) -> None:
    """A tensor that was turned is NC1HWC0 no more; a name of ``mapping.csv`` is found again."""
    folder = tmp_path / "dump" / "20240102030405" / "0" / "net" / "1" / "0"
    folder.mkdir(parents=True)
    data = dump_pb2.DumpData(version="2.0", op_name="Default/Conv2D-op1")
    result = data.output.add(data_type=1, format=3, size=4 * 32)
    result.shape.dim.extend([1, 1, 2, 1, 16])
    result.original_shape.dim.extend([1, 3, 2, 1])
    head = data.SerializeToString()
    content = len(head).to_bytes(8, "little") + head + np.arange(32, dtype="<f4").tobytes()
    (folder / "123456").write_bytes(content)
    (folder / "mapping.csv").write_text("123456,Conv2D.Default_Conv2D-op1.1.2.1700000000003000\n")
    code, out, _ = run("convert", tmp_path / "dump", "--output", tmp_path / "npy", "--json")
    (written,) = json.loads(out)["written"]
    assert (code, Path(written).name) == (0, "123456.output.0.NCHW.npy")
    (entry,) = list_tensors(open_dump(tmp_path / "npy"), 0, 0)
    assert (entry.recorded, entry.type, entry.format) == ("Default_Conv2D-op1", "Conv2D", "NCHW")
    assert (entry.direction, entry.slot, read_tensor(require(entry.ref)).shape) == (
        "output",
        "0",
        (1, 3, 2, 1),
    )
