from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.graphs.ir import read_ir
from mindinsight.server.formats.graphs.pb_graphs import read_pb
from mindinsight.server.formats.unreadable import UnreadableError


@pytest.mark.parametrize("name", ["ms_sync_cpu_2ranks", "ms_sync_v2_0_names"])
def test_text_and_graph_say_the_same(samples: Any, name: str) -> None:
    """Two files of one compilation, written and read in two ways."""
    folder = samples / name / "rank_0" / "graphs"
    text = read_ir(folder / "ms_output_trace_code_graph_0.ir")
    graph = read_pb(folder / "ms_output_trace_code_graph_0.pb")
    assert sorted(graph.parameters) == sorted(text.parameters)
    by_name = {node.name: node for node in graph.nodes}
    assert by_name.keys() == {node.name for node in text.nodes}
    for node in text.nodes:
        other = by_name[node.name]
        assert (other.op, other.scope) == (node.op, node.scope)
        assert other.sources == node.sources
        assert bool(other.stacks) == bool(node.stacks)


def test_a_file_cut_off(samples: Any, tmp_path: Path) -> None:
    whole = (samples / "ms_sync_cpu_2ranks/rank_0/graphs/ms_output_trace_code_graph_0.pb").read_bytes()
    (tmp_path / "cut.pb").write_bytes(whole[:-10])
    with pytest.raises(UnreadableError, match=r"dump.bad_graph"):
        read_pb(tmp_path / "cut.pb")
