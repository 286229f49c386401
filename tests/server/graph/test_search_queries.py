"""Search by words and by fields."""

import pytest

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.scopes.scope_tree import Tree
from mindinsight.server.graph.search import parse_query, query_nodes, query_outer


@pytest.fixture(scope="module")
def tree() -> Tree:
    """Return a tree of a convolution with strides, a product in half precision, a cast and a parameter."""
    proto = GraphProto()
    nodes = [
        ("net/attn/Conv2D-op0", 11, (8, 4, 16, 16)),
        ("net/head/MatMul-op1", 10, (1024, 50257)),
        ("net/head/MatMul-op2", 11, (1024, 512)),
        ("net/head/Cast-op3", 11, (-1, 512)),
    ]
    for number, (path, kind, shape) in enumerate(nodes):
        op_type = path.rpartition("/")[2].partition("-")[0]
        node = proto.node.add(name=str(number), op_type=op_type, full_name=path)
        node.output_type.data_type, node.output_type.tensor_type.elem_type = 14, kind
        for size in shape:
            node.output_type.tensor_type.shape.dim.add(size=size)
    strides = proto.node[0].attribute.add(name="strides").value
    strides.dtype = 31
    for _ in range(2):
        strides.values.add(dtype=5, int_val=2)
    parameter = proto.parameters.add(name="head.weight")
    parameter.type.data_type, parameter.type.tensor_type.elem_type = 14, 11
    for size in (50257, 512):
        parameter.type.tensor_type.shape.dim.add(size=size)
    return folded_tree(read_graph(proto.SerializeToString()))


CASES = [
    ("matmul", ["MatMul-op1", "MatMul-op2"]),
    ("type:MatMul", ["MatMul-op1", "MatMul-op2"]),
    ("TYPE:matm*", ["MatMul-op1", "MatMul-op2"]),
    ("shape:*x50257", ["MatMul-op1"]),
    ("shape:*×50257", ["MatMul-op1"]),
    ("shape:1024x?????", ["MatMul-op1"]),
    ("shape:1024x???", ["MatMul-op2"]),
    ("shape:?x512", ["Cast-op3"]),
    ("dtype:float16", ["MatMul-op1"]),
    ("attr:strides=2", ["Conv2D-op0"]),
    ("attr:strides=2,2", ["Conv2D-op0"]),
    ("attr:strides=(2,*)", ["Conv2D-op0"]),
    ("attr:Strides", ["Conv2D-op0"]),
    ("attr:strides=3", []),
    ("type:MatMul shape:*x50257 dtype:float16", ["MatMul-op1"]),
    ("type:MatMul dtype:float32 op1", []),
    ("head/ op2", ["MatMul-op2"]),
    ("mat op2", ["MatMul-op2"]),
    ("head", ["head"]),
    ("colour:red", []),
    ("shape:[[(", []),
]


@pytest.mark.parametrize(("text", "names"), CASES)
def test_all_words_and_fields_have_to_match(tree: Tree, text: str, names: list[str]) -> None:
    nodes = query_nodes(tree, parse_query(text))
    assert [tree.paths[index].rpartition("/")[2] for index in nodes] == names


def test_parameters_have_shapes_too(tree: Tree) -> None:
    names = [tree.graph.names[node] for node in query_outer(tree, parse_query("shape:50257x*"))]
    assert names == ["head.weight"]
    assert query_outer(tree, parse_query("attr:strides")) == []


def test_the_chosen_types_narrow_a_query(tree: Tree) -> None:
    assert [tree.types[index] for index in query_nodes(tree, parse_query("op"), ["Cast"])] == ["Cast"]


def test_a_pattern_of_many_asterisks_ends(tree: Tree) -> None:
    assert query_nodes(tree, parse_query("shape:" + "*1" * 90)) == []


def test_a_number_is_not_found_within_another_word() -> None:
    query = parse_query("blocks 1 fc1")
    paths = [f"Default/blocks-ModuleList/{block}-Block/fc1-Linear" for block in (0, 1, 11)]
    assert [query.rank(path) for path in paths] == [-1, 0, -1]
    assert parse_query("layer 3 conv3").rank("net/layer3/conv3") == 0
