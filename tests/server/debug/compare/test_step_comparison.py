"""Comparison of many steps and ranks, equal to the comparison of each one."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mindinsight.server.debug.compare.dump_comparison import Side, compare_sides
from mindinsight.server.debug.compare.step_comparison import common_steps, compare_steps
from mindinsight.server.formats.dumps import open_dump
from tests.server.commands.dump.conftest import LENET


@pytest.mark.parametrize("workers", [0, 2])
def test_every_step_has_the_rows_it_has_alone(workers: int) -> None:
    dump = open_dump(LENET)
    steps = common_steps(dump, dump)
    executor = ThreadPoolExecutor(workers) if workers else None
    compared = list(compare_steps(dump, dump, steps, None, executor))
    assert [(comparison.rank, comparison.step) for comparison in compared] == steps
    assert len(steps) > 1
    for comparison in compared:
        side = Side(dump, comparison.rank, comparison.step)
        assert list(map(repr, comparison.rows)) == list(map(repr, compare_sides(side, side)))
        assert comparison.damage == []


def test_steps_of_one_side_alone_are_left_out(tmp_path: Path) -> None:
    path = Path(shutil.copytree(LENET, tmp_path / "dump"))
    shutil.rmtree(path / "rank_0" / "Net" / "0" / "0")
    dump, whole = open_dump(path), open_dump(LENET)
    assert common_steps(dump, whole) == [(0, 1)]
    assert common_steps(whole, dump) == [(0, 1)]


def test_a_damaged_file_is_of_its_step_and_steps_without_tensors_are_empty(tmp_path: Path) -> None:
    path = Path(shutil.copytree(LENET, tmp_path / "dump"))
    (file,) = (path / "rank_0" / "Net" / "0" / "1").glob("MatMul.MatMul-op66.*.output.0.*")
    file.write_bytes(file.read_bytes()[:-10])
    dump = open_dump(path)
    empty, whole, damaged = compare_steps(dump, dump, [(0, 99), (0, 0), (0, 1)])
    assert (empty.rows, empty.damage, whole.damage) == ([], [], [])
    assert [Path(damage.path) for damage in damaged.damage] == [file]
