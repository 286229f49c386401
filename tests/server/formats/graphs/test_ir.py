from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.graphs.call_stacks import Frame
from mindinsight.server.formats.graphs.ir import Dataflow, parse_ir, read_ir, read_ir_parameters, read_pb
from mindinsight.server.formats.read_limits import Limits, UnreadableError

NEW = """# IR entry: @kernel_graph0
%para1_fc.weight: <Ref[Tensor[Float32]], (2, 3), ref_key=fc.weight>  :  has_default  :  IsWeight: true
%para2_inputs0: <Tensor[Float32], (4, 3)> : [4, 3]  :  IsWeight: false

subgraph @kernel_graph0() {
  %0(equiv_1_CNode_4) = Load(%para1_fc.weight, UMonad[U]) cnode_attrs: {checkpoint: Bool(1)}
      : (<Ref[Tensor[Float32]], (2, 3)>, <UMonad, NoShape>) -> (<Tensor[Float32], (2, 3)>)
      # Fullname with scope: (Default/net-Net/Load-op0)
  %1(out) = PrimFunc_MatMul(%para2_inputs0, %0, Bool(0)) {instance name: matmul} primitive_attrs: {a: (0)}
      : (<Tensor[Float32], (4, 3)>, <Tensor[Float32], (2, 3)>) -> (<Tensor[Float32], (4, 2)>)
      # Fullname with scope: (Default/net-Net/fc-Dense/MatMul-op0)
      # In file /p/site-packages/mindspore/nn/wrap/cell_wrapper.py:442, 15~27/        loss = self.net(x)/
      # In file /home/me/a (1)/net.py:11~14, 8~30/        x = self.fc(x) / 2/
      # In file /p/site-packages/mindspore/nn/layer/basic.py:5~9/def call(a,
      b):/
  %2(tuple) = MakeTuple(%1, %0)
      # Fullname with scope: (Default/MakeTuple-op0)
  %3(item) = TupleGetItem(%2, I64(1))
      # Fullname with scope: (Default/TupleGetItem-op0)
  %4(reshaped) = Reshape(%3, Tensor(shape=[4, 1], dtype=Int32, value=
[[ 0]
 [ 1]])) primitive_attrs: {}
      # Fullname with scope: (Default/Reshape-op0)
      # Corresponding code candidate:
      # In file /home/me/net.py:20, 1~2/first/
      # Corresponding code candidate:
      # In file /home/me/net.py:21, 1~2/second/
  Return(%4)
      # Fullname with scope: (Default/Return-op0)
}
# Order:
#   1: @kernel_graph0:CNode_100{[0]: ValueNode<Primitive> Return, [1]: CNode_99}
"""


def nodes(text: Any) -> dict[Any, Any]:
    return {node.name.rpartition("/")[2]: node for node in parse_ir(text.splitlines()).nodes}


def test_operators_of_the_newer_text() -> None:
    operators = nodes(NEW)
    assert list(operators) == ["Load-op0", "MatMul-op0", "MakeTuple-op0", "TupleGetItem-op0", "Reshape-op0"]
    matmul = operators["MatMul-op0"]
    assert (matmul.op, matmul.scope) == ("MatMul", "Default/net-Net/fc-Dense")
    assert matmul.sources == ("inputs0", "fc.weight")
    assert operators["Reshape-op0"].sources == ("fc.weight",)


def test_stacks_are_innermost_first() -> None:
    (stack,) = nodes(NEW)["MatMul-op0"].stacks
    assert stack == (
        Frame("/p/site-packages/mindspore/nn/layer/basic.py", 5, 9, "", "def call(a,\n      b):"),
        Frame("/home/me/a (1)/net.py", 11, 14, "", "x = self.fc(x) / 2"),
        Frame("/p/site-packages/mindspore/nn/wrap/cell_wrapper.py", 442, 0, "", "loss = self.net(x)"),
    )


def test_several_candidates_are_several_stacks() -> None:
    stacks = nodes(NEW)["Reshape-op0"].stacks
    assert [stack[0].code for stack in stacks] == ["first", "second"]


def test_operators_of_older_texts() -> None:
    text = """%para1_x : <Tensor[Float32], (4)>
subgraph @g() {
  %0([CNode]12) = Depend(true, %para1_x)
      : full_name_with_scope: (Default/Depend-op1)
  %1(equivloss) = ReLU(%para1_x) {instance name: relu}
      : full_name_with_scope: (Default/ReLU-op2)
      # In file /home/me/net.py(175)/        x = relu(x)/
      # inlined:In file /home/me/net.py:9/    y/
  %2(b) = Add(%0, %1)
      # Scope: (Default/here)
}
"""
    depend, relu, add = parse_ir(text.splitlines()).nodes
    assert depend.sources == ()
    assert relu.name == "Default/ReLU-op2"
    assert [frame.line for frame in relu.stacks[0]] == [9, 175]
    assert (add.name, add.scope, add.sources) == ("", "Default/here", ("Default/ReLU-op2",))


def test_anything_else_is_passed_over() -> None:
    assert parse_ir([]).nodes == ()
    assert parse_ir("some text\n  %x = nothing\n  %1(a = b(\n      # In file".splitlines()).nodes == ()


def test_a_number_of_any_length_costs_nothing_but_itself() -> None:
    number = "9" * 5000
    text = f"""
  %{number}(a) = Add(%2) {{x: I64({number})}}
      : (<Tensor[Float32], ({number})>) -> (<Tensor[Float32], ({number})>)
      # In file /home/me/net.py({number})/  x = 1/
      # In file /home/me/net.py:{number}, 3~{number}/  y = 1/
  %1(b) = ReLU(%{number})
      # In file /home/me/net.py(7)/  z = 1/
"""
    add, relu = parse_ir(text.splitlines()).nodes
    assert [(frame.line, frame.code) for frame in add.stacks[0]] == [(0, "y = 1"), (0, "x = 1")]
    assert [(frame.line, frame.code) for frame in relu.stacks[0]] == [(7, "z = 1")]


def test_an_unclosed_line_does_not_lose_the_operator() -> None:
    (node,) = parse_ir("  %1(a) = Add(%2, %3".splitlines()).nodes
    assert node.op == "Add"


def test_a_text_beyond_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mindinsight.server.formats.graphs.ir.IR", Limits("text", 10, 10))
    (tmp_path / "a.ir").write_text(NEW)
    with pytest.raises(UnreadableError, match=r"dump.too_large"):
        read_ir(tmp_path / "a.ir")


def test_parameters_alone_are_read_from_the_head(samples: Any) -> None:
    path = samples / "ms_sync_cpu_2ranks/rank_0/graphs/ms_output_trace_code_graph_0.ir"
    assert read_ir_parameters(path) == read_ir(path).parameters
    assert len(read_ir_parameters(path)) == 22


def test_every_name_of_the_samples_is_found(samples: Any) -> None:
    texts = sorted(samples.glob("*/rank_0/graphs/*.ir"))
    assert len(texts) == 3
    for path in texts:
        text = path.read_text()
        parsed = read_ir(path)
        named = [node.name for node in parsed.nodes if node.name]
        assert len(named) == text.count("# Fullname with scope: (") - text.count("\n  Return(")
        assert all(f"({name})" in text for name in named)
        assert sum(len(stack) for node in parsed.nodes for stack in node.stacks) == text.count("In file ")


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


def test_tuples_are_looked_through() -> None:
    dataflow = Dataflow({"x": ("x",), "w": ("w",)})
    assert dataflow.add("0", "Load", "Load-op0", ["w", "monad"]) == ("w",)
    assert dataflow.add("1", "Add", "Add-op0", ["x", "0", "x"]) == ("x", "w")
    assert dataflow.add("2", "MakeTuple", "MakeTuple-op0", ["1", "constant", "0"]) == ("Add-op0", "w")
    assert dataflow.add("3", "TupleGetItem", "TupleGetItem-op0", ["2", "2"]) == ("w",)
    assert dataflow.add("4", "TupleGetItem", "TupleGetItem-op1", ["2", "0"]) == ("Add-op0",)
    assert dataflow.add("5", "TupleGetItem", "TupleGetItem-op2", ["1", "1"]) == ("Add-op0",)
    assert dataflow.add("6", "UpdateState", "UpdateState-op0", ["1", "0"]) == ()
    assert dataflow.add("7", "Depend", "Depend-op0", ["4", "6"]) == ("Add-op0",)
    assert dataflow.add("8", "Mul", "Mul-op0", ["7", "3", "unheard"]) == ("Add-op0", "w")


def test_operators_without_names_feed_nothing() -> None:
    dataflow = Dataflow()
    dataflow.add("0", "Add", "", [])
    assert dataflow.add("1", "Add", "Add-op0", ["0"]) == ()
