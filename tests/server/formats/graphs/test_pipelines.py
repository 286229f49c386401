from pathlib import Path
from typing import Any

from mindinsight.server.formats.graphs.pipelines import pipeline_graph
from mindinsight.server.formats.lineage import decode_lineage
from mindinsight.server.graph.model.node_details import attribute_summaries
from mindinsight.server.graph.scopes.folding import folded_tree
from tests.narrowing import require

EVENTS = Path(__file__).parents[3] / "data" / "events"


def recorded() -> Any:
    (path,) = [path for path in (EVENTS / "lenet").glob("*_lineage") if path.stat().st_size > 500]
    return pipeline_graph(require(decode_lineage(path.read_bytes()).dataset_graph))


def chain(graph: Any) -> Any:
    """Types along the only way from the source to the end."""
    following = dict(zip(graph.edges.sources.tolist(), graph.edges.targets.tolist(), strict=True))
    (node,) = set(range(len(graph))) - set(graph.edges.targets.tolist())
    types = [graph.types[node]]
    while node in following:
        node = following[node]
        types.append(graph.types[node])
    return types


def test_steps_run_from_the_source_to_the_batch() -> None:
    graph = recorded()
    assert chain(graph) == [
        *("SequentialSampler", "MnistDataset"),
        *("Resize", "Rescale", "Normalize", "HwcToChw", "Map"),
        *("TypeCast", "Map", "Shuffle", "Batch"),
    ]
    assert [graph.types[node] for node in graph.outputs] == ["Batch"]


def test_a_step_with_operations_is_a_scope() -> None:
    tree = folded_tree(recorded())
    scopes = [tree.paths[index] for index in tree.children(0) if tree.nodes[index] < 0]
    assert scopes == ["MnistDataset-0", "Map-2", "Map-7"]
    steps = [tree.paths[index] for index in tree.children(tree.indices["Map-7"])]
    assert steps == ["Map-7/TypeCast-7", "Map-7/Map"]  # no number beside that of its scope


def test_settings_are_attributes() -> None:
    graph = recorded()
    batch = dict(attribute_summaries(graph, graph.types.index("Batch")))
    assert batch["batch_size"] == "10" and batch["drop_remainder"] == "true"
    shuffle = dict(attribute_summaries(graph, graph.types.index("Shuffle")))
    assert shuffle["buffer_size"] == "64"


def test_two_sources_and_bare_steps() -> None:
    zipped = {
        "op_type": "Zip",
        "children": [{"op_type": "A", "children": []}, {"x": [1, None, 0.5], "children": []}],
    }
    graph = pipeline_graph(zipped)
    assert graph.types == ("A", "Dataset", "Zip")
    assert len(graph.edges) == 2
    assert attribute_summaries(graph, 1) == [("x", '(1, "None", 0.5)')]
