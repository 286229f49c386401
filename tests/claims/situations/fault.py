"""Dumps with a planted fault, or none: what may be said of its origin and its cause."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from fastapi.testclient import TestClient

from mindinsight.server.debug.fault import report_of, search_faults
from mindinsight.server.debug.fault_explanation import explain
from mindinsight.server.formats.dumps import open_dump
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump, Gap
from tests.claims.situation import Question, situation
from tests.flight import unpack
from tests.server.debug.planting import spread_sync
from tests.waiting import until

Array = npt.NDArray[Any]
Call = tuple[str, Sequence[Any], Any]  # name, inputs, output

CAUSES = [
    f"claim.cause.{name}"
    for name in (
        *(
            "overflow",
            "overflow_inside",
            "number",
            "division_by_zero",
            "zero_by_zero",
            "log_negative",
            "log_zero",
            "sqrt_negative",
        ),
        *("exp_overflow", "pole", "power_negative", "power_zero", "arc_outside", "softmax_masked", "outside"),
        *("batch_of_one", "constant_row", "zero_scale", "mean_of_nothing", "deviation_of_one"),
        *("targets_ignored", "unknown", "result", "unexplained", "carried"),
        *("zero_norm", "variance_negative", "overflow_both", "no_inputs"),
    )
]
ALL_CLEAR = ["claim.fault.none", "claim.fault.finite"]
INF, NAN = float(np.inf), float(np.nan)


def floats(*values: float, dtype: Any = np.float32) -> Array:
    return np.array(values, dtype)


def except_for(*names: str) -> list[str]:
    """All causes but these: none of them may be claimed beside the true one."""
    return [key for key in CAUSES if key.removeprefix("claim.cause.") not in names]


def write(
    root: Path,
    calls: Sequence[Call],
    rank: int = 0,
    step: int = 0,
    level: str = "L1",
    values: bool = True,
    parameters: Mapping[str, Array] | None = None,
    inputs: bool = True,
    outputs: bool = True,
) -> Path:
    """Write a dump in msprobe's layout: statistics, and with ``values`` the tensors beside them."""
    folder = root / f"step{step}" / f"rank{rank}"
    (folder / "dump_tensor_data").mkdir(parents=True)

    def tensor(array: Any, entry: str, slot: str) -> Mapping[str, Any]:
        array = np.asarray(array)
        record: dict[str, Any] = {
            "type": "torch.Tensor",
            "dtype": f"torch.{array.dtype}",
            "shape": list(array.shape),
        }
        if array.size and array.dtype.kind == "f":
            with np.errstate(all="ignore"):
                wide = array.astype(np.float64)
                numbers = wide.max(), wide.min(), wide.mean(), np.linalg.norm(wide)
            record |= dict(zip(("Max", "Min", "Mean", "Norm"), map(float, numbers), strict=True))
        if values:
            record["data_name"] = f"{entry}.{slot}.npy"
            np.save(folder / "dump_tensor_data" / record["data_name"], array)
        return record

    data: dict[str, Any] = {}
    for name, given, made in calls:
        entry: dict[str, Any] = {}
        if inputs:
            entry["input_args"] = [tensor(array, name, f"input.{i}") for i, array in enumerate(given)]
            entry["input_kwargs"] = {}
        if outputs:
            entry["output"] = [tensor(made, name, "output.0")]
        if parameters and name.startswith("Module."):
            entry["parameters"] = {
                slot: tensor(array, name, f"parameters.{slot}") for slot, array in parameters.items()
            }
        data[name] = entry
    (folder / "dump.json").write_text(json.dumps({"task": "tensor", "level": level, "data": data}))
    return root


def forget_statistics(root: Path, *sides: str) -> None:
    """Remove the statistics of the tensors of these sides from a dump."""
    path = root / "step0" / "rank0" / "dump.json"
    content = json.loads(path.read_text())
    for call in content["data"].values():
        for tensor in (tensor for side in sides for tensor in call[side]):
            for name in ("Max", "Min", "Mean", "Norm"):
                tensor.pop(name, None)
    path.write_text(json.dumps(content))


def ask(folder: Path, *options: str) -> Question:
    """Ask the command, the interface and the page for the first fault."""
    return Question(
        command=["dump", "check", str(folder / "dump"), "--json", *options],
        base=folder,
        request="v2/dump/fault?dump=./dump",
        page="dump?dump=./dump&tab=check",
    )


def made(folder: Path, operator: str, inputs: Sequence[Any], output: Any, **more: Any) -> Question:
    """One operator in between two healthy ones."""
    before: Call = ("Torch.tanh.0.forward", [floats(1, 2)], np.tanh(floats(1, 2)))
    write(folder / "dump", [before, (f"Torch.{operator}.0.forward", inputs, output)], **more)
    return ask(folder)


def discarded(folder: Path, *after: Call) -> Question:
    """The logarithm of zero, which the program may replace, and the calls ``after`` it."""
    infinite = floats(-np.inf, 0)
    write(folder / "dump", [("Torch.log.0.forward", [floats(0, 1)], infinite), *after])
    return ask(folder)


REPLACED: Call = ("Torch.nan_to_num.0.forward", [floats(-np.inf, 0)], floats(0, 0))


@situation(
    makes=["claim.fault.contained", "claim.fault.made"], never=["claim.fault.contained_by"], exit_code=1
)
def infinities_that_the_program_replaces(folder: Path) -> Question:
    return discarded(folder, REPLACED, ("Torch.add.0.forward", [floats(0, 0), floats(1, 2)], floats(1, 2)))


@situation(
    makes=["claim.fault.contained_by", "claim.fault.made"], never=["claim.fault.contained"], exit_code=1
)
def infinities_that_an_operator_passes_on_before_they_are_replaced(folder: Path) -> Question:
    """As where(p > 0, p * log(p), 0) does."""
    passed: Call = ("Torch.mul.0.forward", [floats(-np.inf, 0), floats(0, 1)], floats(np.nan, 0))
    replaced: Call = ("Torch.nan_to_num.0.forward", [floats(np.nan, 0)], floats(0, 0))
    return discarded(folder, passed, replaced, ("Torch.add.0.forward", [floats(0, 0)], floats(1, 2)))


@situation(makes=["claim.fault.made"], never=["claim.fault.contained"], exit_code=1)
def infinities_that_come_back_in_the_backward_pass(folder: Path) -> Question:
    return discarded(folder, REPLACED, ("Torch.log.0.backward", [floats(0, 1)], floats(np.nan, 1)))


@situation(makes=["claim.fault.made"], never=["claim.fault.contained"], exit_code=1)
def infinities_that_no_recorded_operator_received(folder: Path) -> Question:
    """They may be the loss: another operator ran after it."""
    return discarded(folder, ("Torch.argmax.0.forward", [floats(1, 2)], floats(1)))


@situation(makes=["claim.fault.made"], never=["claim.fault.contained"], exit_code=1)
def infinities_at_the_end_of_a_dump(folder: Path) -> Question:
    return discarded(folder)


@situation(
    makes=["claim.fault.none", "claim.check.none"],
    never=["claim.fault.made", "claim.fault.some", "claim.fault.searched"],
)
def every_tensor_is_finite(folder: Path) -> Question:
    """Healthy; the interface and the page say besides what they did not search."""
    write(folder / "dump", [("Torch.add.0.forward", [floats(1, 2), floats(3, 4)], floats(4, 6))])
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(
    makes=["claim.fault.none", "claim.fault.searched"], never=["claim.fault.made", "claim.fault.not_recorded"]
)
def a_search_says_what_it_did_not_search(folder: Path) -> Question:
    write(folder / "dump", [("Torch.add.0.forward", [floats(1, 2), floats(3, 4)], floats(4, 6))])
    return Question(base=folder, request="v2/dump/fault?dump=./dump")


@situation(
    makes=["claim.fault.nothing"], never=[*ALL_CLEAR, "claim.check.none", "claim.fault.empty"], exit_code=2
)
def shapes_alone_were_recorded(folder: Path) -> Question:
    write(folder / "dump", [("Torch.neg.0.forward", [floats(1)], floats(-1))], values=False)
    forget_statistics(folder / "dump", "input_args", "output")
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(
    makes=["claim.fault.empty", "claim.check.unknown"],
    never=[*ALL_CLEAR, "claim.check.none", "claim.fault.nothing"],
    exit_code=2,
)
def a_dump_without_a_tensor(folder: Path) -> Question:
    write(folder / "dump", [])
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(makes=["claim.fault.some", "claim.fault.unread"], never=["claim.fault.none", "claim.fault.silent"])
def one_file_is_truncated(folder: Path) -> Question:
    """Without its statistics the tensor cannot be judged; the others are finite."""
    write(folder / "dump", [("Torch.add.0.forward", [floats(1, 2), floats(3, 4)], floats(4, 6))])
    forget_statistics(folder / "dump", "output")
    tensors = folder / "dump" / "step0" / "rank0" / "dump_tensor_data"
    (tensors / "Torch.add.0.forward.output.0.npy").write_bytes(b"x")
    return ask(folder)


@situation(
    makes=["claim.fault.some", "claim.fault.silent"],
    never=["claim.fault.none", "claim.fault.unread"],
    exit_code=2,
)
def one_tensor_has_neither_values_nor_statistics(folder: Path) -> Question:
    write(
        folder / "dump", [("Torch.add.0.forward", [floats(1, 2), floats(3, 4)], floats(4, 6))], values=False
    )
    forget_statistics(folder / "dump", "output")
    return ask(folder)


@situation(
    makes=["claim.fault.finite", "claim.fault.masks"],
    never=["claim.fault.none", "claim.fault.made", "claim.fault.masks.open", "claim.check.non_finite"],
    exit_code=0,
)
def a_mask_of_attention_is_no_fault(folder: Path) -> Question:
    scores, mask = floats(1, 1), np.array([0, -INF], np.float32)
    calls: list[Call] = [
        ("Torch.add.0.forward", [scores, mask], scores + mask),
        ("Functional.softmax.0.forward", [scores + mask], floats(1, 0)),
    ]
    write(folder / "dump", calls)
    return ask(folder)


@situation(
    makes=["claim.fault.masks.open", "claim.fault.finite"],
    never=["claim.fault.masks", "claim.fault.made", "claim.check.non_finite", "claim.fault.none"],
    exit_code=2,
)
def a_mask_that_no_recorded_operator_took(folder: Path) -> Question:
    masked = np.array([[0, -INF], [0, 0]], np.float32)
    write(folder / "dump", [("Tensor.masked_fill.0.forward", [np.zeros((2, 2), np.float32)], masked)])
    return ask(folder)


@situation(
    makes=["claim.fault.made", "claim.cause.log_negative"],
    never=[*except_for("log_negative"), *ALL_CLEAR],
    exit_code=1,
)
def logarithm_of_a_negative_number(folder: Path) -> Question:
    return made(folder, "log", [floats(1, -2)], floats(0, NAN))


@situation(makes=["claim.fault.made", "claim.cause.log_zero"], never=except_for("log_zero"), exit_code=1)
def logarithm_of_zero(folder: Path) -> Question:
    return made(folder, "log", [floats(1, 0)], floats(0, -INF))


@situation(
    makes=["claim.fault.made", "claim.cause.sqrt_negative"], never=except_for("sqrt_negative"), exit_code=1
)
def square_root_of_a_negative_number(folder: Path) -> Question:
    return made(folder, "sqrt", [floats(1, -4)], floats(1, NAN))


@situation(
    makes=["claim.fault.made", "claim.cause.division_by_zero"],
    never=except_for("division_by_zero"),
    exit_code=1,
)
def division_of_one_by_zero(folder: Path) -> Question:
    return made(folder, "div", [floats(1, 1), floats(2, 0)], floats(0.5, INF))


@situation(
    makes=["claim.fault.made", "claim.cause.zero_by_zero"], never=except_for("zero_by_zero"), exit_code=1
)
def division_of_zero_by_zero(folder: Path) -> Question:
    return made(folder, "div", [floats(1, 0), floats(2, 0)], floats(0.5, NAN))


@situation(makes=["claim.fault.made", "claim.cause.zero_scale"], never=except_for("zero_scale"), exit_code=1)
def division_of_all_by_a_scale_of_zero(folder: Path) -> Question:
    return made(folder, "div", [floats(1, 2), floats(0)], floats(INF, INF))


@situation(makes=["claim.fault.made", "claim.cause.overflow"], never=except_for("overflow"), exit_code=1)
def quotient_beyond_float32(folder: Path) -> Question:
    """The divisor is tiny, not zero."""
    return made(folder, "div", [floats(1e30, 1), floats(1e-30, 1)], floats(INF, 1))


@situation(makes=["claim.fault.made", "claim.cause.overflow"], never=except_for("overflow"), exit_code=1)
def product_beyond_float32(folder: Path) -> Question:
    return made(folder, "mul", [floats(1e30, 1), floats(1e30, 1)], floats(INF, 1))


@situation(makes=["claim.fault.made", "claim.cause.unknown"], never=except_for("unknown"), exit_code=1)
def infinite_product_of_small_numbers(folder: Path) -> Question:
    return made(folder, "mul", [floats(10, 1), floats(10, 1)], floats(INF, 1))


@situation(makes=["claim.fault.made", "claim.cause.overflow"], never=except_for("overflow"), exit_code=1)
def float16_sum_of_products_beyond_its_range(folder: Path) -> Question:
    ones = np.full((2, 2), 300, np.float16)
    return made(folder, "matmul", [ones, ones], np.full((2, 2), INF, np.float16))


@situation(
    makes=["claim.fault.made", "claim.cause.unexplained"], never=except_for("unexplained"), exit_code=1
)
def not_a_number_in_a_product_of_matrices(folder: Path) -> Question:
    """The inputs have no element at its index, and the row and the column that go into it are finite."""
    output = np.full((4, 3), 2, np.float32)
    output[3, 2] = NAN
    return made(folder, "matmul", [np.ones((4, 2), np.float32), np.ones((2, 3), np.float32)], output)


@situation(
    makes=["claim.fault.made", "claim.cause.unexplained"], never=except_for("unexplained"), exit_code=1
)
def infinite_product_of_matrices_of_ones(folder: Path) -> Question:
    ones = np.ones((2, 2), np.float32)
    return made(folder, "matmul", [ones, ones], np.array([[INF, 2], [2, 2]], np.float32))


@situation(makes=["claim.fault.made", "claim.cause.unknown"], never=except_for("unknown"), exit_code=1)
def infinity_from_relu(folder: Path) -> Question:
    """ReLU cannot make an infinity of finite numbers, however large: the operator or the record is wrong."""
    return made(folder, "relu", [floats(3e38, -1)], floats(INF, 0))


@situation(makes=["claim.fault.made", "claim.cause.unknown"], never=except_for("unknown"), exit_code=1)
def product_with_a_number_that_was_not_recorded(folder: Path) -> Question:
    return made(folder, "mul", [floats(10, 1)], floats(INF, 1))


@situation(makes=["claim.fault.made", "claim.cause.overflow"], never=except_for("overflow"), exit_code=1)
def sum_beyond_float32(folder: Path) -> Question:
    return made(folder, "sum", [np.full(4, 3e38, np.float32)], np.array(INF, np.float32))


@situation(
    makes=["claim.fault.made", "claim.cause.unknown"], never=except_for("unknown", "result"), exit_code=1
)
def infinite_sum_of_ones(folder: Path) -> Question:
    return made(folder, "sum", [np.ones(1, np.float32)], floats(INF))


@situation(
    makes=["claim.fault.made", "claim.cause.result"], never=except_for("unknown", "result"), exit_code=1
)
def infinity_of_another_shape_than_its_input(folder: Path) -> Question:
    """No element of the input stands at the index of the infinity."""
    return made(folder, "topk", [np.ones((4, 4), np.float32)], floats(INF, 1, 2))


@situation(
    makes=["claim.fault.made", "claim.cause.exp_overflow"], never=except_for("exp_overflow"), exit_code=1
)
def exponential_of_a_hundred(folder: Path) -> Question:
    return made(folder, "exp", [floats(100, 0)], floats(INF, 1))


@situation(makes=["claim.fault.made", "claim.cause.unknown"], never=except_for("unknown"), exit_code=1)
def infinite_exponential_of_one(folder: Path) -> Question:
    return made(folder, "exp", [floats(1, 0)], floats(INF, 1))


@situation(makes=["claim.fault.made", "claim.cause.pole"], never=except_for("pole"), exit_code=1)
def logarithm_of_gamma_at_zero(folder: Path) -> Question:
    return made(folder, "lgamma", [floats(0, 1)], floats(INF, 0))


@situation(
    makes=["claim.fault.made", "claim.cause.division_by_zero"],
    never=except_for("division_by_zero"),
    exit_code=1,
)
def gradient_of_a_root_of_zero(folder: Path) -> Question:
    return made(folder, "SqrtGrad", [floats(0, 1), floats(1, 1)], floats(INF, 0.5))


@situation(
    makes=["claim.fault.made", "claim.cause.power_negative"], never=except_for("power_negative"), exit_code=1
)
def fractional_power_of_a_negative_number(folder: Path) -> Question:
    return made(folder, "pow", [floats(-2, 1), floats(0.5, 1)], floats(NAN, 1))


@situation(makes=["claim.fault.made", "claim.cause.power_zero"], never=except_for("power_zero"), exit_code=1)
def negative_power_of_zero(folder: Path) -> Question:
    return made(folder, "pow", [floats(0, 1), floats(-1, 1)], floats(INF, 1))


@situation(
    makes=["claim.fault.made", "claim.cause.arc_outside"], never=except_for("arc_outside"), exit_code=1
)
def arc_cosine_of_two(folder: Path) -> Question:
    return made(folder, "acos", [floats(2, 1)], floats(NAN, 0))


@situation(makes=["claim.fault.made", "claim.cause.outside"], never=except_for("outside"), exit_code=1)
def logit_of_two(folder: Path) -> Question:
    return made(folder, "logit", [floats(2, 0.5)], floats(NAN, 0))


@situation(
    makes=["claim.fault.made.mask", "claim.cause.softmax_masked"],
    never=[*except_for("softmax_masked"), "claim.fault.met.input", "claim.fault.masks"],
    exit_code=1,
)
def softmax_of_a_row_that_is_masked_altogether(folder: Path) -> Question:
    masked = np.array([[-INF, -INF], [1, 1]], np.float32)
    scores = np.ones((2, 2), np.float32)
    calls: list[Call] = [
        ("Tensor.masked_fill.0.forward", [scores], masked),
        ("Functional.softmax.0.forward", [masked], np.array([[NAN, NAN], [0.5, 0.5]], np.float32)),
    ]
    write(folder / "dump", calls)
    return ask(folder)


@situation(
    makes=["claim.fault.made.mask", "claim.cause.carried"],
    never=[*except_for("carried"), "claim.fault.masks"],
    exit_code=1,
)
def mean_of_a_row_with_a_mask(folder: Path) -> Question:
    masked = np.array([[1, -INF], [1, -INF]], np.float32)
    calls: list[Call] = [
        ("Tensor.masked_fill.0.forward", [np.ones((2, 2), np.float32)], masked),
        ("Torch.mean.0.forward", [masked], floats(1, -INF)),
    ]
    write(folder / "dump", calls)
    return ask(folder)


@situation(
    makes=["claim.fault.made", "claim.cause.batch_of_one"], never=except_for("batch_of_one"), exit_code=1
)
def normalization_of_a_batch_of_one(folder: Path) -> Question:
    return made(folder, "batch_norm", [np.ones((1, 2), np.float32)], np.full((1, 2), NAN, np.float32))


@situation(
    makes=["claim.fault.made", "claim.cause.constant_row"], never=except_for("constant_row"), exit_code=1
)
def normalization_of_a_constant_row(folder: Path) -> Question:
    return made(folder, "layer_norm", [np.ones((2, 3), np.float32)], np.full((2, 3), NAN, np.float32))


@situation(
    makes=["claim.fault.made", "claim.cause.mean_of_nothing"],
    never=except_for("mean_of_nothing"),
    exit_code=1,
)
def mean_of_no_values(folder: Path) -> Question:
    return made(folder, "mean", [floats()], np.array(NAN))


@situation(
    makes=["claim.fault.made", "claim.cause.deviation_of_one"],
    never=except_for("deviation_of_one"),
    exit_code=1,
)
def deviation_of_one_value(folder: Path) -> Question:
    return made(folder, "std", [floats(3)], np.array(NAN))


@situation(
    makes=["claim.fault.made", "claim.cause.targets_ignored"],
    never=except_for("targets_ignored"),
    exit_code=1,
)
def loss_over_targets_of_which_none_is_a_class(folder: Path) -> Question:
    scores, targets = np.ones((2, 3), np.float32), np.array([-100, -100])
    return made(folder, "nll_loss", [scores, targets], np.array(NAN))


@situation(
    makes=["claim.fault.met.input"],
    never=["claim.fault.made", "claim.fault.unknown.between", *CAUSES],
    exit_code=1,
)
def not_a_number_in_the_first_input(folder: Path) -> Question:
    write(folder / "dump", [("Torch.add.0.forward", [floats(NAN, 1), floats(1, 1)], floats(NAN, 2))])
    return ask(folder)


@situation(makes=["claim.fault.met.weight"], never=["claim.fault.made", "claim.fault.met.input"], exit_code=1)
def infinity_in_a_weight(folder: Path) -> Question:
    calls: list[Call] = [("Module.fc.Linear.forward.0", [floats(1, 2)], floats(INF, 1))]
    write(folder / "dump", calls, level="L0", parameters={"weight": floats(INF, 1)})
    return ask(folder)


@situation(
    makes=["claim.fault.unknown.between"], never=["claim.fault.met.input", "claim.fault.made"], exit_code=1
)
def fault_between_two_recorded_modules(folder: Path) -> Question:
    """Level L0: the operator between the modules was not recorded."""
    calls: list[Call] = [
        ("Module.layers.0.Linear.forward.0", [floats(1, 2)], floats(1, 2)),
        ("Module.layers.1.q.Linear.forward.0", [floats(NAN, 2)], floats(NAN, 2)),
    ]
    write(folder / "dump", calls, level="L0")
    return ask(folder)


@situation(makes=["claim.fault.met.input"], never=["claim.fault.unknown.between"], exit_code=1)
def all_operators_recorded_and_none_gave_it(folder: Path) -> Question:
    """Level L1 records the operators in between, too: the value came with data."""
    calls: list[Call] = [
        ("Torch.tanh.0.forward", [floats(1, 2)], floats(1, 2)),
        ("Torch.add.0.forward", [floats(NAN, 2), floats(1, 1)], floats(NAN, 3)),
    ]
    write(folder / "dump", calls)
    return ask(folder)


@situation(
    makes=["claim.fault.unknown.inputs"],
    never=["claim.fault.made", "claim.fault.met.input", *CAUSES],
    exit_code=1,
)
def outputs_alone_were_recorded(folder: Path) -> Question:
    write(folder / "dump", [("Torch.log.0.forward", [floats(-1)], floats(NAN))], inputs=False)
    return ask(folder)


@situation(
    makes=["claim.fault.unknown.outputs"], never=["claim.fault.made", "claim.fault.met.input"], exit_code=1
)
def inputs_alone_were_recorded(folder: Path) -> Question:
    calls: list[Call] = [
        ("Torch.log.0.forward", [floats(-1)], floats(NAN)),
        ("Torch.add.0.forward", [floats(NAN), floats(1)], floats(NAN)),
    ]
    write(folder / "dump", calls, outputs=False)
    return ask(folder)


@situation(makes=["claim.fault.made"], never=[*CAUSES, *ALL_CLEAR], exit_code=1)
def statistics_tell_the_operator_but_not_the_cause(folder: Path) -> Question:
    return made(folder, "log", [floats(1, -2)], floats(0, NAN), values=False)


DATA = Path(__file__).parents[2] / "data" / "dumps"


def lenet(folder: Path, culprit: str, keep: Sequence[str] = (), graph: bool = True) -> Question:
    """A step of a small network in which NaN spread from a culprit; of ``keep`` sides, if given, alone."""
    path = Path(shutil.copytree(DATA / "ms_sync_v2_0_names", folder / "dump"))
    shutil.rmtree(path / "rank_0" / "Net" / "0" / "1")
    spread_sync(path, culprit)
    if not graph:
        shutil.rmtree(path / "rank_0" / "graphs")
        shutil.rmtree(path / "rank_0" / "execution_order")
    for file in (path / "rank_0" / "Net" / "0" / "0").iterdir():
        kind, side = file.name.split(".")[0], file.name.split(".")[-4]
        if kind != "Parameter" and keep and side not in keep and kind not in keep:
            file.unlink()
    return ask(folder)


RELU = "MatMulBiasAddReluFusion-op55"
BIASED = "MatMulBiasAddFusion-op56"


@situation(
    makes=["claim.fault.made"],
    never=["claim.fault.met.weight", "claim.fault.made.mask", "claim.fault.unknown.operator"],
    exit_code=1,
)
def an_operator_of_a_graph(folder: Path) -> Question:
    return lenet(folder, RELU)


@situation(
    makes=["claim.fault.met.data"],
    never=["claim.fault.met.weight", "claim.fault.met.state"],
    exit_code=1,
)
def a_batch_with_nan(folder: Path) -> Question:
    return lenet(folder, "inputs0")


@situation(
    makes=["claim.fault.met.weight"],
    never=["claim.fault.met.data", "claim.fault.met.state", "claim.fault.met.alone"],
    exit_code=1,
)
def a_weight_with_nan(folder: Path) -> Question:
    return lenet(folder, "fc1.weight")


@situation(
    makes=["claim.fault.met.state"], never=["claim.fault.met.weight", "claim.fault.met.data"], exit_code=1
)
def a_moment_of_the_optimizer_with_nan(folder: Path) -> Question:
    return lenet(folder, "moments.fc1.bias")


@situation(
    makes=["claim.fault.unknown.later"],
    never=["claim.fault.made", "claim.fault.unknown.inputs", "claim.fault.unknown.values"],
    exit_code=1,
)
def a_weight_recorded_after_it_was_updated(folder: Path) -> Question:
    return lenet(folder, "fc1.weight", ["output"])


@situation(
    makes=["claim.fault.unknown.operator"],
    never=["claim.fault.made", "claim.fault.unknown.outputs", "claim.fault.unknown.later"],
    exit_code=1,
)
def one_kind_of_operator_was_recorded(folder: Path) -> Question:
    return lenet(folder, RELU, ["MatMulBiasAddFusion"])


@situation(
    makes=["claim.fault.unknown.values"],
    never=["claim.fault.made", "claim.fault.unknown.operator", "claim.fault.unknown.outputs"],
    exit_code=1,
)
def an_input_of_the_operator_cannot_be_read(folder: Path) -> Question:
    question = lenet(folder, RELU)
    (file,) = (folder / "dump" / "rank_0" / "Net" / "0" / "0").glob(f"*.{RELU}.*.input.1.*")
    file.write_bytes(b"")
    return question


@situation(makes=["claim.fault.met.alone"], never=["claim.fault.met.weight", "claim.fault.made"], exit_code=1)
def a_weight_that_no_operator_took(folder: Path) -> Question:
    step = Dump(folder / "dump").iteration(0)
    step.output("Default/Add-op0", floats(1, 2))
    step.parameter("fc.weight", floats(1, NAN))
    return ask(folder)


def with_weight(
    folder: Path,
    operator: str,
    output: Array,
    step: int = 0,
    name: str = "fc.weight",
    weight: Array | None = None,
) -> Question:
    """An operator that takes a weight with minus infinity, which is recorded at step 0 as well."""
    weight = np.array([[1, -INF], [1, 2]], np.float32) if weight is None else weight
    dump = Dump(folder / "dump")
    dump.iteration(0).parameter(name, weight)
    taking = dump.iteration(step)
    taking.input(operator, np.ones((2, 2), np.float32), 0)
    taking.input(operator, weight, 1)
    taking.output(operator, output)
    return ask(folder)


@situation(
    makes=["claim.fault.met.weight"], never=["claim.fault.met.alone", "claim.fault.masks"], exit_code=1
)
def minus_infinity_in_a_weight_of_a_product(folder: Path) -> Question:
    """A mask comes from elsewhere, and a product of matrices leaves no mask as it is."""
    return with_weight(folder, "Default/MatMul-op0", np.array([[2, -INF], [2, -INF]], np.float32))


@situation(
    makes=["claim.fault.met.weight"], never=["claim.fault.met.alone", "claim.fault.masks"], exit_code=1
)
def minus_infinity_in_a_weight_that_scales(folder: Path) -> Question:
    return with_weight(folder, "Default/Mul-op0", np.array([[1, -INF], [1, 2]], np.float32))


@situation(
    makes=["claim.fault.masks"], never=["claim.fault.met.weight", "claim.fault.met.alone"], exit_code=0
)
def minus_infinity_in_a_parameter_that_masks(folder: Path) -> Question:
    """What took it is finite, and beside minus infinity there are only zeros: it is a buffer with a mask."""
    output = np.array([[1, 0], [0.5, 0.5]], np.float32)
    mask = np.array([[0, -INF], [0, 0]], np.float32)
    return with_weight(folder, "Default/Softmax-op0", output, name="attention.mask", weight=mask)


@situation(makes=["claim.fault.met.alone"], never=["claim.fault.masks", "claim.fault.finite"], exit_code=1)
def minus_infinity_in_a_row_of_an_embedding_that_was_not_taken(folder: Path) -> Question:
    """The operator gave finite rows. A weight holds no mask: its minus infinity was learnt."""
    rows = np.array([[1, 2], [1, 2]], np.float32)
    return with_weight(folder, "Default/Gather-op0", rows, name="emb.weight")


@situation(makes=["claim.fault.met.alone"], never=["claim.fault.masks"], exit_code=1)
def minus_infinity_among_equal_values_of_a_weight(folder: Path) -> Question:
    """It looks like a mask and has the name of a weight."""
    ones = np.array([[1, -INF], [1, 1]], np.float32)
    return with_weight(folder, "Default/Gather-op0", np.ones((2, 2), np.float32), weight=ones)


@situation(
    makes=["claim.fault.met.alone"], never=["claim.fault.met.weight", "claim.fault.masks"], exit_code=1
)
def a_weight_that_an_operator_took_at_the_next_step(folder: Path) -> Question:
    """It was recorded after the step that made it so: at that step no operator passed it on."""
    return with_weight(folder, "Default/MatMul-op0", np.array([[2, -INF], [2, -INF]], np.float32), step=1)


def flight(folder: Path, name: str, *options: str) -> Question:
    """What the flight recorder left of a training with a planted fault."""
    unpack(name, folder)
    path = f"{name}/flight_dump"
    return Question(
        command=["dump", "check", str(folder / path), "--json", *options],
        base=folder,
        request=f"v2/dump/fault?dump=./{path}",
        page=f"dump?dump=./{path}&tab=check",
    )


@situation(
    makes=["claim.fault.made", "claim.cause.log_negative", "claim.cause.source", "claim.cause.grown"],
    never=["claim.fault.received", "claim.ranks.stray"],
    exit_code=1,
)
def a_training_whose_weight_grew(folder: Path) -> Question:
    return flight(folder, "logarithm")


@situation(
    makes=["claim.fault.made.tensors"],
    never=["claim.fault.made", "claim.cause.grown", "claim.cause.source", "claim.cause.overflow"],
    exit_code=1,
)
def a_training_in_half_precision(folder: Path) -> Question:
    """A product with a number that was not recorded: nothing names a source or a weight that grew."""
    return flight(folder, "half_overflow")


@situation(
    makes=["claim.fault.met.data"], never=["claim.fault.received", "claim.fault.met.weight"], exit_code=1
)
def nan_on_one_rank(folder: Path) -> Question:
    return flight(folder, "nan_on_one_rank")


@situation(makes=["claim.fault.received"], never=["claim.fault.met.data", "claim.fault.made"], exit_code=1)
def the_rank_that_received_it(folder: Path) -> Question:
    unpack("nan_on_one_rank", folder)
    for other in ("rank_1", "rank_2"):
        shutil.rmtree(folder / "nan_on_one_rank" / "flight_dump" / other, ignore_errors=True)
    return Question(command=["dump", "check", str(folder / "nan_on_one_rank" / "flight_dump"), "--json"])


@situation(
    makes=["claim.ranks.stray"],
    never=["claim.ranks.differ", "claim.ranks.unknown", "claim.fault.made"],
    exit_code=1,
)
def one_rank_of_three_reduces_wrongly(folder: Path) -> Question:
    return flight(folder, "wrong_reduction")


@situation(makes=["claim.ranks.differ"], never=["claim.ranks.stray", "claim.fault.made"], exit_code=1)
def of_two_ranks_none_is_blamed(folder: Path) -> Question:
    question = flight(folder, "wrong_reduction")
    shutil.rmtree(folder / "wrong_reduction" / "flight_dump" / "rank_2")
    return question


PRODUCT = "Default/MatMul-op0"


def with_scaler(folder: Path, scale: float = 65536.0, value: float = INF, forward: bool = False) -> Question:
    """A step in float16 with a gradient that is not finite, and PyTorch's scaler, which sees it."""
    graph = GraphBuilder("Net")
    with graph.scope("/Default/fc-Linear"):
        given = graph.node("mm", [graph.parameter("x", (2,))], (2,))
    with graph.scope("/Gradients/Default/fc-Linear"):
        graph.node("_to_copy", [given], (2,))
    with graph.scope("/Default"):
        graph.node("_amp_update_scale_", [graph.parameter("scale", ())], ())
    step = Dump(folder / "dump", graph=graph).iteration(0)
    half = np.asarray([1.0, value], np.float16)
    step.output("Default/fc-Linear/mm-op0", half if forward else np.ones(2, np.float16))
    step.input("Gradients/Default/fc-Linear/_to_copy-op0", floats(1.0, 1e6))
    step.output("Gradients/Default/fc-Linear/_to_copy-op0", half)
    for slot, number in enumerate((scale, 1.0, 1.0)):
        step.input("Default/_amp_update_scale_-op0", np.float32(number), slot)
    step.output("Default/_amp_update_scale_-op0", np.float32(scale / 2))
    return ask(folder)


@situation(
    makes=["claim.fault.scaled", "claim.fault.finite"],
    never=["claim.fault.made", "claim.fault.none"],
    exit_code=0,
)
def gradients_that_overflow_while_a_scaler_searches_its_scale(folder: Path) -> Question:
    return with_scaler(folder)


@situation(makes=["claim.fault.made"], never=["claim.fault.scaled"], exit_code=1)
def gradients_that_overflow_without_a_scale(folder: Path) -> Question:
    return with_scaler(folder, scale=1.0)


@situation(makes=["claim.fault.made"], never=["claim.fault.scaled"], exit_code=1)
def gradients_that_are_nan_beside_a_scaler(folder: Path) -> Question:
    return with_scaler(folder, value=NAN)


@situation(never=["claim.fault.scaled", "claim.fault.none", "claim.fault.finite"], exit_code=1)
def an_output_that_overflows_beside_a_scaler(folder: Path) -> Question:
    return with_scaler(folder, forward=True)


def of_memory(folder: Path, kind: str) -> Question:
    """A view of memory that holds NaN, and an operator that computes from something else."""
    graph = GraphBuilder("Net")
    with graph.scope("/Default"):
        graph.node(kind, [graph.parameter("bucket", (2,))], (2,))
        graph.node("mul", [graph.parameter("x", (2,))], (2,))
    step = Dump(folder / "dump", graph=graph).iteration(0)
    for direction in (step.input, step.output):
        direction(f"Default/{kind}-op0", floats(NAN, 1))
        direction("Default/mul-op0", floats(1, 2))
    return ask(folder)


@situation(makes=["claim.fault.none"], never=["claim.fault.met.input"], exit_code=0)
def raw_memory_of_a_bucket(folder: Path) -> Question:
    return of_memory(folder, "as_strided")


@situation(never=["claim.fault.none"], exit_code=1)
def nan_that_comes_in_through_a_view(folder: Path) -> Question:
    return of_memory(folder, "view")


def of_lattice(folder: Path, slot: int) -> Question:
    """A connectionist loss whose lattice, or result, has minus infinity."""
    graph = GraphBuilder("Net")
    with graph.scope("/Default"):
        loss = graph.node("_ctc_loss", [graph.parameter("x", (2,))], (2,))
        graph.node("mean", [loss], ())
    step = Dump(folder / "dump", graph=graph).iteration(0)
    step.input("Default/_ctc_loss-op0", floats(1, 2))
    for at in range(2):
        step.output("Default/_ctc_loss-op0", floats(-INF if at == slot else 1, 2), at)
    step.output("Default/mean-op0", floats(-INF if slot == 0 else 1.5))
    return ask(folder)


@situation(makes=["claim.fault.finite"], never=["claim.fault.made", "claim.fault.made.tensors"], exit_code=0)
def the_lattice_of_a_connectionist_loss(folder: Path) -> Question:
    return of_lattice(folder, 1)


@situation(never=["claim.fault.finite", "claim.fault.none"], exit_code=1)
def a_connectionist_loss_that_is_infinite(folder: Path) -> Question:
    return of_lattice(folder, 0)


def _reported(folder: Path, differ: bool, again: bool = True) -> Question:
    """Two ranks of which the flight recorder wrote a step, and an operator with a batch for each."""
    reason = "the gradients differ between the ranks: norm 1.2, 1.5" if differ else "the loss is 9, from 0.1"
    for rank in range(2):
        step = Dump(folder / "dump", rank=rank).iteration(3)
        step.input(PRODUCT, floats(rank + 1, 2), 0)
        step.output(PRODUCT, floats(rank + 2, 3))
        norms = {"step": 3, "healthy_step": 2, "reason": reason, "ranks_differ": differ, "weights": {}}
        norms["broke_again"] = again
        (folder / "dump" / f"rank_{rank}" / "health_3.json").write_text(json.dumps(norms))
    return ask(folder)


@situation(makes=["claim.ranks.reported"], never=["claim.ranks.differ", "claim.ranks.unknown"], exit_code=1)
def gradients_that_no_recorded_operator_made_different(folder: Path) -> Question:
    return _reported(folder, True)


@situation(makes=["claim.fault.not_again"], never=["claim.ranks.reported"], exit_code=2)
def a_step_that_did_not_break_again(folder: Path) -> Question:
    return _reported(folder, False, again=False)


@situation(
    makes=["claim.fault.none"],
    never=["claim.ranks.reported", "claim.ranks.differ", "claim.fault.not_again"],
    exit_code=0,
)
def a_loss_that_jumped_on_ranks_with_batches_of_their_own(folder: Path) -> Question:
    return _reported(folder, False)


RANKS = ["claim.ranks.differ", "claim.ranks.stray", "claim.ranks.unknown"]
RANK_WEIGHTS = ["claim.ranks.weights", "claim.ranks.weights_unknown"]


def on_two_ranks(
    folder: Path, operator: str, inputs: Sequence[Sequence[Array]], outputs: Sequence[Array]
) -> Question:
    """An operator with these inputs and this output on each rank."""
    for rank, (given, made) in enumerate(zip(inputs, outputs, strict=True)):
        step = Dump(folder / "dump", rank=rank).iteration(0)
        for slot, values in enumerate(given):
            step.input(operator, values, slot)
        step.output(operator, made)
    return ask(folder)


@situation(makes=["claim.ranks.differ"], never=["claim.ranks.unknown", "claim.ranks.stray"], exit_code=1)
def a_product_of_the_same_matrices_that_differs(folder: Path) -> Question:
    ones = np.ones((2, 2), np.float32)
    return on_two_ranks(folder, "Default/MatMul-op0", [[ones, ones]] * 2, [ones * 2, ones * 3])


@situation(makes=["claim.ranks.differ"], never=["claim.ranks.absent", "claim.ranks.unknown"], exit_code=1)
def a_product_that_differs_in_the_order_of_its_values(folder: Path) -> Question:
    """All statistics of the two results are equal, so that no norm is shown as what differs."""
    ones, (low, high) = np.ones((2, 2), np.float32), (floats(1, 2), floats(2, 1))
    return on_two_ranks(folder, PRODUCT, [[ones, ones]] * 2, [low, high])


def with_weights(folder: Path, differing: Sequence[int], prefix: str = "module.") -> Question:
    """Ten weights on two ranks, of which some differ, and an operator that agrees."""
    ones = np.ones((2, 2), np.float32)
    for rank in range(2):
        step = Dump(folder / "dump", rank=rank).iteration(0)
        step.output(PRODUCT, ones)
        for at in range(10):
            values = np.random.default_rng(at).normal(size=(4, 4)).astype(np.float32)
            step.parameter(f"{prefix}{at}.weight", values * (1 + 0.01 * rank * (at in differing)))
    return ask(folder)


@situation(makes=["claim.ranks.weights"], never=[*RANKS, "claim.ranks.weights_unknown"], exit_code=1)
def one_weight_of_ten_that_differs_between_data_parallel_ranks(folder: Path) -> Question:
    return with_weights(folder, [3])


@situation(makes=["claim.ranks.weights_unknown"], never=[*RANKS, "claim.ranks.weights"], exit_code=2)
def one_weight_of_ten_that_differs_between_ranks_of_unknown_kind(folder: Path) -> Question:
    return with_weights(folder, [3], "blocks.")


@situation(never=[*RANKS, *RANK_WEIGHTS], exit_code=0)
def half_of_the_weights_are_shards_of_a_split_model(folder: Path) -> Question:
    return with_weights(folder, [1, 3, 5, 7, 9])


@situation(makes=["claim.ranks.weights"], never=[*RANKS, "claim.ranks.weights_unknown"], exit_code=1)
def all_weights_that_differ_between_data_parallel_ranks(folder: Path) -> Question:
    return with_weights(folder, range(10))


@situation(makes=["claim.ranks.weights_unknown"], never=[*RANKS, "claim.ranks.weights"], exit_code=2)
def all_weights_that_differ_between_ranks_of_unknown_kind(folder: Path) -> Question:
    return with_weights(folder, range(10), "blocks.")


@situation(never=[*RANKS, *RANK_WEIGHTS], exit_code=0)
def an_expert_that_each_rank_has_of_its_own(folder: Path) -> Question:
    return with_weights(folder, [3], "module.experts.")


@situation(never=[*RANKS, *RANK_WEIGHTS], exit_code=0)
def ten_weights_that_are_equal_on_two_ranks(folder: Path) -> Question:
    return with_weights(folder, [])


@situation(makes=["claim.ranks.differ", "claim.ranks.absent"], never=["claim.ranks.stray"], exit_code=1)
def a_rank_that_did_not_record_the_step(folder: Path) -> Question:
    """The odd rank of the two that recorded the step is unknown, and the third was not compared."""
    ones = np.ones((2, 2), np.float32)
    step = Dump(folder / "dump", rank=2).iteration(1)
    step.output(PRODUCT, ones)
    return on_two_ranks(folder, PRODUCT, [[ones, ones]] * 2, [ones * 2, ones * 3])


@situation(makes=["claim.fault.masks"], never=["claim.fault.made", "claim.fault.unknown.inputs"], exit_code=0)
def infinity_from_which_a_minimum_starts(folder: Path) -> Question:
    return filled(folder, "Minimum", floats(1, 2))


@situation(makes=["claim.fault.unknown.inputs"], never=["claim.fault.masks"], exit_code=1)
def infinity_that_a_sum_passes_on(folder: Path) -> Question:
    return filled(folder, "Add", floats(INF, INF))


def filled(folder: Path, operator: str, output: Array) -> Question:
    """A tensor filled with infinity that an operator takes."""
    step = Dump(folder / "dump").iteration(0)
    step.output("Default/Full-op0", floats(INF, INF))
    step.input(f"Default/{operator}-op0", floats(1, 2), 0)
    step.input(f"Default/{operator}-op0", floats(INF, INF), 1)
    step.output(f"Default/{operator}-op0", output)
    return ask(folder)


@situation(makes=["claim.fault.made", "claim.cause.division_by_zero"], never=["claim.cause.zero_scale"])
def division_of_a_single_number(folder: Path) -> Question:
    """A scalar has no index: the text names its only element."""
    return made(folder, "Div", [np.array(1, np.float32), np.array(0, np.float32)], np.array(INF, np.float32))


@situation(makes=["claim.ranks.differ"], never=["claim.ranks.unknown", "claim.ranks.stray"], exit_code=1)
def a_reduction_that_differs(folder: Path) -> Question:
    return on_two_ranks(folder, "Default/AllReduce-op0", [[floats(1)], [floats(2)]], [floats(3), floats(4)])


@situation(makes=["claim.ranks.unknown"], never=["claim.ranks.differ", "claim.fault.made"], exit_code=2)
def a_product_whose_weight_was_not_recorded(folder: Path) -> Question:
    """It may be split over the ranks."""
    ones = np.ones((2, 2), np.float32)
    return on_two_ranks(folder, "Default/MatMul-op0", [[ones]] * 2, [ones * 2, ones * 3])


@situation(makes=["claim.ranks.unknown"], never=["claim.ranks.differ"], exit_code=2)
def a_part_whose_offset_was_not_recorded(folder: Path) -> Question:
    return on_two_ranks(folder, "Default/StridedSlice-op0", [[floats(1, 2)]] * 2, [floats(1), floats(2)])


@situation(makes=["claim.fault.none"], never=RANKS, exit_code=0)
def inputs_of_equal_statistics_in_another_order(folder: Path) -> Question:
    """Ranks with batches of their own, whose statistics are equal by chance."""
    given = [np.array(order, np.int32) for order in ([0, 2, 5], [5, 0, 2])]
    base = np.array([0, 6, 12], np.int32)
    outputs = [order + base for order in given]
    return on_two_ranks(folder, "Default/Add-op0", [[order, base] for order in given], outputs)


@situation(makes=["claim.fault.none"], never=RANKS, exit_code=0)
def an_exchange_that_gives_each_rank_its_part(folder: Path) -> Question:
    return on_two_ranks(folder, "Default/AlltoAll-op0", [[floats(1, 2)]] * 2, [floats(1), floats(2)])


@situation(makes=["claim.fault.none"], never=RANKS, exit_code=0)
def a_scattered_sum(folder: Path) -> Question:
    return on_two_ranks(folder, "Default/ReduceScatter-op0", [[floats(1, 2)]] * 2, [floats(1), floats(2)])


@situation(makes=["claim.fault.not_recorded", "claim.fault.none"], never=["claim.fault.made"], exit_code=0)
def a_recording_without_some_backward_operators(folder: Path) -> Question:
    return with_gap(folder, Gap("backward", ("Conv2D",)))


@situation(makes=["claim.fault.not_recorded", "claim.fault.none"], never=["claim.fault.made"], exit_code=2)
def a_recording_that_reached_its_limit(folder: Path) -> Question:
    """Whether the 193 tensors that are missing are finite is unknown."""
    return with_gap(folder, Gap("limit", count=193))


@situation(makes=["claim.fault.not_recorded", "claim.fault.unknown.inputs"], never=ALL_CLEAR, exit_code=1)
def a_fault_in_a_recording_that_reached_its_limit(folder: Path) -> Question:
    return with_gap(folder, Gap("limit", count=193), floats(1, NAN))


@situation(
    makes=["claim.fault.not_recorded", "claim.part.gap.thread", "claim.fault.no_operator"],
    never=["claim.fault.no_backward", "claim.part.gap.mixed"],
    exit_code=2,
)
def operators_that_ran_in_another_thread(folder: Path) -> Question:
    dump = Dump(folder / "dump")
    dump.iteration(0).parameter("fc.weight", floats(1, 2))
    dump.not_recorded([Gap("thread", iterations=(0,))])
    return ask(folder)


@situation(
    makes=["claim.fault.not_recorded", "claim.part.gap.mixed", "claim.fault.none"],
    never=["claim.fault.no_operator", "claim.part.gap.thread"],
    exit_code=2,
)
def two_recordings_in_one_folder(folder: Path) -> Question:
    return with_gap(folder, Gap("mixed", iterations=(0,)))


def infinite_gradient(folder: Path, *gaps: Gap) -> Question:
    """A gradient arrives infinite at a recorded backward operator."""
    graph = GraphBuilder("Net")
    with graph.scope("/Gradients/Default"):
        graph.node("ReluGrad", [graph.parameter("inputs2", (2,))], shape=(2,), number=0)
    dump = Dump(folder / "dump", graph=graph)
    step = dump.iteration(0)
    step.input("Gradients/Default/ReluGrad-op0", floats(INF, 1))
    step.output("Gradients/Default/ReluGrad-op0", floats(INF, 1))
    dump.not_recorded(gaps)
    return ask(folder)


@situation(
    makes=["claim.fault.unknown.unseen"], never=["claim.fault.met.data", "claim.fault.made"], exit_code=1
)
def a_gradient_of_an_operator_that_was_not_recorded(folder: Path) -> Question:
    return infinite_gradient(folder, Gap("backward", ("Sqrt",)))


@situation(
    makes=["claim.fault.met.data"], never=["claim.fault.unknown.unseen", "claim.fault.made"], exit_code=1
)
def a_gradient_that_was_given(folder: Path) -> Question:
    return infinite_gradient(folder)


@situation(makes=["claim.fault.none"], never=["claim.fault.not_recorded"])
def a_recording_that_reached_its_limit_at_another_step(folder: Path) -> Question:
    question = with_gap(folder, Gap("limit", count=193, iterations=(5,)))
    return Question([*(question.command or ()), "--step", "0"], folder, f"{question.request}&step=0")


def with_gap(folder: Path, gap: Gap, values: Array | None = None) -> Question:
    dump = Dump(folder / "dump")
    dump.iteration(0).output("Default/Add-op0", floats(1, 2) if values is None else values)
    dump.not_recorded([gap])
    return ask(folder)


def of_torch(
    folder: Path, kind: str, given: Sequence[Array], made: Array | None, taken: bool = False
) -> Question:
    """An operator that a recorder in PyTorch saw, which records no numbers; and one that takes its result."""
    graph = GraphBuilder("Net")
    with graph.scope("/Default"):
        first = graph.node(kind, shape=(2,), number=0)
        graph.node("neg", [first], shape=(2,), number=0)
    metadata = folder / "dump" / "rank_0" / ".dump_metadata"
    metadata.mkdir(parents=True)
    (metadata / "config.json").write_text('{"framework": "pytorch"}')
    dump = Dump(folder / "dump", graph=graph, rank=0)
    step = dump.iteration(0)
    for slot, values in enumerate(given):
        step.input(f"Default/{kind}-op0", values, slot)
    if made is not None:
        step.output(f"Default/{kind}-op0", made)
    if taken:
        step.input("Default/neg-op0", floats(NAN, 1))
    return ask(folder)


@situation(
    makes=["claim.fault.made.tensors"], never=["claim.fault.made", "claim.fault.made.number"], exit_code=1
)
def a_product_with_a_number_that_no_recorder_saw(folder: Path) -> Question:
    """``h * nan`` and ``h * h`` differ in what was recorded: the number may be the fault."""
    return of_torch(folder, "mul", [floats(1, 2)], floats(NAN, NAN))


@situation(makes=["claim.fault.made.tensors"], never=["claim.fault.made"], exit_code=1)
def a_sum_with_a_factor_that_no_recorder_saw(folder: Path) -> Question:
    """``torch.add(x, h, alpha=nan)`` and ``x + h`` differ in what was recorded."""
    return of_torch(folder, "add", [floats(1, 2), floats(3, 4)], floats(NAN, NAN))


@situation(makes=["claim.fault.made"], never=["claim.fault.made.tensors"], exit_code=1)
def a_product_of_two_tensors(folder: Path) -> Question:
    return of_torch(folder, "mul", [floats(3e38, 2), floats(3e38, 1)], floats(INF, 2))


@situation(
    makes=["claim.fault.made"], never=["claim.fault.made.tensors", "claim.fault.made.seen"], exit_code=1
)
def a_logarithm_takes_no_number(folder: Path) -> Question:
    return of_torch(folder, "log", [floats(-1, 2)], floats(NAN, 1), taken=True)


@situation(
    makes=["claim.fault.made", "claim.cause.log_negative", "claim.cause.source"],
    never=["claim.fault.made.seen", *except_for("log_negative")],
    exit_code=1,
)
def a_later_step_that_takes_another_branch(folder: Path) -> Question:
    """The source is that of the second graph. In the first the same operator follows an addition."""
    dump = Dump(folder / "dump", rank=0)
    for number, (before, values) in enumerate((("add", floats(1, 2)), ("sub", floats(-1, 2)))):
        graph = GraphBuilder("Net")
        with graph.scope("/Default"):
            given = graph.parameter("inputs0", (2,))
            graph.node("log", [graph.node(before, [given], shape=(2,), number=0)], shape=(2,), number=0)
        dump.graph(graph, number)
        step = dump.iteration(number)
        step.input(f"Default/{before}-op0", values)
        step.output(f"Default/{before}-op0", values)
        step.input("Default/log-op0", values)
        with np.errstate(invalid="ignore"):
            step.output("Default/log-op0", np.log(values))

    opened = open_dump(folder / "dump")
    explained = explain(opened, report_of(search_faults(opened)).faults[0])
    assert explained is not None and explained.claims[1].values["source"] == "Default/sub-op0"
    return ask(folder)


def logarithm_of(folder: Path, output: Array | None, received: Array) -> None:
    """Write a subtraction, if its output is given, and the logarithm that follows it in the graph."""
    dump = Dump(folder / "dump", rank=0)
    graph = GraphBuilder("Net")
    with graph.scope("/Default"):
        given = graph.parameter("inputs0", (2,))
        graph.node("log", [graph.node("sub", [given], shape=(2,), number=0)], shape=(2,), number=0)
    dump.graph(graph)
    step = dump.iteration(0)
    if output is not None:
        step.output("Default/sub-op0", output)
    step.input("Default/log-op0", received)
    with np.errstate(invalid="ignore"):
        step.output("Default/log-op0", np.log(received))


def chain_of_the_logarithm(client: TestClient) -> Any:
    """Return the chain that the page shows beside the fault, once all tensors are measured."""
    position: dict[str, str | int] = {"dump": "./dump", "rank": 0, "step": 0}
    (fault,) = until(lambda: client.get("v2/dump/fault", params=position).json().get("faults"))
    tensor = fault["tensors"][0]
    request: dict[str, str | int] = {**position, "operator": tensor["recorded"], "graph": tensor["graph"]}

    def answered() -> Any:
        answer = client.get("v2/dump/chain", params=request).json()
        return answer if answer["done"] else None

    return until(answered)


@situation(
    makes=["claim.cause.log_negative", "claim.cause.source_changed"],
    never=["claim.cause.source", "claim.cause.source_unknown"],
    exit_code=1,
)
def code_outside_the_graph_changed_the_input(folder: Path) -> Question:
    logarithm_of(folder, floats(1, 2), floats(1, -2))
    return ask(folder)


@situation(
    makes=["claim.cause.source"],
    never=["claim.cause.source_changed", "claim.cause.source_unknown"],
    exit_code=1,
)
def the_input_holds_what_its_source_returned(folder: Path) -> Question:
    logarithm_of(folder, floats(1, -2), floats(1, -2))
    return ask(folder)


@situation(
    makes=["claim.cause.log_negative", "claim.cause.source_unknown"],
    never=["claim.cause.source", "claim.cause.source_changed"],
    exit_code=1,
)
def the_output_of_the_source_was_not_recorded(folder: Path) -> Question:
    logarithm_of(folder, None, floats(1, -2))
    return ask(folder)


@situation(makes=["claim.cause.source_unknown"], never=["claim.cause.source", "claim.cause.source_changed"])
def an_output_of_another_shape(folder: Path) -> Question:
    """A reshaping that the graph leaves out is no change of values."""
    logarithm_of(folder, floats(1, 2, 3, -4).reshape(2, 2), floats(1, 2, 3, -4))
    return ask(folder)


@situation(makes=["claim.chain.changed"])
def the_chain_ends_where_values_changed(folder: Path) -> Question:
    logarithm_of(folder, floats(1, 2), floats(1, -2))
    return Question(base=folder, request=chain_of_the_logarithm)


@situation(never=["claim.chain.changed"])
def the_chain_of_values_that_passed_unchanged(folder: Path) -> Question:
    logarithm_of(folder, floats(1, -2), floats(1, -2))
    return Question(base=folder, request=chain_of_the_logarithm)


@situation(
    makes=["claim.fault.made.seen", "claim.cause.log_negative"],
    never=["claim.fault.made", "claim.fault.met.input", *except_for("log_negative")],
    exit_code=1,
)
def inputs_alone_and_a_graph(folder: Path) -> Question:
    """The input of the logarithm is finite, and that of the operator after it is not."""
    return of_torch(folder, "log", [floats(-1, 2)], None, taken=True)


@situation(
    makes=["claim.fault.made", "claim.cause.log_negative"],
    never=[*except_for("log_negative"), "claim.fault.unknown.inputs"],
    exit_code=1,
)
def outputs_alone_and_a_graph(folder: Path) -> Question:
    """The input of the logarithm is the recorded output of the subtraction."""
    return of_outputs(folder)


@situation(makes=["claim.cause.no_inputs"], never=except_for("no_inputs"), exit_code=1)
def outputs_alone_and_a_source_with_two(folder: Path) -> Question:
    return of_outputs(folder, floats(1, 1))


def of_outputs(folder: Path, *more: Array) -> Question:
    """A logarithm of a difference, without inputs; the subtraction has ``more`` outputs besides."""
    graph = GraphBuilder("Net")
    with graph.scope("/Default"):
        first = graph.node("sub", shape=(2,), number=0)
        graph.node("log", [first], shape=(2,), number=0)
    step = Dump(folder / "dump", graph=graph).iteration(0)
    for slot, value in enumerate((floats(-1, 2), *more)):
        step.output("Default/sub-op0", value, slot)
    step.output("Default/log-op0", floats(NAN, 1))
    return ask(folder)


MASKED = np.array([[0, 0], [-INF, -INF]], np.float32)


def graph_of_a_mask(folder: Path, mask: Array, output: Array) -> Question:
    """A mask that was written through a view, added to scores and given to a softmax; with a graph."""
    scores = np.array([[1, 2], [3, 4]], np.float32)
    step = Dump(folder / "dump").iteration(0)
    names = [f"Default/{name}-op0" for name in ("Add", "Softmax")]
    step.input(names[0], scores, 0)
    step.input(names[0], mask, 1)
    step.output(names[0], scores + mask)
    step.input(names[1], scores + mask)
    step.output(names[1], output)
    return ask(folder)


@situation(
    makes=["claim.fault.made.mask", "claim.cause.softmax_masked"],
    never=["claim.fault.met.input", "claim.fault.met.data", "claim.fault.masks"],
    exit_code=1,
)
def softmax_of_a_row_that_a_view_masked(folder: Path) -> Question:
    """The minus infinities lie in outputs of earlier operators: the softmax made NaN of them."""
    return graph_of_a_mask(folder, MASKED, np.array([[0.3, 0.7], [NAN, NAN]], np.float32))


@situation(
    makes=["claim.fault.masks"], never=["claim.fault.made.mask", "claim.cause.softmax_masked"], exit_code=0
)
def softmax_of_a_row_that_is_masked_in_part(folder: Path) -> Question:
    mask = np.array([[0, 0], [0, -INF]], np.float32)
    return graph_of_a_mask(folder, mask, np.array([[0.3, 0.7], [1, 0]], np.float32))


@situation(makes=["claim.fault.masks", "claim.fault.finite"], never=["claim.fault.masks.open"], exit_code=0)
def a_mask_that_a_fused_operator_took(folder: Path) -> Question:
    """No recorded operator has it as an input, and the loss after it is finite."""
    masked = np.array([[0, -INF], [0, 0]], np.float32)
    calls: list[Call] = [
        ("Tensor.masked_fill.0.forward", [np.zeros((2, 2), np.float32)], masked),
        ("Functional.mse_loss.0.forward", [floats(1, 2)], floats(3)),
    ]
    write(folder / "dump", calls)
    return ask(folder)


@situation(makes=["claim.check.none"], never=["claim.check.dead"], exit_code=0)
def zeros_that_an_operator_fills_in(folder: Path) -> Question:
    return of_zeros(folder, "Default/zeros_like-op0")


@situation(makes=["claim.check.none"], never=["claim.check.dead"], exit_code=0)
def the_first_moment_of_an_optimizer(folder: Path) -> Question:
    return of_zeros(folder, "Default/optimizer-Adam/mul_-op0")


@situation(makes=["claim.check.dead"], never=["claim.check.none"], exit_code=1)
def zeros_that_an_operator_computed(folder: Path) -> Question:
    return of_zeros(folder, "Default/fc-Linear/mul-op0")


def of_zeros(folder: Path, operator: str) -> Question:
    step = Dump(folder / "dump").iteration(0)
    step.input(operator, floats(1, 2))
    step.output(operator, floats(0, 0))
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


SUM = "Torch.add.0.forward"


@situation(makes=["claim.fault.by_statistics", "claim.fault.none"], never=["claim.fault.some"], exit_code=0)
def statistics_without_values(folder: Path) -> Question:
    write(folder / "dump", [(SUM, [floats(1, 2), floats(3, 4)], floats(4, 6))], values=False)
    return ask(folder)


@situation(makes=["claim.fault.none"], never=["claim.fault.by_statistics"], exit_code=0)
def values_without_statistics(folder: Path) -> Question:
    write(folder / "dump", [(SUM, [floats(1, 2), floats(3, 4)], floats(4, 6))])
    forget_statistics(folder / "dump", "input_args", "output")
    return ask(folder)


@situation(makes=["claim.fault.no_backward"], never=["claim.fault.made"], exit_code=0)
def a_forward_pass_alone(folder: Path) -> Question:
    write(folder / "dump", [(SUM, [floats(1, 2)], floats(4, 6))])
    return ask(folder)


@situation(makes=["claim.fault.none"], never=["claim.fault.no_backward"], exit_code=0)
def both_passes(folder: Path) -> Question:
    forward: Call = (SUM, [floats(1, 2)], floats(4, 6))
    write(folder / "dump", [forward, ("Torch.add.0.backward", [floats(1, 1)], floats(1, 1))])
    return ask(folder)


@situation(makes=["claim.fault.ranks_absent", "claim.fault.none"], never=RANKS, exit_code=0)
def ranks_with_a_gap(folder: Path) -> Question:
    return on_ranks(folder, 0, 2)


@situation(makes=["claim.fault.none"], never=["claim.fault.ranks_absent"], exit_code=0)
def ranks_without_a_gap(folder: Path) -> Question:
    return on_ranks(folder, 0, 1)


def on_ranks(folder: Path, *ranks: int) -> Question:
    for rank in ranks:
        write(folder / "dump", [(SUM, [floats(rank, 2)], floats(4 + rank, 6))], rank=rank)
    return ask(folder)


def of_overflows(folder: Path, mode: int) -> Question:
    """A dump without tensors, with the setting by which operators were recorded."""
    metadata = folder / "dump" / "rank_0" / ".dump_metadata"
    metadata.mkdir(parents=True)
    (metadata / "data_dump.json").write_text(json.dumps({"op_debug_mode": mode}))
    return ask(folder)


@situation(makes=["claim.fault.no_overflow"], never=["claim.fault.empty", "claim.check.unknown"], exit_code=0)
def no_operator_overflowed(folder: Path) -> Question:
    return of_overflows(folder, 3)


def of_checked_calls(folder: Path, *counts: int, calls: Sequence[Call] = ()) -> Question:
    """Steps whose recorder looked at these numbers of calls, and kept ``calls`` of the first."""
    for step, count in enumerate(counts):
        write(folder / "dump", calls if step == 0 else [], step=step)
        (file,) = (folder / "dump" / f"step{step}").rglob("dump.json")
        file.write_text(json.dumps(({"checked": count} if count else {}) | json.loads(file.read_text())))
    return ask(folder)


@situation(
    makes=["claim.fault.no_overflow.checked"],
    never=["claim.fault.empty", "claim.fault.no_overflow", "claim.check.unknown", "claim.fault.no_backward"],
    exit_code=0,
)
def no_checked_call_overflowed(folder: Path) -> Question:
    return of_checked_calls(folder, 12, 12)


@situation(makes=["claim.fault.empty"], never=["claim.fault.no_overflow.checked", *ALL_CLEAR], exit_code=2)
def no_call_was_looked_at(folder: Path) -> Question:
    """The model never ran between start and stop."""
    return of_checked_calls(folder, 0)


@situation(makes=["claim.fault.made"], never=["claim.fault.no_overflow.checked"], exit_code=1)
def a_checked_call_overflowed(folder: Path) -> Question:
    return of_checked_calls(folder, 12, 12, calls=[(SUM, [floats(3e38)], floats(float("inf")))])


@situation(makes=["claim.fault.masks"], never=["claim.fault.no_overflow.checked"])
def a_checked_call_made_a_mask(folder: Path) -> Question:
    """It was kept because its output is not finite."""
    mask = floats(0, -float("inf"))
    calls: list[Call] = [("Tensor.masked_fill.0.forward", [floats(0, 0)], mask)]
    calls.append(("Functional.softmax.0.forward", [mask], floats(1, 0)))
    return of_checked_calls(folder, 12, calls=calls)


@situation(makes=["claim.fault.empty"], never=["claim.fault.no_overflow", *ALL_CLEAR], exit_code=2)
def nothing_was_recorded_although_all_was_to_be(folder: Path) -> Question:
    return of_overflows(folder, 0)


def copied(folder: Path, view: str) -> Question:
    """Write a dump in which NaN is copied into a row of a weight, or into a copy of the row."""
    graph = GraphBuilder("Net")
    weight, value = graph.parameter("fc.weight", (4, 8)), graph.parameter("inputs0", ())
    row = graph.node(view, [weight], shape=(8,))
    graph.output(graph.node("copy_", [row, value], shape=(8,)))
    lost = np.full(8, np.nan, np.float32)
    step = Dump(folder / "dump", graph=graph).iteration(0)
    step.input(f"Default/{view}-op0", np.ones((4, 8), np.float32))
    step.output(f"Default/{view}-op0", np.ones(8, np.float32))
    step.input("Default/copy_-op0", np.ones(8, np.float32))
    step.input("Default/copy_-op0", lost[0], slot=1)
    step.output("Default/copy_-op0", lost)
    step.parameter("fc.weight", np.ones((4, 8), np.float32) * lost)
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(makes=["claim.fault.written", "claim.fault.met.data"], never=["claim.fault.made"], exit_code=1)
def nan_copied_into_a_weight(folder: Path) -> Question:
    return copied(folder, "select")


@situation(makes=["claim.fault.met.data"], never=["claim.fault.written"], exit_code=1)
def nan_copied_into_a_copy_of_a_weight(folder: Path) -> Question:
    return copied(folder, "clone")


def with_metric(folder: Path, use: str = "", scope: str = "/Default", backward: bool = True) -> Question:
    """A step of a training, and a division of zero by zero whose result has a ``use``, or none."""
    graph = GraphBuilder("Net")
    with graph.scope("/Default/fc-Linear"):
        weight = graph.parameter("fc.weight", (2,))
        given = graph.node("mm", [graph.parameter("x", (2,)), weight], (2,))
    with graph.scope(scope):
        count = graph.node("sum", [given], (2,))
        ratio = graph.node("div", [count, count], (2,))
    with graph.scope("/Default"):
        loss = graph.node("mean", [ratio if use == "loss" else given], (2,))
        ones = graph.node("ones_like", [loss], (2,))
    with graph.scope("/Gradients/Default/fc-Linear"):
        gradient = graph.node("mul", [ones], (2,)) if backward else ones
    with graph.scope("/Default"):
        if use == "gradient":
            graph.node("div", [gradient, gradient], (2,))
        if use in ("weight", "metric"):
            graph.node("add_", [weight if use == "weight" else count, ratio], (2,))
    step = Dump(folder / "dump", graph=graph).iteration(0)
    path = scope.lstrip("/")
    step.output("Default/fc-Linear/mm-op0", floats(0.0, 1.0))
    step.output(f"{path}/sum-op0", floats(0.0, 1.0))
    for slot in range(2):
        step.input(f"{path}/div-op0", floats(0.0, 1.0), slot)
    step.output(f"{path}/div-op0", floats(1.0 if use == "gradient" else NAN, 1.0))
    step.output("Default/mean-op0", floats(1.0, 1.0))
    step.output("Default/ones_like-op0", floats(1.0, 1.0))
    if backward:
        step.output("Gradients/Default/fc-Linear/mul-op0", floats(1.0, 1.0))
    if use == "gradient":
        for slot in range(2):
            step.input("Default/div-op1", floats(0.0, 1.0), slot)
        step.output("Default/div-op1", floats(NAN, 1.0))
    if use in ("weight", "metric"):
        step.output("Default/add_-op0", floats(1.0, 1.0))
    if use == "assigned":
        step.parameter("fc.weight", floats(NAN, 1.0))
    return ask(folder)


ASIDE = ["claim.fault.aside", "claim.fault.finite", "claim.fault.none"]


@situation(makes=ASIDE[:2], never=["claim.fault.made", "claim.fault.none"], exit_code=2)
def a_metric_of_zero_by_zero(folder: Path) -> Question:
    return with_metric(folder)


@situation(makes=ASIDE[:2], never=["claim.fault.made"], exit_code=2)
def a_metric_that_is_added_to_another(folder: Path) -> Question:
    return with_metric(folder, "metric")


@situation(never=ASIDE, exit_code=1)
def a_division_by_zero_that_the_loss_takes(folder: Path) -> Question:
    return with_metric(folder, "loss")


@situation(never=ASIDE, exit_code=1)
def a_division_by_zero_that_is_added_to_a_weight(folder: Path) -> Question:
    return with_metric(folder, "weight")


@situation(makes=["claim.fault.made"], never=ASIDE, exit_code=1)
def a_division_by_zero_that_is_assigned_to_a_weight(folder: Path) -> Question:
    """No operator writes it there: Python does. The weight shows it."""
    return with_metric(folder, "assigned")


@situation(never=ASIDE, exit_code=1)
def a_division_by_zero_of_a_gradient(folder: Path) -> Question:
    """What is computed from a gradient may be written back in a way that was not recorded."""
    return with_metric(folder, "gradient")


@situation(never=ASIDE, exit_code=1)
def a_division_by_zero_in_a_module(folder: Path) -> Question:
    """The network may be evaluated: what it gives there is of its own."""
    return with_metric(folder, scope="/Default/norm-Norm")


@situation(never=ASIDE, exit_code=1)
def a_division_by_zero_without_a_backward_pass(folder: Path) -> Question:
    return with_metric(folder, backward=False)


@situation(makes=["claim.fault.aside", "claim.fault.met.data"], never=["claim.fault.made"], exit_code=1)
def a_metric_that_an_attribute_brings_to_the_next_step(folder: Path) -> Question:
    """No operator of either step brings it there: the first is named as what may have."""
    question = with_metric(folder)
    graph = GraphBuilder("Net")
    with graph.scope("/Default/fc-Linear"):
        graph.node("mm", [graph.parameter("inputs0", (2,))], (2,))
    step = Dump(folder / "dump", graph=graph).iteration(1)
    step.input("Default/fc-Linear/mm-op0", floats(NAN, 1.0))
    step.output("Default/fc-Linear/mm-op0", floats(NAN, 1.0))
    return question


@situation(makes=["claim.fault.made"], never=ASIDE, exit_code=1)
def a_metric_of_zero_by_zero_before_a_logarithm_of_zero(folder: Path) -> Question:
    """The operator that trains is named, though the metric ran before it."""
    graph = GraphBuilder("Net")
    with graph.scope("/Default"):
        count = graph.node("sum", [graph.parameter("x", (2,))], (2,))
        graph.node("div", [count, count], (2,))
        loss = graph.node("log", [count], (2,))
        ones = graph.node("ones_like", [loss], (2,))
    with graph.scope("/Gradients/Default"):
        graph.node("mul", [ones, count], (2,))
    step = Dump(folder / "dump", graph=graph).iteration(0)
    step.output("Default/sum-op0", floats(0.0, 1.0))
    for operator, value in (("div", NAN), ("log", -INF)):
        step.input(f"Default/{operator}-op0", floats(0.0, 1.0))
        step.output(f"Default/{operator}-op0", floats(value, 0.0))
    step.output("Default/ones_like-op0", floats(1.0, 1.0))
    step.output("Gradients/Default/mul-op0", floats(INF, 1.0))
    return ask(folder)
