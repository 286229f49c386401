"""Order and limits of the claims about norms. That each is true is tested by the situations of growth."""

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.debug.compare.norm_changes import CHANGED, norm_claims, tensor_of
from mindinsight.server.formats.dumps.dump_types import TensorEntry
from mindinsight.server.formats.dumps.recorder_files import Health

THEN = {"a": 4.0, "b": 5.0, "c": 6.0, "": 6.0}
WEIGHTS = {"a.weight": 2.0, "b.weight": 3.0, "c.weight": 2.0}


def claims(now: Mapping[str, float], weights: Mapping[str, float] = WEIGHTS) -> list[Claim]:
    return norm_claims(Health(20, WEIGHTS, weights, THEN, now), 25, 0)


def keys(*arguments: Mapping[str, float]) -> list[str]:
    return [claim.key.removeprefix("claim.growth.") for claim in claims(*arguments)]


def test_a_weight_comes_before_the_output_that_follows_from_it_and_an_output_before_weights_that_stayed() -> (
    None
):
    grown = {**THEN, "b": 5e4, "c": 6e4, "": 6e4}
    assert keys(grown, {**WEIGHTS, "b.weight": 3e4}) == ["place", "weight", "output"]
    assert keys(grown) == ["place", "output", "weights_same"]


def test_names_norms_and_factor_are_in_the_sentences() -> None:
    steps, weight, output = claims({**THEN, "b": 5e4, "c": 6e4, "": 6e4}, {**WEIGHTS, "b.weight": 3e4})
    assert sentence(steps).startswith(
        "Norms on rank 0 at step 25, compared with those of step 20, 5 steps before"
    )
    assert "b.weight changed: its norm was 3 and is 30000, 10000 times" in sentence(weight)
    where, change = "begins at b, or between it and the modules before", "was 5 and is 50000, 10000 times"
    assert f"{where}: the norm of its output {change}" in sentence(output)
    assert "The output of the one module compared before it is 1 times" in sentence(output)
    assert (weight.evidence, output.evidence) == (({"weight": "b.weight"},), ({"module": "b"},))


def test_the_whole_network_has_a_name() -> None:
    health = Health(20, {"weight": 2.0}, {"weight": 2e4}, {"": 3.0}, {"": 3e4})
    assert [claim.key for claim in norm_claims(health, 25, 0)][1:] == [
        "claim.growth.weight",
        "claim.growth.output_own",
    ]
    assert "Already the output of the whole network" in sentence(norm_claims(health, 25, 0)[2])


@pytest.mark.parametrize(("factor", "named"), [(0.99 * CHANGED, False), (1.01 * CHANGED, True)])
def test_the_limit_is_a_factor_in_both_directions(factor: float, named: bool) -> None:
    assert ("output" in keys({**THEN, "c": 6 * factor})) is named
    assert ("output_shrunk" in keys({**THEN, "c": 6 / factor})) is named
    assert ("weight" in keys(THEN, {**WEIGHTS, "c.weight": 2 / factor})) is named


def test_weights_of_one_module_are_one_change_and_those_of_two_are_not() -> None:
    then = {**WEIGHTS, "b.bias": 2.0}
    for grown, key in ((("b.weight", "b.bias"), "weight"), (("b.weight", "c.weight"), "weights_together")):
        now = {name: norm * (1e4 if name in grown else 1) for name, norm in then.items()}
        assert norm_claims(Health(20, then, now), 25, 0)[1].key == f"claim.growth.{key}"


def test_a_branch_that_is_non_finite_comes_before_a_later_jump() -> None:
    assert sentence(claims({**THEN, "b": math.inf, "c": 6e4, "": 6e4})[1]).startswith(
        "Of the outputs compared, that of b is the first that is non-finite"
    )


@given(st.floats(min_value=1e-3, max_value=1e3), st.floats(min_value=0.04, max_value=25))
def test_norms_in_another_unit_or_a_common_change_below_the_limit_blame_nobody(
    unit: float, factor: float
) -> None:
    then = {name: unit * norm for name, norm in THEN.items()}
    now = {name: factor * norm for name, norm in then.items()}
    health = Health(20, WEIGHTS, {name: factor * norm for name, norm in WEIGHTS.items()}, then, now)
    assert [claim.key for claim in norm_claims(health, 25, 0)][1:] == [
        "claim.growth.outputs_same",
        "claim.growth.weights_same",
    ]


def entry(operator: str, direction: str = "output") -> TensorEntry:
    recorded = operator.replace("/", "_")
    return TensorEntry(
        *(0, 25, "Net/0", operator, recorded, "mm", direction, "0", 0, 0, 0, None, "", "", None)  # type: ignore[arg-type]
    )


def test_the_tensor_of_a_module_is_its_last_forward_result() -> None:
    entries = [
        entry("Default/layers-ModuleList/1-Block/a-Linear/mm-op0", "input"),
        entry("Default/layers-ModuleList/1-Block/a-Linear/mm-op0"),
        entry("Default/layers-ModuleList/1-Block/add-op0"),
        entry("Default/layers-ModuleList/10-Block/add-op1"),
        entry("Gradients/Default/layers-ModuleList/1-Block/add-op2"),
        entry("layers.1.a.weight", "parameter"),
    ]
    assert tensor_of(entries, {"module": "layers.1"}) is entries[2]
    assert tensor_of(entries, {"module": "layers.1.a"}) is entries[1]
    assert tensor_of(entries, {"weight": "layers.1.a.weight"}) is entries[5]
    assert tensor_of(entries, {"module": "layers.2"}) is None is tensor_of(entries, {"module": ""})
    assert tensor_of(entries, {"weight": "layers.1.b"}) is None


def test_a_shorter_interval_is_advised_unless_it_is_one_step() -> None:
    now = {name: 1e4 * norm for name, norm in WEIGHTS.items()}
    for healthy, missing in ((20, ("claim.missing.every_step",)), (24, ())):
        together = norm_claims(Health(healthy, WEIGHTS, now, THEN, THEN), 25, 0)[1]
        assert (together.key, together.missing) == ("claim.growth.weights_together", missing)
