"""Causes that many differences share: which weights are unrelated, and which modules are of another class."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from mindinsight.server.debug.compare.dump_comparison import Row
from mindinsight.server.debug.compare.error_measures import Compared, measure_value_pair
from mindinsight.server.debug.compare.operator_matching import Pair
from mindinsight.server.debug.compare.shared_causes import module_claims, unrelated_weights
from mindinsight.server.formats.arrays.lazy_array import Held
from mindinsight.server.formats.dumps.dump_types import TensorEntry

Array = npt.NDArray[np.float32]


def entry(operator: str, kind: str = "") -> TensorEntry:
    return TensorEntry(
        rank=0,
        step=0,
        graph="",
        operator=operator,
        recorded=operator,
        type=kind,
        direction="output",
        slot="0",
        sequence=0,
        order=-1,
        timestamp=0,
        shape=(4,),
        dtype="float32",
        format="",
        ref=None,
    )


def weight(name: str, target: Array, reference: Array) -> Row:
    tensor = entry(name, kind="Parameter")
    measures = measure_value_pair(Held(target), Held(reference))
    return Row(Compared(Pair(tensor, tensor, "name"), None, None, measures), ())


def values(seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=64).astype(np.float32)


@pytest.mark.parametrize(("unrelated", "related", "count"), [(4, 0, 4), (3, 3, 0), (2, 0, 0), (20, 1, 20)])
def test_weights_are_unrelated_if_nearly_all_that_differ_are(
    unrelated: int, related: int, count: int
) -> None:
    rows = [weight(f"a{i}.weight", values(i), values(100 + i)) for i in range(unrelated)]
    rows += [weight(f"b{i}.weight", values(i) * np.float32(1.1), values(i)) for i in range(related)]
    assert len(unrelated_weights(rows)) == count


def test_most_weights_have_to_differ() -> None:
    rows = [weight(f"a{i}.weight", values(i), values(100 + i)) for i in range(4)]
    rows += [weight(f"b{i}.weight", values(i), values(i)) for i in range(5)]
    assert unrelated_weights(rows) == []


def alone(target: Sequence[str], reference: Sequence[str]) -> list[Row]:
    pairs = [Pair(entry(name), None, "none") for name in target]
    pairs += [Pair(None, entry(name), "none") for name in reference]
    return [Row(Compared(pair, None, None), ()) for pair in pairs]


def test_only_the_outermost_module_of_another_class_is_named() -> None:
    blocks = [f"blocks-List/{i}-Block" for i in range(3)]
    target = [f"{block}/q-LoRA/base-Linear/addmm-op0" for block in blocks] + ["head-Linear/addmm-op1"]
    reference = [f"{block}/q-Linear/addmm-op0" for block in blocks] + ["head-Linear/addmm-op1"]
    (claim,) = module_claims(alone(target, reference))
    assert claim.key == "claim.dump.other_modules"
    (part,) = claim.values["names"]
    assert part.values == {"n": 3, "name": "blocks.*.q", "target": "LoRA", "reference": "Linear"}


def test_a_network_of_another_framework_has_no_module_of_another_class() -> None:
    target = [f"{name}-Dense/MatMul-op0" for name in ("a", "b", "c")] + ["d-LayerNormalization/x-op1"]
    reference = [f"{name}-Linear/addmm-op0" for name in ("a", "b", "c")] + ["d-LayerNorm/x-op1"]
    claims = list(module_claims(alone(target, reference)))
    assert [claim.values["n"] for claim in claims] == [1]  # a dense layer is a linear one
    others = [f"{name}-Conv/Conv2D-op0" for name in ("a", "b", "c")]
    assert not list(module_claims(alone(others, reference[:3])))
