from collections.abc import Callable

from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.model.training import has_training, training_operators

FORWARD = ("Default/net/Add-op0", ["x"])
BACKWARD = ("Gradients/Default/net/Grad-op0", ["x"])


def test_a_training_has_both_passes(graph: Callable[..., Graph]) -> None:
    assert has_training(graph([FORWARD, BACKWARD], ["x"]))
    assert not has_training(graph([FORWARD], ["x"]))
    assert not has_training(graph([BACKWARD], ["x"]))


def test_operators_of_the_optimizer_belong_to_the_training(graph: Callable[..., Graph]) -> None:
    made = graph([FORWARD, BACKWARD, ("Default/optimizer-Adam/Adam-op0", ["x"])], ["x"])
    assert training_operators(made).tolist() == [False, True, True, False]
