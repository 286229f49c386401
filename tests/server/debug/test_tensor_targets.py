"""Classification of weights, gradients and activations by the names of every layout."""

from typing import Any

import pytest

from mindinsight.server.debug.tensor_targets import parameter_names, targets
from mindinsight.server.formats.dumps.dump_types import TensorEntry

STATES = (
    *("stat", "accum", "accum_update", "prev", "linear", "mean_square", "mean_grad", "vhat", "moment1"),
    *("moment2", "adam_m", "adam_v", "lamb_m", "lamb_v", "exp_avg", "exp_avg_sq", "exp_inf", "step_size"),
)


def entry(
    operator: Any, kind: str = "MatMul", direction: str = "output", slot: str = "0", recorded: Any = None
) -> TensorEntry:
    position: dict[str, Any] = {"rank": 0, "step": 0, "graph": "", "sequence": 0, "order": 0, "timestamp": 0}
    names: dict[str, Any] = {"operator": operator, "recorded": recorded or operator, "type": kind}
    what: dict[str, Any] = {
        "direction": direction,
        "slot": slot,
        "shape": None,
        "dtype": "",
        "format": "",
        "ref": None,
    }
    return TensorEntry(**position, **names, **what)


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (entry("Default/fc1-Dense/MatMul-op0"), {"tensor"}),
        (entry("Default/fc1-Dense/MatMul-op0", direction="input"), set()),
        (entry("Default/relu-ReLU/ReLU-op0", "ReLU"), {"tensor", "activation"}),
        (entry("Gradients/Default/relu-ReLU/ReluGrad-op0", "ReluGrad"), {"tensor", "gradient"}),
        (entry("gradients/Default/x/Sigmoid-op0", "Sigmoid"), {"tensor", "gradient"}),
        (entry("MatMul-op1", recorded="Gradients_Default_MatMul-op1"), {"tensor", "gradient"}),
        (entry("Functional.relu.0.forward", "Functional.relu"), {"tensor", "activation"}),
        (entry("Functional.relu.0.backward", "Functional.relu"), {"tensor", "gradient"}),
        (entry("Module.fc1.Linear.parameters_grad.0", "Linear", slot="weight"), {"tensor", "gradient"}),
        (entry("Module.fc1.Linear.forward.0", "Linear", "parameter", "weight"), {"weight"}),
        (entry("conv1.weight", "Parameter", "parameter"), {"weight"}),
        (entry("fc1_bias", "Parameter", "parameter"), {"weight"}),
        (entry("linear.weight", "Parameter", "parameter"), {"weight"}),
        (entry("moments.conv1.weight", "Parameter", "parameter"), set()),
        (entry("moments_conv1_weight", "Parameter", "parameter"), set()),
        *((entry(f"{prefix}.conv1.weight", "Parameter", "parameter"), set()) for prefix in STATES),
        (entry("learning_rate", "Parameter", "parameter"), set()),
        (entry("inputs0", "Parameter", "parameter"), set()),
    ],
)
def test_classes(tensor: Any, expected: Any) -> None:
    assert targets(tensor) == expected


def test_a_layer_named_as_state_is_a_weight_where_no_weight_has_the_rest_of_its_name() -> None:
    """``linear.0.weight`` is a weight in a network of ``linear.0``, and the state of a layer ``0``."""
    layer = entry("linear.0.weight", "Parameter", "parameter")
    assert targets(layer, parameter_names([layer])) == {"weight"}
    other = entry("0.weight", "Parameter", "parameter")
    assert targets(layer, parameter_names([layer, other])) == set()
