"""A step of a dump on the graph of its training."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from mindinsight.server.compute.threads import Threads
from mindinsight.server.debug.graphs.operator_status import Symptom
from mindinsight.server.debug.graphs.overlay import SYMPTOMS, Overlay
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.scopes.folding import folded_tree
from tests.server.debug.conftest import spoil

MATMUL = "MatMul-op66"


@pytest.fixture
def overlay(copied: Any) -> Iterator[Any]:
    path = copied("ms_sync_v2_0_names")
    spoil(path / "rank_0" / "Net" / "0" / "1", f"MatMul.{MATMUL}.*.output.0.*", np.nan, position=0)
    graph = read_graph((path / "rank_0" / "graphs" / "ms_output_trace_code_graph_0.pb").read_bytes())
    with ThreadPoolExecutor(1) as executor:
        listing = Listing(open_dump(path), 0, 1, executor, None, Threads(2, "job"))
        assert listing.wait(60)
        yield Overlay(folded_tree(graph), listing)


def leaf_of(overlay: Any, recorded: Any) -> int:
    return int(overlay.tree.leaf_indices[overlay.joined.nodes["Net/0", recorded]])


def test_the_first_fault_is_marked_at_its_node(overlay: Any) -> None:
    column = overlay.column(SYMPTOMS)
    assert len(column) == len(overlay.tree.paths)
    assert np.flatnonzero(column == Symptom.FAULT).tolist() == [leaf_of(overlay, MATMUL)]
    assert column[leaf_of(overlay, "ReLU-op52")] == Symptom.FINE


def test_a_statistic_is_a_column_too(overlay: Any) -> None:
    column = overlay.column("nans")
    assert column[leaf_of(overlay, MATMUL)] == 1
    assert np.nansum(column) == 1


def test_a_complete_column_is_computed_once(overlay: Any) -> None:
    assert overlay.column("norm") is overlay.column("norm")


def test_operators_are_known_by_node(overlay: Any) -> None:
    node = overlay.joined.nodes["Net/0", MATMUL]
    assert [operator.recorded for operator in overlay.operators_of[node]] == [MATMUL]


def test_a_weight_that_the_update_broke_marks_no_operator_that_took_it_before(copied: Any) -> None:
    path = copied("ms_sync_v2_0_names")
    spoil(path / "rank_0" / "Net" / "0" / "1", "Parameter.conv1.weight.*", np.nan, position=0)
    graph = read_graph((path / "rank_0" / "graphs" / "ms_output_trace_code_graph_0.pb").read_bytes())
    with ThreadPoolExecutor(1) as executor:
        listing = Listing(open_dump(path), 0, 1, executor, None, Threads(2, "job"))
        assert listing.wait(60)
        overlay = Overlay(folded_tree(graph), listing)
        assert ("Net/0", "conv1.weight") in overlay.updated
        assert ("Net/0", "data-1") not in overlay.updated
        assert overlay.column(SYMPTOMS)[leaf_of(overlay, "Conv2D-op51")] == Symptom.FINE
