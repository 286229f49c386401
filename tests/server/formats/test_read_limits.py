"""Files that claim, repeat or nest without end, each read in a process that may not take more than 2 GiB.

Before there were limits these took up to 21 GB, or minutes.
"""

import io
import json
import pickle
import resource
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats import file_bytes, read_limits
from mindinsight.server.formats.read_limits import Limits, UnreadableError
from mindinsight.server.formats.weights.mindspore_checkpoints import MAX_UNUSED, open_checkpoint
from mindinsight.server.formats.weights.weight_files import open_weights
from tests.thoroughness import amount, share

LIMIT = 2 << 30  # bytes of address space, of which the interpreter and its libraries take 0.4 GiB
SMALLER = amount(LIMIT, 1 << 30)  # for what is as much smaller in make test
PATIENCE = 200  # s; on a quiet machine each takes below ten

READ = """
import sys
from pathlib import Path
from mindinsight.server.formats.read_limits import UnreadableError
try:
    {code}
except UnreadableError as error:
    print(error.reason)
"""
WEIGHTS = """from mindinsight.server.formats.weights.weight_files import open_weights
    file = open_weights(Path(sys.argv[1]))
    for weight in file.weights:
        for piece in file.values(weight.name).pieces():
            pass
        file.read(weight.name)
    print(len(file.weights), [error.reason for error in file.damage])"""
CSV = """from mindinsight.server.formats.dumps.npy_folder import read_statistics
    rows, damage = read_statistics(Path(sys.argv[1]))
    print(len(rows), [entry.reason for entry in damage])"""
JSON = """from mindinsight.server.formats.text_files import read_object
    print(len(read_object(Path(sys.argv[1]), "data")[0]))"""
PB = """from mindinsight.server.formats.graphs.ir import read_pb
    print(len(read_pb(Path(sys.argv[1])).nodes))"""
IR = """from mindinsight.server.formats.graphs.ir import read_ir
    print(len(read_ir(Path(sys.argv[1])).nodes))"""
BIN = """from mindinsight.server.formats.dumps.layouts.asynchronous import read_slots
    print(len(read_slots(Path(sys.argv[1])).slots))"""
GRAPH = """from mindinsight.server.plugins.graph.tree_cache import build
    from mindinsight.server.store.series import read_payload
    from mindinsight.server.types import Reference
    path = Path(sys.argv[1])
    tree = build(read_payload(Reference(str(path), 0, path.stat().st_size)), simplified=False)
    print(len(tree.graph), max(map(len, tree.paths)))"""
CALLS = """from mindinsight.server.formats.dumps import list_operators, open_dump
    print(len(list_operators(open_dump(sys.argv[1]), 0, 0)))"""


def read(code: Any, path: Any, limit: int = LIMIT) -> Any:
    """What a reader prints, in a process of limited memory."""
    done = subprocess.run(
        [sys.executable, "-c", READ.format(code=code), str(path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        env={"OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def sparse(path: Any, size: Any, start: bytes = b"") -> Any:
    with path.open("wb") as file:
        file.write(start)
        file.truncate(size)
    return path


def npy_head(elements: int) -> bytes:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": (elements,)})
    return head.getvalue()


def safetensors_head(elements: int) -> bytes:
    entry = {"dtype": "F32", "shape": [elements], "data_offsets": [0, 4 * elements]}
    head = json.dumps({"a": entry}).encode()
    return struct.pack("<Q", len(head)) + head


HEADS = {"npy": npy_head, "safetensors": safetensors_head}


@pytest.mark.parametrize("ending", HEADS)
def test_a_file_of_holes_is_refused_and_one_with_some_is_read(tmp_path: Path, ending: str) -> None:
    """The second is as a compressing file system keeps the zeros of a fresh optimizer."""
    path = tmp_path / f"a.{ending}"
    few = HEADS[ending](1 << 20)
    sparse(path, len(few) + (4 << 20), few)
    assert open_weights(path).weights[0].shape == (1 << 20,)
    many = HEADS[ending](1 << 37)
    sparse(path, len(many) + (1 << 39), many)
    with pytest.raises(UnreadableError, match=r"dump.holes: 549755\d+ bytes, of which"):
        open_weights(path)


@pytest.mark.parametrize(
    "start", [b"PK\x03\x04", b"\x80\x02", b"", b"\x93NUMPY"], ids=["npz", "pt", "ckpt", "npy"]
)
def test_a_terabyte_of_holes_is_refused_at_once_whatever_it_begins_with(tmp_path: Path, start: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"dump.holes"):
        open_weights(sparse(tmp_path / "a.npz", 1 << 40, start))


def test_holes_count_only_where_far_more_was_announced_than_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_bytes, "MAX_HOLES", 0)
    head = npy_head(1 << 20)
    path = sparse(tmp_path / "a.npy", len(head) + (4 << 20), head + bytes(8 << 10))
    assert open_weights(path).values("a").dtype == np.float32
    monkeypatch.setattr(file_bytes, "_PER_WRITTEN", 100)
    with pytest.raises(UnreadableError, match=r"dump.holes"):
        open_weights(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "size"),
    [(CSV, 1 << 30), (CSV, 200 << 20), (JSON, 1 << 30), (JSON, 100 << 20), (PB, 1 << 30), (PB, 400 << 20)]
    + [(IR, 1 << 30), (IR, 200 << 20), (BIN, 1 << 30), (WEIGHTS, 1 << 40), (GRAPH, 1 << 30)]
    + [(GRAPH, 400 << 20)],
    ids=lambda value: value.split()[1].rpartition(".")[2] if isinstance(value, str) else str(value),
)
def test_sparse_files(tmp_path: Path, code: Any, size: Any) -> None:
    assert read(code, sparse(tmp_path / "file", size)) in (
        *(
            "dump.too_large",
            "dump.truncated",
            "dump.holes",
            "dump.not_checkpoint",
            "dump.bad_graph",
            "graph.unreadable",
        ),
        *("payload.too_large", "0", "1", "0 ['dump.too_large']", "0 ['dump.csv_row']"),
    )


def test_a_checkpoint_of_fields_without_a_number(tmp_path: Path) -> None:
    (tmp_path / "a.ckpt").write_bytes(b"\0\0" * 1000)
    assert read(WEIGHTS, tmp_path / "a.ckpt") == "dump.not_checkpoint"


@pytest.mark.parametrize(
    "content",
    [b"\x10\x01", b"\x08\x01", b"\x0a\x00", b"\x22\x00", b"\x0a\x02\x0a\x00", b"\x0a\x03\x0a\x01a"],
    ids=["numbers", "numbered values", "values", "unknown fields", "names without a letter", "names"],
)
def test_a_checkpoint_of_small_fields_without_end(tmp_path: Path, content: bytes) -> None:
    """Three million of them would take a quarter of a minute: it is given up after the first few."""
    (tmp_path / "a.ckpt").write_bytes(content * 3_000_000)
    with pytest.raises(UnreadableError, match=r"before byte \d+$") as refused:
        open_checkpoint(tmp_path / "a.ckpt")
    assert refused.value.reason == "dump.not_checkpoint"
    assert int(refused.value.detail.rpartition(" ")[2]) <= (MAX_UNUSED + 1) * len(content)


def test_a_tensor_of_more_axes_than_arrays_have(tmp_path: Path) -> None:
    axes = b"\x08\x01" * 3_000_000
    tensor = b"\x12" + _varint_of(len(axes)) + axes
    (tmp_path / "a.ckpt").write_bytes(b"\x0a" + _varint_of(len(tensor)) + tensor)
    with pytest.raises(UnreadableError, match="axes"):
        open_checkpoint(tmp_path / "a.ckpt")


def _varint_of(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint_of(rest) if rest else bytes([low])


def test_an_array_in_fortran_order_that_claims_gigabytes(tmp_path: Path) -> None:
    head = b"{'descr': '<f8', 'fortran_order': True, 'shape': (20000, 20000)}\n"
    start = b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head
    path = sparse(tmp_path / "a.npy", len(start) + 20_000 * 20_000 * 8, start)
    assert read(WEIGHTS, path) == "dump.too_large"


@pytest.mark.slow
def test_an_array_in_fortran_order_is_read_with_little_more_than_its_size(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.asfortranarray(np.zeros((amount(8000, 3000), 10_000))))
    assert read(WEIGHTS, tmp_path / "a.npy", SMALLER) == "1 []"


def torch_file(path: Any, content: Any, method: Any = zipfile.ZIP_DEFLATED) -> Any:
    with zipfile.ZipFile(path, "w", method) as packed:
        packed.writestr("archive/data.pkl", content)
    return path


def test_tuples_of_tuples_of_tuples(tmp_path: Path) -> None:
    """Each holds the one before twice: as text they have no end. The last one is a key."""
    nested = b"K\1" + b"2\x86" * 900
    path = torch_file(tmp_path / "a.pt", b"\x80\2ccollections\nOrderedDict\n]" + nested + b"K\1\x86a\x85R.")
    assert read(WEIGHTS, path) == "0 []"


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"]" * amount(20 << 20, 4 << 20),
        b"(" * amount(20 << 20, 4 << 20),
        b"]" + b"2a" * 5000,
        b"]" * 1000 + b"a" * 999,
    ],
    ids=["lists", "marks", "loops", "nested"],
)
def test_pickles_that_make_much_of_little(tmp_path: Path, content: Any) -> None:
    path = torch_file(tmp_path / "a.pt", b"\x80\2" + content + b".")
    assert path.stat().st_size < 100_000
    assert read(WEIGHTS, path, SMALLER) in ("dump.too_large", "dump.bad_pickle", "0 []")


@pytest.mark.slow
@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_archives_packed_in_ways_that_no_writer_uses(tmp_path: Path, method: Any) -> None:
    path = torch_file(tmp_path / "a.pt", b"]" * (60 << 20), method)
    assert read(WEIGHTS, path) == "dump.bad_zip"


@pytest.mark.slow
@pytest.mark.parametrize("item", share(["[]", "{}", '""', "1", "[[]]"], 3))
def test_sixty_megabytes_of_json(tmp_path: Path, item: str) -> None:
    (tmp_path / "dump.json").write_text(
        '{"data": [' + ",".join([item] * ((60 << 20) // (len(item) + 1))) + "]}"
    )
    assert read(JSON, tmp_path / "dump.json") == "dump.too_large"


@pytest.mark.slow
def test_a_safetensors_file_with_entries_without_end(tmp_path: Path) -> None:
    head = b"{" + b'"a":{},' * (8 << 20) + b'"a":{}}'
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(head)) + head)
    assert read(WEIGHTS, tmp_path / "a.safetensors") == "dump.too_large"


def test_a_dumped_operator_with_slots_without_end(tmp_path: Path) -> None:
    content = b"\x12\0" * (8 << 20)
    (tmp_path / "a").write_bytes(struct.pack("<Q", len(content)) + content)
    assert read(BIN, tmp_path / "a") == "dump.too_large"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "content"),
    share([(PB, b"\n\0"), (PB, b"\n\2\n\0"), (GRAPH, b"\n\0"), (GRAPH, b"\n\2\n\0")], 3),
    ids=lambda value: value.hex() if isinstance(value, bytes) else value[5:40],
)
def test_a_graph_of_empty_nodes_without_end(tmp_path: Path, code: Any, content: bytes) -> None:
    data = content * (16 << 20)
    if code is PB:
        data = b"\x22" + varint(len(data)) + data
    (tmp_path / "a.pb").write_bytes(data)
    assert read(code, tmp_path / "a.pb") == "dump.too_large"


def varint(value: Any) -> bytes:
    return bytes([*(value >> shift & 0x7F | 0x80 for shift in (0, 7, 14, 21)), value >> 28])


@pytest.mark.slow
def test_a_graph_with_one_scope_of_many_parts(tmp_path: Path) -> None:
    path = tmp_path / "a.pb"
    path.write_bytes(graph_of(["abc/" * 200_000 + "op", *(f"part{number}/op" for number in range(100))]))
    count, longest = map(int, read(GRAPH, path).split())
    assert (count, longest < 5000) == (101, True)


@pytest.mark.slow
def test_a_graph_with_scopes_in_scopes_keeps_its_operators_apart(tmp_path: Path) -> None:
    deep = "/".join("abcdefghij" * 30)
    path = tmp_path / "a.pb"
    path.write_bytes(graph_of([f"{deep}/{number}" for number in range(1000)]))
    assert read(GRAPH, path).split()[0] == "1000"


@pytest.mark.slow
def test_a_graph_with_many_equal_names(tmp_path: Path) -> None:
    path = tmp_path / "a.pb"
    path.write_bytes(graph_of(["scope/op"] * 60_000))
    assert read(GRAPH, path).split()[0] == "60000"


def graph_of(names: Any) -> bytes:
    graph = GraphProto()
    for number, name in enumerate(names):
        graph.node.add(name=str(number), op_type="Add", full_name=name)
    return graph.SerializeToString()


@pytest.mark.slow
def test_a_tree_of_modules_that_loops(tmp_path: Path) -> None:
    folder = tmp_path / "step0" / "rank0"
    folder.mkdir(parents=True)
    names = [f"Module.layer{number}.Linear.forward.0" for number in range(20_000)]
    (folder / "dump.json").write_text(json.dumps({"task": "tensor", "level": "L0", "data": {}}))
    (folder / "construct.json").write_text(json.dumps(dict(zip(names, names[1:] + names[:1], strict=True))))
    assert read(CALLS, tmp_path) == "20000"


def test_limits_are_held_to_the_byte_and_the_item() -> None:
    limits = Limits("thing", 10, 3)
    limits.check_size(10)
    limits.check_items(3)
    with pytest.raises(UnreadableError, match=r"dump.too_large: thing of 11 bytes, limit 10"):
        limits.check_size(11)
    with pytest.raises(UnreadableError, match=r"dump.too_large: thing with over 3 items, limit 3"):
        limits.check_items(4)


def test_the_table_of_limits_is_that_of_the_code() -> None:
    text = (Path(__file__).parents[3] / "docs" / "security.md").read_text(encoding="utf-8")
    rows = [tuple(cell.strip() for cell in line.split("|")[1:5]) for line in text.splitlines() if "|" in line]
    for limits in (value for value in vars(read_limits).values() if isinstance(value, Limits)):
        size = "as large as it is" if limits.size == 1 << 62 else f"{limits.size >> 20} MiB"
        items, depth = (
            f"{limit:,}".replace(",", " ") if limit else "" for limit in (limits.items, limits.depth)
        )
        assert (limits.content, size, items, depth) in rows


def test_it_survives_the_way_back_from_a_worker_process() -> None:
    error = pickle.loads(pickle.dumps(UnreadableError("dump.truncated", "12 bytes")))
    assert (error.reason, error.detail, str(error)) == (
        "dump.truncated",
        "12 bytes",
        "dump.truncated: 12 bytes",
    )
    assert str(UnreadableError("dump.missing")) == "dump.missing"
