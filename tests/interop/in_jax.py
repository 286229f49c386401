"""Our writer inside JAX: graphs of functions, operators inside compiled ones.

Run with a Python that has jax.
"""

import jax
import jax.numpy as jnp

from mindinsight.proto import graph_pb2
from mindinsight.writer import HistogramSummary, Print, ScalarSummary, graph_of
from mindinsight.writer.operators import take_operator_values

PARAMS = {"w1": jnp.ones((4, 8)), "b1": jnp.zeros(8), "w2": jnp.ones((8, 3))}
X = jnp.ones((2, 4))


def network(params, x):
    with jax.named_scope("fc1"):
        h = jax.nn.relu(x @ params["w1"] + params["b1"])
    HistogramSummary()("hidden", h)
    with jax.named_scope("fc2"):
        return h @ params["w2"]


def parsed(content):
    return graph_pb2.ModelProto.FromString(content).graph


def check_graph(function):
    graph = parsed(graph_of(function, (PARAMS, X)))
    names = [node.full_name for node in graph.node]
    assert any(name.endswith("fc1/dot_general-op0") for name in names), names
    assert {parameter.name for parameter in graph.parameters} == {"params.w1", "params.b1", "params.w2", "x"}
    assert [dim.size for dim in graph.outputs[0].type.tensor_type.shape.dim] == [2, 3]
    assert not any("callback" in name for name in names), names


def check_graph_of_gradients_and_loops():
    graph = parsed(graph_of(jax.grad(lambda p, x: network(p, x).sum()), (PARAMS, X)))
    assert any(node.scope.startswith("Default/transpose(jvp(fc2))") for node in graph.node)
    graph = parsed(graph_of(lambda x: jax.lax.scan(lambda c, y: (c + y, c), x[0], x), (X,)))
    assert [node.op_type for node in graph.node][-3:] == ["scan", "TupleGetItem", "TupleGetItem"]
    assert graph_of(network) is None


def check_operators():
    @jax.jit
    def step(x):
        ScalarSummary()("sum", x.sum())
        Print()("inside", x)
        return x * 2

    take_operator_values()
    step(X)
    step(2 * X)
    assert [(plugin, tag, float(value)) for plugin, tag, value in take_operator_values()] == [
        ("scalar", "sum", 16.0)
    ]
    jax.value_and_grad(lambda p: network(p, X).sum())(PARAMS)
    ((plugin, tag, value),) = take_operator_values()
    assert (plugin, tag, value.shape) == ("histogram", "hidden", (2, 8))
    ScalarSummary()("outside", jnp.float32(3))
    assert len(take_operator_values()) == 1


if __name__ == "__main__":
    check_graph(network)
    check_graph(jax.jit(network))
    check_graph_of_gradients_and_loops()
    check_operators()
    print(f"JAX {jax.__version__}: graphs, operators: ok")
