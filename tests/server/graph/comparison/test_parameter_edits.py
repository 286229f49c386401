"""Parameters that only one of two graphs has, unless another claim implies them."""

import numpy as np

from mindinsight.server.claims import sentence
from mindinsight.server.graph.comparison.parameter_edits import users_of
from tests.server.graph.comparison.test_graph_verdicts import claims, tree
from tests.server.graph.comparison.test_module_edits import sentences


def test_parameters_of_a_replaced_norm_are_counted() -> None:
    texts = [sentence(claim) for claim in claims(tree(), tree(norm="RmsNorm"))]
    assert "7 parameters removed: blocks.*.ln*.beta, ln_f.beta" in texts


def test_parameters_of_layers_and_adapters_are_implied() -> None:
    assert sentences({"blocks": range(5)}) == ["1 layer added: 4-Block"]
    assert not [text for text in sentences({"wrapper": "LoRA"}) if "parameter" in text]


def test_users_of_a_parameter_are_those_behind_its_load() -> None:
    graph = tree().graph
    working = np.array([kind not in ("Load", "Parameter") for kind in graph.types], dtype=np.bool_)
    users = users_of(graph, working)[graph.names.index("head.weight")]
    assert users
    assert all("Load" in {graph.types[source] for source in graph.inputs_of(user)} for user in users)
