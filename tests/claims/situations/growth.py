"""Norms of a flight recorder at the last healthy step and at the fault: what may be blamed for the change."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.claims.situation import Question, situation
from tests.claims.situations.explain import ask, record
from tests.claims.situations.fault import floats, write
from tests.flight import unpack

LAYERS = ("fc1", "act", "fc2", "fc3", "")
THEN = dict(zip(LAYERS, (3.0, 2.0, 19.0, 12.0, 12.0), strict=True))
WEIGHTS = {
    f"{layer}.{part}": norm
    for layer in ("fc1", "fc2", "fc3")
    for part, norm in (("weight", 2.0), ("bias", 1.0))
}
BLAMES = [
    f"claim.growth.{name}"
    for name in ("output", "output_own", "output_shrunk", "output_non_finite", "weight", "weight_non_finite")
]
UNKNOWN = [
    f"claim.growth.{name}"
    for name in (
        *(
            "output_first",
            "output_first_fault",
            "place_zero",
            "outputs_gradual",
            "outputs_together",
            "no_outputs",
            "nothing_compared",
        ),
        *("weights_together", "weights_spread", "no_weights", "no_healthy", "missing", "damaged", "fields"),
        *("modules_left_out", "weights_left_out"),
    )
]
OTHERS = ["claim.growth.place", "claim.growth.outputs_same", "claim.growth.weights_same"]
NAN, INF = float("nan"), float("inf")


def without(*names: str) -> list[str]:
    """Return all claims about norms but these."""
    return [key for key in (*BLAMES, *UNKNOWN, *OTHERS) if key.rpartition(".")[2] not in names]


def only(*names: str, exit_code: int | None = 1) -> dict[str, Any]:
    """Return what a situation declares in which these claims about norms are true, and no others."""
    return {
        "makes": [f"claim.growth.{name}" for name in names],
        "never": without(*names),
        "exit_code": exit_code,
    }


def scaled(norms: Mapping[str, float], **factors: float) -> dict[str, float]:
    """Return norms with some of them multiplied. Names have _ for a dot; ``network`` is the whole network."""
    by_name = {
        name.replace("_", ".") if name != "network" else "": factor for name, factor in factors.items()
    }
    assert by_name.keys() <= norms.keys()
    return {name: norm * by_name.get(name, 1.02) for name, norm in norms.items()}


def norms(
    folder: Path,
    outputs: Mapping[str, Any] | None = None,
    weights_now: Mapping[str, Any] | None = None,
    **others: Any,
) -> Question:
    """Write norms beside the dump of a training whose gradients exploded, and ask for its explanation."""
    content: dict[str, Any] = {"step": 25, "healthy_step": 20, "outputs": THEN, "weights": WEIGHTS}
    content |= {"outputs_now": scaled(THEN) if outputs is None else outputs}
    content |= {"weights_now": scaled(WEIGHTS) if weights_now is None else weights_now, **others}
    known = {name: value for name, value in content.items() if value != "absent"}
    return text(folder, json.dumps(known))


def text(folder: Path, content: str, training: str = "exploding_gradient") -> Question:
    """Write the file of norms."""
    path = unpack(training, folder) / "flight_dump" / "rank_0" / "health_25.json"
    path.unlink()
    if content:
        path.write_text(content)
    return ask(folder, training)


@situation(**only("place", "weight", "output"))
def one_weight_multiplied(folder: Path) -> Question:
    outputs = scaled(THEN, fc2=1e4, fc3=1e4, network=1e4)
    return norms(folder, outputs, scaled(WEIGHTS, fc2_weight=1e4))


@situation(**only("place", "weight", "output_own"))
def weight_of_the_first_module_multiplied(folder: Path) -> Question:
    """All outputs grow by an equal factor; the module that did it is known by its weight."""
    return norms(folder, {name: 1e4 * norm for name, norm in THEN.items()}, scaled(WEIGHTS, fc1_weight=1e4))


@situation(**only("place", "output_first", "weights_same"))
def every_output_grew_by_one_factor(folder: Path) -> Question:
    """As data of another scale make them: no layer is to blame."""
    return norms(folder, {name: 1e4 * norm for name, norm in THEN.items()})


def of_ranks(folder: Path, *factors: float) -> Question:
    """Write norms of ranks on which every output grew by such a factor."""
    question = norms(folder, {name: factors[0] * norm for name, norm in THEN.items()})
    dump = folder / "exploding_gradient" / "flight_dump"
    for rank, factor in enumerate(factors[1:], 1):
        shutil.copytree(dump / "rank_0", dump / f"rank_{rank}")
        path = dump / f"rank_{rank}" / "health_25.json"
        known = json.loads(path.read_text())
        known["outputs_now"] = {name: factor * norm for name, norm in THEN.items()}
        path.write_text(json.dumps(known))
    return question


@situation(makes=["claim.growth.alone", "claim.growth.output_first"], never=["claim.growth.outputs_same"])
def outputs_that_grew_on_one_of_three_ranks(folder: Path) -> Question:
    return of_ranks(folder, 1.1, 1e4, 0.9)


@situation(makes=["claim.growth.output_first"], never=["claim.growth.alone"])
def outputs_that_grew_on_two_of_three_ranks(folder: Path) -> Question:
    return of_ranks(folder, 1e4, 1e4, 0.9)


@situation(**only("place_zero", "outputs_same", "weights_same"))
def an_activation_that_was_dead_at_the_healthy_step_too(folder: Path) -> Question:
    then, now = {**THEN, "act": 0.0}, {**scaled(THEN), "act": 0.0}
    steps = {"step": 25, "healthy_step": 20, "weights": WEIGHTS, "weights_now": scaled(WEIGHTS)}
    return text(folder, json.dumps({**steps, "outputs": then, "outputs_now": now}))


@situation(
    makes=["claim.growth.output_first_fault", "claim.fault.elements"],
    never=["claim.growth.output_first", "claim.growth.place_zero"],
    exit_code=1,
)
def data_with_nan(folder: Path) -> Question:
    steps = {"step": 25, "healthy_step": 20, "weights": WEIGHTS, "weights_now": scaled(WEIGHTS)}
    now = dict.fromkeys(THEN, NAN)
    return text(folder, json.dumps({**steps, "outputs": THEN, "outputs_now": now}), "nan_in_data")


@situation(**only("place", "outputs_together", "weights_together"))
def learning_rate_too_high(folder: Path) -> Question:
    outputs = scaled(THEN, fc1=90, act=90, fc2=8e3, fc3=7e5, network=7e5)
    return norms(folder, outputs, {name: 90.0 * norm * (1 + len(name) / 9) for name, norm in WEIGHTS.items()})


def of_learning_rate(folder: Path, others: float) -> Question:
    """The small bias of fc3 grew 49-fold, by as much as the other weights that grew ``others``-fold."""
    then = {**WEIGHTS, "fc3.bias": 0.3}
    grown = {name: norm * (49 if name == "fc3.bias" else others) for name, norm in then.items()}
    return norms(folder, weights=then, weights_now=grown)


@situation(**only("place", "outputs_same", "weights_spread"))
def a_learning_rate_that_moves_every_weight_as_far(folder: Path) -> Question:
    """The bias grew most for its size only: the others changed by as much."""
    return of_learning_rate(folder, 5)


@situation(
    makes=["claim.growth.weight"],
    never=["claim.growth.weights_spread", "claim.part.growth.moved"],
    exit_code=1,
)
def a_bias_that_grew_beside_weights_that_drift(folder: Path) -> Question:
    return of_learning_rate(folder, 1.3)


@situation(**only("place", "output", "weights_together"))
def weights_of_two_modules_multiplied_by_unequal_factors(folder: Path) -> Question:
    """No weight before the module changed, so that its output may be named."""
    outputs = scaled(THEN, fc2=1e4, fc3=1e6, network=1e6)
    return norms(folder, outputs, scaled(WEIGHTS, fc2_weight=1e4, fc3_weight=1e2))


@situation(**only("place", "outputs_together", "weights_together"))
def weights_of_two_modules_multiplied_by_one_factor(folder: Path) -> Question:
    """Each of them brings as much, so that neither stands out."""
    outputs = scaled(THEN, fc2=900, fc3=1e6, network=1e6)
    return norms(folder, outputs, scaled(WEIGHTS, fc2_weight=1e3, fc3_weight=1e3))


@situation(**only("place", "weight", "output"))
def module_below_the_limit_before_one_above_it(folder: Path) -> Question:
    return norms(folder, scaled(THEN, fc2=25, fc3=90, network=90), scaled(WEIGHTS, fc2_weight=31))


@situation(**only("place", "outputs_gradual", "weights_same"))
def growth_that_adds_up_over_the_depth(folder: Path) -> Question:
    """As without a scale of residuals."""
    return norms(folder, scaled(THEN, fc1=9, act=80, fc2=700, fc3=6e3, network=6e3))


@situation(**only("place", "output", "weights_same"))
def growth_of_one_module_after_slight_growth(folder: Path) -> Question:
    """A larger batch makes all norms larger, and code in one module multiplies."""
    return norms(folder, scaled(THEN, fc1=3, act=3, fc2=3e4, fc3=4e4, network=4e4))


@situation(**only("place", "outputs_same", "weights_same"))
def nothing_grew_but_what_is_small(folder: Path) -> Question:
    """A head in its first steps grows less than thirtyfold, and a bias from nearly zero much more."""
    weights = {**WEIGHTS, "fc1.bias": 1e-4}
    now = {**scaled(WEIGHTS), "fc1.bias": 0.5}
    return norms(folder, scaled(THEN, fc3=20, network=20), now, weights=weights)


@situation(**only("place", "weight_non_finite", "output_non_finite"))
def weight_of_nan(folder: Path) -> Question:
    outputs = {**scaled(THEN), "fc2": NAN, "fc3": NAN, "": NAN}
    return norms(folder, outputs, {**scaled(WEIGHTS), "fc2.weight": NAN})


@situation(**only("place", "output", "weights_same"))
def overflow_after_a_finite_jump(folder: Path) -> Question:
    """The overflow follows from the jump."""
    return norms(folder, {**scaled(THEN, act=1e6), "fc2": INF, "fc3": NAN, "": NAN})


@situation(**only("place", "outputs_gradual", "weights_same"))
def overflow_after_growth_over_the_depth(folder: Path) -> Question:
    return norms(folder, {**scaled(THEN, fc1=10, act=200, fc2=5e3), "fc3": INF, "": INF})


@situation(**only("place", "output_shrunk", "weights_same"))
def output_that_vanished(folder: Path) -> Question:
    return norms(folder, {**scaled(THEN), "fc2": 0.0, "fc3": 0.3, "": 0.3})


@situation(**only("place", "outputs_gradual", "weights_same"))
def outputs_that_vanish_over_the_depth(folder: Path) -> Question:
    return norms(folder, scaled(THEN, fc1=0.1, act=0.01, fc2=1e-3, fc3=1e-4, network=1e-4))


@situation(**only("place", "output", "weights_same", "modules_left_out"))
def module_that_did_not_exist_at_the_healthy_step(folder: Path) -> Question:
    outputs = scaled(THEN, fc3=1e4, network=1e4)
    return norms(folder, {"adapter": 1e9, **outputs})


@situation(**only("place", "outputs_same", "weights_same", "modules_left_out"))
def module_that_ran_several_times(folder: Path) -> Question:
    outputs = {**THEN, "act": 1e6}
    return norms(folder, outputs, repeated=["act"])


@situation(**only("place", "outputs_same", "weight", "weights_left_out"))
def weight_that_did_not_exist_at_the_healthy_step(folder: Path) -> Question:
    return norms(folder, None, {**scaled(WEIGHTS, fc2_weight=1e3), "adapter.weight": 1e9})


@situation(**only("place", "nothing_compared", "weights_same", "modules_left_out"))
def outputs_of_other_modules(folder: Path) -> Question:
    return norms(folder, {"other": 5.0})


@situation(**only("place", "no_outputs", "weights_same"))
def recorder_before_it_wrote_outputs(folder: Path) -> Question:
    return norms(folder, outputs_now="absent")


@situation(**only("place", "outputs_same", "no_weights", "fields"))
def weights_that_are_a_list(folder: Path) -> Question:
    return norms(folder, None, {}, weights=[1, 2])


@situation(**only("no_healthy"))
def fault_of_the_first_step(folder: Path) -> Question:
    return norms(folder, healthy_step=-1)


@situation(**only("missing"))
def file_of_norms_that_is_missing(folder: Path) -> Question:
    return text(folder, "")


@situation(**only("damaged"))
def file_of_norms_that_was_cut(folder: Path) -> Question:
    return text(folder, '{"step": 25, "healthy_step": 20, "outputs": {"fc1"')


@situation(**only("damaged"))
def healthy_step_after_the_fault(folder: Path) -> Question:
    return norms(folder, healthy_step=30)


@situation(makes=["claim.explain.nothing"], never=without(), exit_code=0)
def dump_without_a_flight_recorder(folder: Path) -> Question:
    record(folder / "run", {"loss": np.linspace(2, 1, 200).tolist()})
    write(folder / "run" / "dump", [("Functional.relu.0.forward", [floats(1, 2)], floats(1, 2))])
    return ask(folder, "run")
