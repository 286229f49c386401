"""Links, pipes, sockets and devices in every place of a dump: named, never opened, never waited for."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.dumps import (
    list_operators,
    list_overflows,
    list_tensors,
    open_dump,
    read_tensor,
)
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.text_files import read_text

SECRET = "no_line_of_this_file_is_shown"
SYNC, MSPROBE = "ms_sync_v2_0_names", "msprobe_pytorch/L1_statistics_statistics"
DUMPS = Path(__file__).parents[3] / "data" / "dumps"


def by_link(path: Any, outside: Any) -> None:
    path.symlink_to(outside)


def by_pipe(path: Any, outside: Any) -> None:
    os.mkfifo(path)


def by_socket(path: Any, outside: Any) -> None:
    descriptor = os.open(path.parent, os.O_PATH)  # names of sockets have 107 bytes at most
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(f"/proc/self/fd/{descriptor}/{path.name}")
    os.close(descriptor)


@pytest.fixture
def outside(tmp_path: Path) -> Any:
    """A folder beside the dump that has everything a dump may have, and a secret in all of it."""
    outside = tmp_path / "outside"
    for name in ("inside", "rdr", "constants"):
        (outside / name).mkdir(parents=True)
    text = f"Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot\nA,{SECRET},0,0,1,input,0\n"
    (outside / "file").write_text(text)
    for name in (
        "data_dump.json",
        "ms_execution_order_graph_0.csv",
        "ms_output_trace_code_graph_0.ir",
        "SESSION.graph_exec_order.0.20230101000000.txt",
        f"Parameter.{SECRET}.0.0.1.output.0.DefaultFormat.npy",
    ):
        (outside / "inside" / name).write_text(text)
    return outside


@pytest.fixture
def dump(tmp_path: Path) -> Callable[..., Any]:
    """dump(name) -> the path of a copy of a sample."""

    def copy(name: Any) -> Any:
        return Path(shutil.copytree(DUMPS / name, tmp_path / "dump"))

    return copy


def everything(path: Any) -> set[Any]:
    """All that is said of a dump, and the paths that are named as refused."""
    dump = open_dump(path)
    texts, damage = [dump.config, dump.version, dump.level], list(dump.damage)
    for log in dump.logs:
        try:
            texts.append(read_text(Path(log.path)))
        except UnreadableError as error:
            texts.append(error.reason)
    for rank in dump.ranks:
        for step in dump.steps(rank):
            for listing in (function(dump, rank, step) for function in (list_tensors, list_operators)):
                texts += map(repr, listing)
                damage += listing.damage
            damage += list_overflows(dump, rank, step).damage
            for tensor in list_tensors(dump, rank, step):
                try:
                    texts.append(read_tensor(tensor.ref).tobytes().hex() if tensor.ref else "")
                except UnreadableError as error:
                    texts.append(error.reason)
    assert not any(SECRET in text or SECRET.encode().hex() in text for text in texts)
    return {entry.path for entry in damage if entry.reason in ("dump.link", "dump.not_a_file")}


def replace(path: Any, by: Any, target: Any) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    by(path, target)


@pytest.mark.parametrize("by", [by_link, by_pipe, by_socket])
@pytest.mark.parametrize(
    "name",
    [
        "rank_0/.dump_metadata/data_dump.json",
        "rank_0/.dump_metadata/config.json",
        "rank_0/execution_order/ms_execution_order_graph_0.csv",
        "rank_0/execution_order/ms_global_execution_order_graph_0.csv",
        "rank_0/graphs/ms_output_trace_code_graph_0.ir",
        "rank_0/rdr/SESSION.graph_exec_order.0.20230101000000.txt",
        "rank_0/Net/0/1/statistic.csv",
        "rank_0/Net/0/1/mapping.csv",
        "rank_0/Net/0/1/Parameter.link.0.0.1.output.0.DefaultFormat.npy",
        "rank_0/Net/0/constants/Parameter.data-2.0.0.1.output.0.DefaultFormat.npy",
    ],
)
def test_in_place_of_a_file_of_a_synchronous_dump(
    dump: Callable[..., Any], outside: Any, name: str, by: Any
) -> None:
    path = dump(SYNC)
    replace(path / name, by, outside / "file")
    assert str(path / name) in everything(path)


@pytest.mark.parametrize("by", [by_link, by_pipe, by_socket])
@pytest.mark.parametrize(
    "name",
    [
        *("rank_0/.dump_metadata", "rank_0/execution_order", "rank_0/graphs", "rank_0/rdr"),
        *("rank_1", "rank_0/Other", "rank_0/Net/0/constants", "rank_0/Net/0/9"),
    ],
)
def test_in_place_of_a_folder_of_a_synchronous_dump(
    dump: Callable[..., Any], outside: Any, name: Any, by: Any
) -> None:
    path = dump(SYNC)
    replace(path / name, by, outside / "inside")
    assert str(path / name) in everything(path)


@pytest.mark.parametrize("by", [by_link, by_pipe, by_socket])
@pytest.mark.parametrize(
    "name",
    [
        *("config.json", "step0/rank0/dump.json", "step0/rank0/stack.json", "step0/rank0/construct.json"),
        *("step0/rank0/debug.json", "step0/rank0/dump_tensor_data", "step0/rank7", "step7"),
        "step0/rank0/dump_tensor_data/Functional.conv2d.0.forward.input.0.npy",
    ],
)
def test_in_a_dump_of_msprobe(dump: Callable[..., Any], outside: Any, name: Any, by: Any) -> None:
    path = dump(MSPROBE)
    (path / "step0" / "rank0").mkdir(parents=True, exist_ok=True)
    replace(path / name, by, outside / "file")
    assert str(path / name) in everything(path)


@pytest.mark.parametrize("by", [by_link, by_pipe, by_socket])
def test_in_an_asynchronous_dump(samples: Any, tmp_path: Path, outside: Any, by: Any) -> None:
    path = Path(shutil.copytree(samples / "async_SYNTHETIC" / "bin", tmp_path / "dump"))
    folder = Path(open_dump(path).folders[0].path)
    names = ["mapping.csv", "Opdebug.Node_OpDebug.1.1.1.json", "Opdebug.Node_OpDebug.1.2.1", "MatMul.a.1.2.3"]
    for name in names:
        replace(folder / name, by, outside / "file")
    assert {str(folder / name) for name in names} <= everything(path)


def test_a_dump_with_nothing_odd_in_it(dump: Callable[..., Any]) -> None:
    assert everything(dump(SYNC)) == set()
