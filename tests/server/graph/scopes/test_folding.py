from collections.abc import Callable
from typing import Any

import numpy as np

from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.scopes.folding import (
    MOST,
    REPEAT,
    REST,
    RUN,
    WIDE,
    connected,
    display_name,
    folded_tree,
    identical_scopes,
    parallel,
    sibling_flow,
    signatures_of,
)
from mindinsight.server.graph.scopes.scope_tree import GROUP, SCOPE, Folding, build_tree


def of_type(tree: Any, kind: Any) -> list[Any]:
    return [index for index, type_name in enumerate(tree.types) if type_name == kind]


def leaves_match(tree: Any, graph: Any) -> bool:
    return sorted(tree.paths[index] for index in np.flatnonzero(tree.nodes >= 0)) == sorted(graph.names)


def test_numbered_layers_of_one_structure_become_one_box(graph: Any, blocks: Any) -> None:
    made = graph(blocks(12))
    tree = folded_tree(made)
    (box,) = of_type(tree, REPEAT)
    (rest,) = of_type(tree, REST)
    assert tree.paths[box] == "Default/net/*-Block[12]"
    assert [tree.paths[child] for child in tree.children(box)] == [
        "Default/net/0-Block",
        "Default/net/*-Block[12]/*-Block[+11]",
    ]
    assert [tree.paths[child] for child in tree.children(rest)] == [
        f"Default/net/{n}-Block" for n in range(1, 12)
    ]
    assert [display_name(tree, index) for index in (box, rest)] == ["12 × Block", "+ 11 × Block"]
    assert leaves_match(tree, made)


def test_layers_that_differ_in_what_passes_values_on_are_alike(graph: Any, blocks: Any) -> None:
    nodes = blocks(6)
    nodes.insert(-1, ("Default/net/3-Block/Load-op0", ["Default/net/3-Block/MatMul-op3"]))
    tree = folded_tree(graph(nodes))
    assert [tree.paths[box] for box in of_type(tree, REPEAT)] == ["Default/net/*-Block[6]"]


def test_layers_with_nothing_but_numbers_for_names_are_called_like_their_scope(graph: Any) -> None:
    nodes: list[Any] = [
        (f"net/layers/{number}/{kind}-op{number}", []) for number in range(5) for kind in ("MatMul", "ReLU")
    ]
    tree = folded_tree(graph(nodes))
    assert [display_name(tree, box) for box in of_type(tree, REPEAT)] == ["5 × layers"]


def test_layers_of_another_structure_stay_outside(graph: Any, blocks: Any) -> None:
    nodes = blocks(12)
    nodes.insert(-1, ("Default/net/5-Block/Extra-op0", ["Default/net/5-Block/MatMul-op5"]))
    tree = folded_tree(graph(nodes))
    boxes = of_type(tree, REPEAT)
    assert [display_name(tree, box) for box in boxes] == ["5 × 0…4-Block", "6 × 6…11-Block"]
    assert tree.parents[tree.indices["Default/net/5-Block"]] == tree.parents[boxes[0]]


def test_two_boxes_of_one_name_have_two_paths(graph: Any, blocks: Any) -> None:
    nodes = blocks(11)
    nodes.insert(-1, ("Default/net/5-Block/Extra-op0", ["Default/net/5-Block/MatMul-op5"]))
    tree = folded_tree(graph(nodes))
    boxes = [*of_type(tree, REPEAT), *of_type(tree, REST)]
    assert [display_name(tree, box) for box in boxes] == [
        *("5 × 0…4-Block", "5 × 6…10-Block"),
        *("+ 4 × 1…4-Block", "+ 4 × 7…10-Block"),
    ]
    assert [tree.indices[tree.paths[box]] for box in boxes] == boxes


def test_an_operator_with_the_type_of_a_box_is_no_box(graph: Any, blocks: Any) -> None:
    nodes = [*blocks(5), ("Default/net/repeat_scope-op0", [])]
    tree = folded_tree(graph(nodes))
    assert [tree.counts[index] for index in of_type(tree, REPEAT)] == [0, 2]


def test_the_count_is_that_of_the_layers_however_many_there_are(graph: Any, blocks: Any) -> None:
    tree = folded_tree(graph(blocks(160)))
    (box,) = of_type(tree, REPEAT)
    (rest,) = of_type(tree, REST)
    assert [display_name(tree, index) for index in (box, rest)] == ["160 × Block", "+ 159 × Block"]


def test_layers_between_which_something_else_lies_are_not_folded(graph: Any) -> None:
    nodes: list[Any] = [("net/In-op0", [])]
    for number in range(6):
        nodes.append((f"net/conv{number}-Conv2d/Conv2D-op{number}", [nodes[-1][0]]))
        nodes.append((f"net/ReLU-op{number}", [nodes[-1][0]]))
    assert of_type(folded_tree(graph(nodes)), REPEAT) == []


def test_consecutive_layers_keep_the_digits_of_their_names(graph: Any) -> None:
    nodes: list[Any] = [("net/In-op0", [])]
    for number in range(3, 8):
        nodes.append((f"net/conv{number}-Conv2d/Conv2D-op{number}", [nodes[-1][0]]))
    tree = folded_tree(graph(nodes))
    assert [display_name(tree, box) for box in of_type(tree, REPEAT)] == ["5 × conv3…7-Conv2d"]


def test_parallel_layers_are_folded_and_two_rounds_of_them_are_two_boxes(graph: Any) -> None:
    nodes: list[Any] = [("net/In-op0", [])]
    nodes += [(f"net/{number}-Expert/MatMul-op{number}", ["net/In-op0"]) for number in range(4)]
    nodes += [("net/Add-op0", [f"net/{number}-Expert/MatMul-op{number}" for number in range(4)])]
    nodes += [(f"net/{number}-Expert/MatMul-op{number}", ["net/Add-op0"]) for number in range(4, 8)]
    tree = folded_tree(graph(nodes))
    assert [display_name(tree, box) for box in of_type(tree, REPEAT)] == [
        "4 × 0…3-Expert",
        "4 × 4…7-Expert",
    ]


def test_a_layer_that_is_wired_otherwise_is_not_among_the_equal_ones(graph: Any) -> None:
    def network(rewired: int) -> list[Any]:
        nodes: list[Any] = [("net/In-op0", [])]
        for number in range(10):
            value, block = nodes[-1][0], f"net/{number}-Block"
            skip = value if number == rewired else f"{block}/ReLU-op{number}"
            nodes += [
                (f"{block}/ReLU-op{number}", [value]),
                (f"{block}/MatMul-op{number}", [f"{block}/ReLU-op{number}"]),
                (f"{block}/Add-op{number}", [skip, f"{block}/MatMul-op{number}"]),
            ]
        return nodes

    tree = folded_tree(graph(network(5)))
    assert [display_name(tree, box) for box in of_type(tree, REPEAT)] == ["5 × 0…4-Block", "4 × 6…9-Block"]


def test_alike_scopes_without_numbers_are_no_repetition(graph: Any) -> None:
    nodes: list[Any] = [
        (f"Default/{name}-Dense/MatMul-op{n}", []) for n, name in enumerate(("q", "k", "v", "out"))
    ]
    assert of_type(folded_tree(graph(nodes)), REPEAT) == []


def test_many_operators_of_a_type_are_put_together_only_in_wide_scopes(graph: Any) -> None:
    narrow: list[Any] = [(f"Default/Load-op{n}", []) for n in range(WIDE - 1)] + [
        ("Default/Add-op0", ["Default/Load-op0"])
    ]
    assert of_type(folded_tree(graph(narrow)), GROUP) == []
    wide = [*narrow, *((f"Default/Add-op{n}", []) for n in range(1, 9))]
    tree = folded_tree(graph(wide))
    assert [tree.paths[index] for index in of_type(tree, GROUP)] == [f"Default/Load[{WIDE - 1}]"]
    assert tree.counts[tree.indices["Default"]] == 10


def test_no_scope_has_more_children_than_can_be_drawn(graph: Any) -> None:
    made = graph([(f"Default/T{n}-op0", [f"Default/T{n - 1}-op0"] if n else []) for n in range(2500)])
    tree = folded_tree(made)
    assert tree.counts.max() <= MOST
    assert of_type(tree, RUN)
    assert leaves_match(tree, made)
    assert len(set(tree.paths)) == len(tree.paths)


def test_folding_changes_no_edge(graph: Any, blocks: Any) -> None:
    made = graph(blocks(9))
    tree = folded_tree(made)
    edges = zip(tree.nodes[tree.edges.sources], tree.nodes[tree.edges.targets], strict=True)
    plain = zip(made.edges.sources, made.edges.targets, strict=True)
    assert sorted(edges) == sorted(plain)


def test_places_below_a_scope_are_one_range(graph: Any, blocks: Any) -> None:
    tree = folded_tree(graph(blocks(9)))
    for index in range(1, len(tree.paths)):
        parent = int(tree.parents[index])
        assert parent < index < tree.ends[parent]
        assert tree.ends[index] <= tree.ends[parent]
        assert (tree.types[index] in (SCOPE, GROUP, REPEAT, REST, RUN)) == (tree.nodes[index] < 0)


def plain(graph: Graph) -> Any:
    return build_tree(graph, Folding(least=1000, outer=False, nameless=True))


def test_values_flow_through_operators_that_only_pass_them_on(graph: Callable[..., Graph]) -> None:
    tree = plain(
        graph(
            [
                ("n/0-B/MatMul-op0", []),
                ("n/TupleGetItem-op0", ["n/0-B/MatMul-op0"]),
                ("n/1-B/MatMul-op1", ["n/TupleGetItem-op0"]),
                ("n/UpdateState-op0", ["n/1-B/MatMul-op1"]),
                ("n/2-B/MatMul-op2", ["n/UpdateState-op0"]),
            ]
        )
    )
    flow = sibling_flow(tree)
    links = [
        (tree.paths[giver], tree.paths[taker]) for giver, taker in zip(flow.givers, flow.takers, strict=True)
    ]
    assert links == [("n/0-B", "n/1-B")]
    assert tree.paths[flow.scopes[0]] == "n"


def test_members_are_grouped_by_what_flows_between_them() -> None:
    assert connected([1, 2, 3, 4, 5], [(1, 2), (2, 3)]) == [[1, 2, 3], [4], [5]]


def test_parallel_members_depend_on_the_same_others(graph: Callable[..., Graph]) -> None:
    nodes: list[Any] = [("n/Add-op0", []), ("n/Add-op1", []), ("n/Mul-op0", ["n/Add-op0", "n/Add-op1"])]
    nodes += [("n/Add-op2", ["n/Mul-op0"]), ("n/Add-op3", ["n/Mul-op0"])]
    tree = plain(graph(nodes))
    group = [tree.indices[f"n/Add-op{number}"] for number in range(4)]
    assert parallel(tree, [group]) == [[group[:2], group[2:]]]


def test_numbers_and_order_do_not_count_and_names_do(graph: Callable[..., Graph]) -> None:
    nodes: list[Any] = [
        ("a/q0/MatMul-op0", []),
        ("a/q0/Add-op0", []),
        ("a/q1/Add-op1", []),
        ("a/q1/MatMul-op1", []),
        ("a/k0/MatMul-op2", []),
        ("a/k0/Add-op2", []),
        ("a/q2/MatMul-op3", []),
    ]
    tree = folded_tree(graph(nodes))
    numbers = {path: signatures_of(tree)[index] for path, index in tree.indices.items()}
    assert numbers["a/q0"] == numbers["a/q1"]
    assert len({numbers[path] for path in ("a/q0", "a/k0", "a/q2")}) == 3


def test_identical_layers_are_found_wherever_they_are(graph: Callable[..., Graph], blocks: Any) -> None:
    tree = folded_tree(graph([*blocks(5), *blocks(2, "Default/other")]))
    scopes = identical_scopes(tree, tree.indices["Default/net/1-Block"])
    assert [tree.paths[index] for index in scopes] == [
        *(f"Default/net/{number}-Block" for number in (0, 2, 3, 4)),
        *(f"Default/other/{number}-Block" for number in (0, 1)),
    ]
