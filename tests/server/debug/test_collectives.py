"""Types of collective operations, as PyTorch and MindSpore name them."""

import pytest

from mindinsight.server.debug.collectives import gives_all_the_same, gives_each_its_part, is_collective


@pytest.mark.parametrize("name", ["allreduce_", "AllReduce", "c10d::allgather_", "_allgather_base_"])
def test_these_give_all_ranks_the_same(name: str) -> None:
    assert gives_all_the_same(name)


@pytest.mark.parametrize("name", ["reduce_scatter_", "ReduceScatter", "AlltoAll", "recv_"])
def test_these_give_each_rank_something_else(name: str) -> None:
    assert is_collective(name)
    assert gives_each_its_part(name)
    assert not gives_all_the_same(name)


@pytest.mark.parametrize("name", ["ReduceMean", "div_", "sum", "", "Gather", "BroadcastTo"])
def test_these_are_none(name: str) -> None:
    assert not is_collective(name)
    assert not gives_all_the_same(name)
