"""Execution orders and graphs beside the tensors of a dump."""

from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.dumps.graph_files import GraphFiles
from mindinsight.server.formats.dumps.types import StepFolder

HEADER = "NodeExecutionOrder-FullNameWithScope"


@pytest.fixture
def rank(tmp_path: Path) -> Any:
    (tmp_path / "execution_order").mkdir()
    return tmp_path


def graph_files(rank: Any, graph: str = "Net/1") -> GraphFiles:
    return GraphFiles(StepFolder(0, 0, graph, str(rank / "step"), str(rank)), [])


def write_order(rank: Any, number: Any, *names: Any) -> None:
    path = rank / "execution_order" / f"ms_execution_order_graph_{number}.csv"
    path.write_text("\n".join((HEADER, *names, "")))


def test_the_order_of_the_own_graph_comes_first(rank: Any) -> None:
    for number, name in ((0, "Default/a-op0"), (1, "Default/b-op1"), (10, "Default/c-op2")):
        write_order(rank, number, name)
    assert graph_files(rank).order() == ["Default/b-op1", "Default/a-op0", "Default/c-op2"]


def test_recorded_names_are_resolved_by_the_order(rank: Any) -> None:
    write_order(rank, 1, "Default/fc/MatMul-op1", "Default/fc/Add-op2")
    names = graph_files(rank).resolve_names(["Default_fc_Add-op2", "unknown"])
    assert names["Default_fc_Add-op2"] == ("Default/fc/Add-op2", 1)
    assert names["unknown"] == ("unknown", -1)


def test_without_files_there_is_nothing(tmp_path: Path) -> None:
    files = graph_files(tmp_path)
    assert (files.order(), files.parameters(), files.nodes(), files.damage) == ([], [], {}, [])


def test_a_file_that_cannot_be_read_is_damage_and_the_others_are_used(rank: Any) -> None:
    (rank / "graphs").mkdir()
    (rank / "graphs" / "ms_output_trace_code_graph_1.pb").write_bytes(b"\xff no graph")
    write_order(rank, 1, "Default/a-op0")
    files = graph_files(rank)
    assert files.nodes() == {}
    assert [damage.path.rpartition("/")[2] for damage in files.damage] == ["ms_output_trace_code_graph_1.pb"]
    assert files.order() == ["Default/a-op0"]
