"""Pairs of dumps with a planted difference, or none: what may be said of them."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from fastapi.testclient import TestClient

from mindinsight.server.claims import Claim
from mindinsight.server.debug.compare.divergence import decide, first_so_far
from mindinsight.server.debug.compare.dump_comparison import Side, compare_sides
from mindinsight.server.formats.dumps import open_dump
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump, Gap
from tests.claims.situation import Question, situation

Array = npt.NDArray[Any]
Net = dict[str, dict[str, Any]]  # calls by name: "inputs", "outputs" and "parameters"

AGREE = [
    "claim.dump.agree",
    "claim.dump.identical",
    "claim.dump.same_checksums",
    "claim.dump.partly_agree",
    "claim.dump.steps_agree",
    "claim.dump.steps_equal",
]
NOTHING = ["claim.dump.nothing_common", "claim.dump.nothing_compared", "claim.dump.side_empty"]
CAUSES = [
    "claim.dump.weight_differs", "claim.dump.input_differs", "claim.dump.introduced",
    "claim.dump.output_differs", "claim.dump.argument_differs", "claim.dump.random",
]  # fmt: skip


def but(keys: list[str], *made: str) -> list[str]:
    return [key for key in keys if key not in made]


def array(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def net(
    x: Array | None = None, weight: Array | None = None, dtype: Any = np.float32, scale: float = 1
) -> Net:
    """Two layers, ``a`` without a bias and ``b``, with the values they have."""
    x = array(4, 8).astype(dtype) if x is None else x
    first = array(8, 8, seed=1, dtype=dtype)
    weight = array(8, 8, seed=2, dtype=dtype) if weight is None else weight
    h = np.tanh(x @ first)
    y = (h @ weight) * np.asarray(scale, dtype)
    return {
        "Module.a.Linear.forward.0": {"inputs": [x], "parameters": {"weight": first}, "outputs": [h]},
        "Module.b.Linear.forward.0": {"inputs": [h], "parameters": {"weight": weight}, "outputs": [y]},
        "Module.c.ReLU.forward.0": {"inputs": [y], "outputs": [np.maximum(y, 0)]},
    }


def write(
    root: Path, calls: Net, step: int = 0, rank: int = 0, values: bool = True, checksums: bool = False
) -> Path:
    """Write a dump of msprobe's layout; without ``values`` it has statistics alone."""
    folder = root / f"step{step}" / f"rank{rank}"
    (folder / "dump_tensor_data").mkdir(parents=True)

    def tensor(entry: str, slot: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, np.ndarray):
            return {"type": type(value).__name__, "value": value}
        fields: dict[str, Any] = {
            "type": "torch.Tensor", "dtype": f"torch.{value.dtype}", "shape": list(value.shape),
        }  # fmt: skip
        if value.size and value.dtype.kind == "f":
            wide = value.astype(np.float64)
            numbers = wide.max(), wide.min(), wide.mean(), np.linalg.norm(wide)
            fields |= dict(zip(("Max", "Min", "Mean", "Norm"), map(float, numbers), strict=True))
        if checksums:
            fields["md5"] = f"{hash(value.tobytes()) & 0xFFFFFFFF:08x}"
        if values:
            fields["data_name"] = f"{entry}.{slot}.npy"
            np.save(folder / "dump_tensor_data" / fields["data_name"], value)
        return fields

    data = {}
    for name, call in calls.items():
        content: dict[str, Any] = {}
        if "inputs" in call:
            given = [tensor(name, f"input.{i}", value) for i, value in enumerate(call["inputs"])]
            content |= {"input_args": given, "input_kwargs": {}}
        content["output"] = [tensor(name, f"output.{i}", value) for i, value in enumerate(call["outputs"])]
        if "parameters" in call:
            weights = call["parameters"].items()
            content["parameters"] = {slot: tensor(name, f"parameters.{slot}", v) for slot, v in weights}
        data[name] = content
    about = {"task": "tensor" if values else "statistics", "level": "L0", "framework": "pytorch"}
    (folder / "dump.json").write_text(json.dumps(about | {"data": data}))
    return root


def compared(folder: Path, target: Any = None, reference: Any = None, *options: str) -> Question:
    """Ask the command and the interface about ``folder/target`` and ``folder/reference``."""
    a, b = folder / "target", folder / "reference"
    if target is not None:
        write(a, target)
    if reference is not None:
        write(b, reference)
    command = ["dump", "compare", str(a), str(b), "--json", *options]
    if options:
        return Question(command=command)
    page = "dump?dump=./target&tab=compare&with=./reference"
    return Question(command=command, base=folder, request=ask, page=page, press=".dump-main button.primary")


def ask(client: TestClient, target: int = 0, reference: int = 0) -> Any:
    """Compare a step of ``target`` with a step of ``reference``."""
    body = {
        "target": {"dump": "./target", "step": target},
        "reference": {"dump": "./reference", "step": reference},
    }
    for _ in range(600):
        started = client.post("/v2/dump/compare", json=body)
        if started.status_code != 404:  # else the first scan of the directory has not found both dumps yet
            break
        time.sleep(0.05)
    number = started.json()["comparison"]
    for _ in range(600):
        answer = client.get(f"/v2/dump/compare/{number}").json()
        if answer["done"]:
            assert not answer["error"], answer["error"]
            return answer
        time.sleep(0.05)
    raise TimeoutError("the comparison did not end")


def changed(value: Array, index: Any, by: float = 0.25) -> Array:
    copy = value.copy()
    copy[index] += by
    return copy


def altered(change: Callable[[Net], None], **options: Any) -> Net:
    calls = net(**options)
    change(calls)
    return calls


@situation(["claim.dump.identical"], [*but(AGREE, "claim.dump.identical"), *NOTHING, *CAUSES], 0)
def equal_dumps(folder: Path) -> Question:
    """Two dumps with equal values."""
    return compared(folder, net(), net())


@situation(["claim.dump.agree"], ["claim.dump.identical", "claim.dump.weight_within", *NOTHING, *CAUSES], 0)
def rounding(folder: Path) -> Question:
    """Outputs that differ by a rounding."""
    target = net()
    target["Module.c.ReLU.forward.0"]["outputs"][0] *= np.float32(1 + 1e-5)
    return compared(folder, target, net())


@situation(["claim.dump.agree", "claim.dump.weight_within"], CAUSES, 0)
def a_weight_changed_within_the_tolerance(folder: Path) -> Question:
    return compared(folder, net(weight=changed(array(8, 8, seed=2), (3, 4), 1e-4)), net())


@situation(["claim.dump.agree"], ["claim.dump.weight_within", *CAUSES], 0)
def a_weight_and_the_data_changed_within_the_tolerance(folder: Path) -> Question:
    """What differs first is the data."""
    x = changed(array(4, 8), (0, 0), 1e-4)
    return compared(folder, net(x, changed(array(8, 8, seed=2), (3, 4), 1e-4)), net())


def cancelling(by: float, error: float, name: str = "Torch.sum.0.forward") -> Net:
    """A sum of terms that cancel, with terms that are ``by`` larger and results with an ``error``."""
    half = array(16, 4)
    terms = np.concatenate([half, -half]) * np.float32(1 + by)
    return net() | {name: {"inputs": [terms], "outputs": [np.full(4, error, np.float32)]}}


@situation(["claim.dump.agree", "claim.dump.zero_by_rounding"], CAUSES, 0)
def a_sum_of_terms_that_cancel(folder: Path) -> Question:
    return compared(folder, cancelling(1e-5, 3e-7), cancelling(0, -2e-7))


@situation(["claim.dump.introduced"], ["claim.dump.zero_by_rounding", *AGREE], 1)
def a_sum_with_an_error_beyond_rounding(folder: Path) -> Question:
    return compared(folder, cancelling(0, 3e-2), cancelling(0, -2e-7))


@situation(["claim.dump.output_differs"], ["claim.dump.zero_by_rounding", "claim.dump.introduced", *AGREE], 1)
def an_unknown_operator_with_inputs_that_agree_but_are_not_equal(folder: Path) -> Question:
    """How its result rounds is unknown, and the difference of its inputs explains that of the result."""
    sides = [cancelling(by, error, "Torch.own.0.forward") for by, error in ((1e-5, 3e-7), (0, -2e-7))]
    return compared(folder, sides[0], sides[1])


def cast(error: float, dtype: Any, later: float = 0) -> Net:
    """A tensor with an error, in a type, used in float32 by an operator with an error ``later``."""
    exact = array(4, 8).astype(np.float16).astype(np.float32)
    x = (exact * np.float32(1 + error)).astype(dtype)
    wide = x.astype(np.float32)
    return {
        "Torch.relu.0.forward": {"inputs": [exact], "outputs": [x]},
        "Tensor.float.0.forward": {"inputs": [x], "outputs": [wide]},
        "Torch.exp.0.forward": {"inputs": [wide], "outputs": [np.exp(wide) * np.float32(1 + later)]},
    }


@situation(["claim.dump.agree", "claim.dump.computed_coarser"], CAUSES, 0)
def a_cast_from_a_coarser_type(folder: Path) -> Question:
    return compared(folder, cast(3e-3, np.float16), cast(0, np.float32))


@situation(["claim.dump.introduced"], ["claim.dump.computed_coarser", *AGREE], 1)
def a_cast_of_equal_values_of_a_coarser_type(folder: Path) -> Question:
    """What was computed from equal values has the tolerance of its type."""
    return compared(folder, cast(0, np.float16, 3e-3), cast(0, np.float32))


@situation(["claim.dump.introduced"], ["claim.dump.computed_coarser", *AGREE], 1)
def a_cast_from_the_same_type(folder: Path) -> Question:
    return compared(folder, cast(3e-3, np.float32), cast(0, np.float32))


@situation(["claim.dump.nothing_common"], [*AGREE, *CAUSES, "claim.dump.side_empty"], 2)
def no_operator_in_common(folder: Path) -> Question:
    other = {"Module.z.Conv2d.forward.0": {"inputs": [array(3)], "outputs": [array(3, seed=5)]}}
    return compared(folder, net(), other)


@situation(["claim.dump.nothing_common"], AGREE, 2)
def no_operator_in_common_in_any_step(folder: Path) -> Question:
    other = {"Module.z.Conv2d.forward.0": {"inputs": [array(3)], "outputs": [array(3, seed=5)]}}
    return compared(folder, net(), other, "--every-step")


@situation(["claim.dump.side_empty"], [*AGREE, *CAUSES, "claim.dump.nothing_common"], 2)
def an_empty_target(folder: Path) -> Question:
    return compared(folder, {}, net())


@situation(["claim.dump.side_empty"], [*AGREE, *CAUSES], 2)
def an_empty_reference(folder: Path) -> Question:
    return compared(folder, net(), {})


@situation(["claim.dump.nothing_compared"], [*AGREE, *CAUSES, "claim.dump.only_statistics"], 2)
def the_only_common_tensor_is_truncated(folder: Path) -> Question:
    calls = {"Module.a.Linear.forward.0": {"outputs": [array(64)]}}
    question = compared(folder, calls, calls)
    (file,) = (folder / "target").rglob("*.npy")
    file.write_bytes(file.read_bytes()[:140])
    return question


@situation(["claim.dump.partly_agree"], ["claim.dump.identical", "claim.dump.agree", *NOTHING, *CAUSES], 2)
def one_file_is_truncated(folder: Path) -> Question:
    question = compared(folder, net(), net())
    (file,) = (folder / "target").rglob("*b.Linear*parameters.weight.npy")
    file.write_bytes(file.read_bytes()[:140])
    return question


WEIGHT = ["claim.dump.weight_differs", "claim.dump.rest_follows"]


@situation(WEIGHT, [*AGREE, *but(CAUSES, WEIGHT[0]), "claim.dump.more_differ"], 1)
def one_changed_weight(folder: Path) -> Question:
    """``b.weight[3, 4]`` is 0.25 larger, and everything follows from it."""
    return compared(folder, net(weight=changed(array(8, 8, seed=2), (3, 4))), net())


@situation(["claim.dump.weight_differs"], AGREE, 1)
def one_weight_of_many(folder: Path) -> Question:
    """One of 10,000 weights, whose share in the norm is small."""
    weight = array(100, 100) * 10
    sides = [{"Module.a.Linear.forward.0": {"inputs": [array(2)], "parameters": {"weight": w},
              "outputs": [array(2)]}} for w in (changed(weight, (7, 9), 8.0), weight)]  # fmt: skip
    return compared(folder, sides[0], sides[1])


@situation(["claim.dump.weight_differs", "claim.dump.more_differ"], ["claim.dump.rest_follows", *AGREE], 1)
def two_changed_weights(folder: Path) -> Question:
    def change(calls: Net) -> None:
        for layer in "ab":
            weights = calls[f"Module.{layer}.Linear.forward.0"]["parameters"]
            weights["weight"] = changed(weights["weight"], (0, ord(layer) % 8), 1)

    return compared(folder, altered(change), net())


def with_second_input(x: Array, value: Array) -> Net:
    calls = net(x)
    calls["Module.b.Linear.forward.0"]["inputs"].append(value)
    return calls


@situation(["claim.dump.input_differs", "claim.dump.inputs_differ"], ["claim.dump.rest_follows", *AGREE], 1)
def two_inputs_that_differ(folder: Path) -> Question:
    """The second one is of no recorded operator: it is no consequence."""
    x, value = array(4, 8), array(8, seed=5)
    target = with_second_input(changed(x, (0, 0)), changed(value, 3))
    return compared(folder, target, with_second_input(x, value))


@situation(["claim.dump.input_differs", "claim.dump.rest_follows"], ["claim.dump.inputs_differ", *AGREE], 1)
def an_input_that_differs_and_all_that_follows(folder: Path) -> Question:
    x, value = array(4, 8), array(8, seed=5)
    return compared(folder, with_second_input(changed(x, (0, 0)), value), with_second_input(x, value))


@situation(["claim.dump.input_differs", "claim.dump.rest_follows"], ["claim.dump.inputs_differ"], 1)
def two_inputs_and_an_operator_of_one_side(folder: Path) -> Question:
    """The operator that only one side has may have put out the second one."""
    x, value = array(4, 8), array(8, seed=5)
    target = with_second_input(changed(x, (0, 0)), changed(value, 3))
    return compared(
        folder, target | single(changed(value, 3), "Module.n.Identity.forward.0"), with_second_input(x, value)
    )


def shifted(calls: Net, **weights: tuple[str, Any]) -> None:
    for layer, (slot, index) in weights.items():
        values = calls[f"Module.{layer}.Linear.forward.0"]["parameters"]
        values[slot] = changed(values[slot], index)


@situation(["claim.dump.weight_differs", "claim.dump.more_differ"], ["claim.dump.rest_follows", *AGREE], 1)
def two_weights_changed_alike(folder: Path) -> Question:
    """The same element of two weights by the same amount: one does not follow from the other."""
    names = {"a": ("weight", (3, 4)), "b": ("weight", (3, 4))}
    return compared(folder, altered(lambda calls: shifted(calls, **names)), net())


def biased() -> Net:
    calls = net()
    calls["Module.b.Linear.forward.0"]["parameters"]["bias"] = array(8, seed=11)
    return calls


@situation(["claim.dump.weight_differs", "claim.dump.more_differ"], ["claim.dump.rest_follows", *AGREE], 1)
def weight_and_bias_of_one_layer(folder: Path) -> Question:
    target = biased()
    shifted(target, b=("weight", (3, 4)))
    shifted(target, b=("bias", 2))
    return compared(folder, target, biased())


@situation(["claim.dump.weight_differs"], ["claim.dump.more_differ", *AGREE], 1)
def tied_weights(folder: Path) -> Question:
    """One weight that two layers share is one cause."""
    sides = []
    for weight in (changed(array(8, 8, seed=2), (3, 4)), array(8, 8, seed=2)):
        calls = net(weight=weight)
        calls["Module.d.Linear.forward.0"] = dict(calls["Module.b.Linear.forward.0"])
        sides.append(calls)
    return compared(folder, sides[0], sides[1])


@situation(["claim.dump.weight_differs", "claim.dump.unseen_before"], AGREE, 1)
def an_unreadable_tensor_before_the_difference(folder: Path) -> Question:
    """What differs first is not known where an earlier tensor cannot be read."""
    question = compared(folder, net(weight=changed(array(8, 8, seed=2), (3, 4))), net())
    (file,) = (folder / "target").rglob("*a.Linear*output.0.npy")
    file.write_bytes(file.read_bytes()[:140])
    return question


@situation(["claim.dump.weight_differs"], ["claim.dump.unseen_before", *AGREE], 1)
def an_unreadable_tensor_after_the_difference(folder: Path) -> Question:
    question = compared(folder, net(weight=changed(array(8, 8, seed=2), (3, 4))), net())
    (file,) = (folder / "target").rglob("*c.ReLU*output.0.npy")
    file.write_bytes(file.read_bytes()[:140])
    return question


@situation(["claim.dump.output_differs"], ["claim.dump.introduced", *AGREE], 1)
def weights_that_were_not_recorded(folder: Path) -> Question:
    """A module whose inputs agree: its unrecorded weights may differ."""
    sides = [net(weight=changed(array(8, 8, seed=2), (3, 4))), net()]
    for calls in sides:
        for call in calls.values():
            call.pop("parameters", None)
    return compared(folder, sides[0], sides[1])


def trained(weight: Array) -> Net:
    """Forward and backward passes whose loss is a sum: gradients of outputs are ones."""
    calls = net(weight=weight)
    ones = np.ones((4, 8), np.float32)
    calls["Module.b.Linear.backward.0"] = {"inputs": [ones], "outputs": [ones @ weight.T]}
    return calls


@situation(["claim.dump.weight_differs", "claim.dump.rest_follows"], ["claim.dump.more_differ", *AGREE], 1)
def a_gradient_that_follows_from_the_weight(folder: Path) -> Question:
    weight = array(8, 8, seed=2)
    return compared(folder, trained(changed(weight, (3, 4))), trained(weight))


def backward_alone(weight: Array) -> Net:
    calls = trained(weight)
    return {name: call for name, call in calls.items() if "backward" in name}


@situation(["claim.dump.output_differs"], ["claim.dump.introduced", *AGREE], 1)
def a_backward_pass_alone(folder: Path) -> Question:
    """Its inputs agree, but what it kept of the forward pass was not recorded."""
    weight = array(8, 8, seed=2)
    return compared(folder, backward_alone(changed(weight, (3, 4))), backward_alone(weight))


@situation(["claim.dump.introduced"], [*AGREE, "claim.dump.output_differs"], 1)
def a_backward_pass_that_is_wrong(folder: Path) -> Question:
    target = trained(array(8, 8, seed=2))
    target["Module.b.Linear.backward.0"]["outputs"][0] *= 2
    return compared(folder, target, trained(array(8, 8, seed=2)))


@situation(["claim.dump.introduced"], [*AGREE, *but(CAUSES, "claim.dump.introduced")], 1)
def an_operator_that_is_wrong(folder: Path) -> Question:
    def change(calls: Net) -> None:
        y = changed(calls["Module.b.Linear.forward.0"]["outputs"][0], (1, 2))
        calls["Module.b.Linear.forward.0"]["outputs"] = [y]
        calls["Module.c.ReLU.forward.0"]["inputs"] = [y]

    return compared(folder, altered(change), net())


def outputs_only(calls: Net) -> Net:
    return {name: {"outputs": call["outputs"]} for name, call in calls.items()}


@situation(["claim.dump.output_differs"], [*AGREE, "claim.dump.introduced", "claim.dump.input_differs"], 1)
def outputs_alone_are_recorded(folder: Path) -> Question:
    """No input was recorded: whether the operator introduced the difference is unknown."""
    target = outputs_only(net(weight=changed(array(8, 8, seed=2), (3, 4))))
    return compared(folder, target, outputs_only(net()))


@situation(["claim.dump.identical"], ["claim.dump.output_differs", "claim.dump.shapes_differ", *NOTHING], 0)
def equal_outputs_alone(folder: Path) -> Question:
    return compared(folder, outputs_only(net()), outputs_only(net()))


@situation(["claim.dump.output_differs"], ["claim.dump.introduced"], 1)
def inputs_of_one_side_alone(folder: Path) -> Question:
    return compared(folder, net(weight=array(8, 8, seed=9)), outputs_only(net()))


@situation(["claim.dump.input_differs"], [*AGREE, "claim.dump.weight_differs", "claim.dump.rearranged"], 1)
def other_data(folder: Path) -> Question:
    return compared(folder, net(x=array(4, 8, seed=7)), net())


@situation(["claim.dump.input_differs", "claim.dump.rearranged"], [*AGREE, "claim.dump.introduced"], 1)
def a_permuted_batch(folder: Path) -> Question:
    return compared(folder, net(x=array(4, 8)[[2, 0, 3, 1]]), net())


def one_output(folder: Path, values: Any, reference: Any) -> Question:
    return compared(
        folder,
        {"Torch.relu.0.forward": {"outputs": [values]}},
        {"Torch.relu.0.forward": {"outputs": [reference]}},
    )


@situation(["claim.dump.output_differs"], [*AGREE, "claim.dump.rearranged"], 1)
def other_values_of_equal_statistics(folder: Path) -> Question:
    """Minimum, maximum, mean and norm are equal. No order of the values gives the others."""
    return one_output(folder, np.array([0, 9, 1, 5, 6.0]), np.array([0, 9, 2, 3, 7.0]))


@situation(["claim.dump.output_differs"], [*AGREE, "claim.dump.rearranged"], 1)
def one_value_has_no_other_order(folder: Path) -> Question:
    return one_output(folder, np.array([2**60]), np.array([2**60 + 1]))


@situation(["claim.dump.weight_differs", "claim.dump.rearranged"], [*AGREE, "claim.dump.scaled"], 1)
def a_transposed_weight(folder: Path) -> Question:
    return compared(folder, net(weight=array(8, 8, seed=2).T.copy()), net())


@situation(["claim.dump.introduced", "claim.dump.scaled"], [*AGREE, "claim.dump.rearranged"], 1)
def a_scaled_loss(folder: Path) -> Question:
    return compared(folder, net(scale=1024), net())


@situation(["claim.dump.introduced"], ["claim.dump.scaled", "claim.dump.newly_non_finite"], 1)
def a_bias_is_no_factor(folder: Path) -> Question:
    def change(calls: Net) -> None:
        calls["Module.b.Linear.forward.0"]["outputs"][0] += 1

    return compared(folder, altered(change), net())


@situation(["claim.dump.input_differs"], ["claim.dump.scaled", *AGREE], 1)
def an_offset_that_looks_like_a_factor(folder: Path) -> Question:
    """100 ± 0.01 plus 1 is nearly, and not, a multiple."""
    x = np.float32(100) + np.float32(0.01) * array(400)
    return compared(folder, single(x + np.float32(1)), single(x))


@situation(["claim.dump.types_differ", "claim.dump.agree"], CAUSES, 0)
def half_against_single_precision(folder: Path) -> Question:
    return compared(folder, net(dtype=np.float16), net(x=array(4, 8).astype(np.float16).astype(np.float32)))


@situation(["claim.dump.identical"], ["claim.dump.types_differ"], 0)
def half_precision_on_both(folder: Path) -> Question:
    return compared(folder, net(dtype=np.float16), net(dtype=np.float16))


def with_value(value: Any) -> Net:
    x = array(4, 8)
    x[1, 1] = value
    return {"Module.a.Identity.forward.0": {"inputs": [x], "outputs": [x]}}


@situation(["claim.dump.non_finite_on_both", "claim.dump.identical"], ["claim.dump.newly_non_finite"], 0)
def nan_at_the_same_place(folder: Path) -> Question:
    return compared(folder, with_value(np.nan), with_value(np.nan))


@situation(["claim.dump.newly_non_finite", "claim.dump.input_differs"], ["claim.dump.non_finite_on_both"], 1)
def nan_in_the_target_alone(folder: Path) -> Question:
    return compared(folder, with_value(np.nan), with_value(0))


@situation(["claim.dump.input_differs"], ["claim.dump.newly_non_finite", *AGREE], 1)
def nan_in_the_reference_alone(folder: Path) -> Question:
    return compared(folder, with_value(0), with_value(np.nan))


@situation(["claim.dump.input_differs"], ["claim.dump.non_finite_on_both", *AGREE], 1)
def infinities_of_other_signs(folder: Path) -> Question:
    return compared(folder, with_value(np.inf), with_value(-np.inf))


def statistics(folder: Path, target: Net, reference: Net, checksums: bool = False) -> Question:
    write(folder / "target", target, values=False, checksums=checksums)
    write(folder / "reference", reference, values=False, checksums=checksums)
    return compared(folder)


@situation(["claim.dump.only_statistics"], [*AGREE, *CAUSES, *NOTHING], 2)
def statistics_that_do_not_differ(folder: Path) -> Question:
    return statistics(folder, net(), net())


WITHIN = ["claim.dump.statistics_within", "claim.part.statistics_of", "claim.part.statistic_differs"]


@situation(
    [*WITHIN, "claim.part.statistic.norm", "claim.part.statistic.mean"],
    ["claim.dump.only_statistics", "claim.part.statistic_not_zero", *AGREE, *CAUSES, *NOTHING],
    2,
)
def statistics_that_differ_within_the_tolerance(folder: Path) -> Question:
    weight = array(8, 8, seed=2)
    return statistics(folder, net(weight=changed(weight, (3, 4), 0.003)), net())


KINDS = [f"claim.part.statistic.{name}" for name in ("maximum", "mean", "minimum", "norm")]


@situation(["claim.dump.only_statistics"], [*WITHIN, *KINDS, *AGREE, *CAUSES, *NOTHING], 2)
def statistics_that_differ_by_rounding(folder: Path) -> Question:
    return statistics(folder, net(x=array(4, 8) * np.float32(1 + 2e-7)), net())


@situation(
    [*WITHIN, "claim.part.statistic.maximum", "claim.part.statistic.minimum"],
    ["claim.dump.only_statistics", *AGREE],
    2,
)
def extremes_that_differ_within_the_tolerance(folder: Path) -> Question:
    value = np.zeros(4096, np.float32)
    value[:8] = 1, -1, 1, -1, 1, -1, 1, -1
    high, low = changed(value, 0, 0.002), changed(value, 1, -0.002)
    return statistics(
        folder, single(high) | {"b": {"outputs": [low]}}, single(value) | {"b": {"outputs": [value]}}
    )


@situation(["claim.part.statistic_not_zero"], ["claim.dump.only_statistics", *AGREE], 2)
def a_mean_that_is_zero_on_one_side(folder: Path) -> Question:
    value = np.tile(np.array([1, -1], np.float32), 64)
    return statistics(folder, single(changed(value, 0, -0.01)), single(value))


@situation(["claim.dump.only_statistics"], AGREE, 2)
def a_permutation_that_statistics_do_not_show(folder: Path) -> Question:
    x = array(16)
    sides = [{"Module.a.Identity.forward.0": {"inputs": [v], "outputs": [v]}} for v in (x[::-1].copy(), x)]
    return statistics(folder, sides[0], sides[1])


@situation(["claim.dump.weight_differs"], ["claim.dump.only_statistics", *AGREE], 1)
def statistics_that_differ(folder: Path) -> Question:
    return statistics(folder, net(weight=array(8, 8, seed=2) * 2), net())


@situation(
    ["claim.dump.same_checksums"],
    ["claim.dump.identical", "claim.dump.by_checksum", "claim.dump.only_statistics", *CAUSES],
    0,
)
def equal_checksums(folder: Path) -> Question:
    return statistics(folder, net(), net(), checksums=True)


@situation(["claim.dump.weight_differs"], [*AGREE, "claim.dump.only_statistics"], 1)
def other_checksums(folder: Path) -> Question:
    return statistics(folder, net(weight=changed(array(8, 8, seed=2), (0, 0))), net(), checksums=True)


@situation(["claim.dump.identical", "claim.dump.by_checksum"], ["claim.dump.same_checksums"], 0)
def checksums_beside_some_values(folder: Path) -> Question:
    """One tensor has a checksum alone: nobody compared its values."""
    for side in ("target", "reference"):
        (path,) = write(folder / side, net(), checksums=True).rglob("dump.json")
        content = json.loads(path.read_text())
        del content["data"]["Module.c.ReLU.forward.0"]["output"][0]["data_name"]
        path.write_text(json.dumps(content))
    return compared(folder)


@situation(
    ["claim.dump.identical"], ["claim.dump.by_checksum", "claim.dump.same_checksums", "claim.dump.unread"], 0
)
def checksums_beside_values(folder: Path) -> Question:
    for side in ("target", "reference"):
        write(folder / side, net(), checksums=True)
    return compared(folder)


@situation(["claim.dump.partly_agree"], ["claim.dump.identical", "claim.dump.agree", *CAUSES], 2)
def an_operator_more(folder: Path) -> Question:
    more = {"Module.d.Dropout.forward.0": {"inputs": [array(3)], "outputs": [array(3)]}}
    return compared(folder, net() | more, net())


@situation(["claim.dump.partly_agree"], ["claim.dump.identical", *CAUSES], 2)
def an_operator_less(folder: Path) -> Question:
    target = net()
    del target["Module.c.ReLU.forward.0"]
    return compared(folder, target, net())


def single(value: Array, name: str = "Module.a.Identity.forward.0") -> Net:
    return {name: {"inputs": [value], "outputs": [value]}}


@situation(["claim.dump.nothing_compared"], AGREE, 2)
def tensors_without_elements(folder: Path) -> Question:
    return compared(folder, single(array(0)), single(array(0)))


@situation(["claim.dump.identical"], NOTHING, 0)
def one_tensor_without_elements(folder: Path) -> Question:
    empty = single(array(0), "Module.z.Identity.forward.0")
    return compared(folder, net() | empty, net() | empty)


@situation(
    ["claim.dump.weights_reshaped"], [*CAUSES, "claim.dump.shapes_differ", "claim.dump.types_differ"], 1
)
def equal_values_of_a_weight_of_another_shape(folder: Path) -> Question:
    """As between two checkpoints: a network does not load it."""
    target = net()
    weights = target["Module.a.Linear.forward.0"]["parameters"]
    weights["weight"] = weights["weight"].reshape(4, 16)
    return compared(folder, target, net())


@situation(
    ["claim.dump.identical", "claim.dump.shapes_differ"],
    [*CAUSES, "claim.dump.types_differ", "claim.dump.weights_reshaped"],
    0,
)
def equal_values_of_another_shape(folder: Path) -> Question:
    """[4, 16, 6] against [4, 96]: reshaped values are equal."""
    return compared(folder, single(array(4, 16, 6)), single(array(4, 16, 6).reshape(4, 96)))


@situation(["claim.dump.identical", "claim.dump.shapes_differ"], CAUSES, 1)
def axes_that_were_swapped(folder: Path) -> Question:
    """[6, 4] instead of [4, 6] is another tensor, though its values are stored in the same order."""
    return compared(folder, single(array(4, 6)), single(array(4, 6).reshape(6, 4)))


@situation(["claim.dump.input_differs"], [*AGREE, *NOTHING], 1)
def another_size(folder: Path) -> Question:
    return compared(folder, single(array(4, 3)), single(array(4, 4)))


@situation(["claim.dump.input_differs"], AGREE, 1)
def integers_that_differ_by_one(folder: Path) -> Question:
    """No tolerance for integers: 1,000,000 and 1,000,001 are other labels."""
    return compared(folder, single(np.array([1_000_000, 5])), single(np.array([1_000_001, 5])))


@situation(["claim.dump.input_differs"], AGREE, 1)
def integers_that_doubles_cannot_tell_apart(folder: Path) -> Question:
    return compared(folder, single(np.array([2**53, 5])), single(np.array([2**53 + 1, 5])))


@situation(["claim.dump.identical"], CAUSES, 0)
def large_integers_that_are_equal(folder: Path) -> Question:
    return compared(folder, single(np.array([2**53 + 1])), single(np.array([2**53 + 1])))


@situation(["claim.dump.agree"], [*CAUSES, "claim.dump.identical"], 0)
def just_within_the_tolerance(folder: Path) -> Question:
    return compared(folder, single(array(64) * np.float32(1 + 0.9e-3)), single(array(64)))


@situation(["claim.dump.input_differs", "claim.dump.scaled"], AGREE, 1)
def just_beyond_the_tolerance(folder: Path) -> Question:
    return compared(folder, single(array(64) * np.float32(1 + 1.1e-3)), single(array(64)))


@situation(["claim.dump.identical"], CAUSES, 0)
def numbers_without_dimensions(folder: Path) -> Question:
    return compared(folder, single(np.array(2.5, np.float32)), single(np.array(2.5, np.float32)))


@situation(["claim.dump.input_differs"], AGREE, 1)
def numbers_without_dimensions_that_differ(folder: Path) -> Question:
    return compared(folder, single(np.array(2.5, np.float32)), single(np.array(2.75, np.float32)))


@situation(["claim.dump.partly_agree"], ["claim.dump.identical", *CAUSES], 2)
def parameters_of_other_names(folder: Path) -> Question:
    """``weight`` and ``weight_g`` are two parameters, not one that differs."""
    sides = [net(), net()]
    values = sides[0]["Module.b.Linear.forward.0"]["parameters"]
    values["weight_g"] = values.pop("weight") * 3
    return compared(folder, sides[0], sides[1])


@situation(["claim.dump.input_differs"], AGREE, 1)
def booleans_that_differ(folder: Path) -> Question:
    values = np.zeros(10_000, bool)
    return compared(folder, single(values), single(np.roll(values, 1) | (np.arange(10_000) == 7)))


@situation(["claim.dump.identical"], [*CAUSES, "claim.dump.types_differ"], 0)
def complex_numbers_that_are_equal(folder: Path) -> Question:
    return compared(folder, single(array(4) + 1j * array(4)), single(array(4) + 1j * array(4)))


@situation(["claim.dump.input_differs"], AGREE, 1)
def conjugate_numbers(folder: Path) -> Question:
    return compared(folder, single(array(4) + 1j * array(4)), single(array(4) - 1j * array(4)))


@situation(["claim.dump.identical"], CAUSES, 0)
def a_module_that_ran_twice(folder: Path) -> Question:
    calls = single(array(4)) | single(array(4, seed=3), "Module.a.Identity.forward.1")
    return compared(folder, calls, calls)


@situation(["claim.dump.argument_differs"], [*but(CAUSES, "claim.dump.argument_differs"), *AGREE], 1)
def another_argument(folder: Path) -> Question:
    sides: list[Net] = [
        {"Torch.sum.0.forward": {"inputs": [array(4), axis], "outputs": [array(1)]}} for axis in (0, 1)
    ]
    return compared(folder, sides[0], sides[1])


@situation(["claim.dump.identical"], ["claim.dump.argument_differs"], 0)
def the_same_argument(folder: Path) -> Question:
    calls: Net = {"Torch.sum.0.forward": {"inputs": [array(4), 1], "outputs": [array(1)]}}
    return compared(folder, calls, calls)


def steps(folder: Path, *target: tuple[int, int], differ: tuple[int, int] | None = None) -> Question:
    """Reference: steps 0 and 1 of ranks 0 and 1; ``target`` names steps and ranks of the other."""
    for step in (0, 1):
        for rank in (0, 1):
            write(folder / "reference", net(), step, rank)
    for step, rank in target:
        calls = net(x=array(4, 8, seed=8)) if (step, rank) == differ else net()
        write(folder / "target", calls, step, rank)
    return compared(folder, None, None, "--every-step")


ALL = ((0, 0), (0, 1), (1, 0), (1, 1))


@situation(
    ["claim.dump.steps_equal"],
    [
        "claim.dump.at_step",
        "claim.dump.steps_missing",
        "claim.dump.steps_undecided",
        "claim.dump.steps_agree",
        "claim.dump.by_checksum",
    ],
    0,
)
def all_steps_are_equal(folder: Path) -> Question:
    return steps(folder, *ALL)


@situation(["claim.dump.steps_equal", "claim.dump.by_checksum"], ["claim.dump.steps_undecided"], 0)
def a_step_with_checksums_alone(folder: Path) -> Question:
    """Two steps: the second has no values, but its checksums are equal."""
    for side in ("target", "reference"):
        write(folder / side, net(), 0)
        write(folder / side, net(), 1, values=False, checksums=True)
    return compared(folder, None, None, "--every-step")


@situation(["claim.dump.steps_agree"], ["claim.dump.steps_equal", "claim.dump.at_step"], 0)
def one_step_agrees_within_the_tolerance(folder: Path) -> Question:
    question = steps(folder, *ALL)
    (path,) = (folder / "target" / "step1" / "rank1").rglob("*c.ReLU*output.0.npy")
    np.save(path, np.load(path) * np.float32(1 + 1e-5))
    return question


@situation(["claim.dump.at_step", "claim.dump.input_differs"], ["claim.dump.steps_agree"], 1)
def one_step_of_one_rank_differs(folder: Path) -> Question:
    return steps(folder, *ALL, differ=(1, 1))


@situation(["claim.dump.steps_missing", "claim.dump.steps_equal"], ["claim.dump.at_step"], 2)
def a_rank_is_missing(folder: Path) -> Question:
    return steps(folder, (0, 0), (1, 0))


@situation(["claim.dump.steps_undecided", "claim.dump.nothing_compared"], ["claim.dump.steps_agree"], 2)
def one_step_of_four_that_cannot_be_read(folder: Path) -> Question:
    """Exit code 2 comes with the step that is unknown and the reason."""
    question = steps(folder, (0, 0), (0, 1), (1, 0), (1, 1))
    for file in (folder / "target" / "step1" / "rank0" / "dump_tensor_data").iterdir():
        file.write_bytes(file.read_bytes()[:50])
    return question


@situation(["claim.dump.steps_missing", "claim.dump.at_step"], ["claim.dump.steps_agree"], 1)
def a_step_is_missing_and_another_differs(folder: Path) -> Question:
    return steps(folder, (0, 0), (0, 1), (1, 0), differ=(0, 1))


def one_call(operator: str, given: Any, made: Any) -> Net:
    return {f"Functional.{operator}.0.forward": {"inputs": [given], "outputs": [made]}}


@situation(["claim.dump.random"], [*but(CAUSES, "claim.dump.random"), *AGREE], 1)
def another_mask_of_a_dropout(folder: Path) -> Question:
    x, masks = array(8, 8), [array(8, 8, seed=seed) > 0 for seed in (5, 6)]
    target, reference = (one_call("dropout", x, np.float32(2) * x * mask) for mask in masks)
    return compared(folder, target, reference)


@situation(["claim.dump.introduced"], ["claim.dump.random"], 1)
def a_normalization_is_not_drawn_from_a_normal_distribution(folder: Path) -> Question:
    x = array(8, 8)
    return compared(folder, one_call("normalize", x, x * x), one_call("normalize", x, x))


def scaled_layers(factor: float) -> Net:
    """Three layers, each of which multiplies by ``factor``; weights are inputs."""
    calls: Net = {}
    h = array(4, 8)
    for number in range(3):
        weight = array(8, 8, seed=number + 1)
        made = (h @ weight * factor).astype(np.float32)
        calls[f"Functional.matmul.{number}.forward"] = {"inputs": [h, weight], "outputs": [made]}
        h = made
    return calls


@situation(["claim.dump.output_differs"], ["claim.dump.introduced", "claim.dump.more_differ", *AGREE], 1)
def a_drift_to_which_every_layer_adds_the_same(folder: Path) -> Question:
    """The input of the layer that leaves the tolerance is off by two thirds of it."""
    return compared(folder, scaled_layers(1 + 4e-4), scaled_layers(1))


@situation(["claim.dump.introduced"], ["claim.dump.output_differs"], 1)
def a_layer_that_adds_far_more_than_its_input(folder: Path) -> Question:
    def change(calls: Net) -> None:
        call = calls["Functional.matmul.1.forward"]
        call["inputs"][0] = call["inputs"][0] * np.float32(1 + 1e-5)
        call["outputs"][0] = call["outputs"][0] * np.float32(1.5)

    target = scaled_layers(1)
    change(target)
    return compared(folder, target, scaled_layers(1))


@situation(["claim.dump.output_differs"], [*AGREE, "claim.dump.rearranged"], 1)
def other_places_of_as_many_ones(folder: Path) -> Question:
    """Any two masks with as many ones hold the same numbers."""
    return one_output(folder, np.eye(4, 8, dtype=np.float32), np.eye(4, 8, k=2, dtype=np.float32))


@situation(["claim.dump.output_differs"], [*AGREE, "claim.dump.scaled"], 1)
def one_number_beside_zeros_is_no_factor(folder: Path) -> Question:
    return one_output(folder, np.array([0, 1.0]), np.array([0, 255.0]))


@situation(
    ["claim.dump.input_differs"], [*but(CAUSES, "claim.dump.input_differs"), "claim.dump.shapes_differ"], 1
)
def another_batch_size(folder: Path) -> Question:
    """No values were compared, in whatever order: the shapes are of other sizes."""
    return compared(folder, net(x=array(6, 8)), net(x=array(4, 8)))


def of_steps(folder: Path, target: tuple[int, ...], reference: tuple[int, ...], *options: str) -> Question:
    for name, numbers in (("target", target), ("reference", reference)):
        for step in numbers:
            write(folder / name, net(x=array(4, 8, seed=step)), step)
    command = ["dump", "compare", str(folder / "target"), str(folder / "reference"), "--json", *options]
    return Question(command=command)


@situation(["claim.dump.steps_left_out", "claim.dump.identical"], ["claim.dump.other_step"], 0)
def the_first_of_three_common_steps(folder: Path) -> Question:
    """The first step that both have is compared, not the first of each."""
    return of_steps(folder, (1, 2, 3), (0, 1, 2, 3))


@situation(["claim.dump.identical"], ["claim.dump.steps_left_out", "claim.dump.other_step"], 0)
def the_only_common_step(folder: Path) -> Question:
    return of_steps(folder, (1, 2), (0, 2))


@situation(["claim.dump.other_step"], ["claim.dump.steps_left_out", *AGREE], 1)
def dumps_without_a_common_step(folder: Path) -> Question:
    question = of_steps(folder, (5,), (0, 1))
    return replace(question, base=folder, request=lambda client: ask(client, 5, 0))


@situation(["claim.dump.input_differs"], ["claim.dump.other_step", "claim.dump.steps_left_out"], 1)
def two_steps_that_were_asked_for(folder: Path) -> Question:
    question = of_steps(folder, (5, 6), (0, 5), "--step", "5", "--reference-step", "0")
    return replace(question, base=folder, request=lambda client: ask(client, 5, 0))


# A graph of MindSpore against the same network in PyNative: other scopes around it, other numbers and types


def recorded(root: Path, calls: dict[str, tuple[Array, Array]]) -> None:
    """Write a synchronous dump of operators by full name, with their graph: one input and one output each."""
    graph = GraphBuilder("Net")
    for name, (_, output) in calls.items():
        scope, _, leaf = name.rpartition("/")
        kind, _, number = leaf.partition("-op")
        with graph.scope(f"/{scope}"):
            graph.node(kind, shape=output.shape, number=int(number))
    step = Dump(root, graph=graph).iteration(0)
    for name, (value, output) in calls.items():
        step.input(name, value)
        step.output(name, output)


def updated(rate: float, error: float = 0) -> dict[str, tuple[Array, Array]]:
    """An operator, its gradient with an ``error``, and the optimizer's update of a weight at a rate."""
    weight, gradient = array(8), array(8, seed=1) * np.float32(1 + error)
    return {
        "Default/layer-Own/relu-op0": (weight, np.maximum(weight, 0)),
        "Gradients/Default/layer-Own/relu-op0": (array(8, seed=1), gradient),
        "Default/optimizer-SGD/add_-op0": (weight, weight - np.float32(rate) * gradient),
    }


def trainings(folder: Path, target: dict[str, Any], reference: dict[str, Any]) -> Question:
    recorded(folder / "target", target)
    recorded(folder / "reference", reference)
    return Question(command=["dump", "compare", str(folder / "target"), str(folder / "reference"), "--json"])


@situation(["claim.dump.optimizer_differs"], [*AGREE, *CAUSES], 1)
def another_learning_rate(folder: Path) -> Question:
    return trainings(folder, updated(0.2), updated(0.1))


@situation([], ["claim.dump.optimizer_differs", *AGREE], 1)
def another_gradient(folder: Path) -> Question:
    return trainings(folder, updated(0.1, 0.5), updated(0.1))


def in_both_modes(folder: Path, second: str, by: float = 0.0, turned: bool = False) -> Question:
    """Two convolutions, of which ``second`` is the scope in PyNative; ``by`` is added to its output there."""
    x, first, last = array(3, 2, 5, 5), array(3, 4, 5, 5, seed=1), array(3, 6, 5, 5, seed=2)
    outer = "Default/network-WithLossCell/_backbone-UNet"
    target = {
        f"{outer}/enc-Enc/conv-Conv2d/Conv2D-op11": (x, first),
        f"{outer}/dec-Dec/conv-Conv2d/Conv2D-op14": (first, last),
    }
    reference = {
        "Default/enc-Enc/conv-Conv2d/Conv2D-op0": (x, first),
        f"Default/{second}/conv-Conv2d/Conv2D-op1": (first, last.reshape(3, -1) + np.float32(by)),
    }
    recorded(folder / "target", target)
    recorded(folder / "reference", dict(reversed(reference.items())) if turned else reference)
    return compared(folder)


@situation(["claim.dump.identical"], [*CAUSES, *NOTHING, "claim.dump.partly_agree"], 0)
def a_graph_against_pynative(folder: Path) -> Question:
    return in_both_modes(folder, "dec-Dec")


@situation(["claim.dump.identical"], [*CAUSES, *NOTHING, "claim.dump.partly_agree"], 0)
def a_graph_against_pynative_in_another_order(folder: Path) -> Question:
    return in_both_modes(folder, "dec-Dec", turned=True)


@situation(["claim.dump.introduced"], [*AGREE, *NOTHING], 1)
def a_graph_against_pynative_with_a_wrong_operator(folder: Path) -> Question:
    return in_both_modes(folder, "dec-Dec", by=0.5)


@situation(["claim.dump.partly_agree"], [*CAUSES, "claim.dump.identical"], 2)
def another_cell_of_the_same_innermost_name(folder: Path) -> Question:
    """The convolution of the decoder is not that of a head, whatever their values are."""
    return in_both_modes(folder, "head-Head", by=0.5)


def of_modules(folder: Path, *names: str, by: float = 0.0) -> Question:
    """Compare modules of these names with ``a-Linear``, ``b-Linear`` and ``c-Linear``. The last output
    differs."""
    values = [array(4, 8, seed=number) for number in range(4)]
    for side, modules, last in (
        ("target", names, by),
        ("reference", ("a-Linear", "b-Linear", "c-Linear"), 0.0),
    ):
        operators = {
            f"Default/{module}/addmm-op{number}": (
                values[number], values[number + 1] + np.float32(last if number == 2 else 0),
            )
            for number, module in enumerate(modules)
        }  # fmt: skip
        recorded(folder / side, operators)
    return compared(folder)


BY_ORDER, RENAMED = "claim.dump.equal_by_order", "claim.dump.modules_renamed"
UP, DOWN = ("up-Linear", "mid-Linear", "down-Linear"), ("up-Linear", "mid-Linear", "down-Conv")


@situation(["claim.dump.identical", RENAMED], [*CAUSES, *NOTHING, BY_ORDER], 0)
def modules_of_other_names(folder: Path) -> Question:
    return of_modules(folder, *UP)


@situation(["claim.dump.introduced", RENAMED], [*AGREE, *NOTHING, "claim.dump.unseen_before"], 1)
def an_operator_of_a_renamed_module_that_computes_otherwise(folder: Path) -> Question:
    return of_modules(folder, *UP, by=0.5)


@situation(["claim.dump.identical", BY_ORDER], [*CAUSES, *NOTHING, RENAMED], 0)
def modules_of_another_class_with_equal_values(folder: Path) -> Question:
    """Nothing but their order matches them, and all values are equal."""
    return of_modules(folder, *DOWN)


@situation(["claim.dump.nothing_common"], [*CAUSES, *AGREE, RENAMED, BY_ORDER], 2)
def modules_of_another_class_with_another_value(folder: Path) -> Question:
    """What order alone matches need not be one operator."""
    return of_modules(folder, *DOWN, by=0.5)


def of_one_value(folder: Path, target: Array, reference: Array) -> Question:
    def calls(value: Array) -> Net:
        return {"Module.a.ReLU.forward.0": {"inputs": [array(1)], "outputs": [value]}}

    return compared(folder, calls(target), calls(reference))


@situation(["claim.dump.introduced", "claim.dump.newly_non_finite"], AGREE, 1)
def nan_in_the_only_value(folder: Path) -> Question:
    return of_one_value(folder, np.array([np.nan], np.float32), np.array([1], np.float32))


@situation(["claim.dump.introduced"], [*AGREE, "claim.dump.newly_non_finite"], 1)
def large_integers_without_dimensions(folder: Path) -> Question:
    return of_one_value(folder, np.array([2**60 + 1]), np.array([2**60]))


@situation(["claim.dump.no_tensor_common"], [*AGREE, *CAUSES, "claim.dump.nothing_common"], 2)
def inputs_against_outputs_of_the_same_operators(folder: Path) -> Question:
    inputs = {name: {"inputs": call["inputs"], "outputs": []} for name, call in net().items()}
    return compared(folder, inputs, outputs_only(net()))


@situation(["claim.dump.nothing_common"], ["claim.dump.no_tensor_common"], 2)
def outputs_of_other_operators(folder: Path) -> Question:
    return compared(folder, outputs_only(net()), single(array(3), "Module.z.Conv2d.forward.0"))


def of_ranks(folder: Path, target: tuple[int, ...], reference: tuple[int, ...], *options: str) -> Question:
    """Every rank has other values, which are the same on both sides."""
    for name, numbers in (("target", target), ("reference", reference)):
        for rank in numbers:
            write(folder / name, net(x=array(4, 8, seed=rank)), rank=rank)
    command = ["dump", "compare", str(folder / "target"), str(folder / "reference"), "--json", *options]
    return Question(command=command)


@situation(["claim.dump.ranks_left_out", "claim.dump.identical"], ["claim.dump.ranks_alone"], 0)
def the_first_of_two_common_ranks(folder: Path) -> Question:
    return of_ranks(folder, (0, 1), (0, 1))


@situation(["claim.dump.ranks_alone", "claim.dump.identical"], ["claim.dump.ranks_left_out"], 0)
def the_only_common_rank(folder: Path) -> Question:
    """The first rank that both have is compared, not the first of each."""
    return of_ranks(folder, (1, 2), (0, 1))


@situation(["claim.dump.identical"], ["claim.dump.ranks_left_out", "claim.dump.ranks_alone"], 0)
def a_rank_that_was_asked_for(folder: Path) -> Question:
    return of_ranks(folder, (0, 1), (0, 1, 2), "--rank", "1")


def with_gaps(folder: Path, step: int) -> Question:
    for name in ("target", "reference"):
        dump = Dump(folder / name)
        dump.iteration(0).output("Default/Add-op0", array(3))
        dump.not_recorded([Gap("limit", count=193, iterations=(step,))])
    return compared(folder)


@situation(["claim.dump.not_recorded", "claim.dump.identical"], CAUSES, 2)
def recordings_that_reached_their_limit(folder: Path) -> Question:
    """Whether the missing tensors are equal is unknown."""
    return with_gaps(folder, 0)


@situation(["claim.dump.identical"], ["claim.dump.not_recorded"], 0)
def recordings_that_reached_their_limit_at_another_step(folder: Path) -> Question:
    return with_gaps(folder, 1)


def of_functions(weight: Array) -> Net:
    """A function and the module around it, which records the weight; both with checksums alone."""
    x = array(4, 8)
    y = x @ weight
    return {
        "Functional.linear.0.forward": {"inputs": [x, weight], "outputs": [y]},
        "Module.b.Linear.forward.0": {"inputs": [x], "parameters": {"weight": weight}, "outputs": [y]},
    }


@situation(["claim.dump.weight_differs", "claim.dump.rest_follows"], ["claim.dump.more_differ", *AGREE], 1)
def a_weight_that_differs_by_its_checksum(folder: Path) -> Question:
    """The first input that differs is the weight of the module."""
    weight = array(8, 8, seed=2)
    for side, values in (("target", changed(weight, (3, 4), 1e-3)), ("reference", weight)):
        write(folder / side, of_functions(values), values=False, checksums=True)
    return compared(folder)


@situation(["claim.dump.same_checksums", "claim.dump.unread"], ["claim.dump.identical", *NOTHING, *CAUSES], 2)
def a_truncated_file_with_a_recorded_checksum(folder: Path) -> Question:
    calls = {"Module.a.Linear.forward.0": {"outputs": [array(64)]}}
    for side in ("target", "reference"):
        write(folder / side, calls, checksums=True)
    (file,) = (folder / "target").rglob("*.npy")
    file.write_bytes(file.read_bytes()[:140])
    return compared(folder)


def of_gradients(root: Path, *shapes: tuple[int, ...]) -> None:
    """Write transpositions of a backward pass, numbered in order, and the loss before them."""
    step = Dump(root).iteration(0)
    step.output("Default/loss-op0", array(3))
    for number, shape in enumerate(shapes):
        step.output(f"Gradients/Default/fc-Linear/t-op{number}", array(*shape))


@situation(["claim.dump.partly_agree"], [*CAUSES, "claim.dump.shapes_differ"], 2)
def a_layer_that_is_frozen_on_one_side(folder: Path) -> Question:
    """It has fewer operators in the backward pass, so that the numbers of the rest are others."""
    of_gradients(folder / "target", (2, 6), (8, 2))
    of_gradients(folder / "reference", (2, 8), (2, 6), (8, 2))
    return compared(folder)


@situation(["claim.dump.output_differs"], AGREE, 1)
def a_gradient_of_another_shape(folder: Path) -> Question:
    of_gradients(folder / "target", (2, 6), (8, 2))
    of_gradients(folder / "reference", (2, 8), (8, 2))
    return compared(folder)


def of_parameters(root: Path, operator: str, parameter: str) -> None:
    step = Dump(root).iteration(0)
    step.output(f"Default/{operator}-op0", array(2, 3))
    step.parameter(parameter, array(3))


@situation(["claim.dump.nothing_common"], ["claim.dump.no_tensor_common", BY_ORDER, *AGREE], 2)
def unrelated_networks_with_a_parameter_of_one_shape(folder: Path) -> Question:
    """Order and shape match the parameters, which does not make them one operator."""
    of_parameters(folder / "target", "conv-Conv2d/Conv2D", "conv.weight")
    of_parameters(folder / "reference", "lstm-LSTM/LSTM", "lstm.bias")
    return compared(folder)


def with_graph(folder: Path) -> Question:
    """Write equal dumps, each with a graph."""
    for side in ("target", "reference"):
        graph = GraphBuilder("net")
        graph.output(graph.node("ReLU", [graph.parameter("x", (3,), role="input")], shape=(3,)))
        step = Dump(folder / side, graph=graph).iteration(0)
        step.output("Default/ReLU-op0", array(3))
        step.output("Default/ReLU-op1", array(3))
    return compared(folder)


@situation(["claim.dump.identical"], ["claim.dump.partly_agree", "claim.part.unlisted"], 0)
def a_truncated_graph(folder: Path) -> Question:
    """It holds no tensor."""
    question = with_graph(folder)
    (graph,) = (folder / "target").rglob("*.pb")
    graph.write_bytes(graph.read_bytes()[:-1])
    return question


@situation(["claim.dump.partly_agree", "claim.part.unlisted"], ["claim.dump.identical"], 2)
def a_file_of_an_unknown_name_beside_the_tensors(folder: Path) -> Question:
    """It may hold a tensor."""
    question = with_graph(folder)
    (min((folder / "target").rglob("*.npy")).parent / "other.npy").write_bytes(b"")
    return question


@situation(["claim.dump.same_checksums", "claim.dump.shapes_differ"], [*CAUSES, "claim.dump.identical"], 1)
def equal_checksums_of_another_shape(folder: Path) -> Question:
    value = array(4, 6)
    return statistics(folder, single(value), single(value.reshape(6, 4)), checksums=True)


@situation(["claim.dump.same_checksums"], ["claim.dump.shapes_differ", *CAUSES], 0)
def equal_checksums_of_one_shape(folder: Path) -> Question:
    return statistics(folder, single(array(4, 6)), single(array(4, 6)), checksums=True)


@situation(["claim.part.checksums_alone"], ["claim.part.checksums", *AGREE], 1)
def checksums_of_zeros_of_another_sign(folder: Path) -> Question:
    """Statistics do not show a difference, checksums do."""
    zeros = np.array([0.0, 1.0], np.float32)
    return statistics(folder, single(np.array([-0.0, 1.0], np.float32)), single(zeros), checksums=True)


@situation(["claim.part.checksums"], ["claim.part.checksums_alone", *AGREE], 1)
def checksums_of_other_values(folder: Path) -> Question:
    return statistics(folder, single(array(4, 6)), single(changed(array(4, 6), 0)), checksums=True)


def with_map(folder: Path, names: dict[str, str], *options: str) -> Question:
    target = {name.replace(".a.", ".first."): call for name, call in net().items()}
    (folder / "names.json").write_text(json.dumps(names))
    return compared(folder, target, net(), "--map", str(folder / "names.json"), *options)


FIRST = {"Module.first.Linear.forward.0": "Module.a.Linear.forward.0"}


@situation(["claim.dump.map_unused", "claim.dump.identical"], CAUSES, 0)
def a_mapping_with_a_name_that_is_nowhere(folder: Path) -> Question:
    return with_map(folder, FIRST | {"Module.frist.Linear.forward.0": "Module.a.Linear.forward.0"})


@situation(["claim.dump.map_unused"], ["claim.dump.agree"], 0)
def a_mapping_to_a_name_that_is_nowhere_in_any_step(folder: Path) -> Question:
    return with_map(
        folder, FIRST | {"Module.b.Linear.forward.0": "Module.d.Linear.forward.0"}, "--every-step"
    )


@situation(["claim.dump.identical"], ["claim.dump.map_unused"], 0)
def a_mapping_of_which_every_name_is_used(folder: Path) -> Question:
    return with_map(folder, FIRST)


@situation(["claim.dump.steps_equal"], ["claim.dump.map_unused"], 0)
def a_mapping_of_which_every_name_is_used_in_a_step(folder: Path) -> Question:
    return with_map(folder, FIRST, "--every-step")


def with_bias_in_the_reference(folder: Path, before: bool) -> Question:
    """Add a bias in the reference alone, ``before`` the operator that differs or after it."""
    for side in ("target", "reference"):
        step = Dump(folder / side).iteration(0)
        for kind in ("bias", "other") if before else ("other", "bias"):
            if kind == "other":
                step.output("Default/ReLU-op0", array(4, 3) + (side == "target"))
            elif side == "reference":
                step.output("Default/fc/BiasAdd-op0", array(4, 3))
    return compared(folder)


@situation(["claim.dump.output_differs", "claim.dump.unseen_before"], AGREE, 1)
def a_bias_lost_before_the_difference(folder: Path) -> Question:
    return with_bias_in_the_reference(folder, before=True)


@situation(["claim.dump.output_differs"], ["claim.dump.unseen_before", *AGREE], 1)
def a_bias_lost_after_the_difference(folder: Path) -> Question:
    """The order of the reference tells that it is no cause."""
    return with_bias_in_the_reference(folder, before=False)


# Causes that many differences share

SHARED = ["claim.dump.other_modules", "claim.dump.modules_alone", "claim.dump.data_differs",
          "claim.dump.unrelated_weights"]  # fmt: skip


def of_blocks(folder: Path, target: str, reference: str, extra: str = "", by: float = 0.5) -> Question:
    """Two blocks with a normalization and a projection. ``target`` and ``reference`` are the normalizations,
    whose outputs differ by ``by``. ``extra`` is one more module of the target."""
    for side, norm in (("target", target), ("reference", reference)):
        calls = {}
        value = array(4, 8)
        for number in (0, 1):
            normed = value + np.float32(by if side == "target" else 0)
            block = f"Default/blocks-List/{number}-Block"
            calls[f"{block}/ln1-{norm}/{norm.lower()}-op0"] = (value, normed)
            calls[f"{block}/q-Linear/addmm-op1"] = (normed, normed * np.float32(2))
            if extra and side == "target":
                calls[f"{block}/{extra}/mul-op2"] = (normed, normed * np.float32(3))
            value = normed * np.float32(2)
        recorded(folder / side, calls)
    return compared(folder)


@situation(["claim.dump.other_modules"], but(SHARED, "claim.dump.other_modules"), 1)
def a_normalization_of_another_class(folder: Path) -> Question:
    """The operators of the normalization have no partner, so that a later input is the first difference."""
    return of_blocks(folder, "RMSNorm", "LayerNorm")


@situation(["claim.dump.introduced"], SHARED, 1)
def a_normalization_of_the_same_class(folder: Path) -> Question:
    return of_blocks(folder, "LayerNorm", "LayerNorm")


@situation(["claim.dump.modules_alone"], but(SHARED, "claim.dump.modules_alone"), 1)
def a_module_that_was_added(folder: Path) -> Question:
    return of_blocks(folder, "LayerNorm", "LayerNorm", extra="gate-Gate")


@situation(["claim.dump.data_differs", "claim.dump.input_differs"], ["claim.dump.unrelated_weights"], 1)
def another_batch(folder: Path) -> Question:
    return compared(folder, net(x=array(4, 8, seed=7)), net())


@situation(["claim.dump.weight_differs"], SHARED, 1)
def the_same_batch_with_another_weight(folder: Path) -> Question:
    return compared(folder, net(weight=array(8, 8, seed=9)), net())


@situation(["claim.dump.input_differs"], SHARED, 1)
def a_later_input_from_outside(folder: Path) -> Question:
    """Weights were used before, so that the tensor need not be data that the network receives."""
    other = net()
    other["Module.b.Linear.forward.0"]["inputs"][0] = array(4, 8, seed=7)
    return compared(folder, other, net())


@situation(["claim.dump.data_differs"], but(SHARED, "claim.dump.data_differs"), 1)
def a_batch_that_was_drawn(folder: Path) -> Question:
    return drawn(folder, "randint")


@situation(["claim.dump.output_differs"], SHARED, 1)
def a_first_output_without_inputs_that_draws_nothing(folder: Path) -> Question:
    return drawn(folder, "arange")


def drawn(folder: Path, kind: str) -> Question:
    """An operator without an input puts out what the network receives, other values on each side."""
    for side, seed in (("target", 1), ("reference", 2)):
        batch, weight = array(4, 8, seed=seed), array(8, 8, seed=3)
        graph = GraphBuilder("Net")
        with graph.scope("/Default"):
            graph.node(kind, shape=batch.shape, number=0)
        with graph.scope("/Default/a-Linear"):
            graph.node("mm", shape=(4, 8), number=1)
        step = Dump(folder / side, graph=graph).iteration(0)
        step.output(f"Default/{kind}-op0", batch)
        step.input("Default/a-Linear/mm-op1", batch)
        step.output("Default/a-Linear/mm-op1", batch @ weight)
    return compared(folder)


def of_weights(folder: Path, change: Callable[[Array, int], Array]) -> Question:
    """Four layers, whose weights are ``change`` of the weight of the reference and its number."""
    for side in ("target", "reference"):
        calls: Net = {}
        value = array(4, 8)
        for number in range(4):
            weight = array(8, 8, seed=number)
            weight = change(weight, number) if side == "target" else weight
            result = np.tanh(value @ weight)
            calls[f"Module.{number}.Linear.forward.0"] = {
                "inputs": [value], "parameters": {"weight": weight}, "outputs": [result],
            }  # fmt: skip
            value = result
        write(folder / side, calls)
    return compared(folder)


@situation(
    ["claim.dump.unrelated_weights"],
    ["claim.dump.largest_weight", "claim.dump.data_differs", "claim.dump.rest_follows"],
    1,
)
def another_initialization(folder: Path) -> Question:
    return of_weights(folder, lambda weight, number: array(8, 8, seed=10 + number))


@situation(["claim.dump.largest_weight"], SHARED, 1)
def weights_that_were_trained(folder: Path) -> Question:
    return of_weights(folder, lambda weight, number: weight + array(8, 8, seed=10 + number) * np.float32(0.3))


@situation(["claim.dump.weight_differs"], SHARED, 1)
def weights_with_the_other_sign(folder: Path) -> Question:
    return of_weights(folder, lambda weight, number: -weight)


@situation(["claim.dump.weight_differs"], SHARED, 1)
def some_other_weights(folder: Path) -> Question:
    """Two of four weights are unrelated and the others are trained."""
    return of_weights(
        folder,
        lambda weight, number: array(8, 8, seed=20 + number) if number < 2 else weight * np.float32(1.1),
    )


def compared_in_part(folder: Path, target: Net, part: slice) -> Question:
    """Ask what is said while only some rows of the comparison are known."""
    for name, calls in (("target", target), ("reference", net())):
        write(folder / name, calls)

    def ask_early() -> Sequence[Claim]:
        target_side, reference = (Side(open_dump(folder / name), 0, 0) for name in ("target", "reference"))
        rows = list(compare_sides(target_side, reference))
        return list(first_so_far(decide(rows[part]), len(rows)))

    return Question(direct=ask_early)


@situation(["claim.dump.first_so_far"])
def a_difference_among_the_tensors_compared_so_far(folder: Path) -> Question:
    return compared_in_part(folder, net(x=array(4, 8, seed=7)), slice(3))


@situation(never=["claim.dump.first_so_far"])
def a_difference_that_is_still_to_come(folder: Path) -> Question:
    return compared_in_part(folder, net(weight=array(8, 8, seed=9)), slice(3))
