"""Origins found in dumps of every coverage, planted in data, a weight or an operator."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mindinsight.server.claims import Claim
from mindinsight.server.debug.fault import Report, report_of, search_faults
from mindinsight.server.debug.fault_search import execution_order, tensors_by_operator
from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry
from tests.server.debug.planting import spread_sync, write_msprobe

FC1, ACT, FC2 = "Module.fc1.Linear", "Module.act.ReLU", "Module.fc2.Linear"
LINEAR = "Functional.linear"
BOTH, INPUTS, OUTPUTS = ("input", "output"), ("input",), ("output",)


def verdict(dump: Any) -> tuple[Any, Any, Any]:
    (fault,) = report_of(search_faults(dump)).faults
    origin = fault.origin
    return fault.kind, origin.operator, origin.carrier or origin.gap


@pytest.mark.parametrize("values", [False, True], ids=["statistics", "tensors"])
@pytest.mark.parametrize(
    ("level", "sides", "culprit", "expected"),
    [
        # both sides: the operator, or how it came in
        ("L1", BOTH, "Functional.relu.0.forward", ("made", "Functional.relu.0.forward", "")),
        ("L1", BOTH, "Torch.log.0.forward", ("made", "Torch.log.0.forward", "")),
        ("L1", BOTH, f"{LINEAR}.1.backward", ("made", f"{LINEAR}.1.backward", "")),
        ("L1", BOTH, "x", ("met", f"{LINEAR}.0.forward", "input")),
        ("L1", BOTH, "w2", ("met", f"{LINEAR}.1.forward", "input")),
        ("L0", BOTH, "Functional.relu.0.forward", ("made", f"{ACT}.forward.0", "")),
        ("L0", BOTH, f"{LINEAR}.1.backward", ("made", f"{FC2}.backward.0", "")),
        ("L0", BOTH, "Torch.log.0.forward", ("unknown", f"{FC2}.forward.0", "between")),
        ("L0", BOTH, "Functional.cross_entropy.0.backward", ("unknown", f"{FC2}.backward.0", "between")),
        ("L0", BOTH, "x", ("met", f"{FC1}.forward.0", "input")),
        ("L0", BOTH, "w1", ("met", f"{FC1}.forward.0", "weight")),
        ("mix", BOTH, "Functional.relu.0.forward", ("made", "Functional.relu.0.forward", "")),
        ("mix", BOTH, "Torch.log.0.forward", ("made", "Torch.log.0.forward", "")),
        ("mix", BOTH, "x", ("met", f"{LINEAR}.0.forward", "input")),
        ("mix", BOTH, "w2", ("met", f"{LINEAR}.1.forward", "weight")),
        ("mix", BOTH, f"{LINEAR}.1.backward", ("made", f"{LINEAR}.1.backward", "")),
        # outputs only: nobody can be blamed
        ("L1", OUTPUTS, "Functional.relu.0.forward", ("unknown", "Functional.relu.0.forward", "inputs")),
        ("L1", OUTPUTS, "x", ("unknown", f"{LINEAR}.0.forward", "inputs")),
        ("L1", OUTPUTS, f"{LINEAR}.1.backward", ("unknown", f"{LINEAR}.1.backward", "inputs")),
        ("L0", OUTPUTS, "w1", ("unknown", f"{FC1}.forward.0", "inputs")),
        ("L0", OUTPUTS, f"{LINEAR}.1.backward", ("unknown", f"{FC2}.backward.0", "inputs")),
        ("L0", OUTPUTS, "Functional.cross_entropy.0.backward", ("unknown", f"{FC2}.backward.0", "inputs")),
        ("mix", OUTPUTS, "Torch.log.0.forward", ("unknown", "Torch.log.0.forward", "inputs")),
        # inputs only: it is known where they came to, not who gave them
        ("L1", INPUTS, "Functional.relu.0.forward", ("unknown", "Torch.log.0.forward", "outputs")),
        ("L1", INPUTS, "x", ("met", f"{LINEAR}.0.forward", "input")),
        ("L0", INPUTS, "w1", ("met", f"{FC1}.forward.0", "weight")),
        ("L0", INPUTS, "Torch.log.0.forward", ("unknown", f"{FC2}.forward.0", "outputs")),
        ("mix", INPUTS, "w2", ("met", f"{LINEAR}.1.forward", "weight")),
    ],
)
def test_msprobe(tmp_path: Path, level: str, sides: Any, culprit: str, values: bool, expected: Any) -> None:
    assert verdict(write_msprobe(tmp_path, level, culprit, sides, values)) == expected


def test_a_gradient_of_a_weight_is_not_made_from_nothing(tmp_path: Path) -> None:
    """Check a step with only gradients of weights non-finite, and no recorded call of their module."""
    dump = write_msprobe(tmp_path, "L0")
    rank = tmp_path / "step0" / "rank0" / "dump.json"
    content = json.loads(rank.read_text())
    entry = f"{FC2}.parameters_grad.0"
    content["data"] = {entry: content["data"][entry]}
    content["data"][entry]["weight"][0] |= {"Max": float("nan"), "Min": float("nan")}
    rank.write_text(json.dumps(content))
    assert verdict(dump) == ("unknown", entry, "inputs")


@pytest.mark.parametrize(
    ("calls", "culprit", "expected"),
    [
        (["Torch.log.0.forward", f"{LINEAR}.1.forward"], "w1", ("met", "Torch.log.0.forward", "input")),
        (["Torch.log.0.forward"], "Torch.log.0.forward", ("made", "Torch.log.0.forward", "")),
        # a call back may take what only the call forward was given
        ([f"{LINEAR}.1.backward"], f"{LINEAR}.1.backward", ("unknown", f"{LINEAR}.1.backward", "inputs")),
    ],
)
def test_msprobe_told_to_record_some_calls(tmp_path: Path, calls: Any, culprit: str, expected: Any) -> None:
    assert verdict(write_msprobe(tmp_path, "L1", culprit, calls=calls)) == expected


def test_a_module_that_is_listed_before_what_runs_inside_it(tmp_path: Path) -> None:
    """Check the order of older tools, which write a module on entry: its outputs still follow those
    inside."""
    dump = write_msprobe(tmp_path, "mix", "Functional.relu.0.forward")
    file = tmp_path / "step0" / "rank0" / "dump.json"
    content = json.loads(file.read_text())
    order = sorted(content["data"], key=lambda name: not name.startswith("Module.act"))
    content["data"] = {name: content["data"][name] for name in order}
    file.write_text(json.dumps(content))
    assert verdict(dump) == ("made", "Functional.relu.0.forward", "")


def test_modules_with_buffers_may_have_read_them(tmp_path: Path) -> None:
    dump = write_msprobe(tmp_path, "L0", "Functional.relu.0.forward")
    for name in ("dump.json", "construct.json"):
        file = tmp_path / "step0" / "rank0" / name
        file.write_text(file.read_text().replace("act.ReLU", "act.BatchNorm2d"))
    assert verdict(dump) == ("unknown", "Module.act.BatchNorm2d.forward.0", "inputs")


RELU = "MatMulBiasAddReluFusion-op55"
BIASED = "MatMulBiasAddFusion-op56"


@pytest.fixture
def sync(copied: Any) -> Callable[..., Any]:
    """sync(culprit, sides, graph, kernels): a dump of MindSpore in which it spread, without what was not
    recorded."""

    def make(culprit: Any, sides: Any = BOTH, graph: bool = True, kernels: Any = ()) -> Any:
        path = copied("ms_sync_v2_0_names")
        shutil.rmtree(path / "rank_0" / "Net" / "0" / "1")
        spread_sync(path, culprit)
        if not graph:
            shutil.rmtree(path / "rank_0" / "graphs")
            shutil.rmtree(path / "rank_0" / "execution_order")
        for file in (path / "rank_0" / "Net" / "0" / "0").iterdir():
            kind, side = file.name.split(".")[0], file.name.split(".")[-4]
            if kind != "Parameter" and (side not in sides or (kernels and kind not in kernels)):
                file.unlink()
        return open_dump(path)

    return make


def last(fault: Any) -> tuple[Any, Any, Any]:
    return fault[0], fault[1].rpartition("/")[2], fault[2]


@pytest.mark.parametrize(
    ("culprit", "options", "expected"),
    [
        (RELU, {}, ("made", RELU, "")),
        (RELU, {"graph": False}, ("made", RELU, "")),
        ("inputs0", {}, ("met", "Conv2D-op51", "data")),
        ("fc1.weight", {}, ("met", RELU, "weight")),
        ("fc1.weight", {"graph": False}, ("met", RELU, "input")),
        ("moments.fc1.bias", {}, ("met", "ApplyMomentum-op68", "state")),
        # outputs only: what feeds an operator is known by the graph alone
        ("ReLU-op52", {"sides": OUTPUTS}, ("made", "ReLU-op52", "")),
        (RELU, {"sides": OUTPUTS}, ("unknown", RELU, "later")),  # its weight was lost too, when it was dumped
        (RELU, {"sides": OUTPUTS, "graph": False}, ("unknown", RELU, "inputs")),
        ("fc1.weight", {"sides": OUTPUTS}, ("unknown", RELU, "later")),
        ("inputs0", {"sides": OUTPUTS}, ("unknown", "Conv2D-op51", "later")),
        # inputs only: the graph says who gave them, and what that was given
        (RELU, {"sides": INPUTS}, ("made", RELU, "")),
        (RELU, {"sides": INPUTS, "graph": False}, ("unknown", BIASED, "outputs")),
        ("fc1.weight", {"sides": INPUTS}, ("met", RELU, "weight")),
        # some kernels only
        (RELU, {"kernels": ["MatMulBiasAddFusion"]}, ("unknown", BIASED, "operator")),
        (RELU, {"kernels": ["MatMulBiasAddFusion"], "graph": False}, ("met", BIASED, "input")),
        ("fc2.weight", {"kernels": ["MatMulBiasAddFusion"]}, ("met", BIASED, "weight")),
        (BIASED, {"kernels": ["MatMulBiasAddFusion"]}, ("made", BIASED, "")),
    ],
)
def test_synchronous_dumps_of_mindspore(
    sync: Callable[..., Any], culprit: Any, options: Any, expected: Any
) -> None:
    assert last(verdict(sync(culprit, **options))) == expected


def test_an_input_that_cannot_be_read_is_not_finite_for_that(sync: Callable[..., Any]) -> None:
    dump = sync(RELU)
    (file,) = Path(dump.folders[0].path).glob(f"*.{RELU}.*.input.1.*")
    file.write_bytes(b"")
    assert last(verdict(dump)) == ("unknown", RELU, "values")


Floats = npt.NDArray[np.float32]
Call = tuple[str, Sequence[Floats], Floats]

INF = np.inf
SCORES = np.ones((2, 2), np.float32)
MASK = np.array([[0, -INF], [0, 0]], np.float32)
MASKED = SCORES + MASK
WEIGHTS = np.array([[1, 0], [0.5, 0.5]], np.float32)
SOFTMAX: Call = ("Functional.softmax.0.forward", [MASKED], WEIGHTS)


def searched(root: Path, calls: Sequence[Call], values: bool) -> Report:
    folder = root / "step0" / "rank0"
    (folder / "dump_tensor_data").mkdir(parents=True)

    def tensor(array: Floats, entry: str, slot: str) -> Mapping[str, object]:
        numbers = {
            "Max": array.max(),
            "Min": array.min(),
            "Mean": array.mean(),
            "Norm": np.linalg.norm(array),
        }
        fields = {name: float(number) for name, number in numbers.items()}
        record = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": list(array.shape), **fields}
        if values:
            record["data_name"] = f"{entry}.{slot}.npy"
            np.save(folder / "dump_tensor_data" / f"{entry}.{slot}.npy", array)
        return record

    data = {
        name: {
            "input_args": [tensor(array, name, f"input.{i}") for i, array in enumerate(given)],
            "input_kwargs": {},
            "output": [tensor(made, name, "output.0")],
        }
        for name, given, made in calls
    }
    (folder / "dump.json").write_text(json.dumps({"task": "tensor", "level": "L1", "data": data}))
    return report_of(search_faults(open_dump(root)))


@pytest.mark.parametrize("values", [False, True], ids=["statistics", "tensors"])
@pytest.mark.parametrize(
    ("calls", "masks"),
    [
        ([("Tensor.masked_fill.0.forward", [SCORES], MASKED), SOFTMAX], 2),
        (
            [
                ("Torch.triu.0.forward", [SCORES], MASK),
                ("Torch.add.0.forward", [SCORES, MASK], MASKED),
                SOFTMAX,
            ],
            4,
        ),
        ([("Torch.add.0.forward", [SCORES, MASK], MASKED), SOFTMAX], 3),  # a mask that came with the data
        ([("Torch.where.0.forward", [SCORES, np.full(1, -INF, np.float32)], MASKED), SOFTMAX], 3),
    ],
    ids=["filled", "added", "given", "chosen"],
)
def test_masks_are_no_faults(tmp_path: Path, calls: Sequence[Call], masks: int, values: bool) -> None:
    report = searched(tmp_path, calls, values)
    assert report.faults == []
    tensors = sum(len(given) + 1 for _, given, _ in calls)
    finite = tensors - masks
    assert report.claims[:2] == (
        Claim("claim.fault.finite", "clear", {"n": finite, "judged": finite, "tensors": tensors}),
        Claim("claim.fault.masks", "note", {"n": masks}),
    )


@pytest.mark.parametrize("values", [False, True], ids=["statistics", "tensors"])
@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (
            [("Torch.log.0.forward", [WEIGHTS], np.log(WEIGHTS, where=WEIGHTS > 0, out=MASK.copy()))],
            "Torch.log.0",
        ),
        (
            [
                ("Tensor.masked_fill.0.forward", [SCORES], MASKED),
                ("Functional.softmax.0.forward", [MASKED], np.full((2, 2), np.nan, np.float32)),
            ],
            "Functional.softmax.0",  # a row was masked as a whole
        ),
        (
            [
                ("Tensor.masked_fill.0.forward", [SCORES], MASKED),
                SOFTMAX,
                ("Torch.sqrt.0.forward", [-WEIGHTS], np.full((2, 2), np.nan, np.float32)),
            ],
            "Torch.sqrt.0",
        ),
        (
            [
                ("Tensor.masked_fill.0.forward", [SCORES], MASKED),
                ("Torch.sum.0.forward", [MASKED], np.full(1, -INF, np.float32)),
            ],
            "Torch.sum.0",  # the mask reached the loss
        ),
        ([("Torch.mul.0.forward", [SCORES], MASKED)], "Torch.mul.0"),
    ],
    ids=["logarithm", "row", "root", "loss", "product"],
)
def test_what_only_looks_like_a_mask_is_a_fault(
    tmp_path: Path, calls: Sequence[Call], expected: str, values: bool
) -> None:
    (fault,) = searched(tmp_path, calls, values).faults
    assert fault.origin.operator == f"{expected}.forward"


GRAPH = ""


def entry(recorded: Any, direction: Any, sequence: Any) -> TensorEntry:
    return TensorEntry(
        0, 0, GRAPH, recorded, recorded, "", direction, "0", sequence, -1, 0, None, "", "", None
    )


def order_of(tensors: Any, *operators: Any) -> list[Any]:
    """Return names with directions in execution order. Operators are (recorded, scope, depends)."""
    entries = [entry(recorded, direction, i) for i, (recorded, direction) in enumerate(tensors)]
    by_key = {
        (GRAPH, recorded): Operator(recorded, recorded, "", scope, GRAPH, 0, -1, depends=depends)
        for recorded, scope, depends in operators
    }
    positions = execution_order(entries, by_key, tensors_by_operator(entries))
    return [tensors[position] for position in positions]


def test_flat_operators_keep_their_order() -> None:
    tensors = [("a", "input"), ("a", "output"), ("b", "input"), ("b", "output")]
    assert order_of(tensors, ("a", (), ()), ("b", (), ())) == tensors


def test_a_module_outputs_after_the_calls_inside_it() -> None:
    tensors = [("module", "input"), ("module", "output"), ("relu", "input"), ("relu", "output")]
    assert order_of(tensors, ("module", (), ()), ("relu", ("module",), ())) == [
        ("module", "input"),
        ("relu", "input"),
        ("relu", "output"),
        ("module", "output"),
    ]


def test_an_inner_module_outputs_before_the_outer_one() -> None:
    tensors = [("outer", "output"), ("inner", "output"), ("relu", "output")]
    operators = [("outer", (), ()), ("inner", ("outer",), ()), ("relu", ("outer", "inner"), ())]
    assert [name for name, _ in order_of(tensors, *operators)] == ["relu", "inner", "outer"]


def test_a_gradient_of_a_weight_follows_the_calls_it_depends_on() -> None:
    tensors = [("gradient", "output"), ("backward", "input"), ("backward", "output")]
    assert [name for name, _ in order_of(tensors, ("gradient", (), ("backward",)), ("backward", (), ()))] == [
        "backward",
        "backward",
        "gradient",
    ]
